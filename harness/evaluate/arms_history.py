"""The messages of a request: earlier turns, the history of the case, its question, and what is injected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.errors import ConfigurationError
from harness.types.evaluation import Arm, Case, Evaluation
from harness.types.messages import ChatAssistant, ChatMessage, ChatTool, ChatUser, Content, TextPart

_BETWEEN = "\n\n"


def conversation(evaluation: Evaluation, arm: Arm, case: Case) -> list[ChatMessage]:
    """All messages behind the system prompt. Raises ConfigurationError where the padding has too few turns."""
    asked = [*case.history, *([ChatUser(content=case.ask)] if case.ask else [])]
    if arm.inject is not None:
        asked = _injected(asked, arm.inject, len(case.history))
    messages = [*_turns(evaluation.padding, arm), *asked]
    names = dict(arm.rename)
    return [_renamed(message, names) for message in messages] if names else messages


def _turns(padding: Sequence[ChatMessage], arm: Arm) -> Sequence[ChatMessage]:
    """The first turns of the padding; a turn is a user's message and what follows it."""
    if not arm.history_turns:
        return ()
    starts = [at for at, message in enumerate(padding) if isinstance(message, ChatUser)]
    if len(starts) < arm.history_turns:
        raise ConfigurationError(
            f"arm {arm.name!r} wants {arm.history_turns} earlier turns, and 'padding' has {len(starts)}"
        )
    return padding[starts[0] : [*starts, len(padding)][arm.history_turns]]


def _injected(messages: list[ChatMessage], text: str, n_history: int) -> list[ChatMessage]:
    """The messages with the text behind the last tool result of the history, else behind what the user said last."""
    results = [at for at in range(n_history) if isinstance(messages[at], ChatTool)]
    said = [at for at, message in enumerate(messages) if isinstance(message, ChatUser)]
    place = (results or said)[-1]
    message = messages[place]
    assert isinstance(message, ChatTool | ChatUser), "those were looked for"
    return [*messages[:place], replace(message, content=_longer(message.content, text)), *messages[place + 1 :]]


def _longer(content: Content, text: str) -> Content:
    if isinstance(content, str):
        return f"{content}{_BETWEEN}{text}" if content else text
    return (*content, TextPart(text=text))


def _renamed(message: ChatMessage, names: Mapping[str, str]) -> ChatMessage:
    match message:
        case ChatAssistant() if any(call.name in names for call in message.tool_calls):
            calls = (replace(call, name=names.get(call.name, call.name)) for call in message.tool_calls)
            return replace(message, tool_calls=tuple(calls))
        case ChatTool() if message.name is not None and message.name in names:
            return replace(message, name=names[message.name])
        case _:
            return message
