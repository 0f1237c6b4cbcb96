"""What the tests of models and server share: a log, calls, a signal, and a run under virtual time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from harness.clock import Clocks, run_in_loop
from harness.recorder import Recorder
from harness.types.codes import CancelBy, ClockKind
from harness.types.doors import ModelCall
from harness.types.messages import ChatMessage, ChatUser, JsonText, Messages

T = TypeVar("T")


class Flag:
    """A signal that a test sets."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    @property
    def by(self) -> CancelBy | None:
        return CancelBy.USER if self.is_set else None

    async def wait(self) -> None:
        await self._event.wait()

    def set(self) -> None:
        self._event.set()


def call(*messages: ChatMessage, turn: int | None = 1, step: int | None = 1, parameters: str = "{}") -> ModelCall:
    """A call with these messages (one user message without any)."""
    shown = messages or (ChatUser(content="hi"),)
    return ModelCall((), Messages.of(shown), JsonText("[]"), JsonText(parameters), turn=turn, step=step)


def virtually(main: Callable[[Clocks], Coroutine[Any, Any, T]]) -> T:
    """Run under the virtual clock."""
    return run_in_loop(ClockKind.VIRTUAL, main)


def kinds(log: Recorder) -> list[str]:
    """Kinds of all events, in order."""
    return [getattr(event.fact, "TYPE", "?") for event in log.events]


def ignore(_: JsonText) -> None:
    """Take a chunk and forget it."""
