"""Who answers in which role of a run, and from where."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.errors import ConfigurationError
from harness.runner.specs import ModelSource, RunSpec
from harness.types.scenario import ModelApi, ModelSpec, RoleSpec
from harness.types.script import ScriptEntry

DEFAULT_MODEL: Final = "local-model"
MAIN: Final = "main"
API: Final = "HARNESS_API"
STREAM: Final = "HARNESS_STREAM"
PROFILE: Final = "HARNESS_PROFILE"


@dataclass(frozen=True, slots=True)
class Seat:
    """Who is to answer in one role, and from where."""

    role: str
    source: ModelSource
    script: tuple[ScriptEntry, ...] | None
    model: ModelSpec | None
    allow_leftovers: bool

    @property
    def recorded_as(self) -> str:
        """The model's name in a cassette's path, so that replay finds it again; other roles add theirs."""
        name = self.model.name if self.model else DEFAULT_MODEL
        return name if self.role == MAIN else f"{self.role}={name}"


def seats(spec: RunSpec) -> tuple[Seat, ...]:
    """The main model first, then the others by role."""
    scenario = spec.scenario
    main = Seat(MAIN, spec.source, scenario.script, scenario.model, scenario.allow_leftovers)
    others = (
        Seat(role, _source(one, spec.source), one.script, one.model, one.allow_leftovers)
        for role, one in scenario.models
    )
    return (main, *others)


def _source(role: RoleSpec, main: ModelSource) -> ModelSource:
    """A role's script answers wherever the run is not live or recording, or no model stands behind it."""
    if main is ModelSource.REPLAY:
        return main
    if role.script is not None and (role.model is None or main not in (ModelSource.LIVE, ModelSource.RECORD)):
        return ModelSource.SCRIPTED
    return main if main in (ModelSource.LIVE, ModelSource.RECORD) else ModelSource.CASSETTE


def model_names(spec: RunSpec) -> tuple[tuple[str, str], ...]:
    """Role and name of each model, for the header."""
    return tuple((seat.role, name_of(spec, seat)) for seat in seats(spec))


def name_of(spec: RunSpec, seat: Seat) -> str:
    """``scripted``, the user's own, what the scenario names, or HARNESS_MODEL live."""
    if seat.source is ModelSource.SCRIPTED:
        return "scripted"
    if seat.source is ModelSource.REPLAY:
        return "replay"
    if seat.source is ModelSource.OWN:
        return spec.options.model or ""
    named = seat.model.name if seat.model else DEFAULT_MODEL
    live = seat.source in (ModelSource.LIVE, ModelSource.RECORD)
    return dict(spec.options.environ).get("HARNESS_MODEL", named) if live else named


def asked_as(spec: RunSpec, seat: Seat) -> ModelSpec:
    """How a seat's model is asked: as the scenario says, and HARNESS_API, HARNESS_STREAM, HARNESS_PROFILE above it.

    Raises ConfigurationError for a value that is none.
    """
    return as_environment_says(
        replace(seat.model or ModelSpec(DEFAULT_MODEL), name=name_of(spec, seat)), spec.options.environ
    )


def as_environment_says(asked: ModelSpec, said: Iterable[tuple[str, str]]) -> ModelSpec:
    """How a model is asked, with HARNESS_API, HARNESS_STREAM and HARNESS_PROFILE above what was written down.

    Raises ConfigurationError for a value that is none.
    """
    environ = {name: value.strip() for name, value in said if value.strip()}
    if API in environ:
        asked = replace(asked, api=ModelApi(_one_of(API, environ[API], tuple(ModelApi))))
    if STREAM in environ:
        asked = replace(asked, stream=_one_of(STREAM, environ[STREAM], ("true", "false")) == "true")
    return replace(asked, profile=environ.get(PROFILE, asked.profile))


def _one_of(name: str, value: str, allowed: Collection[str]) -> str:
    if value not in allowed:
        raise ConfigurationError(f"{name} is {value!r}; allowed are {', '.join(sorted(allowed))}")
    return value


def cassettes_of(spec: RunSpec) -> tuple[Path, ...]:
    """The cassettes that a run replays or records, the main model's first."""
    from harness.cassettes import cassette_path

    sources = (ModelSource.RECORD, ModelSource.CASSETTE)
    names = [seat.recorded_as for seat in seats(spec) if seat.source in sources]
    return tuple(cassette_path(spec.options.cassettes, spec.scenario.id, name, spec.trial) for name in names)
