"""What somebody gets wrong who brings a loop here for the first time is told, and never a pass."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from harness.testing import Env, scenario, subject
from harness.tools import FunctionTool
from harness.types.codes import Outcome, Status

MODULE = "tools_of_first_mistakes"


async def ask(env: Env, messages: Any = None) -> Any:
    return await env.openai().chat.completions.create(
        model="m", messages=messages or [{"role": "user", "content": env.task}]
    )


async def crashing(env: Env) -> None:
    await ask(env)
    raise KeyError("boom")


def test_a_loop_that_crashes_is_no_pass_although_nothing_is_expected() -> None:
    run = scenario(task="x", script=[{"say": "x"}]).run(subject(crashing))
    assert (run.outcome, run.status) == (Outcome.FAIL, Status.FAILED)
    assert [finding.check for finding in run.findings] == ["expected_end"]
    assert "KeyError: 'boom'" in run.findings[0].message


def test_a_function_of_the_script_that_raises_is_no_pass_either(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType(MODULE)
    module.reply = lambda: None  # type: ignore[attr-defined]  # takes no request
    monkeypatch.setitem(sys.modules, MODULE, module)
    run = scenario(task="x", script=[{"function": f"{MODULE}:reply"}]).run()
    assert run.outcome is Outcome.FAIL
    assert "TypeError" in run.findings[0].message


def test_a_crash_that_is_expected_passes() -> None:
    expect = {"error": "boom"}
    assert scenario(task="x", script=[{"say": "x"}], expect=expect).run(subject(crashing)).passed


# ---------------------------------------------------------------- tools that were not wrapped

ONE_CALL: dict[str, Any] = {"task": "x", "script": [{"call": {"get_price": {"item": "apple"}}}, {"say": "1.5"}]}
OFFERED: Any = [{"type": "function", "function": {"name": "get_price", "parameters": {"type": "object"}}}]
Tools = dict[str, Callable[..., str]]


def get_price(item: str) -> str:
    return "1.5"


@pytest.fixture
def own_tools(monkeypatch: pytest.MonkeyPatch) -> str:
    module = ModuleType(MODULE)
    module.tools = [FunctionTool(get_price)]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, MODULE, module)
    return f"{MODULE}:tools"


def loop_over(tools_of: Callable[[Env], Tools], *, answers: str | None = None) -> Any:
    async def loop(env: Env) -> str:
        client, tools = env.openai(), tools_of(env)
        messages: list[Any] = [{"role": "user", "content": env.task}]
        while True:
            answer = await client.chat.completions.create(model="m", messages=messages, tools=OFFERED)
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content or ""
            for call in message.tool_calls:
                content = answers or tools["get_price"]("apple")
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})

    return subject(loop)


def bare(env: Env) -> Tools:
    return {"get_price": get_price}


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param({}, id="tools-that-the-scenario-does-not-know"),
        pytest.param({"tools": {"from": f"{MODULE}:tools"}}, id="tools-of-the-scenario"),
        pytest.param(
            {"tools": {"from": f"{MODULE}:tools", "stub": {"get_price": {"returns": 99}}}}, id="a-stub-that-never-ran"
        ),
    ],
)
@pytest.mark.usefixtures("own_tools")
def test_a_registry_that_was_not_wrapped_is_asked_about(tools: dict[str, Any]) -> None:
    run = scenario(**ONE_CALL, **tools, expect={"status": "completed"}).run(loop_over(bare))
    assert run.outcome is Outcome.INCONCLUSIVE
    (why,) = [verdict.why for verdict in run.verdicts if verdict.outcome is Outcome.INCONCLUSIVE]
    assert why == (
        "results of 'get_price' reached the model, but no body was seen: was the registry wrapped with env.wrap()?"
    )


def test_a_tool_of_the_scenario_beside_wrapped_ones_is_asked_about(own_tools: str) -> None:
    def half(env: Env) -> Tools:
        env.wrap({"another": get_price})
        return bare(env)

    run = scenario(**ONE_CALL, tools={"from": own_tools}).run(loop_over(half))
    assert run.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("answers", [None, "you may not"], ids=["it-runs", "the-loop-refuses-the-call"])
def test_a_wrapped_registry_is_not_asked_about(own_tools: str, answers: str | None) -> None:
    loop = loop_over(lambda env: env.wrap(bare(env)), answers=answers)
    run = scenario(**ONE_CALL, tools={"from": own_tools}).run(loop)
    assert run.passed, run.verdicts


def test_an_answer_to_a_call_of_no_tool_at_all_needs_no_body(own_tools: str) -> None:
    script = [{"call": {"nothing": {}}}, {"say": "ok"}]
    run = scenario(task="x", script=script, tools={"from": own_tools}).run(loop_over(bare, answers="no such tool"))
    assert run.passed, run.verdicts
