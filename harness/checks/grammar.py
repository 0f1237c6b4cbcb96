"""`event_grammar`, outer half: numbers, frames and ends. The inner half is in `grammar_work`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.grammar_attempts import attempt_findings
from harness.checks.grammar_work import work_findings
from harness.checks.reading import at, by_agent, sees
from harness.folds.imported import is_import
from harness.types.codes import Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    RequestHeader,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
)
from harness.types.facts import is_ignorable
from harness.types.lifecycle import (
    CancelDelivered,
    CancelRequested,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    RunEnd,
    RunQuiescent,
    RunStart,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnStart,
)
from harness.types.reasons import Interrupted

_IN_STEP: Final = (
    RequestHeader,
    ModelRequest,
    AssistantChunk,
    AssistantMessage,
    ModelFailed,
    ModelRetry,
    ToolCall,
    ToolStart,
    ToolResult,
)
_BEFORE_RUN: Final = (InboxQueued, InboxClaimed, InboxDiscarded, CancelRequested, CancelDelivered)


def _event_grammar(trajectory: Trajectory) -> Iterator[Found]:
    yield from _numbering(trajectory)
    yield from _origins(trajectory)
    yield from _last_line(trajectory)
    for agent, events in by_agent(trajectory).items():
        yield from _run_ends(trajectory, agent, events)
        yield from _frames(trajectory, events)
        yield from work_findings(trajectory, events)
        yield from attempt_findings(trajectory, events)


# ---------------------------------------------------------------- numbers and origins


def _numbering(trajectory: Trajectory) -> Iterator[Found]:
    latest: Event | None = None
    for position, event in enumerate(trajectory.events):
        if event.seq != position:
            yield found(f"event {position} of the file has seq {event.seq}", event, rule="conformance:3")
        if event.time is not None and not is_import(trajectory):
            if latest is not None and latest.time is not None and event.time < latest.time:
                text = f"time goes back from {latest.time} to {event.time} ms"
                yield found(text, latest, event, rule="conformance:3")
            latest = event


def _origins(trajectory: Trajectory) -> Iterator[Found]:
    observed = dict(trajectory.header.observed)
    for event in trajectory.events:
        claimed = observed.get(event.fact.TYPE)
        if claimed is not None and event.origin is not claimed:
            text = f"{event.fact.TYPE} comes from {event.origin}, the header says {claimed}"
            yield found(text, event, rule="conformance:9")


# ---------------------------------------------------------------- run


def _last_line(trajectory: Trajectory) -> Iterator[Found]:
    if not sees(trajectory, RunQuiescent.TYPE):
        return
    line: Event | None = None
    for event in trajectory.events:
        if line is not None:
            text = f"{event.fact.TYPE} comes after run/quiescent, which is the last line"
            yield found(text, line, event, rule="conformance:9")
        if isinstance(event.fact, RunQuiescent):
            line = event
    if line is None:
        yield found("no run/quiescent: the run was never seen to come to rest", rule="conformance:9")


def _run_ends(trajectory: Trajectory, agent: str, events: list[Event]) -> Iterator[Found]:
    starts = [event for event in events if isinstance(event.fact, RunStart)]
    if sees(trajectory, RunStart.TYPE) and not agent:
        yield from _run_start(events, starts)
    ends = [event for event in events if isinstance(event.fact, RunEnd)]
    expected = sees(trajectory, RunEnd.TYPE) and not is_import(trajectory) and (not agent or starts)
    if not ends and expected:
        yield found(f"no run/end{_of(agent)}: the run was interrupted", rule="conformance:9")
    for extra in ends[1:]:
        yield found(f"a second run/end{_of(agent)}", ends[0], extra, rule="conformance:9")
    if ends:
        yield from _after_end(events, ends[0])


def _run_start(events: list[Event], starts: list[Event]) -> Iterator[Found]:
    if not starts:
        yield found("no run/start", rule="conformance:4")
        return
    for extra in starts[1:]:
        yield found("a second run/start", starts[0], extra, rule="conformance:4")
    for event in events:
        if event is starts[0]:
            return
        if not isinstance(event.fact, _BEFORE_RUN) and not is_ignorable(event.fact):
            yield found(f"{event.fact.TYPE} comes before run/start", event, starts[0], rule="conformance:4")


def _after_end(events: list[Event], end: Event) -> Iterator[Found]:
    for event in events[events.index(end) + 1 :]:
        if isinstance(event.fact, ToolStart | ModelRequest):
            yield found(f"{event.fact.TYPE} after run/end", end, event, rule="conformance:9")
        elif event.origin is not Origin.PROBE and not isinstance(event.fact, RunEnd):
            text = f"{event.fact.TYPE} after run/end, where only the harness still speaks"
            yield found(text, end, event, rule="conformance:9")


def _of(agent: str) -> str:
    return f" of agent {agent!r}" if agent else ""


# ---------------------------------------------------------------- turns and steps


@dataclass(slots=True)
class _Frames:
    """What is open, and the last numbers given."""

    turns: bool
    steps: bool
    turn: Event | None = None
    step: Event | None = None
    n_turn: int = 0
    n_step: int = 0


def _frames(trajectory: Trajectory, events: list[Event]) -> Iterator[Found]:
    frames = _Frames(sees(trajectory, TurnStart.TYPE), sees(trajectory, StepStart.TYPE))
    for event in events:
        match event.fact:
            case TurnStart():
                yield from _open_turn(frames, event)
            case TurnEnd():
                yield from _close_turn(frames, event)
            case StepStart():
                yield from _open_step(frames, event)
            case StepEnd():
                yield from _close_step(frames, event)
            case RunEnd(reason=reason) if not (isinstance(reason, Interrupted) and is_import(trajectory)):
                for still_open in (frames.step, frames.turn):
                    if still_open is not None:
                        text = f"run/end while {still_open.fact.TYPE}{at(still_open)} is open"
                        yield found(text, still_open, event, rule="conformance:4")
            case _:
                yield from _inside(frames, event)


def _open_turn(frames: _Frames, event: Event) -> Iterator[Found]:
    if frames.turn is not None:
        yield found(f"turn/start{at(event)} inside an open turn", frames.turn, event, rule="conformance:4")
    if event.turn is not None and event.turn != frames.n_turn + 1:
        yield found(f"turn {event.turn} follows turn {frames.n_turn}", event, rule="conformance:4")
    frames.turn, frames.n_turn, frames.n_step = event, event.turn or frames.n_turn + 1, 0


def _close_turn(frames: _Frames, event: Event) -> Iterator[Found]:
    if frames.turn is None:
        yield found(f"turn/end{at(event)} without an open turn", event, rule="conformance:4")
    elif event.turn != frames.turn.turn:
        yield found(f"turn/end of turn {event.turn} closes turn {frames.turn.turn}", event, rule="conformance:4")
    if frames.step is not None:
        yield found(f"turn/end{at(event)} while a step is open", frames.step, event, rule="conformance:4")
    frames.turn = frames.step = None


def _open_step(frames: _Frames, event: Event) -> Iterator[Found]:
    if frames.turns and frames.turn is None:
        yield found(f"step/start{at(event)} outside any turn", event, rule="conformance:4")
    if frames.step is not None:
        yield found(f"step/start{at(event)} inside an open step", frames.step, event, rule="conformance:4")
    if event.step is not None and event.step != frames.n_step + 1:
        yield found(f"step {event.step} follows step {frames.n_step}", event, rule="conformance:4")
    frames.step, frames.n_step = event, event.step or frames.n_step + 1


def _close_step(frames: _Frames, event: Event) -> Iterator[Found]:
    if frames.step is None:
        yield found(f"step/end{at(event)} without an open step", event, rule="conformance:4")
    elif event.step != frames.step.step:
        yield found(f"step/end of step {event.step} closes step {frames.step.step}", event, rule="conformance:4")
    frames.step = None


def _inside(frames: _Frames, event: Event) -> Iterator[Found]:
    if isinstance(event.fact, ToolEnd) or is_ignorable(event.fact):
        return  # an abandoned body may end when it will; what may be skipped has no place
    kind = event.fact.TYPE
    if frames.steps and isinstance(event.fact, _IN_STEP):
        if frames.step is None:
            yield found(f"{kind}{at(event)} outside any open step", event, rule="conformance:4")
        elif event.step is not None and event.step != frames.step.step:
            text = f"{kind} says step {event.step} inside step {frames.step.step}"
            yield found(text, frames.step, event, rule="conformance:4")
    if frames.turns and event.turn is not None and (frames.turn is None or event.turn != frames.turn.turn):
        yield found(f"{kind} says turn {event.turn}, which is not open", event, rule="conformance:4")


EVENT_GRAMMAR = BuiltCheck(
    name="event_grammar",
    about="numbers, nesting, one end, and every kind of event in its place",
    needs=(),
    rules=tuple(f"conformance:{n}" for n in (3, 4, 5, 9, 30, 49, 102, 144, 151, 152)),
    findings=_event_grammar,
)
