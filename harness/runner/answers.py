"""Opens the model that answers a run: its script, its cassette, a live endpoint, or a recording."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness import plugins
from harness.clock import Clocks, wall_clock_iso
from harness.errors import CassetteError, ConfigurationError
from harness.models import ScriptedModel
from harness.protocols import Model
from harness.runner.own import OwnModel
from harness.runner.specs import ModelSource, RunSpec
from harness.runner.version import VERSION
from harness.types.codes import Code, Outcome, Status
from harness.types.events import Event
from harness.types.exchange import ModelFailed
from harness.types.lifecycle import RunEnd
from harness.types.messages import JsonText
from harness.types.records import Finding, Verdict
from harness.types.scenario import NO_PARAMETERS

if TYPE_CHECKING:
    from harness.cassettes import RecordTransport, ReplayTransport
    from harness.models import OpenAIChatModel

DEFAULT_MODEL = "local-model"
ENDPOINT = "endpoint"
"""Name of the verdict on an endpoint that could not be used."""
_OF_THE_WORLD = frozenset(
    {Code.TRANSPORT, Code.TIMEOUT, Code.SERVER, Code.RATE_LIMIT, Code.AUTH, Code.QUOTA, Code.NO_MODEL}
)
_NOT_KEPT = (Status.FAILED, Status.CANCELLED, None)


@dataclass(slots=True)
class OpenModel:
    """A model in use, and what stands behind it that has a last word."""

    model: Model
    replay: ReplayTransport | None = None
    recording: RecordTransport | None = None
    live: bool = False

    def closing_verdicts(self, events: Sequence[Event]) -> tuple[Verdict, ...]:
        """Leftovers of a script or cassette, misses, an untouched recording, an endpoint that failed."""
        closing = getattr(self.model, "closing_verdicts", None)
        own: tuple[Verdict, ...] = tuple(closing()) if closing is not None else ()
        replayed = self.replay.closing_verdicts() if self.replay else ()
        return (*own, *replayed, *(endpoint_verdicts(events) if self.live else ()))

    def keep_recording(self, status: Status | None) -> tuple[Verdict, ...]:
        """Write the new cassette. The old one stays where that fails, or where the run failed or was
        cancelled; a verdict then tells why.
        """
        if self.recording is None:
            return ()
        if status in _NOT_KEPT:
            why = f"the run ended {status or 'without an end'}: the recording was not kept, an older one stays"
            return (Verdict("recording", Outcome.INVALID, (Finding("recording", why),)),)
        try:
            self.recording.commit()
        except CassetteError as error:
            return (Verdict("recording", Outcome.INVALID, (Finding("recording", str(error)),)),)
        return ()


def endpoint_verdicts(events: Sequence[Event]) -> tuple[Verdict, ...]:
    """ERROR where a run failed because its live endpoint could not be used: nobody's loop is to blame."""
    status = next((e.fact.status for e in reversed(events) if isinstance(e.fact, RunEnd)), None)
    last = next((e for e in reversed(events) if isinstance(e.fact, ModelFailed)), None)
    if status is not Status.FAILED or last is None or not isinstance(last.fact, ModelFailed):
        return ()
    if last.fact.code not in _OF_THE_WORLD:
        return ()
    finding = Finding(ENDPOINT, f"{last.fact.code}: {last.fact.message}", (last.seq,))
    return (Verdict(ENDPOINT, Outcome.ERROR, (finding,)),)


def model_name(spec: RunSpec) -> str:
    """The model's name in the header: ``scripted``, the user's own, what the scenario names, or
    HARNESS_MODEL live.
    """
    if spec.source is ModelSource.SCRIPTED:
        return "scripted"
    if spec.source is ModelSource.OWN:
        return spec.options.model or ""
    named = spec.scenario.model.name if spec.scenario.model else DEFAULT_MODEL
    live = spec.source in (ModelSource.LIVE, ModelSource.RECORD)
    return dict(spec.options.environ).get("HARNESS_MODEL", named) if live else named


@asynccontextmanager
async def open_model(spec: RunSpec, clock: Clocks) -> AsyncIterator[OpenModel]:
    """The model of a run, closed at the end; a recording that was not kept is dropped.

    Raises ConfigurationError (no script, no key), CassetteError (missing, empty, corrupt).
    """
    if spec.source is ModelSource.SCRIPTED:
        yield OpenModel(_scripted(spec, clock))
        return
    if spec.source is ModelSource.OWN:
        async with _own(spec, clock) as own:
            yield OpenModel(own)
        return
    opened = _cassette(spec, clock) if spec.source is ModelSource.CASSETTE else _live(spec, clock)
    model = opened.model
    try:
        yield opened
    finally:
        if opened.recording is not None:
            opened.recording.abort()
        await _as_client(model).aclose()


@asynccontextmanager
async def _own(spec: RunSpec, clock: Clocks) -> AsyncIterator[Model]:
    model = OwnModel(spec.options.model or "").open(spec.scenario, clock)
    try:
        yield model
    finally:
        close = getattr(model, "aclose", None)
        if close is not None:
            await close()


def _as_client(model: Model) -> OpenAIChatModel:
    from harness.models import OpenAIChatModel

    assert isinstance(model, OpenAIChatModel)
    return model


def _scripted(spec: RunSpec, clock: Clocks) -> ScriptedModel:
    scenario = spec.scenario
    if scenario.script is None:
        raise ConfigurationError(
            f"scenario {scenario.id!r} has no script: run it with its cassette or live (--model cassette, --model live)"
        )
    return ScriptedModel(
        scenario.script,
        scenario=scenario.id,
        clock=clock,
        resolve=plugins.resolve,
        allow_leftovers=scenario.allow_leftovers,
    )


def _cassette(spec: RunSpec, clock: Clocks) -> OpenModel:
    from harness.cassettes import cassette_path, open_replay
    from harness.models import chat_model_over

    name = model_name(spec)
    path = cassette_path(spec.options.cassettes, spec.scenario.id, name, spec.trial)
    secrets = spec.options.secrets
    transport = open_replay(path, scenario=spec.scenario.id, secrets=secrets)
    return OpenModel(chat_model_over(transport, name=name, parameters=_parameters(spec)), replay=transport)


def _live(spec: RunSpec, clock: Clocks) -> OpenModel:
    from harness.models import chat_model_from_env

    environ = dict(spec.options.environ)
    name = model_name(spec)
    recording = _recording(spec, clock) if spec.source is ModelSource.RECORD else None
    model = chat_model_from_env(environ, recording, name=name, parameters=_parameters(spec))
    return OpenModel(model, recording=recording, live=True)


def recorded_as(spec: RunSpec) -> str:
    """The model's name in a cassette's path: what the scenario names, so that replay finds it again."""
    return spec.scenario.model.name if spec.scenario.model else DEFAULT_MODEL


def _recording(spec: RunSpec, clock: Clocks) -> RecordTransport:
    import httpx2

    from harness.cassettes import RecordingInfo, cassette_path, open_recording

    scenario = spec.scenario
    return open_recording(
        cassette_path(spec.options.cassettes, scenario.id, recorded_as(spec), spec.trial),
        upstream=httpx2.AsyncHTTPTransport(),
        secrets=spec.options.secrets,
        info=RecordingInfo(scenario.id, scenario.digest, wall_clock_iso(), VERSION),
        clock=clock,
    )


def _parameters(spec: RunSpec) -> JsonText:
    return spec.scenario.model.parameters if spec.scenario.model else NO_PARAMETERS
