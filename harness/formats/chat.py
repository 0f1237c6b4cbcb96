"""OpenAI chat messages: a bare list, ``{messages: [...]}``, lines of either, and tau-bench's runs.

The format says nothing of runs, turns, steps, tool starts or ends, so none of them is observed. What
has no fact of its own (system messages behind others, unknown fields, a benchmark's own record) is
kept in notes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final, assert_never

from harness.errors import ModelError
from harness.formats.builder import ForeignCall, ForeignResult, TrajectoryBuilder
from harness.formats.talk import Talk
from harness.formats.values import Document, text_or_none, whole_or_none
from harness.types.codes import HeaderWhy
from harness.types.events import TornTail, Trajectory
from harness.types.exchange import UNKNOWN_TOOLS, AssistantMessage, RequestHeader
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import MESSAGE_NOTE, NO_IDS_NOTE
from harness.types.messages import (
    ChatAssistant,
    ChatCall,
    ChatDeveloper,
    ChatMessage,
    ChatSystem,
    ChatTool,
    ChatUser,
)
from harness.wire.chat import message_from_wire, parse_tools

EXTRA_NOTE: Final = "chat/extra"
"""Name of the note before an answer or a result: fields of its message that no fact has a place for."""
CALL_EXTRA_NOTE: Final = "chat/call-extra"
"""Name of the note before an answer: fields of its calls that no fact has a place for, by their index."""
BESIDE_NOTE: Final = "chat/beside"
"""Name of the note with what stands beside the messages in their object."""
_ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
PARAMETERS: Final = frozenset(
    {
        "frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "n",
        "parallel_tool_calls", "presence_penalty", "reasoning_effort", "response_format", "seed", "stop",
        "stream", "temperature", "tool_choice", "top_logprobs", "top_p",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Conversation:
    """One list of messages with what stands beside it; ``line`` is where it begins in the file."""

    line: int
    messages: list[Any]
    beside: Mapping[str, Any] = field(default_factory=dict)
    is_one: bool = True
    """False for what stands among conversations and is none: it keeps its number, and holds nothing."""


def is_chat(document: Document) -> bool:
    """True for a file with a conversation, whose every conversation has only messages with the roles of this format."""
    found = list(conversations(document))
    return any(conversation.is_one for conversation in found) and all(
        isinstance(message, dict) and message.get("role") in _ROLES and not _is_other(message)
        for conversation in found
        for message in conversation.messages
    )


def _is_other(message: dict[str, Any]) -> bool:
    """True for messages that use the articles' names; `article` reads those."""
    parts = message.get("content")
    kinds = [part.get("type") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return (
        any(key in message for key in ("toolCalls", "callId", "toolCallId", "isError"))
        or any(isinstance(kind, str) and kind.startswith("tool") for kind in kinds)
        or (message.get("role") == "tool" and "content" not in message)
        or not _are_calls(message.get("tool_calls") or [])
    )


def _are_calls(calls: Any) -> bool:
    return isinstance(calls, list) and all(map(_is_call, calls))


def _is_call(call: Any) -> bool:
    return isinstance(call, dict) and any(isinstance(call.get(key), dict) for key in ("function", "custom"))


def conversations(document: Document) -> Iterator[Conversation]:
    """The conversations of a file, in order."""
    values = document.values
    if values and all(isinstance(value, dict) and "role" in value for _, value in values):
        yield Conversation(values[0][0], [value for _, value in values])
        return
    for line, value in values:
        yield from _conversations_in(line, value)


def _conversations_in(line: int, value: Any) -> Iterator[Conversation]:
    if isinstance(value, dict):
        for key in ("messages", "traj", "conversations"):
            if isinstance(value.get(key), list):
                beside = {name: item for name, item in value.items() if name != key}
                yield Conversation(line, value[key], beside)
                return
        yield Conversation(line, [], value, is_one=False)
    elif isinstance(value, list) and value and all(isinstance(item, dict) and "role" in item for item in value):
        yield Conversation(line, value)
    elif isinstance(value, list) and value:
        for item in value:
            yield from _conversations_in(line, item)
    else:
        yield Conversation(line, [], {"value": value}, is_one=False)


def read_chat(document: Document) -> Iterator[Trajectory]:
    """A trajectory for each conversation. Raises ForeignFormatError."""
    found = list(conversations(document))
    if not any(conversation.is_one for conversation in found):
        document.refuse("no chat messages: expected a list of messages, or objects with messages")
    for number, conversation in enumerate(found, start=1):
        if not conversation.is_one and "role" in conversation.beside:
            document.refuse("a message on a line of its own stands among whole conversations", conversation.line)
        try:
            yield _read(conversation, document, number, torn=document.torn if number == len(found) else None)
        except ModelError as error:
            document.refuse(f"conversation {number}: {error}", conversation.line)


def _read(conversation: Conversation, document: Document, number: int, *, torn: TornTail | None) -> Trajectory:
    out = TrajectoryBuilder(subject="chat", source=document.source)
    messages = [message_from_wire(raw, f"messages[{at}]") for at, raw in enumerate(conversation.messages)]
    beside = conversation.beside
    n_leading = _header(out, messages, beside)
    told = PARAMETERS if not isinstance(beside.get("tools"), list) else {"tools", *PARAMETERS}
    rest = {key: value for key, value in beside.items() if key not in told}
    if rest:
        out.note(BESIDE_NOTE, rest)
    reader = _Reader(out)
    for raw, message in zip(conversation.messages[n_leading:], messages[n_leading:], strict=True):
        reader.take(message, raw)
    model = text_or_none(beside.get("model"))
    return out.finish(_run_id(document, beside, number), model=model, trial=_trial(beside), torn=torn)


def _header(out: TrajectoryBuilder, messages: list[ChatMessage], beside: Mapping[str, Any]) -> int:
    """Write the request header where anything of it is known; gives how many messages it took."""
    leading: list[ChatSystem | ChatDeveloper] = []
    for message in messages:
        if not isinstance(message, ChatSystem | ChatDeveloper):
            break
        leading.append(message)
    parameters = canonical_json({key: beside[key] for key in sorted(PARAMETERS & set(beside))})
    tools = parse_tools(beside["tools"]) if isinstance(beside.get("tools"), list) else UNKNOWN_TOOLS
    if leading or tools != UNKNOWN_TOOLS or parameters != "{}":
        out.add(RequestHeader(tuple(leading), tools, parameters, HeaderWhy.INITIAL))
    return len(leading)


def _run_id(document: Document, beside: Mapping[str, Any], number: int) -> str:
    """``<file>/<task or number>``; the trial tells runs of one task apart."""
    stem = PurePath(document.source).stem
    task = beside.get("task_id")
    name = f"task-{task}" if isinstance(task, int | str) else f"conversation-{number}"
    return f"{stem}/{name}@default#{_trial(beside)}"


def _trial(beside: Mapping[str, Any]) -> int:
    """From 1; tau-bench counts from 0."""
    trial = whole_or_none(beside.get("trial"))
    return 1 if trial is None or trial < 0 else trial + 1


class _Reader:
    """Goes through one conversation."""

    def __init__(self, out: TrajectoryBuilder) -> None:
        self._out = out
        self._talk = Talk(out)

    def take(self, message: ChatMessage, raw: Mapping[str, Any]) -> None:
        """Add one message."""
        match message:
            case ChatSystem() | ChatDeveloper():
                self._out.note(MESSAGE_NOTE, raw)
            case ChatUser():
                self._talk.user(message.content, message.extra)
            case ChatAssistant():
                self._answer(message, raw)
            case ChatTool():
                self._left_over(EXTRA_NOTE, message.extra)
                self._talk.result(ForeignResult(message.call_id, message.content, message.name))
            case _:
                assert_never(message)

    def _answer(self, message: ChatAssistant, raw: Mapping[str, Any]) -> None:
        calls = [_call(call) for call in message.tool_calls] or _legacy_call(raw)
        self._left_over(EXTRA_NOTE, message.extra)
        extras = {str(at): json.loads(call.extra) for at, call in enumerate(message.tool_calls) if call.extra}
        if extras:
            self._out.note(CALL_EXTRA_NOTE, extras)
        if calls and not message.tool_calls:
            self._out.note(NO_IDS_NOTE, "function_call")
        answer = AssistantMessage(content=message.content, reasoning=message.reasoning, refusal=message.refusal)
        self._talk.answer(answer, calls)

    def _left_over(self, name: str, extra: str | None) -> None:
        if extra is not None:
            self._out.note(name, json.loads(extra))


def _call(call: ChatCall) -> ForeignCall:
    return ForeignCall(call.name, call.arguments, call.id, call.type)


def _legacy_call(raw: Mapping[str, Any]) -> list[ForeignCall]:
    """The one call of the retired ``function_call`` field, which has no id."""
    call = raw.get("function_call")
    if not isinstance(call, Mapping):
        return []
    return [ForeignCall(text_or_none(call.get("name")) or "", text_or_none(call.get("arguments")) or "", None)]
