"""The bodies of one call: its attempts, what takes over after them, and the calls that a composite body makes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from harness.errors import ToolError
from harness.protocols import Signal, Use
from harness.tools.call import Admitted, Body, Call
from harness.tools.modes import uses
from harness.tools.policy import Rulebook, is_failure
from harness.tools.replies import listed
from harness.types.codes import Code
from harness.types.doors import ToolReply
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText
from harness.types.tool_policy import NO_FALLBACK_NOTE, AfterFailure


class Runs(Protocol):
    """What is needed of the door here."""

    rules: Rulebook

    def admit(self, name: str, arguments: str) -> Admitted | ToolReply: ...
    def note(self, call: Call, name: str, data: JsonText) -> None: ...
    def is_open(self, body: Body) -> bool: ...
    async def attempt(
        self, admitted: Admitted, call: Call, number: int, *, instead_of: str | None = None
    ) -> tuple[ToolReply, bool]: ...


async def tried(door: Runs, admitted: Admitted, call: Call) -> ToolReply:
    """The reply of a call under its tool's failure policy (ARTICLES 20).

    A body that is still running is never run again, and a cancel begins no attempt: the failure then stands as
    the call's own (CONFORMANCE 63, 74, 78). Where the cancel comes as CancelledError in a pause, the failure is its
    first argument.
    """
    rule = door.rules.failure(admitted.tool.name)
    number = 1
    reply, ended = await door.attempt(admitted, call, number)
    while is_failure(reply) and ended and number <= rule.retries:
        await _pause(rule.delay_ms, call.signal, reply)
        if call.signal.is_set:
            return reply
        number += 1
        reply, ended = await door.attempt(admitted, call, number)
    if not is_failure(reply) or call.signal.is_set:
        return reply
    if rule.then is AfterFailure.FAIL_RUN:
        return replace(reply, fails_run=True)
    if rule.fallback is not None:
        return await _fall_back(door, admitted, call, reply, rule.fallback, number + 1)
    return reply


async def _pause(delay_ms: int, signal: Signal, reply: ToolReply) -> None:
    """Wait, unless the signal is set meanwhile."""
    try:
        async with asyncio.timeout(delay_ms / 1000):
            await signal.wait()
    except TimeoutError:
        return  # nobody stopped the call
    except asyncio.CancelledError:
        raise asyncio.CancelledError(reply) from None


async def _fall_back(
    door: Runs, admitted: Admitted, call: Call, reply: ToolReply, fallback: str, number: int
) -> ToolReply:
    """The reply of the tool that takes over, with the same arguments; its own failure is reported."""
    other = door.admit(fallback, admitted.text)
    if isinstance(other, ToolReply):
        why = {"callId": call.call_id, "tool": fallback, "why": other.message}
        door.note(call, NO_FALLBACK_NOTE, canonical_json(why))
        return reply
    return (await door.attempt(other, call, number, instead_of=admitted.tool.name))[0]


def inner_calls(door: Runs, body: Body) -> Use:
    """How a composite body calls the tools that it uses: through the same door, within its own start.

    What fails is raised as ToolError with its code. After a cancel, and once the body itself is over or out of time,
    nothing starts any more: CancelledError.
    """

    async def use(name: str, arguments: Mapping[str, Any]) -> str:
        if body.call.signal.is_set or not door.is_open(body):
            raise asyncio.CancelledError
        allowed = uses(body.tool)
        if name not in allowed:
            raise ToolError(f"tool {body.tool.name!r} calls {name!r}; allowed by its 'uses': {listed(allowed)}")
        text = canonical_json(dict(arguments))
        admitted = door.admit(name, text)
        if isinstance(admitted, ToolReply):
            return _content(admitted)
        key = f"{body.call.key}/{next(body.n_inner)}"
        call = body.call._replace(call_id=None, arguments=text, key=key, within=body.start)
        try:
            return _content(await tried(door, admitted, call))
        except asyncio.CancelledError:
            raise asyncio.CancelledError from None  # an inner reply is no reply of the composite call

    return use


def _content(reply: ToolReply) -> str:
    if reply.is_error:
        raise ToolError(reply.message or "failed", code=(reply.code or Code.TOOL_FAILED).value)
    return reply.content if isinstance(reply.content, str) else ""
