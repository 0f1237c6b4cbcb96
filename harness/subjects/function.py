"""A user's own loop as a subject: an async function with both its doors in our hands.

Its model door is an ``openai`` client on our transport, its tools are wrapped. It runs in process
under virtual time; no server, no socket. What is seen is what passes through the doors: no turns,
no steps, no inbox (those are the loop's own affair).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.errors import ModelError, UnsupportedError, UsageError
from harness.loop import StopSignal
from harness.loop.scheduler import Scheduler, Stopped
from harness.protocols import Clock, Log, World
from harness.server import ModelTransport, Patience, Witness
from harness.subjects.wrapping import ToolWrapper
from harness.tools.admission import offered_json
from harness.types.codes import (
    CancelBy,
    CancelScope,
    Code,
    LimitKind,
    Origin,
    QueueDisposition,
    Status,
)
from harness.types.exchange import AssistantMessage
from harness.types.jsontext import canonical_json, described
from harness.types.lifecycle import NOT_WRAPPED_NOTE, CancelDelivered, CancelRequested, Note, RunEnd, RunStart
from harness.types.policy import NO_RULES
from harness.types.profile import Profile
from harness.types.reasons import Blocked, Cancelled, Failed, FinalAnswer, Interrupted, LimitHit, Reason, Waiting
from harness.types.scenario import Limits, Scenario
from harness.wire.failures import known_code
from harness.wire.tools import render_tools

if TYPE_CHECKING:
    import openai

_OBSERVED = (
    "run/start",
    "run/end",
    "request/header",
    "model/request",
    "assistant/chunk",
    "model/error",
    "assistant/message",
    "user/message",
    "tool/start",
    "tool/end",
    "tool/result",
    "cancel/requested",
    "cancel/delivered",
    "run/quiescent",
)


@dataclass(frozen=True, slots=True)
class Ending:
    """What a loop may return to say how it ended, where a plain answer does not tell.

    ``status`` is one of the statuses; without it the run completed.
    """

    status: Status | str = Status.COMPLETED
    answer: str | None = None


@dataclass(slots=True)
class Env:
    """What a user's loop gets: its task, its model door, its tool door, and the scenario's limits."""

    scenario: Scenario
    limits: Limits
    clock: Clock
    _transport: ModelTransport
    _wrapper: ToolWrapper

    @property
    def task(self) -> str:
        """The one piece of user input. Raises UnsupportedError where the scenario has several."""
        if len(self.scenario.tasks) != 1:
            raise UnsupportedError(
                f"scenario {self.scenario.id!r} has {len(self.scenario.tasks)} tasks: a loop that "
                "takes several reads env.tasks"
            )
        return self.scenario.tasks[0]

    @property
    def tasks(self) -> tuple[str, ...]:
        """All pieces of user input, in order."""
        return self.scenario.tasks

    @property
    def system(self) -> str | None:
        """The scenario's system prompt."""
        return self.scenario.system

    def openai(self) -> openai.AsyncOpenAI:
        """An ``openai.AsyncOpenAI`` client whose every request the harness answers."""
        from harness.models import in_process_client

        return in_process_client(self._transport)

    def wrap(self, registry: Any) -> Any:
        """The same shape with wrapped functions (mapping by name, or list of functions)."""
        return self._wrapper.wrap(registry)

    def wrap_function(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """One wrapped function under a tool's name."""
        return self._wrapper.function(function, name=name)

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        """The scenario's own tools as wrapped async functions of keyword arguments, by name."""
        return self._wrapper.offered()

    @property
    def tool_schemas(self) -> list[dict[str, Any]]:
        """The scenario's tools as a client takes them: ``{"type": "function", "function": {...}}``."""
        return render_tools(offered_json(self._wrapper.known))


class TaskControls:
    """Cancels the loop's task, in the next tick, as a host would; judged from *delivered* on."""

    def __init__(self, log: Log, stop: StopSignal) -> None:
        self._log = log
        self._stop = stop
        self._asked = False
        self.ended = False
        self.returned: list[Any] = []

    def cancel(
        self,
        *,
        by: CancelBy = CancelBy.USER,
        scope: CancelScope = CancelScope.RUN,
        queue: QueueDisposition = QueueDisposition.DROP,
        reason: str | None = None,
    ) -> None:
        """Ask for a cancel; safe in any callback; a second one changes nothing."""
        if self._asked or self._stop.is_set or self.ended:
            return
        self._asked = True
        self._log.record(CancelRequested(by, scope, queue, reason), origin=Origin.PROBE)
        delivered = CancelDelivered(by, scope, queue, reason)
        asyncio.get_running_loop().call_soon(self._deliver, delivered)

    def _deliver(self, fact: CancelDelivered) -> None:
        if self.ended or self._stop.is_set:
            return
        self._log.record(fact, origin=Origin.PROBE)
        self._stop.set(Cancelled(fact.by))


UNNAMED = "function"
"""The name of a subject whose function has none."""


class FunctionSubject:
    """Runs ``function(env)``, an async function or one that gives an awaitable."""

    observed = tuple((kind, Origin.PROBE) for kind in _OBSERVED)

    def __init__(
        self,
        function: Callable[[Env], Awaitable[Any]],
        *,
        name: str | None = None,
        profile: Profile | None = None,
    ) -> None:
        if not callable(function):
            raise UsageError(f"a subject is a function of env, not a {type(function).__name__}")
        self._function = function
        own_name = str(getattr(function, "__name__", ""))
        self.name: str = name or (UNNAMED if own_name in ("", "<lambda>") else own_name)
        self.profile = profile or Profile()

    async def run(self, world: World) -> None:
        """Await the function to its end. Raises UsageError kin for what our doors do not offer, even
        where the function swallowed it.
        """
        if world.scenario.policy != NO_RULES or world.approver is not None:
            raise UnsupportedError(
                f"scenario {world.scenario.id!r} is to be run under a policy or with an approver, and a function's "
                "calls pass no gate of ours: run it with the built-in loop, or leave 'policy' out"
            )
        asked = {
            "tools.visible_from": world.scenario.tools.visible_from,
            "runtime_context": world.scenario.runtime_context,
        }
        if wanted := [name for name, value in asked.items() if value]:
            raise UnsupportedError(
                f"scenario {world.scenario.id!r} says {' and '.join(wanted)}, and what a function shows its model when "
                "is its own affair: run it with the built-in loop, or leave the field out"
            )
        stop = StopSignal()
        controls = TaskControls(world.log, stop)
        world.attach(controls)
        witness = Witness(world.log, world.model, redact=world.redact)
        patience = Patience(world.clock.now_ms, stop.set)
        transport = ModelTransport(witness.ask, failed=witness.failed, patience=patience, faults=world.scenario.faults)
        wrapper = ToolWrapper(world, stop)
        env = Env(world.scenario, world.limits, world.clock, transport, wrapper)
        world.log.record(RunStart(), origin=Origin.PROBE)
        limit_ms = world.limits.wall_ms
        timer = asyncio.get_running_loop().call_later(
            limit_ms / 1000, stop.set, LimitHit(LimitKind.WALL_TIME, limit_ms)
        )
        scheduler = Scheduler(cap=1, grace_ms=world.limits.grace_ms)
        refused: UsageError | None = None
        try:
            value = await scheduler.run_request(self._called(env, controls), stop, name=f"the loop {self.name}")
            status, reason = _ending(value, world)
        except Stopped:
            assert stop.reason is not None
            status, reason = _stopped(stop.reason), stop.reason
            if controls.returned and isinstance(reason, Cancelled):  # it swallowed the cancel (CONFORMANCE 67)
                status, reason = _ending(controls.returned[0], world)
        except Exception as error:
            refused = error if isinstance(error, UsageError) else None
            code = known_code(error.code) if isinstance(error, ModelError) else Code.UNKNOWN
            status, reason = Status.FAILED, Failed(code, world.redact(described(error)))
        finally:
            timer.cancel()
            controls.ended = True
        if names := wrapper.not_wrapped():
            world.log.record(Note(NOT_WRAPPED_NOTE, canonical_json(names)), origin=Origin.PROBE)
        world.log.record(RunEnd(status, reason), origin=Origin.PROBE)
        if refused is None and transport.refusals:
            refused = UnsupportedError(transport.refusals[0])
        if refused is not None:
            raise refused

    async def _called(self, env: Env, controls: TaskControls) -> Any:
        value = await self._function(env)
        controls.returned.append(value)
        controls.ended = True  # a cancel that is delivered from here on meets nothing any more
        return value


def _stopped(reason: Reason) -> Status:
    if isinstance(reason, Failed):
        return Status.FAILED
    return Status.CANCELLED if isinstance(reason, Cancelled) else Status.LIMIT_REACHED


def _ending(value: Any, world: World) -> tuple[Status, Reason]:
    """The status that a loop's return gives it.

    A plain return completes the run, unless the model's last answer asked for tools: then the loop
    gave up, and does not say so by itself (return an Ending to say how).
    """
    if isinstance(value, Ending):
        status = Status(value.status)
        return status, _reason_for(status, world)
    last = next((e.fact for e in reversed(world.log.events) if isinstance(e.fact, AssistantMessage)), None)
    if last is not None and last.tool_calls:
        return Status.INCOMPLETE, Interrupted()
    return Status.COMPLETED, FinalAnswer()


def _reason_for(status: Status, world: World) -> Reason:
    match status:
        case Status.COMPLETED:
            return FinalAnswer()
        case Status.LIMIT_REACHED:
            return LimitHit(LimitKind.STEPS, world.limits.steps or 0)
        case Status.WAITING_FOR_USER:
            return Waiting()
        case Status.CANCELLED:
            return Cancelled(CancelBy.USER)
        case Status.BLOCKED:
            return Blocked("the loop says that it was blocked")
        case Status.FAILED:
            return Failed(Code.UNKNOWN, "the loop says that it failed")
        case Status.INCOMPLETE:
            return Interrupted()
