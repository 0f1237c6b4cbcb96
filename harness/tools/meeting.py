"""Probes that tell whether bodies overlap: they meet, wait at gates, or may not overlap any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from harness.protocols import ToolContext
from harness.tools.registry import FunctionTool
from harness.types.codes import Effect, Mode

DEFAULT_MS: Final = 100


def probe(body: Callable[..., Any], name: str, *, effect: Effect = Effect.READ, **options: Any) -> FunctionTool:
    """A tool that reads, unless it says otherwise."""
    return FunctionTool(body, name=name, effect=effect, **options)


def rendezvous(parties: int = 2, *, name: str = "probe_rendezvous", within_ms: int = DEFAULT_MS) -> FunctionTool:
    """Returns once ``parties`` bodies are inside at the same time: proof that they overlap.

    Without that within ``within_ms`` it fails, so that a serial loop cannot hang on it.
    """
    inside: list[asyncio.Event] = []

    async def body(context: ToolContext, label: str = "") -> str:
        """Meet the others."""
        met = asyncio.Event()
        inside.append(met)
        if len(inside) >= parties:
            for other in inside:
                other.set()
        try:
            async with asyncio.timeout(within_ms / 1000):
                await met.wait()
        except TimeoutError:
            raise RuntimeError(f"{len(inside)} of {parties} were inside together") from None
        finally:
            inside.remove(met)
        return f"met {label}".strip()

    return probe(body, name)


def turning(*, name: str = "probe_turning") -> FunctionTool:
    """May overlap until the first of its bodies ends, which makes it exclusive; each says how it began.

    A loop that had read the mode before the batch began starts a later call beside a running one.
    """
    n_inside = 0

    async def body(context: ToolContext, label: str, ms: int = 0) -> str:
        """Wait for a while, then say how many others were inside at the beginning."""
        nonlocal n_inside
        n_others, n_inside = n_inside, n_inside + 1
        try:
            await context.clock.sleep_ms(ms)
        finally:
            n_inside -= 1
            tool.mode = Mode.EXCLUSIVE
        return f"{label} began beside {n_others}" if n_others else f"{label} began alone"

    tool = probe(body, name)
    return tool


class Gates:
    """Gates by label for :func:`gated`; opened in the order in which a test wants completions."""

    def __init__(self) -> None:
        self._gates: dict[str, asyncio.Event] = {}

    def gate(self, label: str) -> asyncio.Event:
        """The gate of that label, closed when it is new."""
        return self._gates.setdefault(label, asyncio.Event())

    def open(self, *labels: str) -> None:
        """Open these gates, in this order."""
        for label in labels:
            self.gate(label).set()


def gated(gates: Gates, *, name: str = "probe_gated") -> FunctionTool:
    """Returns its label once the gate of that label is open."""

    async def body(label: str) -> str:
        """Wait at a gate."""
        await gates.gate(label).wait()
        return label

    return probe(body, name)
