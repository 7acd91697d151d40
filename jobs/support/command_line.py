"""What a command line asks for: Hydra's own flags and grammar, composed before anything starts."""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path

from hydra import version
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path, get_args_parser
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, OverrideParseException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from jobs.support.sweeps import Sweep
from udfs.errors import UserError

CONF = Path(__file__).resolve().parent.parent.parent / "conf"
VERSION_BASE = "1.3"
"""Of Hydra's behaviour: jobs stay in the folder they were started in."""


@dataclass(frozen=True)
class Composed:
    """One job that a command line asks for.

    Args:
        overrides: its `key=value`, those of the sweep among them.
        config: with the key `hydra`.
    """

    overrides: tuple[str, ...]
    config: DictConfig


@dataclass(frozen=True)
class CommandLine:
    """A job's arguments, taken apart.

    Args:
        flags: what is not `key=value`, as given.
        overrides: the `key=value`, as given.
        config_name: of the primary config.
    """

    flags: tuple[str, ...]
    overrides: tuple[str, ...]
    parsed: argparse.Namespace
    config_name: str

    @property
    def is_hydras(self) -> bool:
        """Whether Hydra is asked about itself: nothing of the job is composed."""
        asked = self.parsed
        return bool(asked.hydra_help or asked.shell_completion or asked.info or asked.experimental_rerun)

    @property
    def shows(self) -> bool:
        """Whether the composed config is shown and nothing runs (`--cfg`)."""
        return self.parsed.cfg is not None

    def arguments(self, *more: str) -> list[str]:
        """The command line for Hydra's parser, which wants flags first and all overrides together."""
        return [*self.flags, *self.overrides, *more]


def parse(arguments: Sequence[str], config_name: str) -> CommandLine:
    """Take a command line apart; flags may stand anywhere.

    Raises:
        UserError: an unknown flag, or flags that exclude each other.
    """
    said = io.StringIO()
    try:
        with redirect_stderr(said):
            parsed = get_args_parser().parse_intermixed_args(list(arguments))
    except SystemExit as left:
        if not left.code:
            raise  # --version
        line = (said.getvalue().strip().splitlines() or ["unreadable arguments"])[-1]
        raise UserError(f"{line.partition('error: ')[2] or line}; --help lists what there is") from left
    modes = {"--cfg": parsed.cfg is not None, "--multirun": parsed.multirun, "--run": parsed.run}
    given = [name for name, is_given in modes.items() if is_given]
    if len(given) > 1:
        raise UserError(f"{' and '.join(given)} exclude each other")
    if parsed.resolve and parsed.cfg is None:
        raise UserError("--resolve goes with --cfg")
    overrides = tuple(parsed.overrides)
    flags = tuple(argument for argument in arguments if argument not in overrides)
    return CommandLine(flags, overrides, parsed, parsed.config_name or config_name)


def compose_jobs(line: CommandLine) -> tuple[list[Composed], bool]:
    """Every job that the command line asks for, and whether it asks for a sweep (which may be of one job).

    Raises:
        UserError: one of them cannot be composed.
    """
    with _loader(line.parsed) as loader:
        overrides = list(line.overrides)
        try:
            whole = loader.load_configuration(line.config_name, overrides, RunMode.MULTIRUN, True, False)
            sweeps = line.parsed.multirun or (whole.hydra.mode == RunMode.MULTIRUN and not line.parsed.run)
            if line.shows or not sweeps:
                return [Composed(line.overrides, _single(loader, line))], False
            parameters = [f"{key}={value}" for key, value in (whole.hydra.sweeper.params or {}).items()]
            grammar = OverridesParser.create(config_loader=loader)
            given = OmegaConf.to_container(whole.hydra.overrides.task, resolve=False)
            assert isinstance(given, list)
            parsed = grammar.parse_overrides([*parameters, *map(str, given)])
            (combinations,) = BasicSweeper.split_arguments(parsed, None)
        except (HydraException, OmegaConfBaseException) as error:
            raise UserError(_said(error, line.config_name)) from error
        return [_combined(loader, line, whole, combinations, place) for place in range(len(combinations))], True


def _single(loader: ConfigLoader, line: CommandLine) -> DictConfig:
    return loader.load_configuration(line.config_name, list(line.overrides), RunMode.RUN)


def _combined(
    loader: ConfigLoader, line: CommandLine, whole: DictConfig, combinations: Sequence[Sequence[str]], place: int
) -> Composed:
    """The job at `place` of a sweep, as Hydra's launcher will compose it."""
    overrides = combinations[place]
    try:
        config = loader.load_sweep_config(whole, list(overrides))
    except (HydraException, OmegaConfBaseException) as error:
        said = _said(error, line.config_name)
        if len(combinations) > 1:
            said = f"of the {len(combinations)} jobs, {' '.join(Sweep(combinations).own(place))}: {said}"
        raise UserError(said) from error
    with open_dict(config):
        config.hydra.job.id = config.hydra.job.num = place
    return Composed(tuple(overrides), config)


def _said(error: Exception, config_name: str) -> str:
    """Hydra's several lines as one."""
    said = str(error).split("Config search path")[0].split("To append to your config")[0].split("See https://")[0]
    if isinstance(error, OverrideParseException):
        said = f"{error.override}: {said}"
    return f"{' '.join(said.split())} (conf/{config_name}.yaml lists the keys)"


@contextmanager
def _loader(parsed: argparse.Namespace) -> Iterator[ConfigLoader]:
    """Hydra's loader over `conf/`, and over what --config-path and --config-dir name."""
    version.setbase(VERSION_BASE)
    path = create_config_search_path(str(CONF.parent / "jobs" / parsed.config_path if parsed.config_path else CONF))
    if parsed.config_dir is not None:
        folder = Path(parsed.config_dir).absolute()
        if not folder.is_dir():
            raise UserError(f"--config-dir={parsed.config_dir}: no such folder")
        path.prepend("command-line", f"file://{folder}", SearchPathQuery(provider="schema"))
    try:
        yield Hydra.create_main_hydra2("jobs", path).config_loader
    finally:
        GlobalHydra.instance().clear()
