"""Tools that misbehave, wait or count on purpose: for tests of loops, and for scenarios by name.

In a scenario: ``tools: {use: [probe_slow], options: {probe_slow: {ms: 50}}}``. All times pass on the
run's clock. Each factory makes tools that share nothing with another run's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from harness.errors import ConfigurationError
from harness.protocols import Tool, ToolContext
from harness.tools.content import conclude
from harness.tools.effects import EffectLedger
from harness.tools.fixtures import Factory, Fixtures
from harness.tools.meeting import DEFAULT_MS, probe, rendezvous, turning
from harness.tools.registry import FunctionTool
from harness.types.codes import Effect, Isolation, Mode


def slow(ms: int = DEFAULT_MS, *, name: str = "probe_slow", mode: Mode = Mode.PARALLEL) -> FunctionTool:
    """Ends after ``ms``, unless it is cancelled."""

    async def body(context: ToolContext, label: str = "slow") -> str:
        """Wait for a while, then give the label back."""
        await context.clock.sleep_ms(ms)
        return label

    return probe(body, name, mode=mode)


def stubborn(ms: int = DEFAULT_MS, *, name: str = "probe_stubborn", n_swallowed: int = 1) -> FunctionTool:
    """Swallows ``n_swallowed`` cancels; goes on for ``ms`` after each, then returns as if nothing was."""

    async def body(context: ToolContext) -> str:
        """Wait, whatever anybody says."""
        for _ in range(n_swallowed):
            try:
                await context.clock.sleep_ms(ms)
                return "ended by itself"
            except asyncio.CancelledError:  # the fault that this probe exists for
                continue
        await context.clock.sleep_ms(ms)
        return "went on after the cancel"

    return probe(body, name)


def slow_cleanup(
    ms: int = DEFAULT_MS, *, name: str = "probe_slow_cleanup", work_ms: int = 10 * DEFAULT_MS
) -> FunctionTool:
    """Works for ``work_ms``; once cancelled, its clean-up takes ``ms``."""

    async def body(context: ToolContext) -> str:
        """Work, and tidy up slowly."""
        try:
            await context.clock.sleep_ms(work_ms)
        finally:
            await context.clock.sleep_ms(ms)
        return "tidied up"

    return probe(body, name)


def throwing(error: BaseException | None = None, *, name: str = "probe_throwing") -> FunctionTool:
    """Raises ``error`` (a ValueError without one)."""

    def body() -> str:
        """Fail."""
        raise error if error is not None else ValueError("broken on purpose")

    return probe(body, name)


def flaky(n_failures: int = 1, *, name: str = "probe_flaky") -> FunctionTool:
    """Fails ``n_failures`` times, then gives ``data``; declared idempotent."""
    n_calls = 0

    def body() -> str:
        """Fetch something over a bad line."""
        nonlocal n_calls
        n_calls += 1
        if n_calls <= n_failures:
            raise ConnectionError("reset")
        return "data"

    return probe(body, name, idempotent=True)


def composed(uses: str, *, name: str = "probe_composed") -> FunctionTool:
    """Calls the tool ``uses`` twice without arguments, one call after the other, and gives both contents."""

    async def body(context: ToolContext) -> Any:
        """Do the same thing twice."""
        if context.use is None:
            raise RuntimeError("runs outside of a tool door, so it cannot use other tools")
        return [await context.use(uses, {}) for _ in range(2)]

    return probe(body, name, effect=Effect.WRITE, uses=(uses,))


class Outbox:
    """What a counting probe really did, one entry an execution: proof against repeated effects."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def __len__(self) -> int:
        return len(self.entries)


def counting(
    outbox: Outbox, *, name: str = "probe_counting", sink: Callable[[str], None] | None = None
) -> FunctionTool:
    """Puts one entry a call into the outbox (and hands it to ``sink``), then says how many there are."""

    def body(label: str = "") -> int:
        """Do something that must happen once."""
        outbox.entries.append(label)
        if sink is not None:
            sink(label)
        return len(outbox)

    return probe(body, name, effect=Effect.WRITE)


def non_serialisable(value: Any = None, *, name: str = "probe_non_serialisable") -> FunctionTool:
    """Returns ``value``, by default an object that is neither text nor JSON."""

    def body() -> Any:
        """Return something that is not JSON."""
        return object() if value is None else value

    return probe(body, name)


def sync_in_thread(work: Callable[[], Any] | None = None, *, name: str = "probe_sync_in_thread") -> FunctionTool:
    """A plain function in a thread, which no cancel can stop; ``work`` is what it does there."""

    def body() -> Any:
        """Work in a thread."""
        return "worked in a thread" if work is None else work()

    return probe(body, name, isolation=Isolation.THREAD)


def concluding(*, name: str = "probe_concluding") -> FunctionTool:
    """Concludes the turn with its label."""

    def body(label: str = "concluded") -> Any:
        """Say that there is nothing more to do."""
        return conclude(label)

    return probe(body, name)


def huge(n_chars: int = 50_000, *, name: str = "probe_huge") -> FunctionTool:
    """Returns ``n_chars`` characters."""

    def body() -> str:
        """Return very much text."""
        return ("0123456789" * (n_chars // 10 + 1))[:n_chars]

    return probe(body, name)


def _numbers(fixtures: Fixtures, tool: str, **defaults: int) -> dict[str, int]:
    options = {**defaults, **fixtures.options(tool, *defaults)}
    for key, value in options.items():
        if type(value) is not int or value < 0:
            raise ConfigurationError(f"options of tool {tool!r}: {key!r} is {value!r}; allowed: whole numbers from 0")
    return options


def _counting(fixtures: Fixtures) -> Tool:
    fixtures.options("probe_counting")
    fixtures.workspace.mkdir(parents=True, exist_ok=True)
    ledger = EffectLedger(fixtures.workspace)
    return counting(Outbox(), sink=lambda label: ledger.add("probe_counting", {"label": label}))


def _composed(fixtures: Fixtures) -> Tool:
    uses = fixtures.options("probe_composed", "uses").get("uses", "probe_slow")
    if not isinstance(uses, str):
        raise ConfigurationError(f"options of tool 'probe_composed': 'uses' is {uses!r}; allowed: the name of a tool")
    return composed(uses)


def _plain(tool: str, make: Callable[[], FunctionTool]) -> Factory:
    def factory(fixtures: Fixtures) -> Tool:
        fixtures.options(tool)
        return make()

    return factory


def _numbered(tool: str, make: Callable[..., FunctionTool], **defaults: int) -> Factory:
    return lambda fixtures: make(**_numbers(fixtures, tool, **defaults))


PROBES: Final[Mapping[str, Factory]] = {
    "probe_concluding": _plain("probe_concluding", concluding),
    "probe_counting": _counting,
    "probe_composed": _composed,
    "probe_flaky": _numbered("probe_flaky", flaky, n_failures=1),
    "probe_huge": _numbered("probe_huge", huge, n_chars=50_000),
    "probe_non_serialisable": _plain("probe_non_serialisable", non_serialisable),
    "probe_rendezvous": _numbered("probe_rendezvous", rendezvous, parties=2, within_ms=DEFAULT_MS),
    "probe_slow": _numbered("probe_slow", slow, ms=DEFAULT_MS),
    "probe_slow_cleanup": _numbered("probe_slow_cleanup", slow_cleanup, ms=DEFAULT_MS, work_ms=10 * DEFAULT_MS),
    "probe_stubborn": _numbered("probe_stubborn", stubborn, ms=DEFAULT_MS, n_swallowed=1),
    "probe_sync_in_thread": _plain("probe_sync_in_thread", sync_in_thread),
    "probe_throwing": _plain("probe_throwing", throwing),
    "probe_turning": _plain("probe_turning", turning),
}
"""Probes that scenarios can name. :func:`harness.tools.meeting.gated` needs somebody to open its gates: tests only."""
