"""Marks on the time of a run (cancel, delivery, limits, ends, quiescence), and notes beside it."""

from __future__ import annotations

from harness.folds import reason_text
from harness.report.html.calls import shown_text
from harness.report.html.cutting import Cutter, Plain
from harness.report.html.requests import Pools
from harness.report.text import piece
from harness.types.events import Event
from harness.types.exchange import ContextReplaced
from harness.types.lifecycle import (
    CancelDelivered,
    CancelRequested,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    Note,
    RunEnd,
    RunQuiescent,
    TurnEnd,
    UnknownFact,
)
from harness.types.reasons import Blocked, LimitHit, Reason


def mark_of(event: Event, pools: Pools) -> Plain | None:
    """``{kind, seq, timeMs, text, message?}`` (a place in the pool); None for an event that is no mark."""
    found = _mark(event)
    if found is None:
        return None
    kind, text = found
    made = {"kind": kind, "seq": event.seq, "timeMs": event.time, "text": pools.cutter.text(text)}
    if isinstance(event.fact, ContextReplaced):
        made["message"] = pools.message(event.fact.message)
    return made


def _mark(event: Event) -> tuple[str, str] | None:
    match event.fact:
        case CancelRequested() as fact:
            return "cancel", _cancel("requested", fact)
        case CancelDelivered() as fact:
            return "delivered", _cancel("delivered", fact)
        case RunQuiescent(alive=alive, settle_ms=settle_ms):
            still = ", ".join(f"{one.kind} {one.name}" for one in alive)
            return "quiescent", f"still running after {settle_ms} ms: {still}" if still else "nothing still runs"
        case TurnEnd(status=status, reason=reason):
            kind = "limit" if isinstance(reason, LimitHit) else "turn-end"
            return kind, f"turn {event.turn} ends: {status} ({_why(reason)})"
        case RunEnd(status=status, reason=reason):
            return "run-end", f"run ends: {status} ({_why(reason)})"
        case ContextReplaced(start=start, end=end, message=message):
            return "context", f"events {start} to {end} replaced by: {piece(shown_text(message.content))}"
        case InboxDiscarded(queue=queue, message_ids=ids, why=why):
            return "discarded", f"{queue}: {', '.join(ids)}: {why}"
        case _:
            return None


def _why(reason: Reason) -> str:
    if isinstance(reason, Blocked) and reason.message:
        return f"{reason_text(reason)}: {reason.message}"
    return reason_text(reason)


def _cancel(what: str, fact: CancelRequested | CancelDelivered) -> str:
    why = f": {fact.reason}" if fact.reason else ""
    return f"cancel {what} by {fact.by} (scope {fact.scope}, queue {fact.queue}){why}"


def note_of(event: Event, cutter: Cutter) -> Plain | None:
    """``{name, text, seq}`` of what is told beside the work; None for all else."""
    match event.fact:
        case Note(name=name, data=data):
            found = (name, data or "")
        case UnknownFact(kind=kind, line=line):
            found = (kind, line)
        case InboxQueued(queue=queue, messages=messages):
            texts = " / ".join(f"{one.id}: {shown_text(one.message.content)}" for one in messages)
            found = (InboxQueued.TYPE, f"{queue}: {texts}")
        case InboxClaimed(queue=queue, message_ids=ids):
            found = (InboxClaimed.TYPE, f"{queue}: {', '.join(ids)}")
        case _:
            return None
    return {"name": cutter.text(found[0]), "text": cutter.text(found[1]), "seq": event.seq}
