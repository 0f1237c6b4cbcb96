"""A conversation told message by message: what most formats come to, whatever they call it.

Formats of this kind say nothing of runs, turns and steps: those are counted only to make ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from harness.formats.builder import ForeignCall, ForeignResult, TrajectoryBuilder
from harness.types.exchange import AssistantMessage, UserMessage
from harness.types.messages import ChatDeveloper, ChatSystem, ChatUser, Content, JsonText
from harness.types.reasons import EmittedCall

OBSERVED: Final = ("user/message", "assistant/message", "tool/result")
"""What every such format shows, also where a file holds none of it."""


class Talk:
    """Adds the messages of one conversation to a trajectory, in order."""

    def __init__(self, out: TrajectoryBuilder) -> None:
        self.out = out
        self._turn = 1
        self._step = 0
        out.observe(*OBSERVED)

    def system(self, content: Content | None, role: str = "system") -> None:
        """A system or developer message."""
        kind = ChatSystem if role == "system" else ChatDeveloper
        self.out.system(kind(content="" if content is None else content))

    def user(self, content: Content, extra: JsonText | None = None) -> None:
        """User input; with the first of it behind an answer a new turn is counted."""
        self._turn, self._step = (self._turn + 1, 0) if self._step else (self._turn, 0)
        self.out.add(UserMessage(ChatUser(content=content, extra=extra)))

    def answer(self, answer: AssistantMessage, calls: Iterable[ForeignCall] = ()) -> tuple[EmittedCall, ...]:
        """An answer with its calls, which get their ids here; ``answer`` comes without any."""
        self._step += 1
        emitted = self.out.ids.emit(calls, self._turn, self._step)
        self.out.add(replace(answer, tool_calls=emitted))
        return emitted

    def result(self, result: ForeignResult) -> None:
        """A result, under the call that it answers."""
        self.out.result(result)
