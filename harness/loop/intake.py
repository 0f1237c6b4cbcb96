"""What comes in: queued, claimed by a step, seen by the hooks, recorded as the model will see it."""

from __future__ import annotations

from harness.loop.hooks import Input, Reject
from harness.loop.inbox import Entry, by_queue
from harness.loop.scheduler import Stopped
from harness.loop.turn import Desk, Turn
from harness.types.codes import Code, InboxQueue
from harness.types.exchange import UserMessage
from harness.types.jsontext import described
from harness.types.lifecycle import InboxClaimed, InboxDiscarded, InboxQueued
from harness.types.messages import ChatUser, MessageId
from harness.types.reasons import Blocked, Concluded, Failed, FinalAnswer, Reason


def queue_input(desk: Desk, text: str, queue: InboxQueue, given: str | None = None) -> MessageId:
    """Accept one message, with a line that says so."""
    queued = desk.inbox.accept(ChatUser(text), queue, given)
    desk.say(InboxQueued(queue, (queued,)))
    return queued.id


def drop(desk: Desk, entries: tuple[Entry, ...], why: str, turn: Turn | None = None) -> None:
    """Say of input that was taken out that it is dropped, and why (CONFORMANCE 118)."""
    for queue, ids in by_queue(entries):
        desk.say(InboxDiscarded(queue, ids, why), turn)


async def take_in(desk: Desk, turn: Turn) -> Reason | None:
    """Claim what the next request is to show, ask the hooks, record what enters.

    The reason that ends the turn before its next step, or None. Input that arrives from the claim on
    joins the request after (CONFORMANCE 106). A turn without any input has nothing to do: its message was
    removed while ``turn/start`` was observed, or rewritten to nothing (14, ARTICLES 24).
    """
    claimed = _claimed(desk, turn)
    admitted = await _admitted(desk, turn, tuple(entry.queued.message for entry in claimed))
    if turn.stop.is_set:
        drop(desk, claimed, "stopped while it was claimed", turn)
        return turn.stop.reason
    if not isinstance(admitted, tuple):
        drop(desk, claimed, "its turn failed" if isinstance(admitted, Failed) else "its turn was blocked", turn)
        return admitted
    for message in admitted:
        desk.say(UserMessage(message), turn)
    if not (admitted or turn.step or turn.goes_on):
        return Concluded()
    return turn.stop.reason


def _claimed(desk: Desk, turn: Turn) -> tuple[Entry, ...]:
    """What the turn has claimed; a claim's listener may stop it or remove what was not claimed yet."""
    claimed: list[Entry] = []
    for queue, ids in by_queue(desk.inbox.due(first=turn.step == 0 and not turn.goes_on)):
        if turn.stop.is_set:
            break
        taken = [entry for entry in map(desk.inbox.take, ids) if entry is not None]
        if taken:
            claimed += taken
            desk.say(InboxClaimed(queue, tuple(entry.queued.id for entry in taken)), turn)
    return tuple(claimed)


async def _admitted(desk: Desk, turn: Turn, claimed: Input) -> Input | Reason:
    if not desk.hooks.pre_step or not (claimed or turn.step or turn.goes_on) or turn.stop.is_set:
        return claimed
    try:
        hooks = desk.hooks.admit(desk.history.messages, claimed)
        admitted = await desk.scheduler.run_request(hooks, turn.stop, name="pre_step hooks")
    except Stopped:
        return claimed
    except Exception as error:  # a hook's fault ends its turn, never the process (CONFORMANCE 12)
        return Failed(Code.HOOK_FAILED, f"a pre_step hook raised {described(error)}")
    return Blocked(admitted.message) if isinstance(admitted, Reject) else admitted


async def stop_or_go_on(desk: Desk, turn: Turn, reason: Reason, *, may_go_on: bool) -> Reason | None:
    """The reason that ends the turn, or None where pending steering keeps it open.

    The ``turn_stopping`` hooks are asked only where the turn would stop by itself (CONFORMANCE 16); what
    steers where the limits allow no further step (not ``may_go_on``) begins a turn of its own.
    """
    if not (isinstance(reason, FinalAnswer | Concluded) and turn.step):
        return reason
    if may_go_on and desk.inbox.has_steering:
        return None
    if desk.hooks.turn_stopping:
        try:
            hooks = desk.hooks.stop(desk.history.messages)
            for text in await desk.scheduler.run_request(hooks, turn.stop, name="turn_stopping hooks"):
                queue_input(desk, text, InboxQueue.STEER)
        except Stopped:
            return turn.stop.reason
        except Exception as error:  # as above
            return Failed(Code.HOOK_FAILED, f"a turn_stopping hook raised {described(error)}")
    return None if may_go_on and desk.inbox.has_steering and not turn.stop.is_set else reason
