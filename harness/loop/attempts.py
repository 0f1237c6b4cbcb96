"""One request in its attempts: asked, tried again after a pause, and at last put to another model."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from harness.errors import ModelError
from harness.loop.context import after_overflow
from harness.loop.turn import Desk, Turn
from harness.types.codes import Code
from harness.types.doors import MAIN_ROLE, Answer, ModelCall
from harness.types.exchange import ModelRetry
from harness.types.retrying import FALLBACK


async def answered(desk: Desk, turn: Turn, call: ModelCall) -> tuple[Answer, int]:
    """The answer to ``call`` and the number of the attempt (from 1) that gave it.

    Nothing of a failed attempt is kept (CONFORMANCE 144); a stop ends a pause at once, and no attempt follows
    it (78, 79). Raises Stopped, and the last attempt's ModelError.
    """
    smaller: ModelCall | None = None
    while True:
        try:
            request = desk.model.ask(call, signal=turn.stop)
            return await desk.scheduler.run_request(request, turn.stop), call.attempt
        except ModelError as error:
            smaller = await after_overflow(desk, turn, call, error) if smaller is None else None
            call = smaller or await _next(desk, turn, call, error)


async def _next(desk: Desk, turn: Turn, call: ModelCall, error: ModelError) -> ModelCall:
    """The call of the next attempt, when it is due. Raises ``error`` where there is none."""
    policy, code = desk.policies.retry, code_of(error)
    is_main = call.role == MAIN_ROLE
    delay_ms = policy.delay_ms(call.attempt, code, error.retry_after_ms) if is_main else None
    role = MAIN_ROLE
    if delay_ms is None and is_main and policy.falls_back(code):
        delay_ms, role = 0, FALLBACK
    if delay_ms is None or turn.stop.is_set:
        raise _told(error, call.attempt) from error
    desk.say(ModelRetry(code, call.attempt + 1, delay_ms), turn)
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
