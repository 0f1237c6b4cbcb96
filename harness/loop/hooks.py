"""Where a host may have a say: before a step begins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from harness.types.messages import Messages


@dataclass(frozen=True, slots=True)
class Enter:
    """Let the step begin."""


@dataclass(frozen=True, slots=True)
class Reject:
    """End the turn as blocked; nothing is asked of the model."""

    message: str


_ENTER = Enter()
Admission: TypeAlias = Enter | Reject
PreStep: TypeAlias = Callable[[Messages], Awaitable[Admission]]


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of a driver. One that throws ends its turn as failed, HOOK_FAILED (CONFORMANCE 12)."""

    pre_step: tuple[PreStep, ...] = ()

    async def admit(self, messages: Messages) -> Admission:
        """The first rejection of the ``pre_step`` hooks, else Enter. Raises what a hook raises."""
        for hook in self.pre_step:
            admission = await hook(messages)
            if isinstance(admission, Reject):
                return admission
        return _ENTER
