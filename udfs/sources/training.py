"""Which questions must never be trained on: benchmark data that says so, by a canary or by the source that read it.

A source writes it into provenance, among what nothing else holds (`extra`): the release's own `canary`, and
`no_training` with the reason. Whatever makes training records asks `forbids_training`.
"""

from __future__ import annotations

import json
from typing import Any, Final

CANARY: Final = "canary"
NO_TRAINING: Final = "no_training"


def forbids_training(provenance: str) -> str | None:
    """Why a question with this `provenance` (JSON) must not be trained on, its canary included; None where it may be.

    Any source that keeps a release's column `canary` forbids it by that.
    """
    if CANARY not in provenance and NO_TRAINING not in provenance:  # the common case, without reading JSON
        return None
    said: Any = json.loads(provenance)
    extra = said.get("extra") if isinstance(said, dict) else None
    if not isinstance(extra, dict):
        return None
    reasons = [str(extra[key]).strip() for key in (NO_TRAINING, CANARY) if extra.get(key)]
    return "; ".join(reason for reason in reasons if reason) or None
