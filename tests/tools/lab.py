"""A door with a real recorder around it, and words for what came out."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from harness.clock import Clocks, run_in_loop
from harness.loop.stop import StopSignal
from harness.protocols import Tool
from harness.recorder import Recorder
from harness.tools import Door, FunctionTool, build_tools
from harness.types.codes import ClockKind
from harness.types.doors import ToolReply
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.messages import CallId, JsonText
from harness.types.scenario import ToolsSpec


def no_redaction(text: str) -> str:
    return text


class Lab:
    """One door over some tools; call it, and look at the log."""

    def __init__(self, clock: Clocks, tools: Sequence[Tool], **options: Any) -> None:
        self.clock = clock
        self.log = Recorder(clock)
        self.stop = StopSignal()
        self.door = Door(tools, log=self.log, clock=clock, redact=options.pop("redact", no_redaction), **options)

    async def call(self, name: str, arguments: str = "{}", call_id: str = "c1") -> ToolReply:
        return await self.door.run(name, arguments, call_id=CallId(call_id), signal=self.stop, turn=1, step=1)

    def started(self) -> list[str]:
        return [event.fact.name for event in self.log.events if isinstance(event.fact, ToolStart)]

    def arguments(self) -> list[JsonText]:
        return [event.fact.arguments for event in self.log.events if isinstance(event.fact, ToolStart)]

    def ends(self) -> list[tuple[int, str, str | None]]:
        facts = [event.fact for event in self.log.events if isinstance(event.fact, ToolEnd)]
        return [(fact.start, fact.outcome.value, None if fact.code is None else fact.code.value) for fact in facts]


def in_lab(
    tools: Sequence[Tool],
    main: Callable[[Lab], Coroutine[Any, Any, Any]],
    *,
    kind: ClockKind = ClockKind.VIRTUAL,
    **options: Any,
) -> Any:
    """Run ``main(lab)`` in a loop of its own and give what it gives."""

    async def run(clock: Clocks) -> Any:
        return await main(Lab(clock, tools, **options))

    return run_in_loop(kind, run)


def reply_of(tool: Tool, arguments: str = "{}", **options: Any) -> ToolReply:
    """The reply of one call of one tool."""
    reply: ToolReply = in_lab([tool], lambda lab: lab.call(tool.name, arguments), **options)
    return reply


def made(function: Callable[..., Any], **options: Any) -> FunctionTool:
    return FunctionTool(function, **options)


def built(folder: Path, *use: str, **fields: Any) -> dict[str, Tool]:
    """Built-in tools by name, over a workspace."""
    tools = build_tools(ToolsSpec(use=use, **fields), resolve=unresolved, workspace=folder)
    return {tool.name: tool for tool in tools}


def unresolved(name: str) -> Any:
    raise AssertionError(f"nobody should resolve {name!r}")


async def ticks(n: int = 5) -> None:
    """Let other tasks go on, without any time passing."""
    for _ in range(n):
        await asyncio.sleep(0)


async def until(condition: Callable[[], object]) -> None:
    """Wait for a thread or a process, which cannot set an event of the loop; at most 20 seconds."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.002)
