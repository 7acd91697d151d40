"""Which row status each engine error stands for, for whoever asks an engine on behalf of a row."""

from __future__ import annotations

from typing import Final

from udfs.engines.base import EngineError, Filtered, OverLength, ProviderError
from udfs.schema import Status

ROW_ERRORS: Final = (OverLength, ProviderError, Filtered)
"""Errors that end a row and not the engine; everything else propagates."""


def status_of(error: EngineError) -> Status:
    """The status of a row whose call ended in `error`, one of `ROW_ERRORS`."""
    match error:
        case OverLength():
            return Status.OVER_LENGTH
        case ProviderError():
            return Status.PROVIDER_ERROR
        case Filtered():
            return Status.FILTERED
    raise error
