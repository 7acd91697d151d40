"""How every job is started: Hydra composes, a frozen dataclass checks, the job runs; errors become one clear line."""

from __future__ import annotations

import dataclasses
import signal
import sys
import types
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import hydra
import pyarrow as pa
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from udfs.errors import RunFailed, UserError

CONF = Path(__file__).resolve().parent.parent / "conf"
Config = TypeVar("Config")

EXIT_FAILED = 1
EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130


def job(config_name: str, schema: type[Config]) -> Callable[[Callable[[Config], None]], Callable[[], None]]:
    """Make `main(config)` a command: `python -m jobs.NAME key=value …` over `conf/<config_name>.yaml`.

    Exit codes: 0 done (rows that failed are counted, not fatal), 2 something the user can mend, 1 the run failed,
    130 interrupted.
    """

    def decorate(main: Callable[[Config], None]) -> Callable[[], None]:
        def run(composed: DictConfig) -> None:
            signal.signal(signal.SIGTERM, _interrupt)  # a cluster's polite stop: write what is there, then leave
            try:
                main(to_dataclass(composed, schema))
            except UserError as error:
                _leave(f"error: {error}", EXIT_USER_ERROR)
            except RunFailed as error:
                _leave(f"failed: {error}", EXIT_FAILED)
            except (OSError, pa.ArrowInvalid) as error:  # storage that is full, read-only, damaged or not there
                _leave(f"failed: {type(error).__name__}: {' '.join(str(error).split())}", EXIT_FAILED)
            except KeyboardInterrupt:
                _leave("interrupted; start the same command again to go on", EXIT_INTERRUPTED)

        start = hydra.main(version_base="1.3", config_path=str(CONF), config_name=config_name)(run)

        def command() -> None:
            _check_overrides(config_name, sys.argv[1:])
            start()

        return command

    return decorate


def rewriting(main: Callable[[], None], rewrite: Callable[[Sequence[str]], list[str]]) -> Callable[[], None]:
    """`main` over a command line that is no Hydra one yet, such as a bare first word: `rewrite` makes it one.

    A `UserError` of `rewrite` is one line and exit code 2, as in every job.
    """

    def command() -> None:
        try:
            sys.argv[1:] = rewrite(sys.argv[1:])
        except UserError as error:
            _leave(f"error: {error}", EXIT_USER_ERROR)
        main()

    return command


def _check_overrides(config_name: str, arguments: list[str]) -> None:
    """Leave with one line where Hydra cannot compose what was asked for; it would print several, and exit with 1."""
    if any(argument.startswith("-") for argument in arguments):
        return  # --help, --cfg, -m: Hydra's own
    try:
        with hydra.initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
            hydra.compose(config_name, overrides=arguments)
    except (HydraException, OmegaConfBaseException) as error:
        said = str(error).split("Config search path")[0].split("To append to your config")[0]
        _leave(f"error: {' '.join(said.split())} (conf/{config_name}.yaml lists the keys)", EXIT_USER_ERROR)


def compose(config_name: str, schema: type[Config], overrides: Sequence[str]) -> Config:
    """The config that `python -m jobs.NAME *overrides` runs with, for calling a job from Python.

    Raises:
        UserError: as `to_dataclass`.
    """
    with hydra.initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        return to_dataclass(hydra.compose(config_name, overrides=list(overrides)), schema)


def _interrupt(signum: int, frame: types.FrameType | None) -> None:
    raise KeyboardInterrupt


def _leave(text: str, code: int) -> None:
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)
    sys.exit(code)


def to_dataclass(composed: DictConfig | dict[str, Any], schema: type[Config]) -> Config:
    """A composed config as `schema`, a (nested) frozen dataclass; no DictConfig goes past this point.

    Raises:
        UserError: an unknown key, a missing value or one of the wrong type, with the key's full name.
    """
    plain = OmegaConf.to_container(composed, resolve=True) if isinstance(composed, DictConfig) else composed
    assert isinstance(plain, dict)
    return typing.cast("Config", _build(schema, {str(k): v for k, v in plain.items() if k != "hydra"}, ""))


def _build(schema: Any, values: dict[str, Any], prefix: str) -> Any:
    hints = typing.get_type_hints(schema)
    fields = {f.name: f for f in dataclasses.fields(schema)}
    for key in values:
        if key not in fields:
            raise UserError(f"unknown config key {prefix + key!r}; allowed here: {', '.join(fields)}")
    given = {}
    for name, field in fields.items():
        if name in values:
            given[name] = _convert(hints[name], values[name], prefix + name)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise UserError(f"config key {prefix + name!r} is missing")
    return schema(**given)


def _convert(hint: Any, value: Any, key: str) -> Any:
    if value == "???":
        raise UserError(f"config key {key!r} must be given: add {key}=… to the command")
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        inner = next(a for a in args if a is not type(None))
        return None if value is None and type(None) in args else _convert(inner, value, key)
    if origin is typing.Literal:
        if value not in args:
            raise UserError(f"{key}={value!r} is not allowed; choose one of {', '.join(map(str, args))}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise UserError(f"{key} must be a list such as '[a,b]', got {value!r}")
        return tuple(_convert(args[0], item, f"{key}[{i}]") for i, item in enumerate(value))
    if origin is dict or dataclasses.is_dataclass(hint):
        if not isinstance(value, dict):
            raise UserError(f"{key} must be a group of keys, got {value!r}")
        given = {str(k): v for k, v in value.items()}
        return given if origin is dict else _build(hint, given, key + ".")
    return _scalar(hint, value, key)


def _scalar(hint: Any, value: Any, key: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is str and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise UserError(f"{key}={value!r} must be of type {hint.__name__}")
    return value
