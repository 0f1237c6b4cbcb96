"""Where a script stands: entries one after the other, and branches on what was observed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from harness.errors import InvalidValueError
from harness.types.doors import ModelCall
from harness.types.messages import ChatAssistant, ChatMessage, ChatTool
from harness.types.script import ScriptBranch, ScriptCase, ScriptFollows, When
from harness.wire.content import visible_text


class Position(NamedTuple):
    """An entry that was taken, and its number in the run (from 1)."""

    entry: object
    number: int


class Cursor:
    """Takes entries of a script in order, entering the first case of a branch that holds.

    ``n_taken`` counts entries taken so far; ``unmatched`` says which branch had no case that held, ``behind``
    which request under history showed more answers than there are entries.
    """

    def __init__(
        self, script: Sequence[object], resolve: Callable[[str], Any], follows: ScriptFollows = ScriptFollows.ORDER
    ) -> None:
        self._script = script if follows is ScriptFollows.HISTORY else None
        self._open: list[tuple[Sequence[object], int]] = [(script, 0)]
        self._resolve = resolve
        self.n_taken = 0
        self.unmatched = ""
        self.behind = ""

    def next(self, call: ModelCall) -> Position | None:
        """The entry that answers ``call``; None when the script is dry."""
        if self._script is not None:
            return self._after_as_many(self._script, call)
        while self._open:
            script, index = self._open.pop()
            if index == len(script):
                continue
            entry = script[index]
            case = self._case(entry, call) if isinstance(entry, ScriptBranch) else None
            if isinstance(entry, ScriptBranch) and case is None:
                self._open.append((script, index))
                self.unmatched = f"none of {len(entry.cases)} cases of a branch fits what it was shown"
                return None
            self._open.append((script, index + 1))
            if case is not None:
                self._open.append((case.script, 0))
                continue
            self.n_taken += 1
            return Position(entry, self.n_taken)
        return None

    def _after_as_many(self, script: Sequence[object], call: ModelCall) -> Position | None:
        """The entry after as many answers as the call shows."""
        number = 1 + sum(isinstance(message, ChatAssistant) for message in call.messages)
        if number > len(script):
            shown, has = counted(number - 1, "answer", "answers"), counted(len(script), "reply", "replies")
            self.behind = f"a request shows {shown}, and its script has {has}"
            return None
        self.n_taken = max(self.n_taken, number)
        self._open = [(script, self.n_taken)]
        return Position(script[number - 1], number)

    def _case(self, branch: ScriptBranch, call: ModelCall) -> ScriptCase | None:
        return next((case for case in branch.cases if holds(case.when, call, self._resolve)), None)

    @property
    def n_left(self) -> int:
        """Entries not taken on the way that was chosen; an unreached branch counts as one."""
        return sum(len(script) - index for script, index in self._open)


def counted(number: int, one: str, many: str) -> str:
    """A number with its word."""
    return f"{number} {one if number == 1 else many}"


def holds(when: When, call: ModelCall, resolve: Callable[[str], Any]) -> bool:
    """True when every condition of ``when`` holds for what the call shows.

    With ``tool`` the text is that of the newest result of that tool (none: does not hold), else that
    of the last message. Raises InvalidValueError for a bad pattern or an async function.
    """
    text = _newest_result(call, when.tool) if when.tool is not None else _last_text(call)
    if text is None or (when.matches is not None and _pattern(when.matches).search(text) is None):
        return False
    if when.function is None:
        return True
    result = resolve(when.function)(call)
    if inspect.isawaitable(result):
        raise InvalidValueError(f"condition {when.function!r} is async; give a plain function of the request")
    return bool(result)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise InvalidValueError(f"'matches' {text!r} is no regular expression: {error}") from None


def _last_text(call: ModelCall) -> str:
    return visible_text(call.messages[-1].content) if len(call.messages) else ""


def _newest_result(call: ModelCall, tool: str) -> str | None:
    """Text of the last result of a tool; a result without a name is looked up by its call."""
    messages = list(call.messages)
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, ChatTool) and (message.name or _called_name(messages[:index], message)) == tool:
            return visible_text(message.content)
    return None


def _called_name(earlier: Sequence[ChatMessage], result: ChatTool) -> str | None:
    for message in reversed(earlier):
        if isinstance(message, ChatAssistant):
            return next((call.name for call in message.tool_calls if call.id == result.call_id), None)
    return None
