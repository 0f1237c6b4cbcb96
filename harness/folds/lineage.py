"""Where a run may go on: closed boundaries, the question of a parked call, and the digest of what goes before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from harness.folds.counts import end_of
from harness.folds.history import History
from harness.folds.plain import to_plain
from harness.types.codes import InboxQueue
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import (
    ApprovalAsked,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    Note,
    RunEnd,
    RunStart,
    TurnEnd,
    TurnStart,
)
from harness.types.messages import ChatAssistant, MessageId, Messages
from harness.types.reasons import Interrupted, Waiting


def closed_boundaries(events: Sequence[Event]) -> tuple[int, ...]:
    """Seqs behind which another run may begin: from ``run/start`` to before ``run/end``, no turn open (126).

    Behind a turn that waits for a person about a call there is none: the call has no result yet.
    """
    found = []
    n_open = 0
    begun = False
    for event in events:
        match event.fact:
            case RunEnd() if not event.agent:
                break
            case RunStart():
                begun = True
            case TurnStart():
                n_open += 1
            case TurnEnd(reason=Waiting(call_id=str())):
                break
            case TurnEnd():
                n_open -= 1
            case _:
                pass
        if begun and n_open == 0:
            found.append(event.seq)
    return tuple(found)


def parked_at(trajectory: Trajectory) -> Event | None:
    """The question of the call that the run's end waits for; None where it waits for none."""
    end = end_of(trajectory)
    if end is None or not isinstance(end.reason, Waiting) or end.reason.call_id is None:
        return None
    asked = [e for e in trajectory.events if isinstance(e.fact, ApprovalAsked) and e.fact.call_id == end.reason.call_id]
    return asked[-1] if asked else None


def pending_input(events: Iterable[Event]) -> tuple[InboxQueued, ...]:
    """What was accepted from the root agent's user and neither taken nor dropped, each as a fact of its own."""
    pending: dict[MessageId, InboxQueued] = {}
    for event in events:
        if event.agent:
            continue
        match event.fact:
            case InboxQueued(queue=queue, messages=messages):
                pending.update((message.id, InboxQueued(queue, (message,))) for message in messages)
            case InboxClaimed(message_ids=ids) | InboxDiscarded(message_ids=ids):
                for one in ids:
                    pending.pop(one, None)
            case _:
                pass
    return tuple(pending.values())


def owes_an_answer(events: Iterable[Event], agent: str = "") -> bool:
    """Whether an agent's last turn was interrupted before the model answered what it was shown (CONFORMANCE 19).

    Not where it had claimed input that was put back and wakes: the turn of that input shows all, and asks once.
    """
    history, reason = History(agent), None
    claimed: set[MessageId] = set()
    put_back = False
    for event in events:
        history.apply(event)
        if event.agent != agent:
            continue
        match event.fact:
            case TurnStart():
                put_back = False
            case InboxClaimed(message_ids=ids):
                claimed.update(ids)
            case InboxQueued(queue=queue, messages=messages):
                again = any(message.id in claimed for message in messages)
                put_back = put_back or (again and queue is not InboxQueue.INJECT)
            case TurnEnd():
                reason = event.fact.reason
            case _:
                pass
    shown = history.messages
    interrupted = isinstance(reason, Interrupted) and not put_back
    return interrupted and len(shown) > 0 and not isinstance(shown[-1], ChatAssistant)


def requests_used(events: Sequence[Event], *, faults: str) -> tuple[Event, ...]:
    """The model requests that used up a scripted reply or a recording: all but those made to fail, and one cut off.

    ``faults`` is the name of the note behind a request that was made to fail before the model was asked. A
    request that was under way when the process died is asked again, so it has used up nothing.
    """
    failed = {_noted_at(event.fact) for event in events if isinstance(event.fact, Note) and event.fact.name == faults}
    unused = failed | _cut_off(events)
    return tuple(event for event in events if isinstance(event.fact, ModelRequest) and event.seq not in unused)


def _noted_at(note: Note) -> int | None:
    value = parse_json(note.data or "{}")
    return value.get("at") if isinstance(value, dict) else None


def _cut_off(events: Sequence[Event]) -> set[int | None]:
    """Requests neither answered nor failed before their turn was closed as interrupted."""
    waiting: dict[str, int] = {}
    cut: set[int | None] = set()
    for event in events:
        match event.fact:
            case ModelRequest():
                waiting[event.agent] = event.seq
            case AssistantMessage() | ModelFailed():
                waiting.pop(event.agent, None)
            case TurnEnd(reason=reason):
                asked = waiting.pop(event.agent, None)
                if isinstance(reason, Interrupted):
                    cut.add(asked)
            case _:
                pass
    return cut


def prefix_digest(events: Iterable[Event]) -> str:
    """sha256 of events in canonical form: the same for the same events, however they were written and read.

    A request counts as how many of its first messages the one before of its agent had, and the rest.
    """
    digest = hashlib.sha256()
    before: dict[str, Messages] = {}
    for event in events:
        fact = event.fact
        if isinstance(fact, ModelRequest):
            kept = _kept(before.get(event.agent), fact.messages)
            before[event.agent] = fact.messages
            body = {"keep": kept, "append": [to_plain(one) for one in fact.messages[kept:]], "attempt": fact.attempt}
        else:
            body = to_plain(fact)
        place = [event.seq, event.time, event.origin, event.agent, event.turn, event.step]
        digest.update(canonical_json([fact.TYPE, place, body]).encode("utf-8", "replace") + b"\n")
    return digest.hexdigest()


def _kept(before: Messages | None, now: Messages) -> int:
    if before is None:
        return 0
    if now.extends(before):
        return len(before)
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    return same
