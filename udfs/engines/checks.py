"""Range checks for the values of a model's configuration: each failure names the key, the value and what is allowed.

A key stands in the group `model`, unless it names another one of `GROUPS` itself: `embedding.name`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from udfs.errors import UserError

GROUPS: Final = ("embedding.", "classifier.")


def require(key: str, value: object, holds: bool, allowed: str) -> None:
    """Raise `UserError` about `model.<key>`, or `<key>` where it names its group, unless `holds`."""
    if not holds:
        full = key if key.startswith(GROUPS) else f"model.{key}"
        raise UserError(f"{full}={value!r} is not allowed; it must be {allowed}")


def text(key: str, value: object, optional: bool = False) -> None:
    """A string that is not blank."""
    if optional and value is None:
        return
    require(key, value, isinstance(value, str) and bool(value.strip()), "a text" + (" or null" if optional else ""))


def flag(key: str, value: object) -> None:
    """A truth value."""
    require(key, value, isinstance(value, bool), "true or false")


def choice(key: str, value: object, allowed: Iterable[str]) -> None:
    """One of a closed set of words."""
    names = tuple(allowed)
    require(key, value, value in names, "one of " + ", ".join(names))


def integer(key: str, value: object, low: int, high: int | None = None, optional: bool = False) -> None:
    """A whole number from `low` to `high`, both included."""
    if optional and value is None:
        return
    holds = isinstance(value, int) and not isinstance(value, bool) and value >= low
    holds = holds and (high is None or (isinstance(value, int) and value <= high))
    span = f"from {low} to {high}" if high is not None else f"of at least {low}"
    require(key, value, holds, f"a whole number {span}" + (" or null" if optional else ""))


def number(
    key: str, value: object, low: float, high: float | None = None, above: bool = False, optional: bool = False
) -> None:
    """A finite number from `low` to `high`; `above` leaves `low` itself out."""
    if optional and value is None:
        return
    holds = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if holds and isinstance(value, int | float):
        holds = (value > low if above else value >= low) and (high is None or value <= high)
    span = f"{'above' if above else 'of at least'} {low:g}" + (f" and at most {high:g}" if high is not None else "")
    require(key, value, holds, f"a number {span}" + (" or null" if optional else ""))


def mapping(key: str, value: object) -> None:
    """A mapping whose keys are strings."""
    holds = isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
    require(key, value, holds, "a mapping, for example {} or {key: value}")


def known_keys(where: str, given: Mapping[str, Any], allowed: Iterable[str], required: Iterable[str] = ()) -> None:
    """Raise `UserError` for keys of `given` that are not `allowed` and for `required` ones that it lacks."""
    names = sorted(allowed)
    for key in given:
        if key not in names:
            raise UserError(f"{where} has no key {key!r}; allowed: {', '.join(names)}")
    missing = [key for key in required if given.get(key) is None]
    if missing:
        raise UserError(f"{where} needs a value for {', '.join(missing)}")
