"""One request in its attempts: asked, tried again after a pause, and at last put to another model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeAlias

from harness.errors import ModelError
from harness.loop.scheduler import Stopped
from harness.loop.turn import Desk, Turn
from harness.types.codes import Code
from harness.types.doors import MAIN_ROLE, Answer, ModelCall
from harness.types.exchange import ModelRetry
from harness.types.messages import Messages
from harness.types.retrying import FALLBACK

Shorten: TypeAlias = Callable[[], Coroutine[Any, Any, Messages | None]]
"""Replaces a part of the history: what the next attempt shows, or None where nothing could be replaced (153)."""


async def answered(desk: Desk, turn: Turn, call: ModelCall, *, shorten: Shorten | None = None) -> tuple[Answer, int]:
    """The answer to ``call`` and the number of the attempt (from 1) that gave it.

    Nothing of a failed attempt is kept (CONFORMANCE 144); a stop ends a pause at once, and no attempt follows
    it (78, 79). ``shorten`` is asked at most once, at a CONTEXT_OVERFLOW, and allows one attempt more. Raises
    Stopped, and the last attempt's ModelError.
    """
    while True:
        try:
            request = desk.model.ask(call, signal=turn.stop)
            return await desk.scheduler.run_request(request, turn.stop), call.attempt
        except ModelError as error:
            shorter = None
            if shorten is not None and error.code == Code.CONTEXT_OVERFLOW:
                shorter = await desk.scheduler.run_request(shorten(), turn.stop, name="shortening of the history")
                shorten = None
            call = await _next(desk, turn, call, error, shorter)


async def _next(desk: Desk, turn: Turn, call: ModelCall, error: ModelError, shorter: Messages | None) -> ModelCall:
    """The call of the next attempt, when it is due. Raises ``error`` where there is none, Stopped where none may be."""
    policy, code = desk.policies.retry, code_of(error)
    is_main = call.role == MAIN_ROLE
    delay_ms = policy.delay_ms(call.attempt, code, error.retry_after_ms) if is_main else None
    role = call.role
    if shorter is not None:
        call, delay_ms = replace(call, messages=shorter), 0
    if delay_ms is None and is_main and policy.falls_back(code):
        delay_ms, role = 0, FALLBACK
    if delay_ms is None or turn.stop.is_set:
        raise _told(error, call.attempt) from error
    spent = desk.budget.catch_up(desk.log.events).spent()
    if spent is not None:  # a failed attempt may cost, too (CONFORMANCE 100)
        turn.stop.set(spent)
        raise Stopped
    desk.say(ModelRetry(code, call.attempt, delay_ms), turn)
    await desk.scheduler.run_request(asyncio.sleep(delay_ms / 1000), turn.stop, name="pause before a retry")
    return replace(call, attempt=call.attempt + 1, role=role)


def _told(error: ModelError, n_attempts: int) -> ModelError:
    """The failure that stands; behind several attempts it says how many."""
    if n_attempts == 1:
        return error
    return ModelError(f"{error} (after {n_attempts} attempts)", code=error.code, retry_after_ms=error.retry_after_ms)


def code_of(error: ModelError) -> Code:
    """Its code, UNKNOWN where it has none of ours (CONFORMANCE 150)."""
    try:
        return Code(error.code)
    except ValueError:
        return Code.UNKNOWN
