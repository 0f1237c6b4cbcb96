"""The promises of a cancel, by counting what bodies and models really did, at every callback of the event loop."""

from __future__ import annotations

import asyncio
import asyncio.events
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import pytest

from harness.folds import calls_of
from harness.protocols import Controls, Emit, Model, Signal, World
from harness.runner import RunResult
from harness.subjects import BuiltInLoop
from harness.testing import scenario
from harness.tools import FunctionTool
from harness.types.codes import Code, Isolation, Mode, Outcome, Status
from harness.types.doors import Answer, ModelCall
from harness.types.exchange import ToolEnd, ToolResult
from harness.types.lifecycle import RunEnd, RunQuiescent

MODULE = "tools_of_the_cancel_sweep"
SCHEMA = {"type": "object", "properties": {"label": {"type": "string"}}, "required": ["label"]}


@dataclass
class Outbox:
    """What really happened: effects in order, the cancel among them; how each body ended."""

    effects: list[str] = field(default_factory=list)
    ended: dict[str, str] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    running_at_rest: set[str] | None = None
    was_over: bool = False
    controls: Controls | None = None


async def steps(_: str) -> None:
    for delay in (0, 0, 0.01, 0):
        await asyncio.sleep(delay)


async def swallows(_: str) -> None:
    try:
        await asyncio.sleep(0.05)
    except asyncio.CancelledError:
        return


async def cleans_up(_: str) -> None:
    try:
        await asyncio.sleep(0.05)
    finally:
        await asyncio.sleep(0.5)


async def stubborn(_: str) -> None:
    for _i in range(20):
        try:
            await asyncio.sleep(0.5)
        except asyncio.CancelledError:
            pass


async def fails(_: str) -> None:
    await asyncio.sleep(0)
    raise ValueError("no")


def at_once(_: str) -> None:
    return


def watched(outbox: Outbox, work: Callable[[str], Any]) -> Callable[..., Any]:
    """The body as a function of its label; what it does is in the outbox."""

    def begins(label: str) -> None:
        outbox.effects.append(f"body {label}")
        outbox.running.add(label)

    async def asynchronous(label: str) -> str:
        begins(label)
        try:
            await work(label)
        except BaseException as error:
            outbox.ended[label] = type(error).__name__
            raise
        finally:
            outbox.running.discard(label)
        outbox.ended[label] = "ok"
        return label

    def plain(label: str) -> str:
        begins(label)
        work(label)
        outbox.running.discard(label)
        outbox.ended[label] = "ok"
        return label

    return asynchronous if asyncio.iscoroutinefunction(work) else plain


def tools_of(outbox: Outbox) -> list[FunctionTool]:
    works = (steps, swallows, cleans_up, stubborn, fails, at_once)
    named = [(work.__name__, work, Mode.PARALLEL, Isolation.INLINE) for work in works]
    named += [
        ("alone", steps, Mode.EXCLUSIVE, Isolation.INLINE),
        ("threaded", at_once, Mode.PARALLEL, Isolation.THREAD),
    ]
    return [
        FunctionTool(watched(outbox, work), name=name, parameters=SCHEMA, mode=mode, isolation=isolation)
        for name, work, mode, isolation in named
    ]


@dataclass
class WatchedModel:
    model: Model
    outbox: Outbox

    @property
    def name(self) -> str:
        return self.model.name

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        self.outbox.effects.append("request")
        return await self.model.answer(call, signal=signal, emit=emit)


class WatchedLoop(BuiltInLoop):
    def __init__(self, outbox: Outbox) -> None:
        super().__init__()
        self.outbox = outbox

    async def run(self, world: World) -> None:
        def attach(controls: Controls) -> None:
            self.outbox.controls = controls
            world.attach(controls)

        def at_the_end(event: Any) -> None:
            self.outbox.was_over |= isinstance(event.fact, RunEnd)
            if isinstance(event.fact, RunQuiescent):
                self.outbox.running_at_rest = set(self.outbox.running)

        world.log.listen(at_the_end)
        await super().run(replace(world, attach=attach, model=WatchedModel(world.model, self.outbox)))


def cancelled_at(
    number: int, batch: list[str], limits: dict[str, int], patch: pytest.MonkeyPatch
) -> tuple[Outbox, RunResult, bool]:
    """One run whose driver is cancelled before callback ``number``; whether it was still running then."""
    outbox, n_callbacks, over_then = Outbox(), 0, True
    callback = asyncio.events.Handle._run

    def counted(handle: Any) -> Any:
        nonlocal n_callbacks, over_then
        if outbox.controls is not None and outbox.running_at_rest is None:
            n_callbacks += 1
            if n_callbacks == number:
                over_then = outbox.was_over
                outbox.controls.cancel()
                outbox.effects.append("cancel")
        return callback(handle)

    module = ModuleType(MODULE)
    module.tools = tools_of(outbox)  # type: ignore[attr-defined]
    patch.setitem(sys.modules, MODULE, module)
    calls = [{name: {"label": f"{name}-{index}"}} for index, name in enumerate(batch)]
    script = [{"calls": calls}, {"call": {"steps": {"label": "last"}}}, {"say": "done"}]
    fields = {"tools": {"from": f"{MODULE}:tools"}, "limits": limits, "clock": "virtual", "allow_leftovers": True}
    with patch.context() as during:
        during.setattr(asyncio.events.Handle, "_run", counted)
        run = scenario(task="go", script=script, **fields).run(WatchedLoop(outbox))
    return outbox, run, not over_then


BATCHES = [
    pytest.param(["steps", "alone", "steps", "at_once", "cleans_up"], {}, id="a-barrier"),
    pytest.param(["swallows", "steps", "fails", "stubborn"], {}, id="swallowing-failing-stubborn"),
    pytest.param(["threaded", "steps", "threaded"], {}, id="threads"),
    pytest.param(["steps", "threaded", "swallows"], {"parallel_tools": 1}, id="one-at-a-time"),
    pytest.param(
        ["swallows", "steps", "cleans_up"], {"tool_timeout_ms": 40, "grace_ms": 0}, id="time-out-and-no-grace"
    ),
]


@pytest.mark.conformance("63", "64", "67", "71", "72", "73", "76", "77")
@pytest.mark.parametrize(("batch", "limits"), BATCHES)
def test_whatever_callback_a_cancel_precedes_nothing_begins_after_it(
    batch: list[str], limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    number, still_running = 1, True
    while still_running:
        outbox, run, still_running = cancelled_at(number, batch, limits, monkeypatch)
        after = outbox.effects[outbox.effects.index("cancel") + 1 :] if still_running else []
        assert after == [], f"began after a cancel before callback {number}"
        assert run.status is (Status.CANCELLED if still_running else Status.COMPLETED), number
        assert_told_as_it_was(outbox, run, number)
        number += 1
    assert number > 10


def assert_told_as_it_was(outbox: Outbox, run: RunResult, number: int) -> None:
    """Results, the last line and the verdicts agree with what the bodies did."""
    last = run.trajectory.events[-1].fact
    assert isinstance(last, RunQuiescent)
    named = Counter(alive.name for alive in last.alive)
    assert named == Counter(label.split("-")[0] for label in outbox.running_at_rest or ()), number
    for trace in calls_of(run.trajectory):
        assert trace.result is not None, number
        assert isinstance(trace.result.fact, ToolResult)
        label, result = trace.call.arguments.split('"')[3], trace.result.fact
        end = trace.end.fact if trace.end is not None and trace.end.seq < trace.result.seq else None
        if outbox.ended.get(label) == "ok" and isinstance(end, ToolEnd) and result.code is not Code.TOOL_TIMEOUT:
            assert not result.is_error, f"{label} ended well, its result says {result.code} ({number})"
        if label not in outbox.ended and label not in outbox.running:
            assert result.code in (Code.ABORTED, Code.ABORTED_BEFORE_DISPATCH), f"{label} never began ({number})"
    assert [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL] == [], number
