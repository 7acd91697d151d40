"""How every job is started: Hydra composes, a frozen dataclass checks, the job runs; errors become one clear line."""

from __future__ import annotations

import dataclasses
import os
import select
import signal
import sys
import tempfile
import traceback
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import hydra
import pyarrow as pa
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from jobs.support.command_line import CONF, VERSION_BASE, CommandLine, Composed, compose_jobs, parse
from jobs.support.help_text import help_text
from jobs.support.storage import Reached
from jobs.support.sweeps import Failure, Sweep
from udfs.errors import RunFailed, StorageError, UserError, without_secrets

__all__ = ["CONF", "compose", "job", "rewriting", "to_dataclass"]

Config = TypeVar("Config")

EXIT_FAILED = 1
EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130
EXIT_UNREAD = 141  # as a shell reports what SIGPIPE ended

INTERRUPTED = "interrupted; start the same command again to go on"
UNREAD = "stopped: nobody reads the output any more (`| head`?); start the same command again to go on"
DEFECT = "unexpected: please report it with the lines above; what is recorded stays, and the same command goes on"
MAX_DEFECT_CHARS = 300

STORAGE_ERRORS = (OSError, pa.ArrowInvalid)
"""What storage raises that is full, read-only, damaged or not there."""


def job(
    config_name: str, schema: type[Config], check: Callable[[Config], None] = lambda config: None
) -> Callable[[Callable[[Config], None]], Callable[[], None]]:
    """Make `main(config)` a command: `python -m jobs.NAME key=value …` over `conf/<config_name>.yaml`.

    Exit codes: 0 done (rows that failed are counted, not fatal), 2 something the user can mend, 1 the run failed,
    130 interrupted, 141 nobody reads the output any more. With -m, or where an experiment asks for it, the command is a
    sweep: its jobs run one after another in this process, and it ends with 1 when one of them failed.

    Args:
        check: what can be said of a config before anything starts: of a sweep, before its first job.
    """

    def decorate(main: Callable[[Config], None]) -> Callable[[], None]:
        def command() -> None:
            _hear_signals()
            try:
                line = parse(sys.argv[1:], config_name)
                if line.parsed.help:
                    _show(help_text(config_name, sys.modules[main.__module__].__doc__ or "", CONF))
                else:
                    _start(line, main, schema, check)
                sys.stdout.flush()
            except UserError as error:
                _leave(f"error: {error}", EXIT_USER_ERROR)
            except STORAGE_ERRORS as error:
                failure = _io_failure(error)
                _leave(failure.line, failure.code)
            except KeyboardInterrupt:
                _leave(INTERRUPTED, EXIT_INTERRUPTED)

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


def _show(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:  # `--help | head`: whoever asked has seen enough
        _leave("", EXIT_UNREAD)


def _start(
    line: CommandLine, main: Callable[[Config], None], schema: type[Config], check: Callable[[Config], None]
) -> None:
    """Compose and check every job that is asked for, then let Hydra run them."""
    sweep = None
    if not line.is_hydras:
        composed, is_sweep = compose_jobs(line)
        sweep = Sweep([one.overrides for one in composed]) if is_sweep else None
        if not line.shows:
            _check(composed, schema, check)

    def run(config: DictConfig) -> None:
        place = HydraConfig.get().job.num if sweep else 0
        if sweep:
            sweep.begin(place)
        failure = _attempt(lambda: main(to_dataclass(config, schema)))
        if sweep:
            sweep.end(place, failure)
        elif failure:
            _leave(failure.line, failure.code)

    start = hydra.main(version_base=VERSION_BASE, config_path=str(CONF), config_name=line.config_name)(run)
    with tempfile.TemporaryDirectory(prefix="sweep-") as folder:  # Hydra's notes on a sweep, which nobody reads
        given = any(override.startswith("hydra.sweep.dir=") for override in line.overrides)
        sys.argv[1:] = line.arguments(*([f"hydra.sweep.dir='{folder}'"] if sweep and not given else []))
        start()
    if sweep:
        _end(sweep)


def _check(jobs: Sequence[Composed], schema: type[Config], check: Callable[[Config], None]) -> None:
    """Raise `UserError` where a job of the command could not start: with its overrides, unless it holds for all."""
    said: list[str | None] = []
    storage = Reached()
    for one in jobs:
        HydraConfig.instance().set_config(one.config)  # ${hydra:…} may stand in a config
        try:
            if one.config.hydra.job.chdir:
                raise UserError("hydra.job.chdir=true would move relative paths such as storage.root: leave it out")
            config = to_dataclass(one.config, schema)
            storage.check(config)
            check(config)
            said.append(None)
        except UserError as error:
            said.append(str(error))
    HydraConfig.instance().cfg = None
    for place, text in enumerate(said):
        if text is not None:
            everywhere = said.count(text) == len(said)
            own = " ".join(Sweep([one.overrides for one in jobs]).own(place))
            raise UserError(text if everywhere else f"of the {len(jobs)} jobs, {own}: {text}")


def _attempt(run: Callable[[], None]) -> Failure | None:
    """Run one job; how it failed, if it did. An interrupt goes through."""
    try:
        run()
    except UserError as error:
        return Failure(f"error: {error}", EXIT_USER_ERROR)
    except RunFailed as error:
        return Failure(f"failed: {error}", EXIT_FAILED)
    except STORAGE_ERRORS as error:
        return _io_failure(error)
    except Exception as error:  # noqa: BLE001 - a defect: all of it is shown, and a sweep's other jobs still run
        sys.stdout.flush()
        traceback.print_exc()
        said = " ".join(str(error).split())[:MAX_DEFECT_CHARS]
        return Failure(f"failed: {type(error).__name__}: {said} ({DEFECT})", EXIT_FAILED)
    return None


def _io_failure(error: Exception) -> Failure:
    if isinstance(error, BrokenPipeError) and _output_is_gone():
        return Failure(UNREAD, EXIT_UNREAD)
    said = " ".join(str(error).split())
    known = isinstance(error, StorageError)
    return Failure(f"failed: {said}" if known else f"failed: {type(error).__name__}: {said}", EXIT_FAILED)


def _output_is_gone() -> bool:
    """Whether standard output is a pipe that its reader has closed."""
    poll = select.poll()
    try:
        poll.register(sys.stdout, 0)
    except ValueError:  # no file of the system
        return False
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _end(sweep: Sweep) -> None:
    print("\n".join(sweep.summary()))
    if sweep.failures:
        count = f"{len(sweep.failures)} of {len(sweep.jobs)} jobs"
        _leave(f"failed: {count}; started again, the same command redoes nothing that is recorded", EXIT_FAILED)


def _hear_signals() -> None:
    """From now on Ctrl-C and a cluster's polite stop let the job write what is there, then leave."""
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # ignored: started in the background by a shell
        signal.signal(signal.SIGINT, signal.default_int_handler)


def compose(config_name: str, schema: type[Config], overrides: Sequence[str]) -> Config:
    """The config that `python -m jobs.NAME *overrides` runs with, for calling a job from Python.

    Raises:
        UserError: as `to_dataclass`.
    """
    with hydra.initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        return to_dataclass(hydra.compose(config_name, overrides=list(overrides)), schema)


def _interrupt(signum: int, frame: types.FrameType | None) -> None:
    raise KeyboardInterrupt


def _leave(text: str, code: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has left, as `| head` does; do not fail once more at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if text:
        print(without_secrets(text), file=sys.stderr, flush=True)
    sys.exit(code)


def to_dataclass(composed: DictConfig | dict[str, Any], schema: type[Config]) -> Config:
    """A composed config as `schema`, a (nested) frozen dataclass; no DictConfig goes past this point.

    Raises:
        UserError: an unknown key, a missing value or one of the wrong type, with the key's full name.
    """
    try:
        plain = _plain(composed) if isinstance(composed, DictConfig) else composed
    except OmegaConfBaseException as error:  # ${…} that leads nowhere
        raise UserError(" ".join(str(error).split())) from error
    assert isinstance(plain, dict)
    return typing.cast("Config", _build(schema, {str(k): v for k, v in plain.items() if k != "hydra"}, ""))


def _plain(composed: DictConfig) -> Any:
    """All but the key `hydra`, with ${…} resolved."""
    resolved = {}
    for key in composed:
        if key != "hydra":
            value = OmegaConf.select(composed, str(key)) if not OmegaConf.is_missing(composed, key) else "???"
            resolved[str(key)] = OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
    return resolved


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
