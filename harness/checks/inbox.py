"""`inbox`: every piece of input is taken once, in its place and order, or is told to be pending or dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent
from harness.folds.imported import is_import
from harness.types.agents import is_context
from harness.types.codes import InboxQueue, LimitKind, Status
from harness.types.context import is_summariser
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolResult, UserMessage
from harness.types.lifecycle import (
    CancelDelivered,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    RunEnd,
    StepStart,
    TurnEnd,
    TurnStart,
)
from harness.types.messages import CallId, ChatUser, MessageId
from harness.types.profile import Profile
from harness.types.profile_run import InputBatching, KeptQueue, QueueAfterBlock
from harness.types.reasons import Interrupted, LimitHit, Reason

_ONE_FOLLOWUP: Final = (InputBatching.ONE_FOLLOWUP_ALL_STEERING, InputBatching.ONE_AT_A_TIME)
_PARKING: Final = (Status.BLOCKED, Status.FAILED)


@dataclass(slots=True)
class _Pending:
    """What one agent's input has come to so far."""

    profile: Profile
    queued: dict[MessageId, tuple[Event, InboxQueue]] = field(default_factory=dict)
    parked: set[MessageId] = field(default_factory=set)
    claimed: set[MessageId] = field(default_factory=set)
    unanswered: dict[CallId, Event] = field(default_factory=dict)
    followup: Event | None = None
    taken: Event | None = None
    interrupted: bool = False
    n_entered: int = 0
    n_taken: int = 0
    entered: list[tuple[Event, ChatUser]] = field(default_factory=list)

    def park(self) -> None:
        self.parked.update(self.queued)

    def waking(self) -> list[tuple[MessageId, Event]]:
        """What is pending, not parked, and begins a turn."""
        return [
            (message_id, event)
            for message_id, (event, queue) in self.queued.items()
            if queue is not InboxQueue.INJECT and message_id not in self.parked
        ]


def _inbox(trajectory: Trajectory) -> Iterator[Found]:
    for agent, events in by_agent(trajectory).items():
        if is_summariser(agent):
            continue  # it is handed one text, and takes no input
        pending = _Pending(trajectory.header.profile)
        for event in events:
            match event.fact:
                case InboxQueued():
                    yield from _queued(pending, event, event.fact)
                case InboxClaimed():
                    yield from _claimed(pending, event, event.fact)
                case InboxDiscarded():
                    yield from _discarded(pending, event, event.fact)
                case UserMessage(message=message):
                    yield from _entered(pending, event, message)
                    yield from _in_batch(pending, event)
                case AssistantMessage(tool_calls=calls):
                    pending.unanswered = {call.id: event for call in calls}
                case ToolResult(call_id=call_id):
                    pending.unanswered.pop(call_id, None)
                case TurnStart() | StepStart():
                    yield from _begun(pending, event)
                case CancelDelivered():
                    pending.park()
                case TurnEnd(status=status, reason=reason):
                    pending.interrupted = isinstance(reason, Interrupted)
                    if status in _PARKING or _out_of_time(reason):
                        pending.park()
                case RunEnd(reason=reason):
                    yield from _stranded(pending, event, reason)
                case _:
                    pass


def _out_of_time(reason: Reason) -> bool:
    return isinstance(reason, LimitHit) and reason.which is LimitKind.WALL_TIME


def _queued(pending: _Pending, event: Event, fact: InboxQueued) -> Iterator[Found]:
    for message in fact.messages:
        if message.id in pending.queued:
            text = f"input {message.id!r} was accepted while a message of that id was pending"
            yield found(text, pending.queued[message.id][0], event, rule="conformance:115")
        pending.queued[message.id] = (event, fact.queue)


def _claimed(pending: _Pending, event: Event, fact: InboxClaimed) -> Iterator[Found]:
    yield from _in_batch(pending, event)
    pending.taken = event
    pending.n_taken += len(fact.message_ids)
    for message_id in fact.message_ids:
        if message_id not in pending.queued:
            text = f"input {message_id!r} was claimed{at(event)}, and was not pending"
            yield found(text, event, rule="conformance:118")
            continue
        origin, queue = pending.queued[message_id]
        if queue is InboxQueue.FOLLOWUP:
            yield from _in_turn(pending, event, message_id, origin)
        del pending.queued[message_id]
        pending.claimed.add(message_id)


def _entered(pending: _Pending, event: Event, message: ChatUser) -> Iterator[Found]:
    """Input enters as often as it was claimed; what a hook adds or makes of it is its own affair."""
    if is_context(message):
        return
    pending.n_entered += 1
    if pending.taken is not None and pending.n_entered > pending.n_taken:
        for earlier, other in pending.entered:
            if other == message:
                text = f"input{at(event)} enters a second time, and was claimed once"
                yield found(text, pending.taken, earlier, event, rule="conformance:118")
                break
    pending.entered.append((event, message))


def _in_turn(pending: _Pending, event: Event, message_id: MessageId, origin: Event) -> Iterator[Found]:
    """A follow-up is the oldest of its queue, and the only one of its turn."""
    oldest = next(one for one, (_, queue) in pending.queued.items() if queue is InboxQueue.FOLLOWUP)
    if oldest != message_id:
        text = f"input {message_id!r} was claimed{at(event)} before {oldest!r}, which came first"
        yield found(text, pending.queued[oldest][0], origin, event, rule="conformance:103")
    if pending.followup is not None and pending.profile.input_batching in _ONE_FOLLOWUP:
        text = f"a second follow-up, {message_id!r}, was claimed{at(event)} in one turn"
        yield found(text, pending.followup, event, rule="conformance:107")
    pending.followup = event


def _discarded(pending: _Pending, event: Event, fact: InboxDiscarded) -> Iterator[Found]:
    for message_id in fact.message_ids:
        if message_id in pending.queued:
            del pending.queued[message_id]
        elif message_id in pending.claimed:
            pending.claimed.discard(message_id)
        else:
            text = f"input {message_id!r} was dropped, and was not pending"
            yield found(text, event, rule="conformance:118")


def _in_batch(pending: _Pending, event: Event) -> Iterator[Found]:
    if pending.unanswered:
        call_id, answer = next(iter(pending.unanswered.items()))
        text = f"{event.fact.TYPE}{at(event)} stands between call {call_id!r} and its result"
        yield found(text, answer, event, rule="conformance:104")


def _begun(pending: _Pending, event: Event) -> Iterator[Found]:
    if isinstance(event.fact, StepStart):
        if pending.taken is not None and not pending.n_entered:
            text = f"input was claimed{at(event)}, and none entered before the step began"
            yield found(text, pending.taken, event, rule="conformance:118")
        return
    profile = pending.profile
    parks = (profile.kept_queue, profile.queue_after_block)
    declared = parks == (KeptQueue.PARKED_UNTIL_WAKE, QueueAfterBlock.PARKED_IN_ORDER)
    if declared and not pending.waking() and not pending.interrupted:  # its work is taken up without new input
        yield found(f"turn/start{at(event)}, and nothing pending wakes", event, rule="conformance:114")
    pending.followup = pending.taken = None
    pending.n_entered = pending.n_taken = 0
    pending.entered.clear()
    pending.parked.clear()


def _stranded(pending: _Pending, end: Event, reason: Reason) -> Iterator[Found]:
    if _out_of_time(reason) or isinstance(reason, Interrupted):
        return
    for message_id, event in pending.waking():
        text = f"input {message_id!r} was accepted and never taken, and nothing parked it"
        yield found(text, event, end, rule="conformance:103a")


INBOX = BuiltCheck(
    name="inbox",
    about="all input is taken once, in order, never between calls and results, or told as pending or dropped",
    needs=(("inbox/queued", None), ("inbox/claimed", None), ("user/message", None)),
    rules=tuple(f"conformance:{n}" for n in (103, "103a", 104, 107, 112, 114, 115, 117, 118)),
    findings=_inbox,
    applies=lambda trajectory: "a foreign file tells its inbox in its own way" if is_import(trajectory) else "",
)
