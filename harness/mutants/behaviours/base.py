"""One other behaviour of a run, and the steps that a run is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.types.events import ROOT_AGENT, Event, Trajectory
from harness.types.exchange import (
    AssistantMessage,
    ContextReplaced,
    ModelRequest,
    RequestHeader,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
    UserMessage,
)
from harness.types.jsontext import parse_json
from harness.types.lifecycle import (
    ApprovalAnswered,
    ApprovalAsked,
    CancelDelivered,
    CancelRequested,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    Note,
    RunEnd,
    StepEnd,
    StepStart,
    TurnEnd,
)
from harness.types.mutating import MutationKind
from harness.types.reasons import EmittedCall

_DISTURBING: Final = (
    InboxQueued,
    InboxClaimed,
    InboxDiscarded,
    UserMessage,
    CancelRequested,
    CancelDelivered,
    ContextReplaced,
)
_OF_NEXT: Final = (RequestHeader, *_DISTURBING)
_ENDS: Final = (TurnEnd, RunEnd)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Another run that the same agent might have made; ``event`` is where it parts from the run as it was.

    ``nth`` is the call (from 1) where its answer has several.
    ``instead`` are other ways to write the same behaviour, for where this one contradicts the run's limits or end.
    """

    kind: MutationKind
    what: str
    event: Event
    before: str
    after: str
    trajectory: Trajectory
    instead: tuple[Trajectory, ...] = ()
    nth: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the main agent: its events in order, those of its children among them, and its answer."""

    rows: tuple[Event, ...]
    answer: Event

    @property
    def message(self) -> AssistantMessage:
        """The answer itself."""
        assert isinstance(self.answer.fact, AssistantMessage)
        return self.answer.fact

    @property
    def calls(self) -> tuple[EmittedCall, ...]:
        """What it asks for."""
        return self.message.tool_calls

    @property
    def is_plain(self) -> bool:
        """Nothing came from outside while it was open, and every call has its one result."""
        results = [e.fact.call_id for e in self.rows if isinstance(e.fact, ToolResult) and not e.agent]
        disturbed = any(isinstance(event.fact, _DISTURBING) for event in self.rows)
        return not disturbed and sorted(results) == sorted(call.id for call in self.calls)


def steps_of(trajectory: Trajectory) -> list[Step]:
    """The answered steps of the main agent; of a loop that tells none, from request to request."""
    told = StepStart.TYPE in dict(trajectory.header.observed)
    found = _told(trajectory.events) if told else _from_requests(trajectory.events)
    return [step for rows in found for step in _answered(rows)]


def _told(events: Sequence[Event]) -> Iterator[list[Event]]:
    rows: list[Event] | None = None
    for event in events:
        if isinstance(event.fact, StepStart) and event.agent == ROOT_AGENT:
            rows = []
        if rows is not None:
            rows.append(event)
        if isinstance(event.fact, StepEnd) and event.agent == ROOT_AGENT and rows is not None:
            yield rows
            rows = None


def _from_requests(events: Sequence[Event]) -> Iterator[list[Event]]:
    rows: list[Event] = []
    for event in events:
        root = event.agent == ROOT_AGENT
        if rows and root and isinstance(event.fact, (ModelRequest, *_ENDS)):
            while isinstance(rows[-1].fact, _OF_NEXT):
                rows.pop()
            yield rows
            rows = []
        if rows or (root and isinstance(event.fact, ModelRequest)):
            rows.append(event)


def _answered(rows: list[Event]) -> Iterator[Step]:
    for event in rows:
        if isinstance(event.fact, AssistantMessage) and event.agent == ROOT_AGENT and not event.fact.interrupted:
            yield Step(tuple(rows), event)
            return


def rows_of_call(step: Step, call: EmittedCall) -> list[Event]:
    """All events of a step that are there for one of its calls: bodies, a child's work, questions, the result."""
    found: list[Event] = []
    bodies: set[int] = set()
    for event in step.rows:
        if _is_of(event, call) or _is_of_body(event, bodies):
            found.append(event)
            if isinstance(event.fact, ToolStart):
                bodies.add(event.seq)
    return found


def _is_of(event: Event, call: EmittedCall) -> bool:
    if event.agent:
        return event.agent == call.id or event.agent.startswith(call.id + "/")
    match event.fact:
        case ToolCall() | ToolStart() | ToolResult() | ApprovalAsked() | ApprovalAnswered() as fact:
            return fact.call_id == call.id
        case Note(data=data) if data is not None:
            value = parse_json(data)
            return isinstance(value, dict) and call.id in (value.get("callId"), value.get("call"))
        case _:
            return False


def _is_of_body(event: Event, bodies: set[int]) -> bool:
    match event.fact:
        case ToolEnd(start=start):
            return start in bodies
        case ToolStart(within=int() as outer):
            return outer in bodies
        case _:
            return False


def final_answer(trajectory: Trajectory) -> Event | None:
    """The main agent's last answer, where that asks for nothing more and is whole."""
    for event in reversed(trajectory.events):
        if isinstance(event.fact, AssistantMessage) and event.agent == ROOT_AGENT:
            whole = not event.fact.tool_calls and not event.fact.interrupted
            return event if whole else None
    return None


def offered_names(trajectory: Trajectory) -> list[str]:
    """Names of the tools that the model was offered, by first appearance."""
    names: dict[str, None] = {}
    for event in trajectory.events:
        if isinstance(event.fact, RequestHeader) and event.agent == ROOT_AGENT:
            entries = parse_json(event.fact.tools)
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, dict):
                    names.setdefault(str(entry.get("name")))
    return list(names)


def nth_of(call: EmittedCall, calls: Sequence[EmittedCall]) -> int:
    """Its place among the calls of its answer, from 1; 0 where it is the only one."""
    return next(i for i, one in enumerate(calls, start=1) if one is call) if len(calls) > 1 else 0


def call_text(call: EmittedCall) -> str:
    """``calculator {"expression":"6 * 7"}``."""
    return f"{call.name} {call.arguments}".rstrip()
