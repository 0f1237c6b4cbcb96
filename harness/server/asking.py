"""What the scripted server asks of whoever knows the answers, and a model as one who knows them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from harness.errors import ModelError
from harness.protocols import Emit, Model
from harness.types.codes import CancelBy
from harness.types.doors import Answer
from harness.types.messages import JsonText
from harness.wire.requests import ChatRequest, call_of


def _unheard(_: JsonText) -> None:
    """Nobody listens to the chunks."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A valid request to be answered. ``number`` counts requests of one server from 1, retries too.

    ``emit`` takes the chunks of the answer as they come. ``given`` is an answer that was made already, and
    lost on its way to an earlier request of the same body. ``lost`` says that this one will be lost too:
    how the client will see that.
    """

    request: ChatRequest
    number: int
    emit: Emit = _unheard
    given: Answer | None = None
    lost: ModelError | None = None


Ask: TypeAlias = Callable[[Asked], Awaitable[Answer]]
"""Answers a request. Raises ModelError."""


class NeverSet:
    """The signal of a loop whose cancel is known only by its client going away."""

    @property
    def is_set(self) -> bool:
        """False."""
        return False

    @property
    def by(self) -> CancelBy | None:
        """None: nobody cancels here."""
        return None

    async def wait(self) -> None:
        """Wait until whoever waits is cancelled."""
        await asyncio.Event().wait()


def asking(model: Model) -> Ask:
    """Ask a model, and write nothing down."""

    async def ask(asked: Asked) -> Answer:
        if asked.given is not None:
            return asked.given
        return await model.answer(call_of(asked.request), signal=NeverSet(), emit=asked.emit)

    return ask
