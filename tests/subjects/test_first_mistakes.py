"""What somebody gets wrong who brings a loop here for the first time is told, and never a pass."""

from __future__ import annotations

import asyncio
import signal as interrupts
import sys
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import httpx2
import pytest

from harness.errors import UnsupportedError
from harness.server.patience import MOST_UNANSWERED
from harness.testing import Env, scenario, subject
from harness.tools import FunctionTool
from harness.types.codes import Outcome, Status
from harness.types.doors import Answer
from harness.types.exchange import ModelRequest
from harness.types.reasons import Failed

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


# ---------------------------------------------------------------- loops that ask for ever


async def retries(env: Env) -> str:
    while True:
        with suppress(Exception):
            answer: str = (await ask(env)).choices[0].message.content
            return answer


async def retries_whatever_comes(env: Env) -> None:
    while True:
        with suppress(BaseException):
            await ask(env)


async def retries_without_waiting(env: Env) -> None:
    client = httpx2.Client(transport=env.openai()._client._transport)  # type: ignore[arg-type]
    while True:
        with suppress(Exception):
            client.post("http://x/chat/completions", json={})


async def never_has_enough(env: Env) -> None:
    while True:
        await ask(env)


async def asks_wrongly(env: Env) -> None:
    while True:
        with suppress(Exception):
            await ask(env, [{"role": "tool", "tool_call_id": "no", "content": "x"}])


@pytest.mark.parametrize("loop", [retries, retries_whatever_comes])
def test_a_loop_that_asks_a_dry_script_for_ever_is_ended(loop: Any) -> None:
    run = scenario(task="x", script=[{"fail": "INVALID_REQUEST"}]).run(subject(loop))
    assert (run.outcome, run.status) == (Outcome.FAIL, Status.FAILED)
    assert isinstance(run.reason, Failed)
    assert "without an answer" in run.reason.message
    n_requests = sum(isinstance(event.fact, ModelRequest) for event in run.trajectory)
    assert n_requests == MOST_UNANSWERED
    assert "script" in {finding.check for finding in run.findings}


def test_a_synchronous_client_that_is_retried_for_ever_is_refused_all_the_same() -> None:
    with pytest.raises(UnsupportedError, match="synchronous client"):
        scenario(task="x", script=[{"say": "x"}], allow_leftovers=True).run(subject(retries_without_waiting))


def test_a_loop_whose_every_request_is_refused_is_ended_and_failed() -> None:
    run = scenario(task="x", script=[{"say": "x"}], allow_leftovers=True).run(subject(asks_wrongly))
    assert (run.outcome, run.status) == (Outcome.FAIL, Status.FAILED)
    assert {finding.check for finding in run.findings} == {"expected_end", "provider_history"}


def test_a_loop_that_retries_with_a_pause_is_left_to_its_limits() -> None:
    async def patient(env: Env) -> str:
        for _ in range(2 * MOST_UNANSWERED):
            try:
                answer: str = (await ask(env)).choices[0].message.content
                return answer
            except Exception:
                await env.clock.sleep_ms(10)
        return ""

    script = [*[{"fail": "INVALID_REQUEST"}] * (MOST_UNANSWERED + 5), {"say": "at last"}]
    assert scenario(task="x", script=script).run(subject(patient)).answer == "at last"


def test_a_loop_that_swallows_an_injected_cancel_and_asks_on_is_left() -> None:
    cancel: Any = [{"at": "model/request", "do": "cancel"}]
    run = scenario(task="x", script=[{"say": "a"}], inject=cancel).run(subject(retries_whatever_comes))
    assert (run.outcome, run.status) == (Outcome.FAIL, Status.CANCELLED)
    assert "cancel_no_model_request" in {finding.check for finding in run.findings}


def test_a_model_that_answers_for_ever_is_no_reason_to_run_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.server.patience.MOST_IN_AN_INSTANT", 200)
    module = ModuleType(MODULE)
    module.reply = lambda _: "more"  # type: ignore[attr-defined]
    module.model = lambda *_: Endless()  # type: ignore[attr-defined]
    module.model.clock = "virtual"
    monkeypatch.setitem(sys.modules, MODULE, module)
    run = scenario(task="x").run(subject(never_has_enough), model=f"{MODULE}:model")
    assert run.status is Status.FAILED
    assert "let no time pass" in str(run.reason)


class Endless:
    name = "endless"

    def __init__(self, press_after: int | None = None) -> None:
        self.n_asked = 0
        self._press_after = press_after

    async def answer(self, call: object, *, signal: object, emit: object) -> Answer:
        self.n_asked += 1
        if self.n_asked == self._press_after:
            interrupts.raise_signal(interrupts.SIGINT)
        return Answer(content="more")


def test_the_first_interrupt_ends_a_loop_that_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Endless(press_after=5)
    module = ModuleType(MODULE)
    module.model = lambda *_: endless  # type: ignore[attr-defined]
    module.model.clock = "virtual"
    monkeypatch.setitem(sys.modules, MODULE, module)
    with pytest.raises(KeyboardInterrupt):
        scenario(task="x").run(subject(never_has_enough), model=f"{MODULE}:model")
    assert endless.n_asked < 10


# ---------------------------------------------------------------- doors that were not used, names of loops


def test_a_loop_that_never_asked_its_model_is_told_where_to_ask() -> None:
    run = scenario(task="x", script=[{"say": "x"}]).run(subject(lambda env: asyncio.sleep(0, "mine")))
    (finding,) = [finding for finding in run.findings if finding.check == "script"]
    assert finding.message.endswith("unused after 0 requests. A loop of your own asks its model through env.openai().")


def test_a_loop_is_also_run_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType(MODULE)
    module.loop = retries  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, MODULE, module)
    run = scenario(task="x", script=[{"say": "x"}]).run(f"{MODULE}:loop")
    assert (run.passed, run.trajectory.header.subject) == (True, f"{MODULE}:loop")
