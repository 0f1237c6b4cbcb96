"""The door to the tools: only here bodies start, so only here starts and ends are seen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.protocols import Clock, Faults, Log, Signal, Tool, ToolContext, no_faults
from harness.tools.admission import check_door, offered_json, read_arguments
from harness.tools.bodies import Ended
from harness.tools.replies import (
    Redact,
    error_reply,
    failure_reply,
    not_allowed,
    shortened,
    timed_out,
    unknown_tool,
    value_reply,
)
from harness.types.codes import Code, Isolation, Mode, Origin, ToolOutcome
from harness.types.doors import ToolReply
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.jsontext import Refusal
from harness.types.lifecycle import RunQuiescent
from harness.types.messages import CallId, JsonText
from harness.types.reasons import Alive
from harness.types.scenario import DEFAULT_GRACE_MS

_LONGEST_SCHEMA = 500
_MOST_ADMITTED = 64


@dataclass(slots=True)
class _Body:
    """One started body: where it stands in the log, and what became of it."""

    tool: Tool
    start: int
    agent: str
    turn: int | None
    step: int | None
    overdue: bool = False
    reply: ToolReply | None = None


class _Admitted(NamedTuple):
    tool: Tool
    values: Mapping[str, Any]
    text: JsonText


class Door:
    """Implements :class:`harness.protocols.ToolDoor`.

    ``allowed`` limits what may run to some of the offered names. ``timeout_ms`` is the time each
    body has on the run's clock; one that ignores being stopped has ``grace_ms`` more, then its call
    is answered TOOL_TIMEOUT and it stays in :meth:`open_bodies` (INVARIANTS 13). ``redact`` cleans
    the text of exceptions before anybody sees it (ARTICLES 1). ``faults`` says which bodies raise instead
    of running.

    Raises ConfigurationError for names twice or not offered, and for times below 1; UnsupportedError
    for subprocess tools under the virtual clock.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        log: Log,
        clock: Clock,
        redact: Redact,
        allowed: Sequence[str] | None = None,
        timeout_ms: int | None = None,
        grace_ms: int = DEFAULT_GRACE_MS,
        faults: Faults = no_faults,
    ) -> None:
        self._tools = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
        self._allowed = tuple(self._tools) if allowed is None else tuple(sorted(set(allowed)))
        check_door(tools, self._tools, self._allowed, clock, timeout_ms, grace_ms)
        self._log = log
        self._clock = clock
        self._redact = redact
        self._timeout_ms = timeout_ms
        self._grace_ms = grace_ms
        self._faults = faults
        self._admitted: dict[tuple[str, str], _Admitted] = {}  # looked at, not yet run; spares a second look
        self._open: dict[int, _Body] = {}
        self._overdue: set[asyncio.Task[ToolReply]] = set()
        self._offered = offered_json(tuple(self._tools.values()))

    @property
    def offered(self) -> JsonText:
        """Name, description and parameters of each tool, by name; nothing else (ARTICLES 2)."""
        return self._offered

    def mode_of(self, name: str) -> Mode:
        """The mode of now; PARALLEL for an unknown name."""
        return self._tools[name].mode if name in self._tools else Mode.PARALLEL

    def isolation_of(self, name: str) -> Isolation:
        """Where its body runs; INLINE for an unknown name."""
        return self._tools[name].isolation if name in self._tools else Isolation.INLINE

    def open_bodies(self) -> tuple[Alive, ...]:
        """Bodies that started and have not ended, by start: what ``run/quiescent`` must name."""
        return tuple(Alive(kind="tool", name=body.tool.name, start=start) for start, body in sorted(self._open.items()))

    def refuse(self, name: str, arguments: str) -> ToolReply | None:
        """The error reply for a call that may not start: unknown, not allowed, bad arguments."""
        admitted = self._admit(name, arguments)
        if isinstance(admitted, ToolReply):
            return admitted
        if len(self._admitted) >= _MOST_ADMITTED:
            self._admitted.clear()
        self._admitted[name, arguments] = admitted
        return None

    async def run(
        self,
        name: str,
        arguments: str,
        *,
        call_id: CallId,
        signal: Signal,
        turn: int | None,
        step: int | None,
        agent: str = "",
    ) -> ToolReply:
        """Run a body and give its reply (a call that may not start gets its refusal, nothing runs).

        A cancel of the surrounding task passes through. Where the body had ended anyway (a thread
        cannot be stopped) the CancelledError's first argument is its ToolReply, so that the model is
        not told that something which happened did not.
        """
        admitted = self._admitted.pop((name, arguments), None) or self._admit(name, arguments)
        if isinstance(admitted, ToolReply):
            return admitted
        fact = ToolStart(call_id, name, admitted.text)
        start = self._log.record(fact, origin=Origin.PROBE, agent=agent, turn=turn, step=step).seq
        body = self._open[start] = _Body(admitted.tool, start, agent, turn, step)
        context = ToolContext(signal, self._clock, call_id)
        if self._timeout_ms is None:
            return await self._perform(body, admitted.values, context)
        return await self._in_time(body, admitted.values, context, self._timeout_ms)

    def _admit(self, name: str, arguments: str) -> _Admitted | ToolReply:
        tool = self._tools.get(name)
        if tool is None:
            return unknown_tool(name, self._allowed)
        if name not in self._allowed:
            return not_allowed(name, self._allowed)
        read = read_arguments(arguments)
        if isinstance(read, Refusal):
            schema = shortened(tool.parameters, _LONGEST_SCHEMA)
            return _bad_arguments(name, f"{read.message}; allowed: one JSON object that fits {schema}.")
        values, text = read
        fault = tool.check(values)
        return _Admitted(tool, values, text) if fault is None else _bad_arguments(name, fault)

    async def _perform(self, body: _Body, values: Mapping[str, Any], context: ToolContext) -> ToolReply:
        name = body.tool.name
        if context.signal.is_set:  # a listener of its start stopped it: its body does not begin (CONFORMANCE 63)
            self._close(body, ToolOutcome.CANCELLED, None)
            raise asyncio.CancelledError
        try:
            reply = value_reply(name, await self._outcome(body, values, context))
        except asyncio.CancelledError as stopped:
            return self._stopped(body, stopped, context.signal)
        except (Exception, SystemExit) as error:
            reply = failure_reply(name, error, self._redact)
            if body.overdue:
                reply = timed_out(name, self._timeout_ms or 0, still_running=False)
        except BaseException:  # KeyboardInterrupt: not ours to answer, but the body has ended
            self._close(body, ToolOutcome.ERROR, Code.TOOL_FAILED)
            raise
        return self._closed(body, reply)

    async def _outcome(self, body: _Body, values: Mapping[str, Any], context: ToolContext) -> Any:
        fault = self._faults(body.start)
        if fault is not None:
            raise fault
        return await body.tool.call(values, context)

    def _stopped(self, body: _Body, stopped: asyncio.CancelledError, signal: Signal) -> ToolReply:
        """Whose CancelledError is it? Ours, our deadline's, or one that the body made up itself."""
        name = body.tool.name
        ended = next((part for part in stopped.args if isinstance(part, Ended)), None)
        reply = None if ended is None else self._reply_to(name, ended)
        if body.overdue:
            return self._closed(body, reply or timed_out(name, self._timeout_ms or 0, still_running=False))
        task = asyncio.current_task()
        if not signal.is_set and (task is None or task.cancelling() == 0):
            return self._closed(body, reply or failure_reply(name, stopped, self._redact))
        body.reply = reply
        if reply is not None:
            self._close(body, reply.outcome, reply.code)
            raise asyncio.CancelledError(reply)
        self._close(body, ToolOutcome.CANCELLED, None)
        raise stopped

    def _reply_to(self, name: str, ended: Ended) -> ToolReply:
        if ended.error is not None:
            return failure_reply(name, ended.error, self._redact)
        return value_reply(name, ended.value)

    async def _in_time(
        self, body: _Body, values: Mapping[str, Any], context: ToolContext, timeout_ms: int
    ) -> ToolReply:
        """The body in a task of its own, which ends in time or is left behind by name."""
        task = asyncio.create_task(
            self._perform(body, values, context), name=f"tool {body.tool.name} {context.call_id}"
        )
        try:
            if not await _done(task, timeout_ms):
                body.overdue = True
                task.cancel()
                if not await _done(task, self._grace_ms):
                    self._overdue.add(task)
                    task.add_done_callback(self._overdue.discard)
                    return timed_out(body.tool.name, timeout_ms, still_running=True)
        except asyncio.CancelledError:
            await _stopped_with_us(task)
            reply = body.reply if task.cancelled() else task.result()
            if task.cancelled() or body.overdue:  # a body that swallowed our cancel keeps its result
                raise asyncio.CancelledError(*((reply,) if reply else ())) from None
        return task.result()

    def _closed(self, body: _Body, reply: ToolReply) -> ToolReply:
        self._close(body, reply.outcome, reply.code)
        return reply

    def _close(self, body: _Body, outcome: ToolOutcome, code: Code | None) -> None:
        """Record the end, unless the run's last line is written (it names this body as alive)."""
        del self._open[body.start]
        events = self._log.events
        if events and isinstance(events[-1].fact, RunQuiescent):
            return
        fact = ToolEnd(body.start, outcome, code)
        self._log.record(fact, origin=Origin.PROBE, agent=body.agent, turn=body.turn, step=body.step)


async def _done(task: asyncio.Task[Any], within_ms: int) -> bool:
    done, _ = await asyncio.wait({task}, timeout=within_ms / 1000)
    return bool(done)


async def _stopped_with_us(task: asyncio.Task[Any]) -> None:
    """Hand our cancel on, each time we get one, and wait until the body has ended."""
    task.cancel()
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()


def _bad_arguments(name: str, fault: str) -> ToolReply:
    return error_reply(Code.INVALID_ARGS, f"tool {name!r} did not run. {fault}")
