"""Loops that cannot share the run's event loop: plain functions and foreign clients, against the server on loopback."""

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
from functools import partial
from typing import Any

import httpx2
import openai
import pytest

from harness.errors import UnsupportedError, UsageError
from harness.runner import find_subject
from harness.subjects import OtherDoor
from harness.testing import Env, scenario, subject
from harness.types.codes import ClockKind, Outcome, ToolOutcome
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.lifecycle import REAL_TIME_NOTE, Note, RunQuiescent

SCHEMAS: list[Any] = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
SCRIPT = [{"call": {"add": {"a": 1, "b": 2}}}, {"say": "It is three."}]


def add(a: int, b: int) -> int:
    return a + b


def sync_loop(env: Env, client: Any = None) -> str:
    """The usual loop, without any async."""
    tools = env.wrap({"add": add})
    messages: list[Any] = [{"role": "user", "content": env.task}]
    with client or env.sync_openai() as asking:
        while True:
            message = asking.chat.completions.create(model="m", messages=messages, tools=SCHEMAS).choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return str(message.content)
            for call in message.tool_calls:
                result = tools[call.function.name](**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})


def with_its_own_client(env: Env) -> str:
    return sync_loop(env, openai.OpenAI(base_url=env.base_url, api_key=env.api_key))


def with_the_environment(env: Env) -> str:
    return sync_loop(env, openai.OpenAI())


async def blocking(env: Env) -> str:
    return with_its_own_client(env)


async def async_with_its_own_client(env: Env) -> str:
    tools = env.wrap({"add": add})
    messages: list[Any] = [{"role": "user", "content": env.task}]
    async with httpx2.AsyncClient(base_url=env.base_url, trust_env=False) as client:
        while True:
            body = {"model": "m", "messages": messages, "tools": SCHEMAS}
            message = (await client.post("/chat/completions", json=body)).json()["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                result = tools["add"](**json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})


def with_urllib(env: Env) -> str:
    tools = env.wrap({"add": add})
    items: list[Any] = [{"role": "user", "content": env.task}]
    while True:
        body = json.dumps({"model": "m", "input": items}).encode()
        request = urllib.request.Request(f"{env.base_url}/responses", body, {"content-type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as reply:
            output = json.load(reply)["output"]
        items += output
        calls = [item for item in output if item["type"] == "function_call"]
        if not calls:
            return str(output[0]["content"][0]["text"])
        for call in calls:
            result = tools["add"](**json.loads(call["arguments"]))
            items.append({"type": "function_call_output", "call_id": call["call_id"], "output": str(result)})


class Called:
    def __call__(self, env: Env) -> str:
        return sync_loop(env)


@pytest.mark.parametrize(
    ("loop", "why"),
    [
        pytest.param(sync_loop, "plain function", id="plain-function"),
        pytest.param(partial(sync_loop, client=None), "plain function", id="partial"),
        pytest.param(Called(), "plain function", id="callable"),
        pytest.param(with_its_own_client, "plain function", id="base-url"),
        pytest.param(with_the_environment, "plain function", id="environment"),
        pytest.param(with_urllib, "plain function", id="urllib-responses"),
        pytest.param(lambda env: with_its_own_client(env), "client of its own", id="lambda"),
        pytest.param(async_with_its_own_client, "client of its own", id="async-own-client"),
        pytest.param(blocking, "client of its own", id="async-that-blocks-its-thread"),
    ],
)
def test_a_loop_that_cannot_run_in_process_runs_on_loopback_and_the_run_says_so(loop: Any, why: str) -> None:
    run = scenario(task="add", script=SCRIPT).run(subject(loop, name="theirs"))
    assert run.outcome is Outcome.PASS, run.findings
    assert (run.status, run.answer, run.calls) == ("completed", "It is three.", ["add"])
    assert run.trajectory.header.clock is ClockKind.SYSTEM
    (note,) = [event.fact for event in run.trajectory if isinstance(event.fact, Note) and event.fact.name == REAL_TIME_NOTE]
    assert why in note.data
    facts = [event.fact for event in run.trajectory]
    (start,) = [fact for fact in facts if isinstance(fact, ToolStart)]
    assert (start.call_id, start.arguments) == ("call_1_0", '{"a":1,"b":2}')
    assert [fact.outcome for fact in facts if isinstance(fact, ToolEnd)] == [ToolOutcome.OK]
    assert isinstance(facts[-1], RunQuiescent)
    assert facts[-1].alive == ()


def test_an_async_loop_with_our_client_stays_in_process_under_virtual_time() -> None:
    async def theirs(env: Env) -> str:
        completion = await env.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
        await asyncio.sleep(3600)
        return str(completion.choices[0].message.content)

    tested = subject(theirs)
    run = scenario(task="x", script=[{"say": "fine"}]).run(tested)
    assert (run.answer, run.trajectory.header.clock, tested.real_time) == ("fine", ClockKind.VIRTUAL, "")


def test_a_plain_function_that_gives_a_coroutine_is_async_after_all() -> None:
    async def theirs(env: Env) -> str:
        completion = await env.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
        return str(completion.choices[0].message.content)

    def plain(env: Env) -> Any:
        return theirs(env)

    run = scenario(task="x", script=[{"say": "fine"}]).run(subject(plain))
    assert (run.answer, run.trajectory.header.clock) == ("fine", ClockKind.VIRTUAL)


@pytest.mark.parametrize("kind", ["streamed", "whole"])
def test_a_declared_door_serves_an_async_loop_with_our_client_too(kind: str) -> None:
    async def theirs(env: Env) -> str:
        ask: Any = partial(env.openai().chat.completions.create, model="m", messages=[{"role": "user", "content": "x"}])
        if kind == "whole":
            return str((await ask()).choices[0].message.content)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in await ask(stream=True) if chunk.choices])

    run = scenario(task="x", script=[{"say": "a b c", "chunks": "words"}]).run(subject(theirs, door="loopback"))
    assert (run.answer, run.trajectory.header.clock) == ("a b c", ClockKind.SYSTEM)
    assert run.outcome is Outcome.PASS, run.findings


def test_a_declared_door_in_process_refuses_what_needs_the_other_one() -> None:
    async def swallowing(env: Env) -> str:
        try:
            return env.base_url
        except Exception:
            return "as if nothing was"

    with pytest.raises(OtherDoor, match="door is to be 'auto' or 'loopback'"):
        scenario(task="x", script=[{"say": "x"}], allow_leftovers=True).run(subject(swallowing, door="in-process"))


def test_a_loop_that_swallows_our_word_still_gets_the_other_door() -> None:
    async def swallowing(env: Env) -> str:
        try:
            url = env.base_url
        except Exception:
            return "as if nothing was"
        async with httpx2.AsyncClient(trust_env=False) as client:
            reply = await client.post(f"{url}/chat/completions", json={"model": "m", "messages": [{"role": "user", "content": "x"}]})
        return str(reply.json()["choices"][0]["message"]["content"])

    assert scenario(task="x", script=[{"say": "fine"}]).run(subject(swallowing)).answer == "fine"


def test_a_lambda_that_awaits_nothing_is_refused_with_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"nothing to await.*door='loopback'"):
        scenario(task="x", script=[{"say": "x"}], allow_leftovers=True).run(subject(lambda env: "done"))
    assert scenario(task="x", script=[{"say": "x"}], allow_leftovers=True).run(
        subject(lambda env: "done", door="loopback")
    ).status == "completed"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"clock": "virtual"}, "says 'clock: virtual', but the loop is a plain function", id="clock"),
        pytest.param({"release": ["call_1_0"]}, "under virtual time only", id="release"),
    ],
)
def test_what_real_time_cannot_keep_is_refused(fields: Any, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        scenario(task="x", script=SCRIPT, **fields).run(subject(sync_loop))


def test_the_environment_is_as_it_was_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    seen: list[str] = []

    def loop(env: Env) -> str:
        seen.append(os.environ["OPENAI_BASE_URL"])
        return with_the_environment(env)

    scenario(task="x", script=SCRIPT).run(subject(loop))
    assert seen[0].startswith("http://127.0.0.1:")
    assert os.environ["OPENAI_BASE_URL"] == "http://elsewhere.invalid/v1"
    assert "OPENAI_API_KEY" not in os.environ


def test_stubs_and_built_in_tools_run_as_plain_functions_and_may_wait() -> None:
    def loop(env: Env) -> str:
        assert env.tools["calculator"](expression="2*3") == "6"
        assert env.wrap({"add": add})["add"](a=1, b=1) == 77
        return sync_loop(env)

    run = scenario(
        task="x", script=[{"say": "x"}],
        tools={"use": ["calculator"], "stub": {"add": {"returns": 77, "delay_ms": 5}}, "schemas": {"add": {"type": "object"}}},
    ).run(subject(loop))  # fmt: skip
    assert run.status == "completed", run.findings
    ended = [event.fact.outcome for event in run.trajectory if isinstance(event.fact, ToolEnd)]
    assert ended == [ToolOutcome.OK] * 2


@pytest.mark.conformance("149")
def test_faults_of_the_wire_reach_a_foreign_client_and_its_retries_are_attempts() -> None:
    faults = [{"request": 1, "status": 503, "retry_after_ms": 1}, {"request": 3, "cut_after": 0}]
    run = scenario(task="x", script=SCRIPT, faults=faults).run(subject(sync_loop))
    assert run.outcome is Outcome.PASS, run.findings
    kinds = [event.fact.TYPE for event in run.trajectory]
    assert kinds.count("model/request") == 4
    assert kinds.count("model/error") == 2
    assert kinds.count("assistant/message") == 2


def test_a_dry_script_ends_a_foreign_loop_as_failed() -> None:
    run = scenario(task="x", script=SCRIPT[:1]).run(subject(sync_loop))
    assert (run.outcome, run.status) == (Outcome.FAIL, "failed")
    assert "script" in {finding.check for finding in run.findings}


def test_the_time_limit_ends_a_plain_loop_that_never_returns_and_what_is_left_is_named() -> None:
    def waits(env: Env) -> str:
        while not env.cancelled:
            pass
        return "stopped by itself"

    def never(env: Env) -> None:
        import threading

        threading.Event().wait(3)

    limits = {"wall_ms": 50, "grace_ms": 50}
    polite = scenario(task="x", script=[{"say": "x"}], allow_leftovers=True, limits=limits).run(subject(waits))
    assert (polite.status, polite.trajectory.events[-1].fact.alive) == ("limit_reached", ())  # type: ignore[union-attr]
    rude = scenario(task="x", script=[{"say": "x"}], allow_leftovers=True, limits=limits).run(subject(never))
    assert rude.status == "limit_reached"
    assert [alive.name for alive in rude.trajectory.events[-1].fact.alive] == ["the loop never"]  # type: ignore[union-attr]


def test_a_cancel_reaches_an_async_loop_in_its_own_thread_and_the_model_request_with_it() -> None:
    async def theirs(env: Env) -> str:
        async with httpx2.AsyncClient(trust_env=False, timeout=20) as client:
            await client.post(f"{env.base_url}/chat/completions", json={"model": "m", "messages": [{"role": "user", "content": "x"}]})
        return "answered"

    run = scenario(
        task="x", script=[{"hang": True}], inject=[{"at": {"kind": "model/request"}, "do": "cancel"}],
    ).run(subject(theirs))  # fmt: skip
    assert (run.outcome, run.status) == (Outcome.PASS, "cancelled"), run.findings


def test_a_plain_loop_that_asks_on_after_a_cancel_is_found_out_and_one_that_looks_is_not() -> None:
    def looks(env: Env) -> str:
        tools = env.wrap({"add": add})
        with env.sync_openai() as client:
            for _ in range(2):
                if env.cancelled:
                    return "stopped"
                client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
                tools["add"](a=1, b=1) if not env.cancelled else None
        return "went on"

    fields: Any = {
        "task": "x", "script": SCRIPT, "allow_leftovers": True,
        "inject": [{"at": {"kind": "tool/start"}, "do": "cancel"}],
    }  # fmt: skip
    bad = scenario(**fields).run(subject(sync_loop))
    assert (bad.outcome, bad.status) == (Outcome.FAIL, "completed")
    good = scenario(**fields).run(subject(looks))
    assert "no_work_after_cancel" not in {finding.check for finding in good.findings}


def test_a_sweep_says_which_level_was_possible() -> None:
    sweep = scenario(task="x", script=SCRIPT).sweep(subject(sync_loop), "tool-error", level="ticks")
    assert "swept at boundaries, in real time: the loop is a plain function" in sweep.why
    assert sweep.cells


def test_a_plain_function_named_on_the_command_line_is_found(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_loop.py").write_text("def loop(env):\n    return 'x'\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    found: Any = find_subject("their_loop:loop")
    assert "plain function" in found.real_time


def test_a_run_with_a_plain_loop_leaves_no_thread_that_keeps_the_process_alive() -> None:
    code = (
        "from harness.testing import scenario, subject\n"
        "def loop(env):\n    import threading\n    threading.Event().wait(600)\n"
        "run = scenario(task='x', script=[{'say': 'x'}], allow_leftovers=True,"
        " limits={'wall_ms': 20, 'grace_ms': 20}).run(subject(loop))\n"
        "print(run.status)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "limit_reached"), done.stderr

