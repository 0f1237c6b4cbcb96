"""What is to be run: options, and one spec for each run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from harness.errors import ConfigurationError, NothingToRunError
from harness.redaction import known_secrets
from harness.runner.continuation import Continuation
from harness.store import trajectory_file, trajectory_path
from harness.types.messages import RunId
from harness.types.scenario import Scenario


class ModelSource(StrEnum):
    """Where a run's answers come from. AUTO: the script where there is one, else the cassette.

    OWN is a model of the user's, by the name in ``RunOptions.model``. REPLAY is a recorded run (``harness replay``).
    """

    AUTO = "auto"
    SCRIPTED = "scripted"
    CASSETTE = "cassette"
    LIVE = "live"
    RECORD = "record"
    OWN = "own"
    REPLAY = "replay"


_NOT_BY_NAME = (ModelSource.RECORD, ModelSource.OWN, ModelSource.REPLAY)


def source_of(name: str) -> tuple[ModelSource, str | None]:
    """What a user calls a model: ``auto``, ``scripted``, ``cassette``, ``live``, or the name of an own one.

    Gives ``source`` and ``model`` of RunOptions. Whether the name leads anywhere is seen when runs are
    planned.
    """
    offered = [source.value for source in ModelSource if source not in _NOT_BY_NAME]
    return (ModelSource(name), None) if name in offered else (ModelSource.OWN, name)


BUILT_IN = "built-in"
CASSETTES = Path("cassettes")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a caller chose. ``subject`` is ``built-in``, an entry point, or ``package.module:name``.

    ``model`` names the user's own model (entry point or ``package.module:name``) where ``source`` is OWN.
    ``checks`` are names of checks that are asked for; None: all that apply. ``workspace`` is the folder
    that file and memory tools work in; without one each run gets a fresh one. ``approver`` answers for a
    person: ``terminal``, or ``package.module:name``; None: whatever the scenario scripts. ``keep_fitting``: where
    recordings are made, requests that the older one answers are answered by it.
    """

    subject: str = BUILT_IN
    source: ModelSource = ModelSource.AUTO
    trials: int = 1
    arm: str = "default"
    checks: tuple[str, ...] | None = None
    cassettes: Path = CASSETTES
    folder: Path | None = None
    workspace: Path | None = None
    model: str | None = None
    approver: str | None = None
    keep_fitting: bool = False
    environ: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values of the environment that must never be written."""
        return _secrets(self.environ)


@lru_cache(maxsize=8)
def _secrets(environ: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return known_secrets(dict(environ))


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run: scenario, arm, trial (from 1), with everything needed in another process.

    ``going_on``: the run that it goes on from.
    """

    scenario: Scenario
    options: RunOptions
    trial: int = 1
    going_on: Continuation | None = None

    @property
    def run_id(self) -> RunId:
        """``<scenario>@<arm>#<trial>``: the same in every folder of runs; one that goes on says so."""
        if self.going_on is not None:
            return self.going_on.run_id
        return RunId(f"{self.scenario.id}@{self.options.arm}#{self.trial}")

    @property
    def source(self) -> ModelSource:
        """The source with AUTO decided."""
        if self.options.source is not ModelSource.AUTO:
            return self.options.source
        return ModelSource.SCRIPTED if self.scenario.script is not None else ModelSource.CASSETTE

    @property
    def path(self) -> Path | None:
        """The trajectory's path in the folder of runs; None where nothing is kept."""
        if self.options.folder is None:
            return None
        return trajectory_path(self.options.folder, self.scenario.id, self.options.arm, self.trial)

    @property
    def file(self) -> str:
        """That path inside the folder of runs, with slashes; empty where nothing is kept."""
        if self.options.folder is None:
            return ""
        return trajectory_file(self.scenario.id, self.options.arm, self.trial)


def plan(scenarios: Sequence[Scenario], options: RunOptions, *, extra: Collection[str] = ()) -> tuple[RunSpec, ...]:
    """One spec for each scenario and trial, in order; skipped scenarios are left out.

    Everything that is named (subject, checks, tools, functions, the key of a live model) is looked up
    here, before anything runs; ``extra`` are names of checks that the caller has at hand. Raises
    UsageError kin, ConfigurationError for trials below 1, NothingToRunError when nothing is left.
    """
    from harness.runner.preflight import preflight

    if options.trials < 1:
        raise ConfigurationError(f"trials is {options.trials}; at least 1 is needed")
    if not scenarios:
        raise NothingToRunError("no scenarios: the paths hold none, or -k left none")
    chosen = [scenario for scenario in scenarios if scenario.skip is None]
    if not chosen:
        raise NothingToRunError(f"no scenarios: all {len(scenarios)} are skipped")
    preflight(chosen, options, extra=extra)
    return tuple(RunSpec(scenario, options, trial) for scenario in chosen for trial in range(1, options.trials + 1))
