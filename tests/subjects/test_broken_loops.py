"""Loops with one planted fault each, and sane loops of other shapes: the first are accused, the second are not."""

from __future__ import annotations

import asyncio
import json
import sys
from types import ModuleType
from typing import Any

import pytest

from harness.runner import RunResult
from harness.testing import Ending, Env, scenario, subject
from harness.tools import FunctionTool
from harness.types.codes import Outcome

MODULE = "tools_of_broken_loops"
SCRIPTS: dict[str, dict[str, Any]] = {
    "two calls, then one": {
        "script": [{"calls": [{"slow": {"x": 1}}, {"quick": {"x": 2}}]}, {"call": {"slow": {"x": 3}}}, {"say": "done"}]
    },
    "one call": {"script": [{"call": {"quick": {"x": 1}}}, {"say": "done"}]},
    "never ends": {"script": [{"call": {"quick": {"x": x}}} for x in range(5)], "limits": {"steps": 3}},
    "cancelled": {
        "script": [{"calls": [{"slow": {"x": 1}}, {"quick": {"x": 2}}]}, {"say": "done"}],
        "inject": [{"at": {"kind": "tool/start"}, "do": {"cancel": {}}}],
    },
}


class Loop:
    """A sane loop with seams to break it at."""

    def __init__(self, env: Env) -> None:
        self.env = env
        self.client = env.openai()
        self.tools = env.tools
        self.messages: list[Any] = [{"role": "user", "content": env.task}]
        self.left: list[Any] = []

    async def ask(self) -> Any:
        offered: Any = self.env.tool_schemas
        answer = await self.client.chat.completions.create(model="m", messages=self.messages, tools=offered)
        return answer.choices[0].message

    def echo(self, message: Any) -> Any:
        return message.model_dump(exclude_none=True)

    def arguments(self, call: Any) -> dict[str, Any]:
        return dict(json.loads(call.function.arguments))

    async def call(self, call: Any) -> Any:
        value = await self.tools[call.function.name](**self.arguments(call))
        return {"role": "tool", "tool_call_id": call.id, "content": value}

    async def calls(self, calls: list[Any]) -> list[Any]:
        return list(await asyncio.gather(*map(self.call, calls)))

    async def run(self) -> Any:
        for _ in range(self.env.limits.steps):
            message = await self.ask()
            if not message.tool_calls:
                return message.content
            self.messages.append(self.echo(message))
            self.messages += await self.calls(message.tool_calls)
        return Ending("limit_reached")


def run_loop(loop: type[Loop], name: str, monkeypatch: pytest.MonkeyPatch) -> RunResult:
    async def slow(x: int, note: str = "") -> str:
        await asyncio.sleep(0.02)
        return f"slow {x}{note}"

    async def quick(x: int) -> str:
        return f"quick {x}"

    module = ModuleType(MODULE)
    module.tools = [FunctionTool(slow), FunctionTool(quick)]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, MODULE, module)
    fields = {"tools": {"from": f"{MODULE}:tools"}, "allow_leftovers": True, **SCRIPTS[name]}
    return scenario(task="go", **fields).run(subject(lambda env: loop(env).run(), name=loop.__name__))


def accusing(run: RunResult) -> set[str]:
    return {verdict.check for verdict in run.verdicts if verdict.outcome is Outcome.FAIL}


# ---------------------------------------------------------------- sane


class OneByOne(Loop):
    async def calls(self, calls: list[Any]) -> list[Any]:
        return [await self.call(call) for call in calls]


class InATaskGroup(Loop):
    async def calls(self, calls: list[Any]) -> list[Any]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.call(call)) for call in calls]
        return [task.result() for task in tasks]


class WritesArgumentsAnew(Loop):
    def echo(self, message: Any) -> Any:
        shown = super().echo(message)
        for call in shown["tool_calls"]:
            call["function"]["arguments"] = json.dumps(json.loads(call["function"]["arguments"]), indent=1)
        return shown


class RemindsAfterResults(Loop):
    async def calls(self, calls: list[Any]) -> list[Any]:
        return [*await super().calls(calls), {"role": "user", "content": "be brief"}]


class AddsAnArgument(Loop):
    def arguments(self, call: Any) -> dict[str, Any]:
        own = {"note": "!"} if call.function.name == "slow" else {}
        return {**super().arguments(call), **own}


class CleansUpAtTheEnd(Loop):
    async def run(self) -> Any:
        try:
            return await super().run()
        finally:
            await asyncio.sleep(0.2)


class AsksThroughNewClients(Loop):
    async def ask(self) -> Any:
        self.client = self.env.openai()
        return await super().ask()


SANE = [
    Loop, OneByOne, InATaskGroup, WritesArgumentsAnew, RemindsAfterResults, AddsAnArgument, CleansUpAtTheEnd, AsksThroughNewClients,
]  # fmt: skip


@pytest.mark.conformance("2", "42", "63", "64", "67", "89")
@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("loop", SANE)
def test_a_sane_loop_of_another_shape_is_accused_of_nothing(
    loop: type[Loop], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_loop(loop, name, monkeypatch)
    assert accusing(run) == set(), run.findings


# ---------------------------------------------------------------- broken


class RunsEachToolTwice(Loop):
    async def call(self, call: Any) -> Any:
        await super().call(call)
        return await super().call(call)


class RunsAToolOfItsOwnAccord(Loop):
    async def calls(self, calls: list[Any]) -> list[Any]:
        await self.tools["quick"](x=77)
        return await super().calls(calls)


class RunsWithOtherArguments(Loop):
    def arguments(self, call: Any) -> dict[str, Any]:
        return {"x": super().arguments(call)["x"] + 1}


class RunsAnotherTool(Loop):
    async def call(self, call: Any) -> Any:
        value = await self.tools["slow"](**self.arguments(call))
        return {"role": "tool", "tool_call_id": call.id, "content": value}


class RunsBeforeTheAnswer(Loop):
    async def run(self) -> Any:
        await self.tools["quick"](x=1)
        return await super().run()


class RunsTheFirstCallAgain(Loop):
    async def calls(self, calls: list[Any]) -> list[Any]:
        for earlier in self.left[:1]:
            await self.call(earlier)
        self.left += calls
        return await super().calls(calls)


class GoesBeyondItsLimitWithReminders(RemindsAfterResults):
    async def run(self) -> Any:
        for _ in range(self.env.limits.steps + 1):
            message = await self.ask()
            self.messages.append(self.echo(message))
            self.messages += await self.calls(message.tool_calls)
        return Ending("limit_reached")


class SwallowsItsCancel(Loop):
    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            return "all is well"


class AsksAfterItsCancel(Loop):
    async def call(self, call: Any) -> Any:
        self.left.append(asyncio.ensure_future(self.later()))
        return await super().call(call)

    async def later(self) -> None:
        await asyncio.sleep(1)
        await self.ask()


class WorksAfterItsCancel(AsksAfterItsCancel):
    async def later(self) -> None:
        await asyncio.sleep(1)
        await self.tools["quick"](x=2)


BROKEN = [
    (RunsEachToolTwice, "two calls, then one", "tool_runs"),
    (RunsAToolOfItsOwnAccord, "two calls, then one", "tool_runs"),
    (RunsWithOtherArguments, "two calls, then one", "tool_runs"),
    (RunsAnotherTool, "one call", "tool_runs"),
    (RunsBeforeTheAnswer, "one call", "tool_runs"),
    (RunsTheFirstCallAgain, "two calls, then one", "tool_runs"),
    (GoesBeyondItsLimitWithReminders, "never ends", "steps_and_limits"),
    (SwallowsItsCancel, "cancelled", "cancel_settled"),
    (AsksAfterItsCancel, "cancelled", "cancel_no_model_request"),
    (WorksAfterItsCancel, "cancelled", "cancel_no_tool_start"),
]


@pytest.mark.conformance("5", "30", "63", "64", "67", "89")
@pytest.mark.parametrize(
    ("loop", "name", "check"), [pytest.param(*row, id=f"{row[0].__name__}-{row[2]}") for row in BROKEN]
)
def test_a_loop_with_a_planted_fault_is_accused_of_it(
    loop: type[Loop], name: str, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check in accusing(run_loop(loop, name, monkeypatch))
