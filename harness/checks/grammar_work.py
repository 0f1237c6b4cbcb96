"""`event_grammar`, inner half: requests, answers, calls, bodies and results of one agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.checks.base import Found, found
from harness.checks.reading import at, is_cut, sees
from harness.folds.imported import is_import
from harness.types.codes import Code, Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ModelFailed,
    ModelRequest,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
)
from harness.types.lifecycle import RunEnd, StepEnd, StepStart
from harness.types.messages import CallId
from harness.types.reasons import EmittedCall


@dataclass(slots=True)
class _Answered:
    """One answer with calls, and how far its calls have come."""

    event: Event
    unannounced: list[EmittedCall]
    first_start: Event | None = None
    last_result: tuple[int, Event] | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call with its place among the calls of its answer."""

    call: EmittedCall
    index: int
    answer: _Answered


@dataclass(slots=True)
class _Work:
    """What one agent's events so far amount to."""

    requests_seen: bool
    calls_seen: bool
    imported: bool
    n_unanswered: int = 0
    attempt: int = 1
    failed: bool = False
    asked: dict[CallId, _Asked] = field(default_factory=dict)
    latest: _Answered | None = None
    bodies: dict[int, Event] = field(default_factory=dict)
    started: dict[tuple[CallId, int], Event] = field(default_factory=dict)
    results: dict[CallId, Event] = field(default_factory=dict)

    @property
    def only_pairs(self) -> bool:
        """True for a history of another product that tells nothing of how its calls ran: its results pair by id."""
        return self.imported and not self.calls_seen


def work_findings(trajectory: Trajectory, events: list[Event]) -> Iterator[Found]:
    """Everything out of place in the work of one agent (its events, in order)."""
    work = _Work(sees(trajectory, ModelRequest.TYPE), sees(trajectory, ToolCall.TYPE), is_import(trajectory))
    for event in events:
        match event.fact:
            case ModelRequest(attempt=attempt):
                work.n_unanswered += 1
                work.attempt = attempt
            case AssistantChunk() | AssistantMessage() | ModelFailed():
                yield from _from_model(work, event, event.fact)
            case ToolCall() as call:
                yield from _announce(work, event, call)
            case ToolStart() as start:
                yield from _start(work, event, start)
            case ToolEnd(start=seq):
                if work.bodies.pop(seq, None) is None:
                    text = f"tool/end names {seq}, where no body is running"
                    yield found(text, event, rule="conformance:4")
            case ToolResult() as result:
                yield from _result(work, event, result)
            case StepStart():
                work.n_unanswered = 0
            case StepEnd() | RunEnd():
                yield from _unannounced(work, event)
            case _:
                pass


def _from_model(work: _Work, event: Event, fact: AssistantChunk | AssistantMessage | ModelFailed) -> Iterator[Found]:
    prefix = isinstance(fact, AssistantMessage) and fact.interrupted  # it may stand behind the failure that cut it
    if work.requests_seen and work.n_unanswered == 0 and not (prefix and work.failed):
        yield found(f"{fact.TYPE}{at(event)} answers no request", event, rule="conformance:4")
    elif work.requests_seen and event.origin is not Origin.IMPORT and fact.attempt != work.attempt:
        text = f"{fact.TYPE} of attempt {fact.attempt} while attempt {work.attempt} is asked"
        yield found(text, event, rule="conformance:144")
    if isinstance(fact, AssistantChunk):
        return
    work.n_unanswered = max(0, work.n_unanswered - 1)
    work.failed = isinstance(fact, ModelFailed)
    if isinstance(fact, AssistantMessage) and not fact.interrupted:
        _remember(work, event, fact)


def _remember(work: _Work, event: Event, message: AssistantMessage) -> None:
    complete = () if is_cut(message) else message.tool_calls
    answer = _Answered(event, list(complete))
    work.latest = answer
    for index, call in enumerate(message.tool_calls):
        work.asked[call.id] = _Asked(call, index, answer)


# ---------------------------------------------------------------- calls and bodies


def _announce(work: _Work, event: Event, fact: ToolCall) -> Iterator[Found]:
    asked = work.asked.get(fact.call_id)
    if asked is None:
        yield found(f"tool/call {fact.call_id!r}{at(event)} is in no answer", event, rule="conformance:5")
        return
    call, answer = asked.call, asked.answer
    if (call.name, call.arguments) != (fact.name, fact.arguments):
        text = f"tool/call {fact.call_id!r} is not the call that the model emitted"
        yield found(text, answer.event, event, rule="conformance:5")
    if call in answer.unannounced:
        if answer.unannounced[0] is not call:
            yield found(f"tool/call {fact.call_id!r} is not in model order", answer.event, event, rule="conformance:5")
        answer.unannounced.remove(call)
    else:
        yield found(f"tool/call {fact.call_id!r} stands for no waiting call", answer.event, event, rule="conformance:5")
    if answer.first_start is not None:
        text = f"tool/call {fact.call_id!r} comes after a body of the same answer started"
        yield found(text, answer.first_start, event, rule="conformance:5")


def _unannounced(work: _Work, event: Event) -> Iterator[Found]:
    if work.latest is None or not work.calls_seen or work.imported:
        return
    for call in work.latest.unannounced:
        if _never_began(work.results.get(call.id)):
            continue  # the process died before: repair says so, and `lineage` looks at it
        text = f"call {call.id!r} of {call.name!r} was never recorded as tool/call"
        yield found(text, work.latest.event, event, rule="conformance:5")
    work.latest.unannounced.clear()


def _start(work: _Work, event: Event, fact: ToolStart) -> Iterator[Found]:
    work.bodies[event.seq] = event
    if fact.call_id is None:
        return
    asked = work.asked.get(fact.call_id)
    if asked is None:
        text = f"a body of {fact.name!r} starts for call {fact.call_id!r}, which no committed answer asks for"
        yield found(text, event, rule="conformance:5")
        return
    if asked.call.name != (fact.instead_of or fact.name):
        text = f"call {fact.call_id!r} asks for {asked.call.name!r}, the body of {fact.name!r} starts"
        yield found(text, asked.answer.event, event, rule="conformance:5")
    if work.calls_seen and asked.answer.unannounced:
        text = f"call {fact.call_id!r} starts before every call of its answer was recorded"
        yield found(text, asked.answer.event, event, rule="conformance:5")
    asked.answer.first_start = asked.answer.first_start or event
    earlier = work.started.setdefault((fact.call_id, fact.attempt), event)
    if earlier is not event:
        yield found(f"call {fact.call_id!r} starts twice", earlier, event, rule="conformance:30")
    if fact.call_id in work.results:
        text = f"call {fact.call_id!r} starts after its result was committed"
        yield found(text, work.results[fact.call_id], event, rule="conformance:5")


def _never_began(result: Event | None) -> bool:
    return result is not None and isinstance(result.fact, ToolResult) and result.fact.code is Code.TOOL_NOT_STARTED


# ---------------------------------------------------------------- results


def _result(work: _Work, event: Event, fact: ToolResult) -> Iterator[Found]:
    work.results.setdefault(fact.call_id, event)
    asked = work.asked.get(fact.call_id)
    if asked is None:
        return  # `pairing` says so
    last = asked.answer.last_result
    if last is not None and asked.index < last[0] and not work.only_pairs:
        text = f"the result of call {fact.call_id!r} comes after that of a later call"
        yield found(text, last[1], event, rule="conformance:49")
    if last is None or asked.index > last[0]:
        asked.answer.last_result = (asked.index, event)
    running = next((e for e in work.bodies.values() if _is_body_of(e, fact.call_id)), None)
    if running is not None and not fact.is_error:
        text = f"call {fact.call_id!r} has a good result although its body has not ended"
        yield found(text, running, event, rule="conformance:4")


def _is_body_of(event: Event, call_id: CallId) -> bool:
    return isinstance(event.fact, ToolStart) and event.fact.call_id == call_id
