"""The runs of a sweep: observed with the ticks of their events, compared with the reference, judged."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from harness.clock import VirtualLoop
from harness.folds import calls_of, committed_view
from harness.protocols import Subject, World
from harness.runner.executing import execute
from harness.runner.inject import FAULT_NOTE
from harness.runner.judging import EXPECTATIONS
from harness.runner.result import RunResult
from harness.runner.specs import RunSpec
from harness.runner.sweep_plan import FAULT_TEXT, SWEPT
from harness.types.codes import ClockKind, Effect, LimitKind, Origin, Outcome, Status, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest, ToolEnd, ToolStart
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import CancelDelivered, CancelRequested, Note, RunEnd
from harness.types.messages import JsonText
from harness.types.profile import Profile
from harness.types.reasons import LimitHit
from harness.types.records import Finding
from harness.types.scenario import CallOrder, Expectations, ExpectedCall, ExpectedCalls, FaultAction, Injection
from harness.types.script import ScriptFollows
from harness.types.sweeps import CellOutcome, SweepCell

NOT_JUDGED: Final = EXPECTATIONS | {"script", "inject"}
"""Verdicts on what the scenario wanted of an undisturbed run."""
SURVIVES: Final = "tool_error_survived"
"""Name of the finding on a loop that dies of a tool's error (CONFORMANCE 39)."""
BEGINS_ANEW: Final = "model_error_runs_tools_again"
"""Name of the finding on a loop that answers a failed request by doing the work again (CONFORMANCE 140)."""
_BEGUN: Final = frozenset({"cancel_no_tool_start", "cancel_no_model_request"})


class Counted:
    """A subject whose events get the tick of the event loop in which they were recorded (virtual time only)."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.ticks: list[int] = []

    @property
    def name(self) -> str:
        """The subject's own."""
        return self._subject.name

    @property
    def profile(self) -> Profile:
        """The subject's own."""
        return self._subject.profile

    @property
    def observed(self) -> tuple[tuple[str, Origin], ...]:
        """The subject's own."""
        return self._subject.observed

    async def run(self, world: World) -> None:
        """Run the subject."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualLoop):
            virtual = loop
            world.log.listen(lambda _: self.ticks.append(virtual.n_ticks))
        await self._subject.run(world)


@dataclass(frozen=True, slots=True)
class Observed:
    """A run and the tick of each of its events, by seq (empty under the system's clock)."""

    result: RunResult
    ticks: tuple[int, ...]
    follows: ScriptFollows = ScriptFollows.ORDER

    @property
    def trajectory(self) -> Trajectory:
        """What it recorded."""
        return self.result.trajectory

    @property
    def n_ticks(self) -> int:
        """Ticks from its first event to its end; 0 where they are not counted."""
        end = _end(self.trajectory)
        return self.ticks[end.seq] - self.ticks[0] if self.ticks and end else 0

    def findings(self) -> tuple[Finding, ...]:
        """What failed checks found, the scenario's own wishes apart."""
        failed = [v for v in self.result.verdicts if v.outcome is Outcome.FAIL and v.check not in NOT_JUDGED]
        return tuple(one for v in failed for one in (v.findings or (Finding(v.check, v.why or "failed"),)))

    def errors(self) -> str:
        """Which verdicts are errors, and why; "" for none."""
        wrong = [v for v in self.result.verdicts if v.outcome is Outcome.ERROR]
        return "; ".join(f"{v.check}: {v.why or v.findings[0].message}" for v in wrong)


def observe(spec: RunSpec, subject: Subject) -> Observed:
    """Run a spec and judge it. Raises what ``execute`` raises."""
    counted = Counted(subject)
    return Observed(execute(spec, subject=counted), tuple(counted.ticks), spec.scenario.script_follows)


def difference(run: Trajectory, reference: Trajectory, n_events: int | None = None) -> str:
    """Where the first ``n_events`` (None: all) of a run are not those of the reference; "" for nowhere.

    Under virtual time everything counts; under the system's clock the committed view, since tools in
    threads may swap.
    """
    if run.header.clock is not ClockKind.VIRTUAL:
        return _other_view(run, reference, n_events)
    mine, theirs = (_undisturbed(one.events[:n_events]) for one in (run, reference))
    for a, b in zip(mine, theirs, strict=False):
        if a != b:
            return f"event {a.seq} is {a.fact.TYPE}{_same_kind(a, b)}"
    return "" if len(mine) == len(theirs) else f"{len(mine)} events, in the reference {len(theirs)}"


def _undisturbed(events: Iterable[Event]) -> list[Event]:
    """Without the harness's notes at the end, which tell of the injection itself."""
    return [event for event in events if not isinstance(event.fact, Note)]


def _same_kind(a: Event, b: Event) -> str:
    if a.fact.TYPE == b.fact.TYPE:
        return " with other content than in the reference"
    return f", in the reference {b.fact.TYPE}"


def _other_view(run: Trajectory, reference: Trajectory, n_events: int | None) -> str:
    mine = committed_view(Trajectory(run.header, run.events[:n_events]))
    theirs = committed_view(reference)
    for a, b in zip(mine, theirs, strict=False):
        if a.key != b.key:
            return f"event {a.seq} is {a.kind}, in the reference {b.kind} or other content"
    if n_events is None and len(mine) != len(theirs):
        return f"{len(mine)} committed events, in the reference {len(theirs)}"
    return ""


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where an injection stands in the log: behind ``n_before`` events; ``judged_from`` None: not delivered."""

    n_before: int
    judged_from: Event | None


def _mark(trajectory: Trajectory, injection: Injection) -> _Mark | None:
    if isinstance(injection.do, FaultAction):
        note = next((event for event in trajectory if _is_our_fault(event)), None)
        return None if note is None else _Mark(note.seq, note)
    asked = next((e for e in trajectory if isinstance(e.fact, CancelRequested) and e.fact.reason == SWEPT), None)
    got = next((e for e in trajectory if isinstance(e.fact, CancelDelivered) and e.fact.reason == SWEPT), None)
    return None if asked is None else _Mark(asked.seq, got)


def _is_our_fault(event: Event) -> bool:
    return isinstance(event.fact, Note) and event.fact.name == FAULT_NOTE and FAULT_TEXT in (event.fact.data or "")


def judged(injection: Injection, run: Observed, reference: Observed) -> SweepCell:
    """The cell of one disturbed run."""
    mark = _mark(run.trajectory, injection)
    other = difference(run.trajectory, reference.trajectory, mark.n_before if mark else None)
    if other:
        return SweepCell(injection, CellOutcome.FLAKY, why=f"the loop did not repeat itself before that: {other}")
    if mark is None or mark.judged_from is None:
        return SweepCell(injection, CellOutcome.VOID, why="it came too late, or where nothing was open")
    known = set(reference.findings())
    found = tuple(
        one
        for one in (
            *run.findings(),
            *_died(injection, run, reference, mark.judged_from),
            *_began_anew(injection, run, reference),
        )
        if one not in known
    )
    if found:
        close = all(_is_close(one, run, mark.judged_from) for one in found)
        return SweepCell(injection, CellOutcome.CLOSE if close else CellOutcome.RED, found)
    errors = run.errors()
    return SweepCell(injection, CellOutcome.ERROR if errors else CellOutcome.CLEAN, why=errors)


def _died(injection: Injection, run: Observed, reference: Observed, fault: Event) -> tuple[Finding, ...]:
    """A loop that failed or stood still because a tool failed, which the model should have been told of
    (CONFORMANCE 39).
    """
    of_a_tool = isinstance(injection.do, FaultAction) and injection.at.kind == "tool/start"
    of_the_model = any(isinstance(e.fact, ModelFailed) and e.seq > fault.seq for e in run.trajectory)
    end = _end(run.trajectory)
    if not of_a_tool or of_the_model or end is None or _gave_up(_end(reference.trajectory)):
        return ()
    what = _gave_up(end)
    text = f"the run {what} because a tool failed: the model was not told, or the loop did not go on"
    return (Finding(SURVIVES, text, (fault.seq, end.seq), "conformance:39"),) if what else ()


def wishes_of(names: Collection[str], reference: Observed) -> Expectations:
    """What a scenario file must expect to show findings that compare a run with its reference."""
    calls = [trace.call for trace in calls_of(reference.trajectory)]
    wanted = tuple(ExpectedCall(call.name, _as_object(call.arguments)) for call in calls)
    return Expectations(
        status=reference.result.status.value if SURVIVES in names and reference.result.status else None,
        calls=(ExpectedCalls(CallOrder.SUBSET, wanted),) if BEGINS_ANEW in names else (),
    )


def _as_object(arguments: str) -> JsonText | None:
    value = parse_json(arguments or "{}")
    return canonical_json(value) if isinstance(value, Mapping) else None


def _began_anew(injection: Injection, run: Observed, reference: Observed) -> Iterator[Finding]:
    """Bodies with an effect that ran more often than in the reference because a request failed.

    Only where the script follows the history: elsewhere the model may have asked for them.
    """
    of_the_model = isinstance(injection.do, FaultAction) and injection.at.kind == "model/request"
    if not of_the_model or run.follows is not ScriptFollows.HISTORY:
        return
    reading = {tool.name for tool in run.trajectory.header.tools if tool.effect is Effect.READ}
    told = {number for finding in run.findings() for number in finding.events}
    left = Counter(_work(event) for event in reference.trajectory)
    for event in run.trajectory:
        work = _work(event)
        left[work] -= 1
        if work is not None and work[0] not in reading and left[work] < 0 and event.seq not in told:
            text = f"the body of {work[0]!r} ran again with {work[1]} because a request to the model failed"
            yield Finding(BEGINS_ANEW, text, (event.seq,), "conformance:140")


def _work(event: Event) -> tuple[str, str] | None:
    return (event.fact.name, event.fact.arguments) if isinstance(event.fact, ToolStart) else None


def _end(trajectory: Trajectory) -> Event | None:
    return next((event for event in trajectory if isinstance(event.fact, RunEnd)), None)


def _gave_up(end: Event | None) -> str:
    """ "" for a run that came to an end by itself."""
    match end.fact if end else None:
        case RunEnd(status=Status.FAILED):
            return "failed"
        case RunEnd(reason=LimitHit(which=LimitKind.WALL_TIME)):
            return "ran out of time"
        case _:
            return ""


def _is_close(finding: Finding, run: Observed, delivered: Event) -> bool:
    """Begun in the tick in which the cancel travels through the tasks of a loop that is cancelled by them,
    and stopped there.

    A task that was ready in that tick runs before its parent is told; no loop can prevent that.
    """
    told_by_tasks = dict(run.trajectory.header.observed).get("tool/result") is Origin.PROBE
    if not (told_by_tasks and run.ticks and finding.check in _BEGUN and finding.events):
        return False
    begun = run.trajectory.events[finding.events[-1]]
    at_once = begun.time == delivered.time and run.ticks[begun.seq] <= run.ticks[delivered.seq] + 1
    return at_once and not _went_on(begun, run.trajectory)


def _went_on(begun: Event, trajectory: Trajectory) -> bool:
    """The request was answered, or the body took its time and was not stopped."""
    for event in trajectory.events[begun.seq + 1 :]:
        if isinstance(event.fact, AssistantMessage) and isinstance(begun.fact, ModelRequest):
            return True
        if isinstance(event.fact, ToolEnd) and event.fact.start == begun.seq:
            return event.fact.outcome is not ToolOutcome.CANCELLED and event.time != begun.time
    return isinstance(begun.fact, ToolStart)
