"""`children`: does every child agent live inside the call that started it, and does its parent say what it came to?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent, is_import, is_within, plain_text
from harness.types.agents import child_path
from harness.types.codes import CancelBy, Code, LimitKind, Status
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolEnd, ToolResult, ToolStart
from harness.types.lifecycle import CancelDelivered, RunEnd, TurnEnd, TurnStart
from harness.types.profile_loop import LimitPrecedence
from harness.types.profile_run import ParentCancel
from harness.types.reasons import Cancelled, LimitHit

_RULE: Final = "conformance:88"
_OF_TIME: Final = (LimitKind.WALL_TIME, LimitKind.TURN_TIME)


@dataclass(slots=True)
class _Call:
    """What a parent's events tell of one call: its answer, its body's start and end, its result."""

    answer: Event
    start: Event | None = None
    end: Event | None = None
    result: Event | None = None


@dataclass(slots=True)
class _Calls:
    """Every call of a run by the path that a child of it has, and the call of each running body."""

    of_path: dict[str, _Call] = field(default_factory=dict)
    of_start: dict[int, _Call] = field(default_factory=dict)

    def follow(self, event: Event) -> None:
        """Take the next event into account."""
        match event.fact:
            case AssistantMessage(tool_calls=calls):
                for call in calls:
                    self.of_path.setdefault(child_path(event.agent, call.id), _Call(event))
            case ToolStart(call_id=call_id) if call_id is not None:
                one = self.of_path.get(child_path(event.agent, call_id))
                if one is not None:
                    one.start, one.end = event, None
                    self.of_start[event.seq] = one
            case ToolEnd(start=start) if start in self.of_start:
                self.of_start[start].end = event
            case ToolResult(call_id=call_id):
                one = self.of_path.get(child_path(event.agent, call_id))
                if one is not None:
                    one.result = one.result or event
            case _:
                pass


def _children(trajectory: Trajectory) -> Iterator[Found]:
    yield from _places(trajectory)
    calls = _Calls()
    for event in trajectory.events:
        calls.follow(event)
    for agent, events in by_agent(trajectory).items():
        if agent and agent in calls.of_path:
            yield from _outcome(agent, events, calls.of_path[agent])
    if trajectory.header.profile.parent_cancel is ParentCancel.REACHES_CHILDREN:
        yield from _reached(trajectory)


def _places(trajectory: Trajectory) -> Iterator[Found]:
    """Each event of a child lies between the start of its call's body and that body's end; once told a child."""
    calls = _Calls()
    told: set[str] = set()
    turns: dict[str, Event] = {}
    for event in trajectory.events:
        if event.agent and event.agent not in told:
            for one in _misplaced(event, calls.of_path.get(event.agent)):
                told.add(event.agent)
                yield one
        calls.follow(event)
        match event.fact:
            case TurnStart():
                turns[event.agent] = event
            case TurnEnd():
                turns.pop(event.agent, None)
                yield from _left_open(event, turns)
            case ToolEnd(start=start) if start in calls.of_start:
                yield from _left_open(event, turns, calls.of_start[start])
            case RunEnd() if not event.agent:
                yield from _left_open(event, turns)
            case _:
                pass


def _misplaced(event: Event, call: _Call | None) -> Iterator[Found]:
    kind = event.fact.TYPE
    if call is None:
        yield found(f"{kind}{at(event)} is of a child that no call started", event, rule=_RULE)
    elif call.start is None:
        text = f"{kind}{at(event)} comes before the body of its child's call has started"
        yield found(text, call.answer, event, rule=_RULE)
    elif call.end is not None and not isinstance(event.fact, ToolEnd):  # a body that was given up may still end
        text = f"{kind}{at(event)} comes after the body of its child's call has ended"
        yield found(text, call.end, event, rule=_RULE)
    elif call.result is not None and not isinstance(event.fact, ToolEnd):
        text = f"{kind}{at(event)} comes after its parent has the result of the call"
        yield found(text, call.result, event, rule=_RULE)


def _left_open(end: Event, turns: dict[str, Event], call: _Call | None = None) -> Iterator[Found]:
    """Turns of children that are open where their parent's turn, or the body that started them, ends."""
    for agent, turn in list(turns.items()):
        inside = is_within(agent, end.agent) and agent != end.agent
        if call is not None and call.start is not None and isinstance(call.start.fact, ToolStart):
            inside = is_within(agent, child_path(end.agent, call.start.fact.call_id or ""))
        if inside:
            del turns[agent]
            text = f"the turn of child {agent!r} is open where its parent's {end.fact.TYPE}{at(end)} comes"
            yield found(text, turn, end, rule=_RULE)


def _outcome(agent: str, events: list[Event], call: _Call) -> Iterator[Found]:
    """A completed child's answer is the result of its call; any other end is an error result."""
    ends = [event for event in events if isinstance(event.fact, TurnEnd)]
    result = call.result.fact if call.result is not None else None
    if not ends or not isinstance(result, ToolResult) or result.is_error:
        return
    end = ends[-1].fact
    if isinstance(end, TurnEnd) and end.status is not Status.COMPLETED:
        text = f"child {agent!r} ended {end.status}, and its call has a good result"
        yield found(text, ends[-1], call.result, rule=_RULE)
        return
    said = [e for e in events if isinstance(e.fact, AssistantMessage | ToolResult)]
    last = said[-1].fact if said and result.code not in (Code.TRUNCATED, Code.EMPTY) else None
    if isinstance(last, AssistantMessage) and plain_text(last.content) != plain_text(result.content):
        text = f"the result of the call that started child {agent!r} is not the child's answer"
        yield found(text, said[-1], call.result, rule=_RULE)


def _reached(trajectory: Trajectory) -> Iterator[Found]:
    """A child's turn that is open when a cancel of an ancestor is delivered ends as cancelled by its parent."""
    limits_may_win = trajectory.header.profile.limit_precedence is not LimitPrecedence.CANCEL_TIME_STEPS
    open_turns: dict[str, Event] = {}
    met: dict[str, Event] = {}
    for event in trajectory.events:
        match event.fact:
            case TurnStart():
                open_turns[event.agent] = event
            case CancelDelivered():
                for agent in open_turns:
                    if agent != event.agent and is_within(agent, event.agent):
                        met.setdefault(agent, event)
            case TurnEnd(status=status, reason=reason):
                open_turns.pop(event.agent, None)
                cancel = met.pop(event.agent, None)
                by_parent = isinstance(reason, Cancelled) and reason.by is CancelBy.PARENT
                in_time = limits_may_win and isinstance(reason, LimitHit) and reason.which in _OF_TIME
                if cancel is not None and not by_parent and not in_time:
                    text = f"a cancel reached the parent of child {event.agent!r}, whose turn ended {status}"
                    by = f" by {reason.by}" if isinstance(reason, Cancelled) else ""
                    yield found(f"{text} ({reason.kind}{by}), not cancelled by parent", cancel, event, rule=_RULE)
            case _:
                pass


def _has_children(trajectory: Trajectory) -> str:
    if is_import(trajectory):
        return "a foreign file tells its agents in its own way"
    return "" if any(event.agent for event in trajectory.events) else "the run has no child agents"


CHILDREN = BuiltCheck(
    name="children",
    about="a child agent lives inside its call, a cancel reaches it, and its end is what its parent is told",
    needs=(("tool/start", None), ("tool/end", None), ("turn/end", None)),
    rules=(_RULE, "article:21"),
    findings=_children,
    applies=_has_children,
)
