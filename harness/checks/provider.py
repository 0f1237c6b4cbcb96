"""`provider_history`: would a provider take the messages of each request?

A scripted endpoint refuses such a request as a provider would, so that in a run of ours another check tells of the
failed run too. This one exists because it names the message, and because nothing refuses what is imported.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest
from harness.types.messages import ChatAssistant, ChatMessage, ChatTool, Messages


def _provider_history(trajectory: Trajectory) -> Iterator[Found]:
    for events in by_agent(trajectory).values():
        seen: set[tuple[int, str]] = set()
        before: Messages | None = None
        safe = 0
        for event in events:
            if isinstance(event.fact, ModelRequest):
                messages = event.fact.messages
                start = safe if before is not None and messages.extends(before) else 0
                said, safe = _judge_request(event, messages, start, seen)
                yield from said
                before = messages


def _judge_request(event: Event, messages: Messages, start: int, seen: set[tuple[int, str]]) -> tuple[list[Found], int]:
    """Findings of one request from message ``start`` on, each once; and where its last group began.

    A request that only adds messages is judged from there, so judging stays linear in the run.
    """
    said = []
    group = index = start
    while index < len(messages):
        message = messages[index]
        if isinstance(message, ChatAssistant) and message.tool_calls:
            group = index
        problems, index = _judge_message(messages, index, message)
        for place, text in problems:
            if (place, text) not in seen:
                seen.add((place, text))
                text = f"message {place + 1} of the request{at(event)}: {text}"
                said.append(found(text, event, rule="conformance:28"))
    return said, group


def _judge_message(messages: Messages, index: int, message: ChatMessage) -> tuple[list[tuple[int, str]], int]:
    if isinstance(message, ChatTool):
        return [(index, f"a tool message for {message.call_id!r} that answers no call before it")], index + 1
    if not isinstance(message, ChatAssistant):
        return [], index + 1
    if not message.tool_calls:
        empty = message.content is None and not message.refusal
        return ([(index, "an assistant message with neither content nor calls")] if empty else []), index + 1
    answers: list[ChatTool] = []
    after = index + 1
    while after < len(messages) and isinstance(following := messages[after], ChatTool):
        answers.append(following)
        after += 1
    return [*_id_problems(index, message), *_answer_problems(index, message, answers)], after


def _id_problems(index: int, message: ChatAssistant) -> Iterator[tuple[int, str]]:
    used: set[str] = set()
    for call in message.tool_calls:
        if not call.id:
            yield index, f"a call of {call.name!r} with an empty id"
        elif call.id in used:
            yield index, f"two calls under the id {call.id!r}"
        if not call.name:
            yield index, f"call {call.id!r} has no name"
        used.add(call.id)


def _answer_problems(index: int, message: ChatAssistant, answers: list[ChatTool]) -> Iterator[tuple[int, str]]:
    wanted = [call.id for call in message.tool_calls]
    given = [answer.call_id for answer in answers]
    if given == wanted:
        return
    for call in message.tool_calls:
        if call.id not in given:
            yield index, f"call {call.id!r} of {call.name!r} is not answered directly behind it"
    left = list(wanted)
    for place, call_id in enumerate(given, start=index + 1):
        if call_id in left:
            left.remove(call_id)
        elif call_id in wanted:
            yield place, f"a second tool message for {call_id!r}"
        else:
            yield place, f"a tool message for {call_id!r} that answers no call before it"
    if sorted(map(str, given)) == sorted(map(str, wanted)):
        yield index, f"results come as {given}, the calls were {wanted}"


PROVIDER_HISTORY = BuiltCheck(
    name="provider_history",
    about="each request answers every call directly behind its message, in order, under ids that are there",
    needs=(("model/request", None),),
    rules=("conformance:28", "conformance:33", "conformance:49", "conformance:86", "conformance:96a"),
    findings=_provider_history,
)
