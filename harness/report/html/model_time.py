"""When a model was asked and when it was waited for: a step is not one long request."""

from __future__ import annotations

from collections.abc import Iterable

from harness.report.html.cutting import Plain
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest, ModelRetry
from harness.types.lifecycle import StepEnd


def asked_of(events: Iterable[Event]) -> list[Plain]:
    """Each request of a block: ``{attempt, startSeq, startMs, endSeq, endMs, outcome}``.

    ``outcome``: answered, interrupted (a prefix of an answer, or the step ended without one), failed; None where
    nothing more was seen of it. Where a product tells of no requests, an answer counts from the beginning of its step
    (``attempt`` None).
    """
    found: list[Plain] = []
    waiting: Plain | None = None
    began: Event | None = None
    for event in events:
        fact = event.fact
        began = began or event
        match fact:
            case ModelRequest(attempt=attempt):
                _end(waiting, event, "interrupted")
                found.append(waiting := _began(event, attempt))
            case AssistantMessage(interrupted=interrupted):
                if not found:
                    found.append(waiting := _began(began, None))
                _end(waiting, event, "interrupted" if interrupted else "answered")
                waiting = None
            case ModelFailed() | StepEnd():
                _end(waiting, event, "failed" if isinstance(fact, ModelFailed) else "interrupted")
                waiting = None
            case _:
                pass
    return found


def _began(event: Event, attempt: int | None) -> Plain:
    ends: Plain = {"endSeq": None, "endMs": None, "outcome": None}
    return {"attempt": attempt, "startSeq": event.seq, "startMs": event.time, **ends}


def _end(request: Plain | None, event: Event, outcome: str) -> None:
    if request is not None:
        request.update(endSeq=event.seq, endMs=event.time, outcome=outcome)


def delays_of(events: Iterable[Event]) -> list[Plain]:
    """Each wait before another attempt: ``{attempt, startSeq, startMs, endSeq, endMs}``; ``attempt`` is the next one.

    It ends with the request that follows; a wait that was broken off ends with the last event that is here.
    """
    found: list[Plain] = []
    waiting: Plain | None = None
    for event in events:
        if waiting is not None:
            waiting.update(endSeq=event.seq, endMs=event.time)
        match event.fact:
            case ModelRetry(attempt=attempt):
                waiting = {"attempt": attempt + 1, "startSeq": event.seq, "startMs": event.time}
                waiting.update(endSeq=event.seq, endMs=event.time)
                found.append(waiting)
            case ModelRequest() | StepEnd():
                waiting = None
            case _:
                pass
    return found
