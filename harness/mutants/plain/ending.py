"""The plain loop with one fault each where it ends: limits, cancels, errors, what is left behind."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from harness.mutants.plain.loop import PlainLoop
from harness.mutants.plain.work import DiesOfATool


class TakesOneStepMore(PlainLoop):
    """Its limit is off by one."""

    def steps(self) -> int:
        return super().steps() + 1


class TakesOneStepLess(PlainLoop):
    """Its limit is off by one, the other way."""

    def steps(self) -> int:
        return super().steps() - 1


class IgnoresTheLimit(PlainLoop):
    """It counts ten steps, whatever it is told."""

    def steps(self) -> int:
        return 10


class TellsALimitAsCompleted(PlainLoop):
    """Work that a limit ended is told as done."""

    async def run(self) -> Any:
        ended = await super().run()
        return ended if isinstance(ended, str) else self.said("completed")


class TellsSuccessAsALimit(PlainLoop):
    """An answered task is told as one that a limit ended."""

    async def run(self) -> Any:
        await super().run()
        return self.said("limit_reached")


class TellsSuccessAsCancelled(PlainLoop):
    """An answered task is told as cancelled, by nobody."""

    async def run(self) -> Any:
        await super().run()
        return self.said("cancelled")


class SwallowsItsCancel(PlainLoop):
    """A cancel ends it with an answer."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            return "all is well"


class TellsACancelAsALimit(PlainLoop):
    """A cancelled run is told as one that a limit ended."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            return self.said("limit_reached")


class TakesACancelForAResult(PlainLoop):
    """A tool that was cancelled gets a result, and the loop goes on."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        return [await self.call(call) for call in calls]

    async def call(self, call: Any) -> Any:
        try:
            return await super().call(call)
        except asyncio.CancelledError:
            return self.result(call, "cancelled")


class AsksAfterItsCancel(PlainLoop):
    """Cancelled, it asks the model for a last word."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            await self.ask()
            raise


class StartsAToolAfterItsCancel(PlainLoop):
    """Cancelled, it runs a tool to clean up."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            await self.tools["quick"](x=9)
            raise


class WorksLateAfterItsCancel(PlainLoop):
    """A second after the cancel a task of nobody's runs a tool."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        try:
            return await super().calls(calls)
        except asyncio.CancelledError:
            self.left.append(asyncio.ensure_future(self.later()))
            raise

    async def later(self) -> None:
        await asyncio.sleep(1)
        await self.tools["quick"](x=3)


class ShieldsItsTools(PlainLoop):
    """A cancel does not reach its tools, and the next of them starts."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        async def in_turn() -> list[Any]:
            return [await self.call(call) for call in calls]

        return list(await asyncio.shield(asyncio.ensure_future(in_turn())))


class NeverNoticesItsCancel(PlainLoop):
    """Cancelled, it waits for what never comes."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            await asyncio.Event().wait()


class LeaksATask(PlainLoop):
    """A watchdog of its own is left behind when it is cancelled."""

    async def ask(self) -> Any:
        watch = asyncio.ensure_future(asyncio.sleep(7_200))
        choice = await super().ask()
        watch.cancel()
        return choice


class LeavesASiblingRunning(DiesOfATool):
    """One tool fails and the run ends, while its sibling works on."""


class LeavesABodyRunning(PlainLoop):
    """It answers while a body that it started still works."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        self.left = [asyncio.ensure_future(self.call(call)) for call in calls]
        await asyncio.sleep(0.001)
        return [self.result(call, "started") for call in calls]


class CommitsAPlaceholder(PlainLoop):
    """The model is told of a result that is not there yet."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        late = [asyncio.ensure_future(self.call(call)) for call in calls]
        shown = [self.result(call, "pending") for call in calls]
        self.messages += shown
        await self.ask()
        for one in shown:
            self.messages.remove(one)
        return list(await asyncio.gather(*late))


class GoesOnWithoutAnAnswer(PlainLoop):
    """A request that failed is taken for an answer, and a tool runs upon it."""

    async def ask(self) -> Any:
        self.client = self.client.with_options(max_retries=0)
        try:
            return await super().ask()
        except Exception:
            await self.tools["quick"](x=99)
            return SimpleNamespace(finish_reason="stop", message=SimpleNamespace(tool_calls=None, content="done"))


class BeginsAnewAfterAnError(PlainLoop):
    """A request that failed has everything done again from the task on."""

    async def run(self) -> Any:
        self.client = self.client.with_options(max_retries=0)
        try:
            return await super().run()
        except Exception:
            del self.messages[len(self.system) + 1 :]
            return await super().run()


class TellsSuccessAsIncomplete(PlainLoop):
    """An answered task is told as incomplete."""

    async def run(self) -> Any:
        await super().run()
        return self.said("incomplete")


class RewordsTheTask(PlainLoop):
    """The model is given another task than the user gave."""

    def request(self) -> dict[str, Any]:
        self.messages[0] = {"role": "user", "content": "go on"}
        return super().request()


class RunsTheNextCallAfterItsCancel(PlainLoop):
    """Cancelled in one call, it runs the next one all the same."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        try:
            return [await self.call(call) for call in calls[:1]]
        except asyncio.CancelledError:
            await self.call(calls[-1])
            raise


class AsksAgainAfterItsCancel(PlainLoop):
    """Cancelled while it asks, it asks once more."""

    async def ask(self) -> Any:
        try:
            return await super().ask()
        except asyncio.CancelledError:
            await super().ask()
            raise
