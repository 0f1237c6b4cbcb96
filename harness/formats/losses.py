"""What a written form cannot say of a trajectory, counted, so that nobody takes the one for the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from harness.folds import sent_ids
from harness.formats.atif_write import BESIDE_NOTE as ATIF_BESIDE
from harness.formats.atif_write import OBSERVATION_NOTE
from harness.formats.chat import BESIDE_NOTE, CALL_EXTRA_NOTE, EXTRA_NOTE, PARAMETERS
from harness.types.events import ROOT_AGENT, Event, Trajectory
from harness.types.exchange import AssistantMessage, ContextReplaced, RequestHeader, ToolCall, ToolResult, UserMessage
from harness.types.facts import Fact
from harness.types.jsontext import parse_json
from harness.types.lifecycle import MESSAGE_NOTE, NO_IDS_NOTE, Note, RunEnd
from harness.types.messages import Content, ImagePart

_MESSAGES: Final = (UserMessage, AssistantMessage, ToolResult, RequestHeader)
_NOTES: Final = {
    "chat": {MESSAGE_NOTE, NO_IDS_NOTE, BESIDE_NOTE, EXTRA_NOTE, CALL_EXTRA_NOTE},
    "atif": {MESSAGE_NOTE, NO_IDS_NOTE, ATIF_BESIDE, OBSERVATION_NOTE},
}
_ANSWERS: Final[Mapping[str, Callable[[AssistantMessage], Any]]] = {
    "the finish reason": lambda answer: answer.finish_reason or answer.raw_finish_reason,
    "the usage": lambda answer: answer.usage,
    "the model": lambda answer: answer.model,
    "the fingerprint": lambda answer: answer.fingerprint,
    "which attempt it was": lambda answer: answer.attempt != 1,
    "that it was interrupted": lambda answer: answer.interrupted,
    "items of the Responses API": lambda answer: answer.extra is not None and '"response_items"' in answer.extra,
    "the provider's own id": lambda answer: _renamed(answer),
}
_RESULTS: Final[Mapping[str, Callable[[ToolResult], Any]]] = {
    "that it is an error": lambda result: result.is_error,
    "the code": lambda result: result.code,
    "the message of the error": lambda result: result.message,
    "that it was truncated": lambda result: result.truncated,
}


def losses_of(trajectory: Trajectory, form: str) -> tuple[str, ...]:
    """A line for each kind of thing that ``chat`` or ``atif`` cannot carry of this trajectory, with its number.

    What ATIF has no field for and keeps under ``extra.harness`` is no loss: this project reads it back.
    """
    found: Counter[str] = Counter()
    for event in trajectory.events:
        found.update(_of_event(event, form))
    found.update(_of_headers(trajectory, form))
    if form == "chat":
        found.update(_of_run(trajectory))
    if form == "atif":
        found["results behind a later message, moved to their step"] += _late(trajectory)
    return tuple(f"{what}: {n}" for what, n in sorted(found.items()) if n)


def _renamed(answer: AssistantMessage) -> bool:
    return any(
        call.wire_id is not None and call.wire_id != sent
        for call, sent in zip(answer.tool_calls, sent_ids(answer.tool_calls), strict=True)
    )


def _of_event(event: Event, form: str) -> Iterator[str]:
    fact = event.fact
    if event.agent != ROOT_AGENT:
        yield f"events of the child agent {event.agent!r}"
        return
    carried = isinstance(fact, _MESSAGES) or (form == "atif" and isinstance(fact, RunEnd))
    if isinstance(fact, Note):
        carried = fact.name in _NOTES[form]
    if isinstance(fact, ToolCall):
        return  # said by the answer already
    if not carried:
        name = f" {fact.name}" if isinstance(fact, Note) else ""
        why = ", what was replaced is written" if isinstance(fact, ContextReplaced) else ""
        yield f"{fact.TYPE}{name}{why}"
    else:
        yield from _images(fact)
        if form == "chat":
            yield from _of_message(fact)


def _of_message(fact: Fact) -> Iterator[str]:
    if isinstance(fact, AssistantMessage):
        yield from (f"{what} of an answer" for what, has in _ANSWERS.items() if has(fact))
        yield from _media(fact.content)
    elif isinstance(fact, ToolResult):
        yield from (f"{what} of a result" for what, has in _RESULTS.items() if has(fact))
        yield from _media(fact.content)
    elif isinstance(fact, UserMessage):
        yield from _media(fact.message.content)


def _images(fact: Fact) -> Iterator[str]:
    content: Content | None = None
    if isinstance(fact, AssistantMessage | ToolResult):
        content = fact.content
    elif isinstance(fact, UserMessage):
        content = fact.message.content
    for part in content if isinstance(content, tuple) else ():
        if isinstance(part, ImagePart):
            yield "the bytes or the place of an image, of which the digest is written"


def _media(content: Content | None) -> Iterator[str]:
    for part in content if isinstance(content, tuple) else ():
        if isinstance(part, ImagePart) and part.media_type is not None:
            yield "the media type of an image"


def _of_headers(trajectory: Trajectory, form: str) -> Iterator[str]:
    headers = [e.fact for e in trajectory.events if isinstance(e.fact, RequestHeader) and e.agent == ROOT_AGENT]
    yield from ("a later request/header" for _ in headers[1:])
    if headers and form == "chat":
        parameters = parse_json(headers[0].parameters)
        unknown = set(parameters) - PARAMETERS if isinstance(parameters, dict) else ()
        yield from (f"the parameter {name!r}" for name in sorted(unknown))


def _of_run(trajectory: Trajectory) -> Iterator[str]:
    yield "the id of the run"
    if trajectory.header.trial != 1:
        yield "the number of the trial"


def _late(trajectory: Trajectory) -> int:
    """Results of a call of an earlier answer than the one that they stand behind."""
    asked: dict[str, int] = {}
    at = 0
    n_late = 0
    for event in trajectory.events:
        if isinstance(event.fact, AssistantMessage | UserMessage):
            at += 1
        if isinstance(event.fact, AssistantMessage):
            asked |= {call.id: at for call in event.fact.tool_calls}
        elif isinstance(event.fact, ToolResult):
            n_late += asked.pop(event.fact.call_id, at) != at
    return n_late
