"""The four promises of a cancel, each judged from `cancel/delivered` on.

A cancel of a turn is judged to that turn's end; later turns are fine. A cancel of the run is judged
to the last line, or to a turn that input accepted after the cancel began (CONFORMANCE 111). It
reaches the agent it was delivered to and its children, unless the profile says that they go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from harness.checks.base import BuiltCheck, Found, Needs, found
from harness.checks.reading import at, is_within
from harness.types.agents import is_context
from harness.types.codes import CancelScope, InboxQueue, Origin, QueueDisposition
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest, ToolStart, UserMessage
from harness.types.lifecycle import (
    REMOVED,
    CancelDelivered,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    TurnEnd,
    TurnStart,
)
from harness.types.messages import MessageId
from harness.types.profile_run import ParentCancel

DELIVERED: Needs = (("cancel/delivered", Origin.PROBE),)


@dataclass(frozen=True, slots=True)
class Window:
    """One delivered cancel: the turn it met (None: none open) and the events that it governs."""

    cancel: Event
    delivered: CancelDelivered
    turn: Event | None
    events: tuple[Event, ...]


def windows(trajectory: Trajectory) -> list[Window]:
    """Every delivered cancel with what it governs, in order."""
    found_windows = []
    open_turns: dict[str, Event] = {}
    for position, event in enumerate(trajectory.events):
        match event.fact:
            case TurnStart():
                open_turns[event.agent] = event
            case TurnEnd():
                open_turns.pop(event.agent, None)
            case CancelDelivered() as delivered:
                turn = open_turns.get(event.agent)
                after = trajectory.events[position + 1 :]
                governed = tuple(_governed(trajectory, event, delivered, turn, after))
                found_windows.append(Window(event, delivered, turn, governed))
            case _:
                pass
    return found_windows


def _governed(
    trajectory: Trajectory, cancel: Event, delivered: CancelDelivered, turn: Event | None, after: tuple[Event, ...]
) -> Iterator[Event]:
    turns_known = any(isinstance(event.fact, TurnStart) for event in trajectory.events)
    if delivered.scope is CancelScope.TURN and turn is None and turns_known:
        return  # nothing was open: such a cancel is void (CONFORMANCE 81)
    own_only = trajectory.header.profile.parent_cancel is ParentCancel.CHILDREN_GO_ON
    woken = False
    for event in after:
        if event.agent == cancel.agent:
            woken = woken or (isinstance(event.fact, InboxQueued) and event.fact.queue is not InboxQueue.INJECT)
            if woken and isinstance(event.fact, TurnStart):
                return
        if event.agent == cancel.agent if own_only else is_within(event.agent, cancel.agent):
            yield event
        if delivered.scope is CancelScope.TURN and event.agent == cancel.agent and isinstance(event.fact, TurnEnd):
            return


def was_cancelled(trajectory: Trajectory) -> str:
    """ "" where a cancel was delivered, else why there is nothing to judge."""
    if any(isinstance(event.fact, CancelDelivered) for event in trajectory.events):
        return ""
    return "no cancel was delivered"


def _tool_starts(trajectory: Trajectory) -> Iterator[Found]:
    for window in windows(trajectory):
        for event in window.events:
            if isinstance(event.fact, ToolStart):
                text = f"the body of {event.fact.name!r} started{at(event)} after the cancel was delivered"
                yield found(text, window.cancel, event, rule="conformance:63")


def _model_requests(trajectory: Trajectory) -> Iterator[Found]:
    for window in windows(trajectory):
        for event in window.events:
            if isinstance(event.fact, ModelRequest):
                text = f"a model request was made{at(event)} after the cancel was delivered"
                yield found(text, window.cancel, event, rule="conformance:64")


# ---------------------------------------------------------------- input


def _input_consumed(trajectory: Trajectory) -> Iterator[Found]:
    for window in windows(trajectory):
        claimed, owed = _claimed_before(trajectory, window.cancel)
        kept = window.delivered.queue is QueueDisposition.KEEP
        for event in window.events:
            own = event.agent == window.cancel.agent
            match event.fact:
                case InboxClaimed(message_ids=ids):
                    text = f"queued input {', '.join(map(repr, ids))} was claimed after the cancel was delivered"
                    yield found(text, window.cancel, event, rule="conformance:65")
                case UserMessage() if owed[event.agent] > 0:
                    owed[event.agent] -= 1
                case UserMessage():
                    text = f"input entered the transcript{at(event)} after the cancel was delivered"
                    yield found(text, window.cancel, event, rule="conformance:65")
                case CancelDelivered(queue=QueueDisposition.DROP) if own:
                    kept = False  # a later cancel, which has its own window
                case InboxDiscarded(message_ids=ids, why=why) if own and kept and why != REMOVED:
                    if lost := [message_id for message_id in ids if message_id not in claimed]:
                        text = f"input {', '.join(map(repr, lost))} was dropped, the cancel says keep"
                        yield found(text, window.cancel, event, rule="conformance:109")
                case _:
                    pass
        yield from _left_behind(trajectory, window)


def _claimed_before(trajectory: Trajectory, cancel: Event) -> tuple[set[MessageId], Counter[str]]:
    """Input that its agent had claimed, and so consumed, before the cancel; and how much each agent still owes.

    What was claimed may still enter behind the cancel, or be reported as dropped: it is in no queue
    any more, and a cancel that keeps the queue does not put it back (CONFORMANCE 110).
    """
    claimed: dict[str, set[MessageId]] = {}
    n_entered: Counter[str] = Counter()
    for event in trajectory.events:
        if event.seq >= cancel.seq:
            break
        mine = claimed.setdefault(event.agent, set())
        if isinstance(event.fact, InboxClaimed):
            mine.update(event.fact.message_ids)
        elif isinstance(event.fact, InboxDiscarded):
            n_entered[event.agent] += len(mine.intersection(event.fact.message_ids))  # dropped: not owed any more
        elif isinstance(event.fact, UserMessage) and mine and not is_context(event.fact.message):
            n_entered[event.agent] += 1
    owed = Counter({agent: len(ids) - n_entered[agent] for agent, ids in claimed.items()})
    return claimed.get(cancel.agent, set()), owed


def _left_behind(trajectory: Trajectory, window: Window) -> Iterator[Found]:
    """Input queued before a cancel that drops the queue of the run, and never reported as dropped."""
    if window.delivered.queue is not QueueDisposition.DROP or window.delivered.scope is not CancelScope.RUN:
        return
    pending: dict[MessageId, Event] = {}
    for event in trajectory.events:
        match event.fact:
            case InboxQueued(messages=messages) if event.seq < window.cancel.seq:
                pending.update((message.id, event) for message in messages if event.agent == window.cancel.agent)
            case InboxClaimed(message_ids=ids) | InboxDiscarded(message_ids=ids) if event.agent == window.cancel.agent:
                for message_id in ids:
                    pending.pop(message_id, None)
            case _:
                pass
    for message_id, event in pending.items():
        text = f"input {message_id!r} was queued, and neither claimed nor reported as dropped by the cancel"
        yield found(text, event, window.cancel, rule="conformance:109")


CANCEL_NO_TOOL_START = BuiltCheck(
    name="cancel_no_tool_start",
    about="after a cancel is delivered no tool body starts",
    needs=(*DELIVERED, ("tool/start", Origin.PROBE)),
    rules=("conformance:63", "conformance:71", "conformance:72"),
    findings=_tool_starts,
    applies=was_cancelled,
)
CANCEL_NO_MODEL_REQUEST = BuiltCheck(
    name="cancel_no_model_request",
    about="after a cancel is delivered no model request is made",
    needs=(*DELIVERED, ("model/request", Origin.PROBE)),
    rules=("conformance:64", "conformance:68", "conformance:84"),
    findings=_model_requests,
    applies=was_cancelled,
)
CANCEL_NO_INPUT_CONSUMED = BuiltCheck(
    name="cancel_no_input_consumed",
    about="after a cancel is delivered no queued input is consumed, and the queue fares as the cancel says",
    needs=(*DELIVERED, ("user/message", None)),
    rules=("conformance:65", "conformance:109"),
    findings=_input_consumed,
    applies=was_cancelled,
)
