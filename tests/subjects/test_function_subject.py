"""A user's own loop under our scenarios: both doors ours, no server, virtual time."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import openai
import pytest

from harness.errors import UnsupportedError, UsageError
from harness.folds import calls_of
from harness.testing import Ending, Env, scenario, subject
from harness.types.codes import Code, Origin, Outcome, Status
from harness.types.exchange import ToolStart
from harness.types.reasons import Cancelled, Failed, LimitHit
from tests.subjects.article_e import article_e, run_agent

MYAPP = '''
def lookup_order(id: int) -> dict:
    """Look an order up by its id."""
    raise RuntimeError("the live shop must not be called")

async def refund(order: int) -> str:
    """Refund an order."""
    raise RuntimeError("the live shop must not be called")

def delete_order(id: int) -> str:
    """Delete an order."""
    return "deleted"

registry = {"lookup_order": lookup_order, "refund": refund, "delete_order": delete_order}
'''
REFUND = """\
format: harness-scenario/1
task: Refund order 7, please.
tools: {from: "myapp:registry", stub: {lookup_order: {returns: {id: 7, total: 19.9}}, refund: {returns: ok}}}
script:
  - call: {lookup_order: {id: 7}}
  - call: {refund: {order: 7}}
  - say: Refunded.
expect: {status: completed, steps: 3, never: [delete_order]}
"""
SCHEMAS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
    for name in ("delete_order", "lookup_order", "refund")
]


@pytest.fixture
def refund(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, Any]]:
    """The scenario file, and the application's own registry of tools."""
    (tmp_path / "myapp.py").write_text(MYAPP, encoding="utf-8")
    (tmp_path / "refund.yaml").write_text(REFUND, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "myapp", raising=False)
    return tmp_path / "refund.yaml", __import__("myapp").registry


def refund_loop(registry: dict[str, Any]) -> Any:
    return subject(lambda env: run_agent(env.task, client=env.openai(), tools=env.wrap(registry), schemas=SCHEMAS))


def test_the_expected_use_works_in_a_plain_test(refund: tuple[Path, dict[str, Any]]) -> None:
    file, registry = refund
    run = scenario(file).run(refund_loop(registry))
    assert run.status == "completed"
    assert run.calls == ["lookup_order", "refund"]
    assert run.passed, run.findings


@pytest.mark.asyncio
async def test_the_expected_use_works_inside_a_running_event_loop(refund: tuple[Path, dict[str, Any]]) -> None:
    file, registry = refund
    run = scenario(file).run(refund_loop(registry))
    await asyncio.sleep(0)
    assert run.calls == ["lookup_order", "refund"]


def test_the_built_in_loop_gives_the_same_calls_under_the_same_file(refund: tuple[Path, dict[str, Any]]) -> None:
    file, registry = refund
    ours, theirs = scenario(file).run(), scenario(file).run(refund_loop(registry))
    assert (ours.calls, ours.answer, ours.status) == (theirs.calls, theirs.answer, theirs.status)


def test_every_body_is_seen_with_the_id_of_its_call(refund: tuple[Path, dict[str, Any]]) -> None:
    file, registry = refund
    run = scenario(file).run(refund_loop(registry))
    starts = [event for event in run.trajectory if isinstance(event.fact, ToolStart)]
    assert [start.origin for start in starts] == [Origin.PROBE] * 2
    traces = calls_of(run.trajectory)
    assert [trace.start for trace in traces] == starts
    assert all(trace.end is not None and trace.result is not None for trace in traces)


@pytest.mark.conformance("141")
@pytest.mark.parametrize("chunks", ["whole", "words", {"every": 2}])
def test_chunks_that_a_model_gives_to_a_loop_of_ones_own_are_judged_too(chunks: Any) -> None:
    from harness.checks import judge
    from harness.mutants import MUTANTS

    run = scenario(task="go", script=[{"say": "It is so.", "chunks": chunks}]).run(subject(ask_once))
    (verdict,) = [one for one in run.verdicts if one.check == "chunks"]
    assert (verdict.outcome, run.answer) == (Outcome.PASS, "It is so.")
    for name in ("chunk_lost", "streamed_otherwise", "chunk_behind_answer", "stream_failed_midway"):
        broken = MUTANTS[name].mutate(run.trajectory)
        assert broken is not None
        assert [one.outcome for one in judge(broken, names=("chunks",)) if one.check == "chunks"] == [Outcome.FAIL]


async def ask_once(env: Env, **options: Any) -> Any:
    return await env.openai().chat.completions.create(
        model="m", messages=[{"role": "user", "content": env.task}], **options
    )


async def several(env: Env) -> Any:
    return await ask_once(env, n=2)


async def embeddings(env: Env) -> Any:
    return await env.openai().embeddings.create(model="m", input=env.task)


async def swallowing(env: Env) -> str:
    try:
        await ask_once(env, n=2)
    except Exception:
        return "as if nothing was"
    return "answered"


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        pytest.param(several, ("n=2",), id="several-choices"),
        pytest.param(embeddings, ("/embeddings", "chat/completions"), id="embeddings"),
        pytest.param(swallowing, ("n=2",), id="also-when-the-loop-swallows-it"),
    ],
)
def test_what_the_doors_do_not_offer_is_refused_by_name(loop: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(UnsupportedError) as refused:
        scenario(task="hi", script=[{"say": "hello"}]).run(subject(loop))
    assert all(word in str(refused.value) for word in words)


def test_a_cancel_is_delivered_between_two_ticks_and_the_loop_ends_cancelled() -> None:
    run = scenario(
        task="go",
        tools={"use": ["probe_slow"], "options": {"probe_slow": {"ms": 60_000}}},
        script=[{"call": {"probe_slow": {}}}, {"say": "never"}],
        inject=[{"at": {"kind": "tool/start"}, "do": "cancel"}],
        allow_leftovers=True,
    ).run(subject(article_e))
    assert isinstance(run.reason, Cancelled)
    assert run.outcome is Outcome.PASS, run.findings


def test_a_loop_that_swallows_the_cancel_and_goes_on_is_found_out() -> None:
    async def stubborn(env: Env) -> str:
        tools = env.tools
        try:
            await tools["probe_slow"]()
        except asyncio.CancelledError:
            await tools["calculator"](expression="1+1")
        await ask_once(env)
        return "done"

    run = scenario(
        task="go",
        tools={"use": ["probe_slow", "calculator"], "options": {"probe_slow": {"ms": 60_000}}},
        script=[{"say": "an answer after the cancel"}],
        inject=[{"at": {"kind": "tool/start"}, "do": "cancel"}],
        allow_leftovers=True,
    ).run(subject(stubborn))
    failed = {verdict.check for verdict in run.verdicts if verdict.outcome is Outcome.FAIL}
    assert {"cancel_no_tool_start", "cancel_no_model_request"} <= failed


def test_the_wall_clock_ends_a_loop_that_never_ends() -> None:
    async def endless(env: Env) -> None:
        while True:
            await env.clock.sleep_ms(1_000)

    run = scenario(task="go", script=[{"say": "unused"}], allow_leftovers=True, limits={"wall_ms": 10_000}).run(
        subject(endless)
    )
    assert run.status is Status.LIMIT_REACHED
    assert isinstance(run.reason, LimitHit)


def test_an_exception_of_the_loop_ends_the_run_as_failed_with_its_class_and_no_path(tmp_path: Path) -> None:
    async def broken(env: Env) -> None:
        raise FileNotFoundError(2, "No such file or directory", str(Path.home() / "notes.txt"))

    run = scenario(task="go", script=[{"say": "unused"}], allow_leftovers=True).run(subject(broken))
    assert isinstance(run.reason, Failed)
    assert "FileNotFoundError" in run.reason.message
    assert str(Path.home()) not in run.reason.message


@pytest.mark.parametrize(
    ("value", "status"),
    [
        pytest.param("an answer", Status.COMPLETED, id="text"),
        pytest.param(Ending("limit_reached"), Status.LIMIT_REACHED, id="limit"),
        pytest.param(Ending(Status.WAITING_FOR_USER), Status.WAITING_FOR_USER, id="waiting"),
        pytest.param(Ending("failed"), Status.FAILED, id="failed"),
    ],
)
def test_a_loop_may_say_how_it_ended(value: Any, status: Status) -> None:
    async def loop(env: Env) -> Any:
        await ask_once(env)
        return value

    assert scenario(task="go", script=[{"say": "x"}]).run(subject(loop)).status is status


def test_a_loop_that_gives_up_while_calls_are_open_did_not_complete() -> None:
    run = scenario(
        task="go",
        tools={"use": ["calculator"]},
        script=[{"call": {"calculator": {"expression": "1"}}}] * 3,
        limits={"steps": 3},
    ).run(subject(article_e))
    assert run.status is Status.INCOMPLETE


def test_a_loop_for_one_task_refuses_a_scenario_with_several() -> None:
    with pytest.raises(UnsupportedError, match=r"env\.tasks"):
        scenario(tasks=["a", "b"], script=[{"say": "x"}]).run(subject(article_e)).raise_for_status()


def test_wrapping_keeps_the_shape_and_the_kind_of_every_function() -> None:
    seen: dict[str, Any] = {}

    async def loop(env: Env) -> str:
        def plain(a: int, b: int = 2) -> int:
            return a + b

        async def waiting(a: int) -> int:
            return a

        seen["mapping"] = env.wrap({"plain": plain, "waiting": waiting})
        seen["list"] = env.wrap([plain])
        seen["values"] = (seen["mapping"]["plain"](1), await seen["mapping"]["waiting"](a=5))
        await ask_once(env)
        return "ok"

    run = scenario(task="go", script=[{"say": "x"}]).run(subject(loop))
    assert seen["values"] == (3, 5)
    assert [type(seen["list"]), list(seen["mapping"])] == [list, ["plain", "waiting"]]
    arguments = [json.loads(e.fact.arguments) for e in run.trajectory if isinstance(e.fact, ToolStart)]
    assert arguments == [{"a": 1}, {"a": 5}]


def lookup() -> str:
    raise RuntimeError("live")


async def waiting_lookup() -> str:
    raise RuntimeError("live")


async def calls_a_plain_function(env: Env) -> Any:
    plain = env.wrap({"lookup": lookup})["lookup"]
    return plain(), plain()


async def wraps_a_number(env: Env) -> Any:
    return env.wrap(7)


async def wraps_a_list_of_numbers(env: Env) -> Any:
    return env.wrap([7])


async def calls_an_agent(env: Env) -> Any:
    return await env.tools["helper"](task="help")


async def reads_one_task(env: Env) -> Any:
    return env.task


@pytest.mark.parametrize("swallows", [False, True], ids=["raised", "swallowed"])
@pytest.mark.parametrize(
    ("loop", "words", "fields"),
    [
        pytest.param(calls_a_plain_function, "make it async", {}, id="a-plain-function-whose-stub-waits"),
        pytest.param(wraps_a_number, "cannot wrap a int", {}, id="no-registry"),
        pytest.param(wraps_a_list_of_numbers, "is a int, not a function", {}, id="no-function"),
        pytest.param(calls_an_agent, "only the built-in loop runs agents", {"agents": {"helper": {"description": "helps"}}}, id="an-agent"),
        pytest.param(reads_one_task, "has 2 tasks", {"tasks": ["a", "b"]}, id="one-task-of-two"),
    ],
)
def test_what_the_harness_refuses_a_loop_is_no_pass_whoever_swallows_it(
    loop: Any, words: str, fields: Any, swallows: bool
) -> None:
    async def over(env: Env) -> str:
        try:
            await loop(env)
        except Exception:
            if not swallows:
                raise
        await env.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": "go"}])
        return "as if nothing was"

    task = {} if "tasks" in fields else {"task": "go"}
    stubbed = scenario(
        **task,
        tools={"stub": {"lookup": {"returns": "x", "delays_ms": [0, 5]}}},
        script=[{"say": "as if nothing was"}],
        allow_leftovers=True,
        **fields,
    )
    with pytest.raises(UsageError, match=words):
        stubbed.run(subject(over))


@pytest.mark.parametrize(
    ("function", "stub"),
    [
        pytest.param(lookup, {"returns": "x"}, id="plain-and-at-once"),
        pytest.param(waiting_lookup, {"returns": "x", "delay_ms": 5}, id="async-and-in-time"),
        pytest.param(lookup, {"sequence": ["x", "y"]}, id="plain-and-one-after-another"),
    ],
)
def test_a_stub_that_a_function_can_be_replaced_by_answers_for_it(function: Any, stub: Any) -> None:
    seen: list[Any] = []

    async def loop(env: Env) -> str:
        value = env.wrap({"lookup": function})["lookup"]()
        seen.append(await value if asyncio.iscoroutine(value) else value)
        await ask_once(env)
        return "ok"

    scenario(task="go", tools={"stub": {"lookup": stub}}, script=[{"say": "x"}]).run(subject(loop))
    assert seen == ["x"]


def test_a_throwing_tool_is_seen_as_failed_and_its_exception_reaches_the_loop_unchanged() -> None:
    async def loop(env: Env) -> str:
        def broken() -> None:
            raise KeyError("x")

        with pytest.raises(KeyError):
            env.wrap([broken])[0]()
        await ask_once(env)
        return "survived"

    run = scenario(task="go", script=[{"say": "x"}]).run(subject(loop))
    ends = [e.fact for e in run.trajectory if e.fact.TYPE == "tool/end"]  # type: ignore[union-attr]
    assert [end.code for end in ends] == [Code.TOOL_FAILED]  # type: ignore[union-attr]
    assert run.status is Status.COMPLETED


def test_a_synchronous_client_is_refused_by_name() -> None:
    async def loop(env: Env) -> str:
        client = env.openai()
        sync = openai.OpenAI(api_key="x", base_url=str(client.base_url), http_client=_sync_over(client))
        return str(sync.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}]))

    with pytest.raises(UnsupportedError, match="AsyncOpenAI"):
        scenario(task="go", script=[{"say": "x"}]).run(subject(loop))


def _sync_over(client: openai.AsyncOpenAI) -> Any:
    import httpx2

    return httpx2.Client(transport=client._client._transport)  # type: ignore[arg-type]
