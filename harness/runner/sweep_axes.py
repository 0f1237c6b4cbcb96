"""What a sweep of cancels varies besides the place: input that is queued by then, and tools that do not stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from harness.protocols import Clock, Tool, ToolContext, World
from harness.runner.stand_in import StandIn
from harness.tools.agents import AgentTool
from harness.types.codes import InboxQueue, Isolation
from harness.types.doors import Gate
from harness.types.events import Trajectory
from harness.types.lifecycle import InboxQueued, TurnStart
from harness.types.scenario import Boundary, BoundaryWhen, Injection, SendAction

QUEUED_TEXT: Final = "A follow-up of the sweep, queued when it cancels."
"""What is queued."""
TAKES_NO_INPUT: Final = "the axis queued is not swept: the loop takes no input while it runs"
TAKES_MS: Final = 1
STUBBORN_MS: Final = 5_000
"""How long a stubborn body goes on once it was cancelled, whatever else it is told."""


def takes_input(reference: Trajectory) -> bool:
    """Whether input can be queued while the subject runs."""
    return InboxQueued.TYPE in dict(reference.header.observed)


def queued_before(injection: Injection) -> Injection:
    """A follow-up that is queued before the cancel: at its event; for a tick, when the first turn begins."""
    if injection.at.tick is not None:
        return Injection(Boundary(TurnStart.TYPE), SendAction(QUEUED_TEXT, InboxQueue.FOLLOWUP))
    at = replace(injection.at, when=BoundaryWhen.INSIDE)
    return Injection(at, SendAction(QUEUED_TEXT, InboxQueue.FOLLOWUP))


class _StubbornTool:
    """A tool whose body takes a moment, swallows its cancels, and goes on; what it does not have is the tool's."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """The tool's value; of a cancelled body, late and another one."""
        return await _stubbornly(self._slowly(arguments, context), context.clock)

    async def _slowly(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        await context.clock.sleep_ms(TAKES_MS)
        return await self._tool.call(arguments, context)


async def _stubbornly(work: Awaitable[Any], clock: Clock) -> Any:
    """What ``work`` comes to. A cancel ends it, and is swallowed; then only time ends this."""
    try:
        return await work
    except asyncio.CancelledError:  # the fault that this is for
        until_ms = clock.now_ms() + STUBBORN_MS
    while (left_ms := until_ms - clock.now_ms()) > 0:
        try:
            await clock.sleep_ms(left_ms)
        except asyncio.CancelledError:  # as above
            continue
    return "went on although it was cancelled"


class _StubbornGate:
    """Holds the end of a function's bodies against their cancels: what it wraps itself is no tool of the world."""

    def __init__(self, world: World) -> None:
        self._clock = world.clock
        self._before: Gate | None = world.gate

    async def __call__(self, start: int) -> None:
        """Return once the body may be seen to end."""
        if self._before is not None:
            await self._before(start)
        await _stubbornly(self._clock.sleep_ms(TAKES_MS), self._clock)


class Stubborn(StandIn):
    """A subject whose tools swallow their cancels; those in threads and processes, and agents, are as they are."""

    async def run(self, world: World) -> None:
        """Run the subject among stubborn tools."""
        gate = world.gate if TurnStart.TYPE in dict(self.observed) else _StubbornGate(world)
        await self._subject.run(replace(world, tools=tuple(_stubborn(world)), gate=gate))


def _stubborn(world: World) -> Iterator[Tool]:
    for tool in world.tools:
        if isinstance(tool, AgentTool) or tool.isolation is not Isolation.INLINE:
            yield tool
            continue
        wrapped: Any = _StubbornTool(tool)
        yield wrapped
