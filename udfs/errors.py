"""Errors that are for people: what was wrong, where, what is allowed, what to do; and no secret in any of them."""

from __future__ import annotations

import os
import re
import sys
from typing import Final

HIDDEN: Final = "(hidden)"
_SECRET_NAME: Final = re.compile(r"(?:^|_)(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIALS?|KEY_ID)$", re.IGNORECASE)
_SHORTEST_SECRET: Final = 8  # a shorter value would hide ordinary words
_IN_ADDRESS: Final = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^/@\s'\"]*:[^/@\s'\"]*@", re.IGNORECASE)
_IN_QUERY: Final = re.compile(
    r"(?P<name>[?&][\w.-]*(?:key|secret|token|signature|credential|password|sig)[\w.-]*=)[^&#\s'\"]+", re.IGNORECASE
)


class UserError(Exception):
    """Something that whoever started the job can mend. Jobs print its text as one line and exit with 2."""


class RunFailed(Exception):
    """The job itself failed after it began work. Jobs print its text as one last line and exit with 1."""


class StorageError(OSError):
    """Storage refused or could not be reached, in one sentence for people. The run fails with exit code 1."""


def without_secrets(text: str) -> str:
    """`text` with `(hidden)` in place of credentials: values of environment variables that are named like secrets
    (…_KEY, …_TOKEN, …), user:password in addresses, and secrets in an address's query."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name):
            text = text.replace(value, HIDDEN)
    return _IN_QUERY.sub(rf"\g<name>{HIDDEN}", _IN_ADDRESS.sub(rf"\g<scheme>{HIDDEN}@", text))


def warn(text: str) -> None:
    """Say something on stderr that does not stop the run."""
    print(f"warning: {without_secrets(text)}", file=sys.stderr)
