"""The door to the tools: only here bodies start, so only here starts and ends are seen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from harness.protocols import Clock, Log, Signal, Tool, ToolContext
from harness.schemas import read_arguments
from harness.tools.admission import check_door, in_order, offered_json
from harness.tools.bodies import Ended, gated
from harness.tools.call import Admitted, Body, Call
from harness.tools.lengths import Shorten, cut_to, shortened_to
from harness.tools.modes import check_uses, isolation_now, mode_now, uses
from harness.tools.policy import Rulebook
from harness.tools.repair import repair_note, repaired
from harness.tools.replies import (
    Redact,
    bad_arguments,
    failure_reply,
    not_allowed,
    shortened,
    timed_out,
    unknown_tool,
    value_reply,
)
from harness.tools.trying import inner_calls, tried
from harness.types.codes import Code, Isolation, Mode, Origin, ToolOutcome
from harness.types.doors import Faults, Gate, ToolReply, no_faults
from harness.types.events import Event
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.facts import Fact
from harness.types.jsontext import Refusal, text_digest
from harness.types.lifecycle import Note, RunQuiescent
from harness.types.messages import CallId, JsonText
from harness.types.reasons import Alive
from harness.types.scenario import DEFAULT_GRACE_MS
from harness.types.tool_policy import NO_POLICY, REPAIRED_NOTE, ToolPolicy

_LONGEST_SCHEMA = 500
_MOST_ADMITTED = 64


class Door:
    """Implements :class:`harness.protocols.ToolDoor`.

    ``allowed`` limits what may run to some of the offered names. ``timeout_ms`` is the time each
    body has on the run's clock; one that ignores being stopped has ``grace_ms`` more, then its call
    is answered TOOL_TIMEOUT and it stays in :meth:`open_bodies` (INVARIANTS 13). ``redact`` cleans
    the text of exceptions before anybody sees it, ``hide`` what a body gives (ARTICLES 1). ``faults`` says which
    bodies raise instead of running. ``policy`` says what a failure leads to, how long results may be, and which
    repairs of arguments are allowed; nothing of it is on by default. ``shorten`` sums up results that are too long,
    where the policy says so.

    Raises ConfigurationError for names twice or not offered, for times below 1, and for a policy that these tools
    cannot have; UnsupportedError for subprocess tools under the virtual clock.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        log: Log,
        clock: Clock,
        redact: Redact,
        hide: Redact = str,
        allowed: Sequence[str] | None = None,
        timeout_ms: int | None = None,
        grace_ms: int = DEFAULT_GRACE_MS,
        faults: Faults = no_faults,
        gate: Gate | None = None,
        policy: ToolPolicy = NO_POLICY,
        shorten: Shorten | None = None,
    ) -> None:
        self._tools = {tool.name: tool for tool in in_order(tools)}
        self._allowed = tuple(self._tools) if allowed is None else tuple(sorted(set(allowed)))
        check_door(tools, self._tools, self._allowed, clock, timeout_ms, grace_ms)
        check_uses(self._tools)
        self.rules = Rulebook(self._tools, policy, allowed=self._allowed, timeout_ms=timeout_ms)
        self._log = log
        self._clock = clock
        self._redact = redact
        self._hide = hide
        self._grace_ms = grace_ms
        self._faults = faults
        self._gate = gate
        self._shorten = shorten
        self._admitted: dict[tuple[str, str], Admitted] = {}  # looked at, not yet run; spares a second look
        self._open: dict[int, Body] = {}
        self._overdue: set[asyncio.Task[ToolReply]] = set()
        self._offered = offered_json(tuple(self._tools.values()))

    @property
    def offered(self) -> JsonText:
        """Name, description and parameters of each tool, in order; nothing else (ARTICLES 2)."""
        return self._offered

    def mode_of(self, name: str, arguments: str = "") -> Mode:
        """The mode of now; PARALLEL for an unknown name or bad arguments, EXCLUSIVE where it cannot be told."""
        admitted = self._admitted.get((name, arguments)) or self.admit(name, arguments)
        tool = self._tools.get(name) if isinstance(admitted, ToolReply) else admitted.tool
        if tool is None:
            return Mode.PARALLEL
        return mode_now(tool, {} if isinstance(admitted, ToolReply) else admitted.values, self._tools)

    def isolation_of(self, name: str) -> Isolation:
        """Where its body runs; INLINE for an unknown name."""
        return isolation_now(self._tools[name], self._tools) if name in self._tools else Isolation.INLINE

    def open_bodies(self) -> tuple[Alive, ...]:
        """Bodies that started and have not ended, by start: what ``run/quiescent`` must name."""
        return tuple(Alive(kind="tool", name=body.tool.name, start=start) for start, body in sorted(self._open.items()))

    def refuse(self, name: str, arguments: str) -> ToolReply | None:
        """The error reply for a call that may not start: unknown, not allowed, bad arguments."""
        admitted = self.admit(name, arguments)
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
        admitted = self._admitted.pop((name, arguments), None) or self.admit(name, arguments)
        if isinstance(admitted, ToolReply):
            return admitted
        call = Call(call_id, arguments, signal, agent, turn, step, key=call_id)
        if admitted.rungs:
            self.note(call, REPAIRED_NOTE, repair_note(call, admitted))
        try:
            reply = await tried(self, admitted, call)
        except asyncio.CancelledError as stopped:
            ended = (part for part in stopped.args if isinstance(part, ToolReply))
            limit = self.rules.results(name)
            raise asyncio.CancelledError(*(cut_to(reply, limit, call, tell=self.note) for reply in ended)) from None
        return await shortened_to(reply, self.rules.results(name), call, tell=self.note, shorten=self._shorten)

    def admit(self, name: str, arguments: str) -> Admitted | ToolReply:
        """What may start for a call, or the error reply for one that may not."""
        tool = self._tools.get(name)
        if tool is None:
            return unknown_tool(name, self._allowed)
        if name not in self._allowed:
            return not_allowed(name, self._allowed)
        read = read_arguments(arguments)
        if isinstance(read, Refusal):
            admitted = self._repaired(tool, arguments)
            schema = shortened(tool.parameters, _LONGEST_SCHEMA)
            return admitted or bad_arguments(name, f"{read.message}; allowed: one JSON object that fits {schema}.")
        values, text = read
        fault = tool.check(values)
        return Admitted(tool, values, text) if fault is None else bad_arguments(name, fault)

    def _repaired(self, tool: Tool, arguments: str) -> Admitted | None:
        found = repaired(arguments, self.rules.repair, tool) if self.rules.repair else None
        return None if found is None or tool.check(found.values) is not None else Admitted(tool, *found)

    def note(self, call: Call, name: str, data: JsonText) -> None:
        """Record a remark about a call, in its place."""
        self._record(Note(name, data), call)

    def _record(self, fact: Fact, call: Call) -> Event | None:
        """Record a fact of a call, unless the run's last line is written."""
        events = self._log.events
        if events and isinstance(events[-1].fact, RunQuiescent):
            return None
        return self._log.record(fact, origin=Origin.PROBE, agent=call.agent, turn=call.turn, step=call.step)

    async def attempt(
        self, admitted: Admitted, call: Call, number: int, *, instead_of: str | None = None
    ) -> tuple[ToolReply, bool]:
        """Run one body of a call: its reply, and whether it has ended."""
        tool = admitted.tool
        fact = ToolStart(call.call_id, tool.name, admitted.text, number, instead_of, call.within)
        start = self._log.record(fact, origin=Origin.PROBE, agent=call.agent, turn=call.turn, step=call.step).seq
        body = self._open[start] = Body(tool, call, start, self.rules.timeout_ms(tool.name))
        use = inner_calls(self, body) if uses(tool) else None
        context = ToolContext(call.signal, self._clock, call.call_id, call.key, number, use)
        if body.timeout_ms is None:
            return await self._perform(body, admitted.values, context), True
        reply = await self._in_time(body, admitted.values, context, body.timeout_ms)
        return reply, start not in self._open

    def is_open(self, body: Body) -> bool:
        """Whether a body may still start others: it runs, in time."""
        return body.start in self._open and not body.overdue

    async def _perform(self, body: Body, values: Mapping[str, Any], context: ToolContext) -> ToolReply:
        name = body.tool.name
        if context.signal.is_set:  # a listener of its start stopped it: its body does not begin (CONFORMANCE 63)
            self._close(body, ToolOutcome.CANCELLED, None)
            raise asyncio.CancelledError
        try:
            reply = value_reply(name, await self._outcome(body, values, context), self._hide)
        except asyncio.CancelledError as stopped:
            return self._stopped(body, stopped, context.signal)
        except (Exception, SystemExit) as error:
            reply = failure_reply(name, error, self._redact)
            if body.overdue:
                reply = timed_out(name, body.timeout_ms or 0, still_running=False)
        except BaseException:  # KeyboardInterrupt: not ours to answer, but the body has ended
            self._close(body, ToolOutcome.ERROR, Code.TOOL_FAILED)
            raise
        return self._closed(body, reply)

    async def _outcome(self, body: Body, values: Mapping[str, Any], context: ToolContext) -> Any:
        fault = self._faults(body.start)
        if fault is not None:
            raise fault
        if self._gate is None:
            return await body.tool.call(values, context)
        return await gated(body.tool.call(values, context), self._gate, body.start)

    def _stopped(self, body: Body, stopped: asyncio.CancelledError, signal: Signal) -> ToolReply:
        """Whose CancelledError is it? Ours, our deadline's, or one that the body made up itself."""
        name = body.tool.name
        ended = next((part for part in stopped.args if isinstance(part, Ended)), None)
        reply = None if ended is None else self._reply_to(name, ended)
        if body.overdue:
            return self._closed(body, reply or timed_out(name, body.timeout_ms or 0, still_running=False))
        task = asyncio.current_task()
        if not signal.is_set and (task is None or task.cancelling() == 0):
            return self._closed(body, reply or failure_reply(name, stopped, self._redact))
        body.reply = reply
        if reply is not None:
            self._closed(body, reply)
            raise asyncio.CancelledError(reply)
        self._close(body, ToolOutcome.CANCELLED, None)
        raise asyncio.CancelledError from None  # without what inner bodies came to: that is no reply of this call

    def _reply_to(self, name: str, ended: Ended) -> ToolReply:
        if ended.error is not None:
            return failure_reply(name, ended.error, self._redact)
        return value_reply(name, ended.value, self._hide)

    async def _in_time(self, body: Body, values: Mapping[str, Any], context: ToolContext, timeout_ms: int) -> ToolReply:
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

    def _closed(self, body: Body, reply: ToolReply) -> ToolReply:
        text = reply.content
        self._close(body, reply.outcome, reply.code, text_digest(text) if isinstance(text, str) else None)
        return reply

    def _close(self, body: Body, outcome: ToolOutcome, code: Code | None, digest: str | None = None) -> None:
        """Record the end, unless the run's last line is written (it names this body as alive)."""
        del self._open[body.start]
        self._record(ToolEnd(body.start, outcome, code, digest), body.call)


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
