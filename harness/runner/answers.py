"""Opens the model that answers a run: its script, its cassette, a live endpoint, or a recording."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness import plugins
from harness.clock import Clocks, wall_clock_iso
from harness.errors import CassetteError, CassetteMiss, ConfigurationError, ModelError
from harness.folds import outcome_of, requests_used
from harness.models import ScriptedModel
from harness.protocols import Model
from harness.runner.own import OwnModel
from harness.runner.seats import MAIN, Seat, asked_as, seats
from harness.runner.specs import ModelSource, RunSpec
from harness.runner.version import VERSION
from harness.types.codes import Code, Outcome, Status
from harness.types.doors import ModelCall
from harness.types.events import Event
from harness.types.exchange import ModelFailed, ModelRequest, RequestHeader
from harness.types.lifecycle import FAULT_NOTE, RunEnd
from harness.types.messages import JsonText
from harness.types.records import Finding, Verdict
from harness.types.scenario import Scenario
from harness.types.script import ScriptFollows
from harness.types.verdict_names import ENDPOINT

if TYPE_CHECKING:
    from harness.cassettes import RecordTransport, ReplayTransport
    from harness.models import LiveModel
    from harness.runner.replay import Replay

_OF_THE_WORLD = frozenset(
    {
        *(Code.TRANSPORT, Code.TIMEOUT, Code.SERVER, Code.RATE_LIMIT, Code.AUTH, Code.QUOTA, Code.NO_MODEL),
        *(Code.DAMAGED_RESPONSE, Code.NO_FINISH_REASON, Code.PROVIDER_ABORTED, Code.UNKNOWN),
    }
)
"""What an endpoint did: it was not there, would not answer, or answered what is none."""
_NOT_KEPT = (Status.FAILED, Status.CANCELLED, None)


@dataclass(slots=True)
class OpenModel:
    """A model in use, and what stands behind it that has a last word."""

    model: Model
    replay: ReplayTransport | None = None
    recording: RecordTransport | None = None
    live: bool = False

    async def skip(self, calls: Sequence[ModelCall]) -> None:
        """Pass over what an earlier run used up for these requests: replies of a script, or recordings."""
        if isinstance(self.model, ScriptedModel):
            self.model.skip(calls)
        elif self.replay is not None:
            for call in calls:
                with suppress(ModelError, CassetteMiss):  # recorded failures; a miss is told by the closing verdict
                    await self.model.answer(call, signal=_NEVER, emit=_no_chunk)

    def closing_verdicts(self) -> tuple[Verdict, ...]:
        """Leftovers of a script or cassette, misses, an untouched recording."""
        closing = getattr(self.model, "closing_verdicts", None)
        own: tuple[Verdict, ...] = tuple(closing()) if closing is not None else ()
        return (*own, *(self.replay.closing_verdicts() if self.replay else ()))


@dataclass(slots=True)
class OpenModels:
    """The main model and those of other roles, in use."""

    main: OpenModel
    roles: dict[str, OpenModel]

    async def skip(self, past: Sequence[Event]) -> None:
        """Have the main model go on behind the root's requests in ``past``; other roles begin anew.

        A file does not say which role answered a request.
        """
        if past:
            await self.main.skip(calls_used(past))

    def closing_verdicts(self, events: Sequence[Event]) -> tuple[Verdict, ...]:
        """What each has to say at the end, one verdict a name; an endpoint that failed."""
        everyone = {id(one.model): one for one in (self.main, *self.roles.values())}.values()
        told = [verdict for one in everyone for verdict in one.closing_verdicts()]
        live = any(one.live for one in everyone)
        return (*joined(told), *(endpoint_verdicts(events) if live else ()))

    def keep_recordings(self, status: Status | None) -> tuple[Verdict, ...]:
        """Write the new cassettes. The old ones stay where that fails, or where the run failed or was
        cancelled; a verdict then tells why.
        """
        recordings = [one.recording for one in (self.main, *self.roles.values()) if one.recording is not None]
        if recordings and status in _NOT_KEPT:
            why = f"the run ended {status or 'without an end'}: the recording was not kept, an older one stays"
            return (Verdict("recording", Outcome.INVALID, (Finding("recording", why),)),)
        problems = [problem for problem in map(_commit, recordings) if problem is not None]
        findings = tuple(Finding("recording", problem) for problem in problems)
        return (Verdict("recording", Outcome.INVALID, findings),) if findings else ()


def _commit(recording: RecordTransport) -> str | None:
    try:
        recording.commit()
    except CassetteError as error:
        return str(error)
    return None


def joined(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """One verdict for each name, in the order of first appearance; the worst outcome, all findings."""
    by_name: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_name.setdefault(verdict.check, []).append(verdict)
    return tuple(_one(group) for group in by_name.values())


def _one(group: list[Verdict]) -> Verdict:
    if len(group) == 1:
        return group[0]
    findings = tuple(finding for verdict in group for finding in verdict.findings)
    why = "; ".join(verdict.why for verdict in group if verdict.why)
    return replace(group[0], outcome=outcome_of(group), findings=findings, why=why)


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


class _Never:
    """A signal that nobody sets."""

    is_set = False
    by = None

    async def wait(self) -> None:
        await asyncio.get_running_loop().create_future()


_NEVER = _Never()


def _no_chunk(_: JsonText) -> None:
    """What was streamed in an earlier run is told there."""


def calls_used(past: Sequence[Event]) -> list[ModelCall]:
    """The root's requests that used up an answer, as they were made."""
    used = {event.seq for event in requests_used(past, faults=FAULT_NOTE)}
    calls = []
    header: RequestHeader | None = None
    for event in past:
        fact = event.fact
        if event.agent:
            continue
        if isinstance(fact, RequestHeader):
            header = fact
        elif isinstance(fact, ModelRequest) and header is not None and event.seq in used:
            shown = (header.system, fact.messages, header.tools, header.parameters)
            calls.append(ModelCall(*shown, turn=event.turn, step=event.step, attempt=fact.attempt))
    return calls


@asynccontextmanager
async def open_models(spec: RunSpec, clock: Clocks, replay: Replay | None = None) -> AsyncIterator[OpenModels]:
    """The models of a run, closed at the end; a recording that was not kept is dropped.

    With ``replay`` one model answers in every role, as the recorded run was answered. Raises ConfigurationError (no
    script, no key), CassetteError (missing, empty, corrupt).
    """
    if replay is not None:
        model = OpenModel(replay.open(clock))
        roles = {role for role, _ in spec.scenario.models} | replay.roles
        yield OpenModels(model, dict.fromkeys(sorted(roles), model))
        return
    async with AsyncExitStack() as stack:
        main, *others = [(seat, await stack.enter_async_context(_open(spec, seat, clock))) for seat in seats(spec)]
        yield OpenModels(main[1], {seat.role: model for seat, model in others})


@asynccontextmanager
async def _open(spec: RunSpec, seat: Seat, clock: Clocks) -> AsyncIterator[OpenModel]:
    if seat.source is ModelSource.SCRIPTED:
        yield OpenModel(_scripted(spec, seat, clock))
        return
    if seat.source is ModelSource.OWN:
        async with _own(spec, clock) as own:
            yield OpenModel(own)
        return
    opened = _cassette(spec, seat, clock) if seat.source is ModelSource.CASSETTE else _live(spec, seat, clock)
    model = opened.model
    try:
        yield opened
    finally:
        if opened.recording is not None:
            opened.recording.abort()
        await _as_live(model).aclose()


@asynccontextmanager
async def _own(spec: RunSpec, clock: Clocks) -> AsyncIterator[Model]:
    model = OwnModel(spec.options.model or "").open(spec.scenario, clock)
    try:
        yield model
    finally:
        close = getattr(model, "aclose", None)
        if close is not None:
            await close()


def _as_live(model: Model) -> LiveModel:
    from harness.models import OpenAIChatModel, OpenAIResponsesModel

    assert isinstance(model, OpenAIChatModel | OpenAIResponsesModel)
    return model


def _scripted(spec: RunSpec, seat: Seat, clock: Clocks) -> ScriptedModel:
    scenario = spec.scenario
    if seat.script is None:
        raise ConfigurationError(
            f"scenario {scenario.id!r} has no script: run it with its cassette or live (--model cassette, --model live)"
        )
    return ScriptedModel(
        seat.script,
        scenario=_named(scenario, seat),
        unasked="Remove them from the script, or say allow_leftovers." if seat.role != MAIN else None,
        clock=clock,
        resolve=plugins.resolve,
        follows=scenario.script_follows if seat.role == MAIN else ScriptFollows.ORDER,
        allow_leftovers=seat.allow_leftovers,
    )


def _cassette(spec: RunSpec, seat: Seat, clock: Clocks) -> OpenModel:
    from harness.cassettes import cassette_path, open_replay
    from harness.models import model_over

    path = cassette_path(spec.options.cassettes, spec.scenario.id, seat.recorded_as, spec.trial)
    timed = clock if seat.model is not None and seat.model.timing else None
    transport = open_replay(
        path, scenario=spec.scenario.id, clock=timed, secrets=spec.options.secrets, allow_leftovers=seat.allow_leftovers
    )
    about = transport.cassette.about
    model = model_over(transport, asked_as(spec, seat), host=about.host if about is not None else "")
    return OpenModel(model, replay=transport)


def _live(spec: RunSpec, seat: Seat, clock: Clocks) -> OpenModel:
    from harness.models import live_model

    environ = dict(spec.options.environ)
    recording = _recording(spec, seat, clock) if seat.source is ModelSource.RECORD else None
    model = live_model(environ, asked_as(spec, seat), recording)
    return OpenModel(model, recording=recording, live=True)


def _recording(spec: RunSpec, seat: Seat, clock: Clocks) -> RecordTransport:
    import httpx2

    from harness.cassettes import RecordingInfo, RefreshTransport, cassette_path, older_recording, open_recording

    scenario = spec.scenario
    path = cassette_path(spec.options.cassettes, scenario.id, seat.recorded_as, spec.trial)
    upstream = httpx2.AsyncHTTPTransport()
    older = older_recording(path) if spec.options.keep_fitting else None
    return open_recording(
        path,
        upstream=upstream if older is None else RefreshTransport(older, upstream),
        secrets=spec.options.secrets,
        info=RecordingInfo(scenario.id, scenario.digest, wall_clock_iso(), VERSION),
        clock=clock,
    )


def _named(scenario: Scenario, seat: Seat) -> str:
    """Whose script it is, where a scenario has several."""
    if seat.role != MAIN:
        return f"{scenario.id} (models.{seat.role})"
    return f"{scenario.id} (script)" if scenario.models else scenario.id
