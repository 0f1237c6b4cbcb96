"""Counts, status and answers, derived from events and never kept beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.folds.history import history_of
from harness.types.codes import CancelBy, Status
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    AssistantMessage,
    ModelRequest,
    RequestHeader,
    ToolEnd,
    ToolResult,
    ToolStart,
)
from harness.types.lifecycle import RunEnd, StepEnd, TurnEnd, TurnStart
from harness.types.messages import Content, Messages, TextPart
from harness.types.reasons import Cancelled, EmittedCall, Failed, FinalAnswer, LimitHit, Reason, Waiting


def text_of(content: Content | None) -> str:
    """The text of a content, text parts joined as they are (PB-017); other parts are left out."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.text for part in content if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class RequestTrace:
    """A model request with the header in force (None where none was seen)."""

    event: Event
    header: RequestHeader | None
    messages: Messages
    attempt: int


def requests_of(trajectory: Trajectory) -> Iterator[RequestTrace]:
    """Every model request, in order, rebuilt whole (CONFORMANCE 8)."""
    headers: dict[str, RequestHeader] = {}
    for event in trajectory.events:
        fact = event.fact
        if isinstance(fact, RequestHeader):
            headers[event.agent] = fact
        elif isinstance(fact, ModelRequest):
            yield RequestTrace(event, headers.get(event.agent), fact.messages, fact.attempt)


@dataclass(slots=True)
class CallTrace:
    """An emitted call with all that happened to it; None where it did not happen or was not seen."""

    call: EmittedCall
    emitted: Event
    start: Event | None = None
    end: Event | None = None
    result: Event | None = None


def calls_of(trajectory: Trajectory) -> list[CallTrace]:
    """Every emitted call in model order; a result belongs to the oldest open call under its id."""
    traces: list[CallTrace] = []
    without_result: dict[tuple[str, str], list[CallTrace]] = {}
    without_start: dict[tuple[str, str], list[CallTrace]] = {}
    by_start: dict[int, CallTrace] = {}
    for event in trajectory.events:
        fact = event.fact
        if isinstance(fact, AssistantMessage):
            for call in fact.tool_calls:
                trace = CallTrace(call, event)
                traces.append(trace)
                without_result.setdefault((event.agent, call.id), []).append(trace)
                without_start.setdefault((event.agent, call.id), []).append(trace)
        elif isinstance(fact, ToolStart) and fact.call_id is not None:
            waiting = without_start.get((event.agent, fact.call_id))
            if waiting:
                by_start[event.seq] = waiting.pop(0)
                by_start[event.seq].start = event
        elif isinstance(fact, ToolEnd) and fact.start in by_start:
            by_start[fact.start].end = event
        elif isinstance(fact, ToolResult):
            waiting = without_result.get((event.agent, fact.call_id))
            if waiting:
                waiting.pop(0).result = event
    return traces


def n_steps(trajectory: Trajectory) -> int:
    """Steps of the main agent: only answered ones count (CONFORMANCE 89).

    What its child agents and a summariser answer are steps of theirs, as for the limit on steps.
    """
    answers = (e.fact for e in trajectory.events if isinstance(e.fact, AssistantMessage) and not e.agent)
    return sum(1 for answer in answers if not answer.interrupted)


def n_turns(trajectory: Trajectory) -> int:
    """Turns of the main agent that began."""
    return sum(1 for event in trajectory.events if isinstance(event.fact, TurnStart) and not event.agent)


def n_requests(trajectory: Trajectory) -> int:
    """Model requests, attempts included."""
    return sum(1 for event in trajectory.events if isinstance(event.fact, ModelRequest))


def n_messages(trajectory: Trajectory) -> int:
    """Messages of the root agent's conversation at the end, its leading system messages included."""
    header = next(
        (e.fact for e in reversed(trajectory.events) if isinstance(e.fact, RequestHeader) and not e.agent), None
    )
    return len(history_of(trajectory)) + (len(header.system) if header else 0)


def end_of(trajectory: Trajectory) -> RunEnd | None:
    """The subject's account of its end; None: see :func:`is_interrupted`."""
    return next((e.fact for e in reversed(trajectory.events) if isinstance(e.fact, RunEnd)), None)


def is_interrupted(trajectory: Trajectory) -> bool:
    """True without a ``run/end`` where there would be one: not for imports whose format tells no end."""
    observed = dict(trajectory.header.observed)
    return end_of(trajectory) is None and (not observed or RunEnd.TYPE in observed)


def status_of(trajectory: Trajectory) -> Status | None:
    """The run's status; None where the file has no ``run/end``."""
    end = end_of(trajectory)
    return end.status if end else None


def reason_text(reason: Reason) -> str:
    """A reason in a few words: ``limit steps 10``, ``error AUTH: no key``, ``cancelled by user``."""
    match reason:
        case LimitHit(which=which, value=value, reached=reached, message=message):
            more = f", reached {reached}" if reached is not None else ""
            return f"limit {which} {value}{more}" + (f": {message}" if message else "")
        case FinalAnswer(outcome=Status() as outcome, why=why):
            return f"final-answer, judged {outcome}" + (f": {why}" if why else "")
        case Failed(code=code, message=message):
            return f"error {code}: {message}"
        case Cancelled(by=CancelBy() as by):
            return f"cancelled by {by}"
        case Waiting(call_id=call_id) if call_id:
            return f"waiting for an answer about call {call_id}"
        case _:
            return reason.kind


def answer_of(trajectory: Trajectory) -> str | None:
    """The text of the root agent's last answer, where that asked for no tool; else None."""
    for event in reversed(trajectory.events):
        if isinstance(event.fact, AssistantMessage) and not event.agent:
            return None if event.fact.tool_calls else text_of(event.fact.content)
    return None


def last_closed_boundary(trajectory: Trajectory) -> Event | None:
    """The last event that closed something: a call, a step, a turn or the run (ARTICLES 14)."""
    closing = (ToolResult, StepEnd, TurnEnd, RunEnd)
    return next((e for e in reversed(trajectory.events) if isinstance(e.fact, closing)), None)


def boundary_text(event: Event | None) -> str:
    """``call 'c1' (turn 1, step 2, event 14)`` and the like."""
    if event is None:
        return "none"
    fact = event.fact
    if isinstance(fact, ToolResult):
        name = f"call {fact.call_id!r}"
    else:
        name = str(getattr(fact, "TYPE", "event")).split("/")[0]
    place = [f"turn {event.turn}"] if event.turn is not None else []
    place += [f"step {event.step}"] if event.step is not None else []
    return f"{name} ({', '.join([*place, f'event {event.seq}'])})"
