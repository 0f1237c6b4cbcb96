"""Events of agents in one canonical order: those of each child together, in the order of the calls that made them.

Children of one answer run at once, and so does what sums up its long results: the order in which their events stand in
a file depends on how long models and tools took, and says nothing of what was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.types.agents import child_path
from harness.types.context import summariser_path
from harness.types.events import ROOT_AGENT, Event
from harness.types.exchange import AssistantMessage, ModelRequest, ToolCall, ToolResult
from harness.types.lifecycle import RunEnd, RunQuiescent, StepEnd, TurnEnd

_CLOSES = (AssistantMessage, ModelRequest, StepEnd, TurnEnd, RunEnd, RunQuiescent)


def in_call_order(events: Sequence[Event]) -> Sequence[Event]:
    """The same events, those of each child directly before the result of its call.

    Without a result they stand before what closes the step of the call, in the order of the calls. Events of one agent
    keep their order; so do, with it, those of an agent below its path that no call made (what sums up older messages, a
    speaker of an import). So any interleaving of children gives the same order. Linear.
    """
    if not any(event.agent for event in events):
        return events
    paths = {path for event in events for path in _children(event)}
    lanes: dict[str, _Lane] = {}
    owners: dict[str, str] = {}
    for event in events:
        if event.agent not in owners:
            owners[event.agent] = _owner(event.agent, paths)
        lanes.setdefault(owners[event.agent], _Lane()).events.append(event)
    return tuple(_walked(lanes))


def _children(event: Event) -> tuple[str, ...]:
    """The paths of all that the calls of this event may make."""
    fact = event.fact
    if isinstance(fact, ToolCall):
        return _made_by(event.agent, fact.call_id)
    calls = fact.tool_calls if isinstance(fact, AssistantMessage) else ()
    return tuple(path for call in calls for path in _made_by(event.agent, call.id))


def _made_by(agent: str, call_id: str) -> tuple[str, ...]:
    """The paths of a child that a call makes (the id alone in a file that names ids anew), and of its summariser."""
    paths = (child_path(agent, call_id), call_id, summariser_path(agent, call_id)) if call_id else ()
    return tuple(path for path in paths if path != agent)


def _owner(agent: str, paths: set[str]) -> str:
    """Whose lane it is in: its own where a call made it, else that of the agent in whose path it lies."""
    while agent and agent not in paths:
        agent = agent.rpartition("/")[0]
    return agent


@dataclass(slots=True)
class _Lane:
    """The events of one child (or of the root), how far they are told, and its own children that are not told yet."""

    events: list[Event] = field(default_factory=list)
    n_told: int = 0
    waiting: dict[str, str] = field(default_factory=dict)  # path of the child: agent that called it

    def due(self, event: Event | None) -> str | None:
        """The child that stands before this event (None: the end of the lane)."""
        if not self.waiting:
            return None
        if event is None:
            return next(iter(self.waiting))
        if isinstance(event.fact, ToolResult):
            made = _made_by(event.agent, event.fact.call_id)
            return next((path for path in made if path in self.waiting), None)
        if isinstance(event.fact, _CLOSES):
            return next((path for path, caller in self.waiting.items() if caller == event.agent), None)
        return None


def _walked(lanes: dict[str, _Lane]) -> Iterator[Event]:
    """From the root down; a lane is left for that of a child and taken up again behind it."""
    open_ = [lanes.pop(ROOT_AGENT, _Lane())]
    while open_ or lanes:
        if not open_:  # agents of a damaged file that call each other
            open_.append(lanes.pop(next(iter(lanes))))
        lane = open_[-1]
        event = lane.events[lane.n_told] if lane.n_told < len(lane.events) else None
        due = lane.due(event)
        if due is not None:
            del lane.waiting[due]
            if due in lanes:
                open_.append(lanes.pop(due))
        elif event is None:
            open_.pop()
        else:
            lane.n_told += 1
            yield event
            lane.waiting |= {path: event.agent for path in _children(event) if path in lanes}
