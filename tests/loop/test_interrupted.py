"""Whoever cancels the task around a run is told first, and then obeyed like any other cancel."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType
from typing import Any

import pytest

from harness.protocols import ToolContext, World
from harness.subjects import BuiltInLoop
from harness.testing import scenario
from harness.types.codes import Status
from tests.loop.lab import kinds

MODULE = "tools_of_interrupted_runs"


class CancelledFromOutside(BuiltInLoop):
    """The built-in loop in a task that is cancelled after some virtual time."""

    async def run(self, world: World) -> None:
        task = asyncio.create_task(super().run(world))
        asyncio.get_running_loop().call_later(0.05, task.cancel)
        await asyncio.wait({task})
        assert task.cancelled()


async def looks(context: ToolContext) -> str:
    """Work until asked to stop."""
    await context.signal.wait()
    return "stopped in time"


async def sleeps() -> str:
    """Sleep for long."""
    await asyncio.sleep(100)
    return "awake"


@pytest.mark.conformance("63", "64", "67", "73")
@pytest.mark.parametrize(
    "script", [[{"calls": [{"looks": {}}, {"sleeps": {}}]}], [{"hang": True}]], ids=["tools", "model"]
)
def test_the_cancel_of_the_task_around_a_run_is_told_before_what_it_stopped(
    script: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType(MODULE)
    module.tools = [looks, sleeps]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, MODULE, module)
    run = scenario(task="x", tools={"from": f"{MODULE}:tools"}, script=script).run(CancelledFromOutside())
    told = kinds(run)
    assert (run.status, run.passed) == (Status.CANCELLED, True), run.findings
    assert told.count("cancel/delivered") == 1
    assert "tool/end" not in told[: told.index("cancel/delivered")]
    assert "step/end" not in told[: told.index("cancel/delivered")]
    if "tool/start" in told:
        assert "stopped in time" in str(run.trajectory.events), "the body was asked before it was stopped"
