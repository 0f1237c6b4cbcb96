"""What a file of a run that died still owes: results, ends, and input that was claimed and never entered.

Pure: the events to append to an interrupted trajectory, so that it obeys the grammar alone. They take
the last event's time, so two repairs give the same bytes; a repair that was itself cut short is
completed by the next one (CONFORMANCE 131 to 134, 139).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from harness.folds.counts import is_interrupted
from harness.folds.statuses import status_for
from harness.types.codes import Code, Effect, InboxQueue, Origin, QueueDisposition
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolCall, ToolEnd, ToolResult, ToolStart, UserMessage
from harness.types.facts import Fact
from harness.types.lifecycle import (
    ApprovalAnswered,
    ApprovalAsked,
    CancelDelivered,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    RunEnd,
    RunQuiescent,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnStart,
)
from harness.types.messages import CallId, MessageId
from harness.types.reasons import Alive, Cancelled, EmittedCall, Interrupted, QueuedMessage, Reason, Waiting

REPAIR_CODES: Final = (Code.TOOL_NOT_STARTED, Code.TOOL_OUTCOME_UNKNOWN)
"""Codes that only a repair gives."""


@dataclass(slots=True)
class _Agent:
    """How far one agent had come."""

    name: str
    turn: Event | None = None
    step: Event | None = None
    cancel: CancelDelivered | None = None
    asked: CallId | None = None
    waits: Waiting | None = None
    calls: list[EmittedCall] = field(default_factory=list)
    announced: set[CallId] = field(default_factory=set)
    started: dict[CallId, Event] = field(default_factory=dict)
    ended: dict[int, ToolEnd] = field(default_factory=dict)
    queued: dict[MessageId, tuple[InboxQueue, QueuedMessage]] = field(default_factory=dict)
    claimed: list[tuple[InboxQueue, QueuedMessage]] = field(default_factory=list)
    doomed: dict[MessageId, tuple[InboxQueue, QueuedMessage]] = field(default_factory=dict)

    def follow(self, event: Event) -> None:
        """Take the next event of this agent into account."""
        match event.fact:
            case TurnStart():
                self.turn, self.cancel, self.waits = event, None, None
                self.claimed.clear()
            case TurnEnd(reason=reason):
                self.turn = self.step = self.asked = None
                self.waits = reason if isinstance(reason, Waiting) and reason.call_id else None
                self.calls.clear()
            case StepStart():
                self.step = event
                self.claimed.clear()
            case StepEnd():
                self.step = None
            case CancelDelivered(queue=queue) as delivered:
                self.cancel = self.cancel or delivered
                self.doomed = dict(self.queued) if queue is QueueDisposition.DROP else {}
            case InboxQueued() | InboxClaimed() | InboxDiscarded() | UserMessage():
                self._input(event.fact)
            case _:
                self._calls(event)

    def _input(self, fact: InboxQueued | InboxClaimed | InboxDiscarded | UserMessage) -> None:
        match fact:
            case InboxQueued(queue=queue, messages=messages):
                put_back = {message.id for message in messages}
                self.claimed = [one for one in self.claimed if one[1].id not in put_back]
                self.queued.update((message.id, (queue, message)) for message in messages)
            case InboxClaimed(message_ids=ids):
                self.claimed += [self.queued.pop(one) for one in ids if one in self.queued]
            case InboxDiscarded(message_ids=ids):
                for one in ids:
                    self.queued.pop(one, None)
                    self.doomed.pop(one, None)
                self.claimed = [one for one in self.claimed if one[1].id not in ids]
            case UserMessage():
                del self.claimed[:1]

    def _calls(self, event: Event) -> None:
        match event.fact:
            case AssistantMessage(interrupted=False, tool_calls=calls):
                self.calls = list(calls)
            case ToolCall(call_id=call_id):
                self.announced.add(call_id)
            case ToolStart(call_id=call_id) if call_id is not None:
                self.started[call_id] = event
            case ToolEnd(start=start):
                self.ended[start] = event.fact
            case ApprovalAsked(call_id=call_id):
                self.asked = call_id
            case ApprovalAnswered():
                self.asked = None
            case ToolResult(call_id=call_id):
                self.calls = [call for call in self.calls if call.id != call_id]
            case _:
                pass

    @property
    def is_parked(self) -> bool:
        """Whether a person was being asked about a call of the main agent, and nothing had come between."""
        return self.asked is not None and self.cancel is None and not self.name

    @property
    def reason(self) -> Reason:
        """Why its turn ended: a cancel that had reached it stands, as does an open question; else it died."""
        if self.is_parked:
            return Waiting(self.asked)
        return Interrupted() if self.cancel is None else Cancelled(self.cancel.by)


def repair(trajectory: Trajectory) -> tuple[Event, ...]:
    """The events that an interrupted trajectory still needs, in order; none where nothing is owed.

    Nothing is owed with a ``run/end``, without any event, and in imports. Each dangling call gets one
    result, in model order: TOOL_NOT_STARTED where no body began, TOOL_OUTCOME_UNKNOWN where one did; it
    is never run again by itself. Input that was claimed and had not entered is queued again. Then the
    step, the turn and the run end, ``interrupted``; a turn that a cancel had reached ends ``cancelled``, and input
    that it was to drop is dropped. A run that died while a person was asked about a call is parked at that call, as
    if it had waited. The last line names the bodies whose end nobody saw.
    """
    observed = dict(trajectory.header.observed)
    if not trajectory.events or not is_interrupted(trajectory) or Origin.IMPORT in observed.values():
        return ()
    agents: dict[str, _Agent] = {"": _Agent("")}
    for event in trajectory.events:
        agents.setdefault(event.agent, _Agent(event.agent)).follow(event)
    return tuple(_numbered(trajectory, _owed(trajectory, agents, observed), observed))


def repaired(trajectory: Trajectory) -> Trajectory:
    """The trajectory with its repair; the torn tail is gone."""
    return Trajectory(trajectory.header, trajectory.events + repair(trajectory), source=trajectory.source)


_Owed = tuple[Fact, str, int | None, int | None]


def _owed(trajectory: Trajectory, agents: dict[str, _Agent], observed: dict[str, Origin]) -> Iterator[_Owed]:
    for agent in sorted(agents.values(), key=lambda one: (-len(one.name), one.name)):  # children before parents
        if agent.turn is not None:
            yield from _of_turn(trajectory, agent, agent.turn)
        for queue, message in agent.doomed.values():
            yield InboxDiscarded(queue, (message.id,), "cancelled"), agent.name, None, None
    root = agents[""]
    parked = root.reason if root.is_parked else root.waits
    # Without turns the run itself was cancelled.
    reason = parked or (Interrupted() if TurnStart.TYPE in observed else root.reason)
    yield RunEnd(status_for(reason), reason), "", None, None
    if RunQuiescent.TYPE in observed:
        yield RunQuiescent(_unended(trajectory.events)), "", None, None


def _of_turn(trajectory: Trajectory, agent: _Agent, turn: Event) -> Iterator[_Owed]:
    step = agent.step.step if agent.step is not None else None
    for call in () if agent.is_parked else agent.calls:
        yield _result(trajectory, agent, call), agent.name, turn.turn, step
    if agent.step is not None:
        yield StepEnd(), agent.name, turn.turn, step
    for queue, message in agent.queued.values() if agent.is_parked else ():
        yield InboxDiscarded(queue, (message.id,), "the run waits for a person"), agent.name, turn.turn, None
    for queue, message in agent.claimed:
        yield InboxQueued(queue, (message,)), agent.name, turn.turn, None
    yield TurnEnd(status_for(agent.reason), agent.reason), agent.name, turn.turn, None


def _result(trajectory: Trajectory, agent: _Agent, call: EmittedCall) -> ToolResult:
    start = agent.started.get(call.id)
    if start is None:
        where = "was recorded" if call.id in agent.announced else "was asked for"
        why = f"the run was interrupted after the call {where} and before its tool began"
        text, code = f"TOOL_NOT_STARTED: {why}. Nothing was done.", Code.TOOL_NOT_STARTED
        return ToolResult(call.id, call.name, text, is_error=True, code=code, message=why)
    end = agent.ended.get(start.seq)
    how = "before its end was seen" if end is None else f"after its tool ended ({end.code or end.outcome})"
    why = f"the run was interrupted {how}, and its result is lost (event {start.seq})"
    reads = any(tool.name == call.name and tool.effect is Effect.READ for tool in trajectory.header.tools)
    what = "It only reads: call it again." if reads else "It may have taken effect: look before calling it again."
    text = f"TOOL_OUTCOME_UNKNOWN: {why}. {what}"
    return ToolResult(call.id, call.name, text, is_error=True, code=Code.TOOL_OUTCOME_UNKNOWN, message=why)


def _unended(events: Iterable[Event]) -> tuple[Alive, ...]:
    started = {event.seq: event.fact for event in events if isinstance(event.fact, ToolStart)}
    for event in events:
        if isinstance(event.fact, ToolEnd):
            started.pop(event.fact.start, None)
    return tuple(Alive("tool", fact.name, seq) for seq, fact in sorted(started.items()))


def _numbered(trajectory: Trajectory, owed: Iterable[_Owed], observed: dict[str, Origin]) -> Iterator[Event]:
    last = trajectory.events[-1]
    for seq, (fact, agent, turn, step) in enumerate(owed, start=last.seq + 1):
        origin = observed.get(fact.TYPE, Origin.PROBE)
        yield Event(seq, fact, origin, time=last.time, agent=agent, turn=turn, step=step)
