"""What embedders and classifiers on vLLM's pooling runner share."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from udfs.errors import UserError

RUNNER_ARGUMENTS: Final = {
    "runner": "pooling",
    # Whether an encoder can do either is vLLM's to know.
    "enable_prefix_caching": None,
    "enable_chunked_prefill": None,
}


@contextmanager
def naming_keys(group: str, config: type[Any]) -> Iterator[None]:
    """What finds weights and starts vLLM speaks of `model.weights`; here that is a key of the config group `group`.

    Args:
        config: the group's dataclass.
    """
    try:
        yield
    except UserError as error:
        keys = "|".join(field.name for field in dataclasses.fields(config))
        raise UserError(re.sub(rf"\bmodel\.(?={keys})", f"{group}.", str(error))) from error
