"""Where a host may have a say: before a step begins, around each tool, and when a turn is about to stop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from harness.guarding import PostTool, PreTool
from harness.types.messages import ChatUser, Messages

Input: TypeAlias = tuple[ChatUser, ...]


@dataclass(frozen=True, slots=True)
class Enter:
    """Let the step begin."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Let the step begin with this input in place of what it claimed (CONFORMANCE 15).

    Nothing at all on the first step of a turn completes the turn without a step (14).
    """

    messages: Input


@dataclass(frozen=True, slots=True)
class Reject:
    """End the turn as blocked; nothing is asked of the model, and the claimed input is not put back."""

    message: str


Admission: TypeAlias = Enter | Rewrite | Reject
PreStep: TypeAlias = Callable[[Messages, Input], Awaitable[Admission]]
"""Called with the history and the input that the step claimed, which is not in the history yet."""
TurnStopping: TypeAlias = Callable[[Messages], Awaitable[str | None]]
"""Called with the history when a turn would stop; a text steers it into one more step (CONFORMANCE 16)."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of a driver. One that throws ends its turn as failed, HOOK_FAILED (CONFORMANCE 12).

    They run in a task of their own, which a cancel stops.
    """

    pre_step: tuple[PreStep, ...] = ()
    turn_stopping: tuple[TurnStopping, ...] = ()
    pre_tool: tuple[PreTool, ...] = ()
    post_tool: tuple[PostTool, ...] = ()

    async def admit(self, history: Messages, claimed: Input) -> Reject | Input:
        """The first rejection of the ``pre_step`` hooks, else the input as they rewrote it, each in turn."""
        for hook in self.pre_step:
            admission = await hook(history, claimed)
            if isinstance(admission, Reject):
                return admission
            if isinstance(admission, Rewrite):
                claimed = tuple(admission.messages)
        return claimed

    async def stop(self, history: Messages) -> tuple[str, ...]:
        """What the ``turn_stopping`` hooks add."""
        said = [await hook(history) for hook in self.turn_stopping]
        return tuple(text for text in said if text is not None)
