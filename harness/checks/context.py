"""`context_closure`: what happened reaches the next request, as it happened.

Every committed result and every piece of input is in the next request of its agent, and what the
model emitted is what the loop sends back: names, arguments and ids by position, text as it was. Where
the profile declares append-only requests, each must begin with the whole of the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent, plain_text, two_doors, wire_id
from harness.folds import sent_ids
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    AssistantMessage,
    ContextReplaced,
    ModelRequest,
    RequestHeader,
    ToolResult,
    UserMessage,
)
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import CallId, ChatAssistant, ChatCall, ChatTool, ChatUser, Content, Messages
from harness.types.profile_loop import RequestHistory

_RULE = "conformance:2"


@dataclass(slots=True)
class _Owed:
    """What the next request of one agent has to show."""

    two_doors: bool
    append_only: bool
    answer: tuple[Event, AssistantMessage] | None = None
    results: dict[CallId, tuple[Event, ToolResult]] = field(default_factory=dict)
    input: list[tuple[Event, ChatUser]] = field(default_factory=list)
    before: tuple[Event, Messages] | None = None
    header: RequestHeader | None = None
    prompted: Event | None = None

    def replaced(self) -> None:
        """A replacement shadows what was owed, and older requests say nothing any more."""
        self.answer, self.before = None, None
        self.results.clear()
        self.input.clear()

    def shown(self, event: Event, messages: Messages) -> None:
        self.replaced()
        self.before = (event, messages)


def _context_closure(trajectory: Trajectory) -> Iterator[Found]:
    append_only = trajectory.header.profile.request_history is RequestHistory.APPEND_ONLY
    for events in by_agent(trajectory).values():
        owed = _Owed(two_doors(trajectory), append_only)
        for event in events:
            match event.fact:
                case AssistantMessage(interrupted=False) as message:
                    owed.answer = (event, message)
                    owed.results.clear()
                case ToolResult() as result:
                    owed.results.setdefault(result.call_id, (event, result))
                case UserMessage(message=message):
                    yield from _twice(owed, event, message)
                    owed.input.append((event, message))
                case ContextReplaced():
                    owed.replaced()
                case RequestHeader() as header:
                    owed.header = header
                case ModelRequest(messages=messages):
                    yield from _prompt(owed, event, messages)
                    yield from _request(owed, event, messages)
                    owed.shown(event, messages)
                case _:
                    pass


def _request(owed: _Owed, event: Event, messages: Messages) -> Iterator[Found]:
    if owed.append_only and owed.before is not None:
        yield from _prefix(owed.before, event, messages)
    if owed.answer is not None:
        yield from _answer(owed, *owed.answer, event, messages)
    if owed.input and not owed.two_doors:
        yield from _input(owed, event, messages)


def _prompt(owed: _Owed, event: Event, messages: Messages) -> Iterator[Found]:
    """A request that goes on with the conversation of the one before shows its system prompt too, or another one."""
    shown = owed.header is not None and bool(owed.header.system)
    if owed.prompted is not None and not shown and owed.before is not None and _goes_on(owed.before[1], messages):
        yield found(
            f"the system prompt is gone from the request{at(event)}", owed.prompted, event, rule="conformance:7"
        )
    owed.prompted = event if shown else None


def _goes_on(before: Messages, messages: Messages) -> bool:
    return messages.extends(before) or (0 < len(before) <= len(messages) and messages[: len(before)] == tuple(before))


def _prefix(before: tuple[Event, Messages], event: Event, messages: Messages) -> Iterator[Found]:
    earlier, shown = before
    if messages.extends(shown):
        return
    for index, message in enumerate(shown):
        if index >= len(messages) or not (messages[index] is message or messages[index] == message):
            text = f"message {index + 1} of the request{at(event)} is not what the request before showed"
            yield found(text, earlier, event, rule="conformance:7")
            return


def _twice(owed: _Owed, event: Event, message: ChatUser) -> Iterator[Found]:
    """Of a loop that tells no inbox, the same input is new twice in a row in one request; elsewhere `inbox` tells."""
    if owed.two_doors and owed.input and owed.input[-1][1] == message:
        origin = owed.input[-1][0]
        yield found(f"the same input stands twice in a row{at(event)}", origin, event, rule=_RULE)


def _input(owed: _Owed, event: Event, messages: Messages) -> Iterator[Found]:
    n_before = len(owed.before[1]) if owed.before else 0
    new = messages[n_before:] if len(messages) > n_before else tuple(messages)
    shown = [message.content for message in new if isinstance(message, ChatUser)]
    for origin, message in owed.input:
        if message.content in shown:
            shown.remove(message.content)
        else:
            yield found(f"input{at(origin)} is not in the next request{at(event)}", origin, event, rule=_RULE)


# ---------------------------------------------------------------- the answer and its results


def _answer(owed: _Owed, origin: Event, message: AssistantMessage, event: Event, messages: Messages) -> Iterator[Found]:
    if not message.tool_calls and (owed.two_doors or not (message.content or message.refusal)):
        return  # whether a loop goes on from its final answer is its own affair; an empty one leaves no message
    place = _place_of(message, messages)
    if place is None:
        what = "the calls of the answer" if message.tool_calls else "the answer"
        yield found(f"{what}{at(origin)} are not in the next request{at(event)}", origin, event, rule=_RULE)
        return
    sent = messages[place]
    if isinstance(sent, ChatAssistant):
        yield from _as_emitted(origin, message, event, sent, rewritten=owed.two_doors)
    if not owed.two_doors:
        yield from _results(owed, message, event, messages, place)


def _place_of(message: AssistantMessage, messages: Messages) -> int | None:
    """Where the request shows the latest answer (the latest with calls, where this one has any)."""
    for index in range(len(messages) - 1, -1, -1):
        shown = messages[index]
        if isinstance(shown, ChatAssistant) and (shown.tool_calls or not message.tool_calls):
            return index
    return None


def _as_emitted(
    origin: Event, message: AssistantMessage, event: Event, sent: ChatAssistant, *, rewritten: bool
) -> Iterator[Found]:
    if not _same_text(message.content, sent.content):
        text = f"the text of the answer{at(origin)} is sent back changed{at(event)}"
        yield found(text, origin, event, rule=_RULE)
    if len(sent.tool_calls) != len(message.tool_calls):
        counts = f"{len(message.tool_calls)} calls, {len(sent.tool_calls)} are sent back"
        text = f"the answer{at(origin)} has {counts}{at(event)}"
        yield found(text, origin, event, rule=_RULE)
        return
    wire = [wire_id(call) for call in message.tool_calls]
    for emitted, expected, shown in zip(message.tool_calls, sent_ids(message.tool_calls), sent.tool_calls, strict=True):
        name = f"call {emitted.id!r}{at(origin)}"
        if emitted.name != shown.name:
            text = f"{name} asked for {emitted.name!r}, sent back is {shown.name!r}"
            yield found(text, origin, event, rule=_RULE)
        if not _same_arguments(emitted.arguments, shown.arguments, rewritten=rewritten):
            text = f"{name} had arguments {emitted.arguments!r}, sent back are {shown.arguments!r}"
            yield found(text, origin, event, rule=_RULE)
        if shown.id != expected and not _may_be_renamed(wire_id(emitted), wire, shown):
            text = f"{name} is sent back under {shown.id!r} instead of {expected!r}"
            yield found(text, origin, event, rule=_RULE)


def _same_arguments(emitted: str, shown: str, *, rewritten: bool) -> bool:
    """The same text; where a loop may parse arguments and write them anew, the same JSON."""
    if emitted == shown or not rewritten:
        return emitted == shown
    one, other = parse_json(emitted) if emitted.strip() else {}, parse_json(shown)
    return (
        not isinstance(one, Refusal) and not isinstance(other, Refusal) and canonical_json(one) == canonical_json(other)
    )


def _may_be_renamed(wire: str, all_wire: list[str], shown: ChatCall) -> bool:
    """An id that the provider left empty or gave twice in one answer has to become another one."""
    return bool(shown.id) and (not wire or all_wire.count(wire) > 1)


def _same_text(one: Content | None, other: Content | None) -> bool:
    return plain_text(one) == plain_text(other)


def _results(owed: _Owed, message: AssistantMessage, event: Event, messages: Messages, place: int) -> Iterator[Found]:
    for index, call in enumerate(message.tool_calls, start=place + 1):
        if call.id not in owed.results:
            continue
        origin, result = owed.results[call.id]
        shown = messages[index] if index < len(messages) else None
        if not isinstance(shown, ChatTool):
            text = f"the result of call {call.id!r}{at(origin)} is not in the next request{at(event)}"
            yield found(text, origin, event, rule=_RULE)
        elif shown.content != result.content:
            text = f"the result of call {call.id!r}{at(origin)} is shown changed in the next request{at(event)}"
            yield found(text, origin, event, rule=_RULE)


CONTEXT_CLOSURE = BuiltCheck(
    name="context_closure",
    about="every result and all input reach the next request, and what the model emitted is what is sent back",
    needs=(("model/request", None), ("assistant/message", None)),
    rules=("conformance:2", "conformance:6", "conformance:7", "article:4"),
    findings=_context_closure,
)
