"""Loops for sweeps: sane ones of several shapes, and ones with a fault that shows only where they are disturbed."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from harness.loop import Progress
from harness.protocols import World
from harness.subjects import BuiltInLoop
from harness.testing import Ending, Sweep, scenario, subject
from harness.tools import FunctionTool
from tests.subjects.test_broken_loops import Loop

MODULE = "tools_of_swept_loops"
FIELDS: dict[str, Any] = {
    "task": "go",
    "tools": {"from": f"{MODULE}:tools"},
    "script": [{"calls": [{"slow": {"x": 1}}, {"quick": {"x": 2}}]}, {"call": {"quick": {"x": 3}}}, {"say": "done"}],
}


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tools, one of which takes its time, in a module of their own."""

    async def slow(x: int) -> str:
        await asyncio.sleep(0.02)
        return f"slow {x}"

    async def quick(x: int) -> str:
        return f"quick {x}"

    def plain(x: int) -> str:
        return f"plain {x}"

    module = ModuleType(MODULE)
    module.tools = [FunctionTool(slow), FunctionTool(quick), FunctionTool(plain)]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, MODULE, module)


def swept(loop: type[Loop], *kinds: str, level: str = "boundaries", **fields: Any) -> Sweep:
    """A sweep of one loop under the scenario of this file."""
    bound = scenario(**{**FIELDS, **fields})
    return bound.sweep(subject(lambda env: loop(env).run(), name=loop.__name__), *kinds, level=level)


def accused(sweep: Sweep) -> set[str]:
    """Checks that found something in a red cell."""
    return {finding.check for cell in sweep.red for finding in cell.findings}


# ---------------------------------------------------------------- sane


class TellsTheModel(Loop):
    """Sane: a tool's error becomes its result."""

    async def call(self, call: Any) -> Any:
        try:
            return await super().call(call)
        except Exception as error:
            return {"role": "tool", "tool_call_id": call.id, "content": f"error: {error}"}


class OneByOne(TellsTheModel):
    """Sane: one tool at a time."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        return [await self.call(call) for call in calls]


class InATaskGroup(TellsTheModel):
    """Sane: its tools run in a group, which is told of a cancel one tick late."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.call(call)) for call in calls]
        return [task.result() for task in tasks]


class CleansUp(TellsTheModel):
    """Sane: it tidies up behind a cancel, and lets it through."""

    async def run(self) -> Any:
        try:
            return await super().run()
        finally:
            await asyncio.sleep(0.2)


SANE = [TellsTheModel, OneByOne, InATaskGroup, CleansUp]


# ---------------------------------------------------------------- broken


class DiesOfATool(Loop):
    """No net under a tool: its error ends the run."""


class LosesAFailedResult(TellsTheModel):
    """A failed tool gets no result at all."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        results = await super().calls(calls)
        return [result for result in results if not result["content"].startswith("error")]


class AnswersAFailedCallTwice(TellsTheModel):
    """A failed tool gets two results."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        results = await super().calls(calls)
        return [*results, *(result for result in results if result["content"].startswith("error"))]


class TriesAFailedToolAgain(TellsTheModel):
    """A body that failed runs once more, though nobody said that it may."""

    async def call(self, call: Any) -> Any:
        try:
            return await Loop.call(self, call)
        except Exception:
            return await super().call(call)


class SwallowsItsCancel(TellsTheModel):
    """A cancel ends the loop with an answer."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            return "all is well"


class TakesACancelForAResult(OneByOne):
    """A tool that was cancelled gets a result, and the loop goes on."""

    async def call(self, call: Any) -> Any:
        try:
            return await super().call(call)
        except asyncio.CancelledError:
            return {"role": "tool", "tool_call_id": call.id, "content": "cancelled"}


class WorksOnDetached(TellsTheModel):
    """Once cancelled it runs the tool that it owes in a task of nobody's."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        try:
            return await super().calls(calls)
        except asyncio.CancelledError:
            self.left.append(asyncio.ensure_future(self.later()))
            raise

    async def later(self) -> None:
        await asyncio.sleep(1)
        await self.tools["quick"](x=3)


class AsksOnceMore(TellsTheModel):
    """Once cancelled it asks the model for a last word."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            await self.ask()
            raise


class LeavesATaskBehind(TellsTheModel):
    """Its tools run in tasks that it does not own: a cancel does not reach them, and the next of them starts."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        async def one_after_another() -> list[Any]:
            return [await self.call(call) for call in calls]

        return await asyncio.shield(asyncio.ensure_future(one_after_another()))


class HasAWorker(TellsTheModel):
    """A task of the loop's takes calls from a queue, whatever becomes of who put them there."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        done = [asyncio.get_running_loop().create_future() for _ in calls]
        for call, future in zip(calls, done, strict=True):
            self.queue.put_nowait((call, future))
        return [await future for future in done]

    async def work(self) -> None:
        while True:
            call, future = await self.queue.get()
            result = await self.call(call)
            if not future.done():
                future.set_result(result)

    async def run(self) -> Any:
        self.queue: asyncio.Queue[Any] = asyncio.Queue()
        worker = asyncio.ensure_future(self.work())
        try:
            return await super().run()
        finally:
            worker.cancel()


class NeverNotices(TellsTheModel):
    """It waits for what never comes once it was cancelled."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            await asyncio.Event().wait()


class LeavesATimerTicking(TellsTheModel):
    """A task of its own that nobody stops."""

    async def ask(self) -> Any:
        watch = asyncio.ensure_future(asyncio.sleep(7_200))
        message = await super().ask()
        watch.cancel()
        return message


class TellsACancelAsALimit(TellsTheModel):
    """It says of a cancelled run that its steps were used up."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            return Ending("limit_reached")


class LeavesASiblingRunning(Loop):
    """A failed tool is told, but its sibling goes on while the run ends."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        try:
            return await super().calls(calls)
        except Exception as error:
            return [{"role": "tool", "tool_call_id": call.id, "content": f"error: {error}"} for call in calls]


class GoesOnWithoutAnAnswer(TellsTheModel):
    """A failed request is an answer without text, and the run is completed."""

    async def ask(self) -> Any:
        self.client = self.client.with_options(max_retries=0)
        try:
            return await super().ask()
        except Exception:
            await self.tools["quick"](x=99)
            return type("Nothing", (), {"tool_calls": None, "content": ""})()


BROKEN = [
    (DiesOfATool, "tool-error", "tool_error_survived"),
    (LosesAFailedResult, "tool-error", "provider_history"),
    (AnswersAFailedCallTwice, "tool-error", "provider_history"),
    (TriesAFailedToolAgain, "tool-error", "tool_runs"),
    (LeavesASiblingRunning, "tool-error", "event_grammar"),
    (GoesOnWithoutAnAnswer, "model-error", "tool_runs"),
    (SwallowsItsCancel, "cancel", "cancel_settled"),
    (TakesACancelForAResult, "cancel", "cancel_no_model_request"),
    (WorksOnDetached, "cancel", "cancel_no_tool_start"),
    (AsksOnceMore, "cancel", "cancel_no_model_request"),
    (LeavesATaskBehind, "cancel", "cancel_no_tool_start"),
    (NeverNotices, "cancel", "cancel_settled"),
    (LeavesATimerTicking, "cancel", "cancel_settled"),
    (TellsACancelAsALimit, "cancel", "cancel_settled"),
]
"""Loop, what it is swept with, and a check that must accuse it."""


# ---------------------------------------------------------------- broken where a limit ends them


class IgnoresTheLimit(TellsTheModel):
    """It counts its own ten steps, whatever it is told."""

    async def run(self) -> Any:
        self.env.limits = replace(self.env.limits, steps=10)
        return await super().run()


class TakesOneStepMore(TellsTheModel):
    """Its limit is off by one."""

    async def run(self) -> Any:
        self.env.limits = replace(self.env.limits, steps=self.env.limits.steps + 1)
        return await super().run()


class TakesOneStepLess(TellsTheModel):
    """Its limit is off by one, the other way."""

    async def run(self) -> Any:
        self.env.limits = replace(self.env.limits, steps=self.env.limits.steps - 1)
        return await super().run()


class TellsALimitAsAnAnswer(TellsTheModel):
    """It says of work that a limit ended that it is done."""

    async def run(self) -> Any:
        ended = await super().run()
        return Ending("completed", "done") if isinstance(ended, Ending) else ended


BROKEN_AT_LIMITS = [
    (IgnoresTheLimit, "a turn took 3 steps under a limit of 2"),
    (TakesOneStepMore, "a turn took 3 steps under a limit of 2"),
    (TakesOneStepLess, "3 steps fit a limit of 3, yet the run changed"),
    (TellsALimitAsAnAnswer, "the run says that it is completed"),
]
"""Loop, and what must be said of it."""


class AnswersInTheOrderOfTheEnds(TellsTheModel):
    """Results stand in the history as they come, not as they were asked for."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        results: list[Any] = []

        async def added(call: Any) -> None:
            results.append(await self.call(call))

        await asyncio.gather(*map(added, calls))
        return results


class KnowsWhichCameFirst(TellsTheModel):
    """What it tells of a tool depends on which one ended first."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        ended: list[str] = []

        async def noted(call: Any) -> Any:
            result = await self.call(call)
            ended.append(call.id)
            return {**result, "content": f"{result['content']}, number {len(ended)}"}

        return list(await asyncio.gather(*map(noted, calls)))


class LeavesWhenItsTaskIsDone(BuiltInLoop):
    """The built-in loop under a host that closes it after its tasks, whatever was sent meanwhile."""

    async def run(self, world: World) -> None:
        driver = self._driver(world)
        world.attach(driver)
        driver.open()
        for task in world.scenario.tasks:
            driver.send(task)
            while await driver.step() is Progress.STEPPED:
                pass
        driver.close()
