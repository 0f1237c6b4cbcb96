"""A user's own loop as a subject: a function with both its doors in our hands.

Its tools are wrapped; its model door is an ``openai`` client on our transport, in process and under
virtual time, or the scripted server on loopback (:mod:`harness.subjects.doors`). What is seen is what
passes through the doors: no turns, no steps, no inbox (those are the loop's own affair).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.errors import ModelError, UnsupportedError, UsageError
from harness.loop import StopSignal
from harness.loop.scheduler import Scheduler, Stopped
from harness.protocols import World
from harness.server import Patience, Witness
from harness.server.beside import LogBeside
from harness.subjects.doors import DECLARED, NOT_ASYNC, Door, InProcess, OnLoopback, OtherDoor, is_async, is_plain
from harness.subjects.ending import ending_of, stopped
from harness.subjects.env import Env, TaskControls
from harness.subjects.wrapping import ToolWrapper
from harness.types.codes import Code, LimitKind, Origin, Status
from harness.types.jsontext import canonical_json, described
from harness.types.lifecycle import NOT_WRAPPED_NOTE, REAL_TIME_NOTE, Note, RunEnd, RunStart
from harness.types.policy import NO_RULES
from harness.types.profile import Profile
from harness.types.reasons import Cancelled, Failed, LimitHit
from harness.wire.failures import known_code

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


UNNAMED = "function"
"""The name of a subject whose function has none."""


class FunctionSubject:
    """Runs ``function(env)``: in process under virtual time where it is async and asks through ``env.openai()``.

    Any other runs against the server on loopback, in a thread of its own and in real time: a plain function, one
    that asks for ``env.base_url`` or ``env.sync_openai()``, one whose ``door`` says so. ``real_time`` tells why.
    """

    observed = tuple((kind, Origin.PROBE) for kind in _OBSERVED)

    def __init__(
        self,
        function: Callable[[Env], Any],
        *,
        name: str | None = None,
        profile: Profile | None = None,
        door: Door | str = Door.AUTO,
    ) -> None:
        if not callable(function):
            raise UsageError(f"a subject is a function of env, not a {type(function).__name__}")
        self._function = function
        own_name = str(getattr(function, "__name__", ""))
        self.name: str = name or (UNNAMED if own_name in ("", "<lambda>") else own_name)
        self.profile = profile or Profile()
        self._declared = self._door = Door(door)
        self._why = DECLARED
        if self._door is Door.AUTO and is_plain(function):
            self._door, self._why = Door.LOOPBACK, NOT_ASYNC

    async def run(self, world: World) -> None:
        """Await the function to its end. Raises UsageError kin for what our doors do not offer, even
        where the function swallowed it; OtherDoor where the run is to begin anew.
        """
        _refuse_what_passes_no_door(world)
        stop = StopSignal()
        controls = TaskControls(world.log, stop)
        world.attach(controls)
        door, wrapper = self._opened(world, stop)
        env = Env(world.scenario, world.limits, world.clock, door, wrapper, stop)
        world.log.record(RunStart(), origin=Origin.PROBE)
        if self.real_time:
            world.log.record(Note(REAL_TIME_NOTE, canonical_json(self.real_time)), origin=Origin.PROBE)
        limit_ms = world.limits.wall_ms
        timer = asyncio.get_running_loop().call_later(
            limit_ms / 1000, stop.set, LimitHit(LimitKind.WALL_TIME, limit_ms)
        )
        scheduler = Scheduler(cap=1, grace_ms=world.limits.grace_ms)
        refused: UsageError | None = None
        try:
            value = await scheduler.run_request(self._called(env, door, controls), stop, name=f"the loop {self.name}")
            status, reason = ending_of(value, world)
        except Stopped:
            assert stop.reason is not None
            status, reason = stopped(stop.reason), stop.reason
            if controls.returned and isinstance(reason, Cancelled):  # it swallowed the cancel (CONFORMANCE 67)
                status, reason = ending_of(controls.returned[0], world)
        except Exception as error:
            self._use_other_door(error)
            refused = error if isinstance(error, UsageError) else None
            code = known_code(error.code) if isinstance(error, ModelError) else Code.UNKNOWN
            status, reason = Status.FAILED, Failed(code, world.redact(described(error)))
        finally:
            timer.cancel()
            controls.ended = True
        self._use_other_door(OtherDoor(door.needed) if isinstance(door, InProcess) and door.needed else None)
        if names := wrapper.not_wrapped():
            world.log.record(Note(NOT_WRAPPED_NOTE, canonical_json(names)), origin=Origin.PROBE)
        world.log.record(RunEnd(status, reason), origin=Origin.PROBE)
        if refused is None and isinstance(door, InProcess) and door.needed:
            refused = OtherDoor(door.needed)
        refused = refused or next(iter((*map(UnsupportedError, door.refusals), *wrapper.refusals)), None)
        if refused is not None:
            raise refused

    @property
    def real_time(self) -> str:
        """Why its runs take the system's clock; "" where they do not."""
        return self._why if self._door is Door.LOOPBACK else ""

    def _opened(self, world: World, stop: StopSignal) -> tuple[InProcess | OnLoopback, ToolWrapper]:
        """The model door, and the tool door where the function will run."""
        witness = Witness(world.log, world.model, redact=world.redact)
        patience = Patience(world.clock.now_ms, stop.set)
        if not self.real_time:
            return InProcess(world, witness, patience), ToolWrapper(world, stop)
        if world.scenario.release:
            raise UnsupportedError(
                f"scenario {world.scenario.id!r} says in which order bodies end ('release'), and that order is kept "
                f"under virtual time only; this run takes real time, because {self.real_time}"
            )
        door = OnLoopback(world, witness, patience, declared=self._declared is Door.LOOPBACK)
        threaded = replace(world, log=LogBeside(world.log, door.beside))
        return door, ToolWrapper(threaded, stop, waits=not is_async(self._function))

    def _use_other_door(self, error: Exception | None) -> None:
        """Begin anew through the other door, where it may be chosen. Raises OtherDoor."""
        if isinstance(error, OtherDoor) and self._declared is Door.AUTO:
            self._door, self._why = error.to, error.why
            raise error

    async def _called(self, env: Env, door: InProcess | OnLoopback, controls: TaskControls) -> Any:
        try:
            value = await door.called(self._function, env, self.name)
        except SystemExit:  # the event loop itself raises it on, so nobody would ask this task for it
            task = asyncio.current_task()
            assert task is not None
            task.add_done_callback(lambda done: done.exception())
            raise
        controls.returned.append(value)
        controls.ended = True  # a cancel that is delivered from here on meets nothing any more
        return value


def _refuse_what_passes_no_door(world: World) -> None:
    """Raise UnsupportedError for what a function's doors cannot enforce or show."""
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
