"""What is new in a request body: user input and tool results that no earlier request has shown.

A client sends its whole history each time, perhaps a window of it, perhaps rewritten, perhaps twice
(a retry). The newest answer that the history holds is its anchor: everything behind it is new unless
it was recorded behind that answer before; before it only what no body ever held is new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.types.doors import Answer
from harness.types.exchange import ToolResult, UserMessage
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import CallId, ChatAssistant, ChatMessage, ChatTool, ChatUser, Messages
from harness.types.reasons import EmittedCall
from harness.wire.content import visible_text

_Key: TypeAlias = tuple[object, ...]
NewFact: TypeAlias = UserMessage | ToolResult


@dataclass(slots=True)
class _Given:
    """An answer that was given: how to know it again, its calls, and what was recorded behind it."""

    key: _Key
    calls: tuple[EmittedCall, ...]
    behind: Counter[ChatMessage] = field(default_factory=Counter)

    def call_of(self, message: ChatAssistant, identity: str) -> EmittedCall | None:
        """The call that ``identity`` names in ``message``: by place (clients may rename), else by id."""
        sent = [call.id for call in message.tool_calls]
        if len(sent) == len(self.calls) and identity in sent:
            return self.calls[sent.index(identity)]
        return next((call for call in self.calls if _wire_id(call) == identity), None)


class Seen:
    """Remembers answers given and messages recorded, over all requests of a run."""

    def __init__(self) -> None:
        self._given: list[_Given] = []
        self._open: set[CallId] = set()
        self._ever: set[ChatMessage] = set()
        self._first: Counter[ChatMessage] = Counter()

    def answered(self, answer: Answer, calls: tuple[EmittedCall, ...]) -> None:
        """An answer was given, its calls under unique ids."""
        self._given.append(_Given(_key_of_answer(answer), calls))
        self._open.update(call.id for call in calls)

    def news(self, messages: Messages) -> list[NewFact]:
        """Facts for what this body shows for the first time, in its order."""
        history = list(messages)
        index, given = self._anchor(history)
        facts = list(self._unheard(history[: index + 1]))
        facts += self._behind(history, index + 1, self._first if given is None else given.behind)
        self._ever.update(history)
        return facts

    def _anchor(self, history: Sequence[ChatMessage]) -> tuple[int, _Given | None]:
        for index in range(len(history) - 1, -1, -1):
            message = history[index]
            given = self._match(message) if isinstance(message, ChatAssistant) else None
            if given is not None:
                return index, given
        return -1, None

    def _match(self, message: ChatAssistant) -> _Given | None:
        """The answer that a message repeats: the first with an open call, else the newest."""
        key = _key_of_message(message)
        same = [given for given in self._given if given.key == key] or self._sharing_an_id(message)
        unfinished = (given for given in same if any(call.id in self._open for call in given.calls))
        return next(unfinished, same[-1] if same else None)

    def _sharing_an_id(self, message: ChatAssistant) -> list[_Given]:
        sent = {call.id for call in message.tool_calls} - {""}
        return [given for given in self._given if any(_wire_id(call) in sent for call in given.calls)]

    def _unheard(self, head: Sequence[ChatMessage]) -> Iterator[NewFact]:
        for index, message in enumerate(head):
            if message not in self._ever:
                yield from self._fact(message, head[:index])

    def _behind(self, history: Sequence[ChatMessage], start: int, known: Counter[ChatMessage]) -> Iterator[NewFact]:
        here: Counter[ChatMessage] = Counter()
        for index in range(start, len(history)):
            message = history[index]
            here[message] += 1
            if here[message] > known[message]:
                known[message] += 1
                yield from self._fact(message, history[:index])

    def _fact(self, message: ChatMessage, before: Sequence[ChatMessage]) -> Iterator[NewFact]:
        if isinstance(message, ChatUser):
            yield UserMessage(message)
        elif isinstance(message, ChatTool):
            call = self._call_answered(message.call_id or "", before)
            if call is not None:
                self._open.discard(call.id)
                yield ToolResult(call.id, call.name, message.content)

    def _call_answered(self, identity: str, before: Sequence[ChatMessage]) -> EmittedCall | None:
        """The call that a result answers; None where no answer of this run ever made it."""
        owner = next((m for m in reversed(before) if isinstance(m, ChatAssistant) and m.tool_calls), None)
        given = self._match(owner) if owner is not None else None
        found = given.call_of(owner, identity) if given is not None and owner is not None else None
        if found is not None:
            return found
        named = [call for given in self._given for call in given.calls if _wire_id(call) == identity]
        return next((call for call in named if call.id in self._open), named[-1] if named else None)


def _wire_id(call: EmittedCall) -> str:
    return call.id if call.wire_id is None else call.wire_id


def _key_of_answer(answer: Answer) -> _Key:
    calls = tuple((call.name or "", _same(call.arguments or "")) for call in answer.calls)
    return calls or ("text", visible_text(answer.content))


def _key_of_message(message: ChatAssistant) -> _Key:
    calls = tuple((call.name, _same(call.arguments)) for call in message.tool_calls)
    return calls or ("text", visible_text(message.content))


def _same(arguments: str) -> str:
    """Arguments as compared: many clients parse them and write them anew."""
    value = parse_json(arguments)
    return arguments if isinstance(value, Refusal) else canonical_json(value)
