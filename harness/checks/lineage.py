"""`lineage`: a run that goes on from another, or was repaired, stands on what really happened before.

What was taken over is what its header says, up to a place where a run may go on; what repair says of a
call agrees with what the file knows of it; and no call that an interrupted run had begun runs again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent, sees
from harness.folds import REPAIR_CODES, closed_boundaries, prefix_digest
from harness.types.codes import Code
from harness.types.events import Event, Parent, Trajectory
from harness.types.exchange import ToolCall, ToolResult, ToolStart, UserMessage
from harness.types.lifecycle import ApprovalAnswered, ApprovalAsked, RunEnd, RunStart, TurnEnd, TurnStart
from harness.types.messages import CallId
from harness.types.reasons import Interrupted

_REPAIRED: Final = frozenset(REPAIR_CODES)


def _lineage(trajectory: Trajectory) -> Iterator[Found]:
    if trajectory.header.parent is not None:
        yield from _taken_over(trajectory, trajectory.header.parent)
    for events in by_agent(trajectory).values():
        yield from _repairs(
            events, starts_seen=sees(trajectory, ToolStart.TYPE), turns_seen=sees(trajectory, TurnEnd.TYPE)
        )


# ---------------------------------------------------------------- what was taken over


def _taken_over(trajectory: Trajectory, parent: Parent) -> Iterator[Found]:
    events = trajectory.events
    if parent.seq >= len(events):
        text = f"goes on from event {parent.seq} of {parent.run_id!r}, and holds {len(events)} events"
        yield found(text, rule="conformance:137")
        return
    last = events[parent.seq]
    past = events[: parent.seq + 1]
    if parent.digest is not None and prefix_digest(past) != parent.digest:
        text = f"events 0 to {parent.seq} are not those of {parent.run_id!r}, as the header has their digest"
        yield found(text, last, rule="conformance:137")
    if not isinstance(last.fact, ApprovalAsked) and parent.seq not in closed_boundaries(past):
        text = f"goes on behind event {parent.seq} ({last.fact.TYPE}), where a turn is open or no run"
        yield found(text, last, rule="conformance:126")
    yield from _answered(events, last)


def _answered(events: tuple[Event, ...], asked: Event) -> Iterator[Found]:
    """The question that the run was parked at is the first thing that is settled."""
    if not isinstance(asked.fact, ApprovalAsked):
        return
    for event in events[asked.seq + 1 :]:
        match event.fact:
            case ApprovalAnswered(call_id=call_id) if call_id == asked.fact.call_id:
                return
            case ToolStart(call_id=call_id) if call_id == asked.fact.call_id:
                text = f"the parked call {call_id!r} starts{at(event)} before its answer is told"
                yield found(text, asked, event, rule="article:28")
                return
            case _:
                pass


# ---------------------------------------------------------------- repairs


def _repairs(events: list[Event], *, starts_seen: bool, turns_seen: bool) -> Iterator[Found]:
    """What repair says of calls; kinds of events that are only in turns that were interrupted or cancelled.

    Where no turns are told, the end of the run is that of what the user said last.
    """
    called: set[CallId] = set()
    started: dict[CallId, Event] = {}
    repaired: dict[CallId, Event] = {}
    turn: list[Event] = []
    for event in events:
        match event.fact:
            case TurnStart() | RunStart():
                turn = []
            case UserMessage() if not turns_seen:
                turn = []
            case ToolCall(call_id=call_id):
                called.add(call_id)
            case ToolStart(call_id=call_id) if call_id is not None:
                if call_id in repaired:
                    text = f"call {call_id!r} starts{at(event)} although repair had settled it"
                    yield found(text, repaired[call_id], event, rule="conformance:140")
                started[call_id] = event
            case ToolResult(code=code, call_id=call_id) if code in _REPAIRED:
                turn.append(event)
                repaired.setdefault(call_id, event)
                if starts_seen:
                    yield from _agrees(event, event.fact, started.get(call_id), was_called=call_id in called)
            case TurnEnd() | RunEnd():
                yield from _only_when_it_died(turn, event)
                turn = []
            case _:
                pass


def _agrees(event: Event, result: ToolResult, start: Event | None, *, was_called: bool) -> Iterator[Found]:
    if result.code is Code.TOOL_NOT_STARTED and start is not None:
        text = f"call {result.call_id!r} is said never to have started{at(event)}, and its body did"
        yield found(text, start, event, rule="conformance:131")
    if result.code is Code.TOOL_OUTCOME_UNKNOWN and start is None:
        what = "was recorded only" if was_called else "was never recorded"
        text = (
            f"the outcome of call {result.call_id!r} is said to be unknown{at(event)}, but it {what} and never started"
        )
        yield found(text, event, rule="conformance:132")


def _only_when_it_died(turn: list[Event], end: Event) -> Iterator[Found]:
    reason = end.fact.reason if isinstance(end.fact, TurnEnd | RunEnd) else None
    if turn and reason is not None and not isinstance(reason, Interrupted) and reason.kind != "cancelled":
        text = f"a turn that ended {reason.kind} has results that only repair gives"
        yield found(text, *turn, end, rule="conformance:133")


def _applies(trajectory: Trajectory) -> str:
    if trajectory.header.parent is not None:
        return ""
    for event in trajectory.events:
        match event.fact:
            case TurnEnd(reason=Interrupted()) | RunEnd(reason=Interrupted()):
                return ""
            case ToolResult(code=code) if code in _REPAIRED:
                return ""
            case _:
                pass
    return "the run goes on from no other, and nothing in it was repaired"


LINEAGE = BuiltCheck(
    name="lineage",
    about="what a run took over is what its header says, and what repair settled stays settled",
    needs=(),
    rules=(*(f"conformance:{n}" for n in (126, 131, 132, 133, 137, 140)), "article:28"),
    findings=_lineage,
    applies=_applies,
)
