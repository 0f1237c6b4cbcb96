"""No false alarm on real runs of two kinds of loop, and real broken loops are refused by the check that is meant."""

import asyncio
import json
from itertools import product

import pytest

from harness.testing import scenario, subject
from harness.types.codes import Outcome

GREEN = (Outcome.PASS, Outcome.NOT_APPLICABLE)
STUBS = {"stub": {"look": {"returns": "x", "delay_ms": 20}, "put": {"raises": "boom"}}}
SCRIPT = [{"calls": [{"look": {}}, {"put": {}}, {"look": {}}]}, {"say": "done"}]


def red(run):
    """Verdicts that are neither PASS nor NOT_APPLICABLE, without those on the script itself."""
    return [
        (v.check, v.outcome, v.why, [f.message for f in v.findings])
        for v in run.verdicts
        if v.outcome not in GREEN and v.check not in ("script", "inject")
    ]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"script": [{"say": "hello"}]}, id="no-call"),
        pytest.param({"script": SCRIPT}, id="three-calls-one-fails"),
        pytest.param({"script": [{"call": {"nothing": {}}}, {"say": "ok"}]}, id="unknown-tool"),
        pytest.param({"script": [{"call": {"look": {}}}] * 3, "limits": {"steps": 2}}, id="step-limit"),
        pytest.param({"script": [{"fail": {"code": "SERVER"}}], "expect": {"status": "failed"}}, id="model-fails"),
        pytest.param({"script": [{"say": "cut", "call": {"look": {}}, "finish": "length"}]}, id="answer-cut"),
        pytest.param({"tasks": ["a", "b"], "script": [*SCRIPT, {"say": "again"}]}, id="two-turns"),
    ],
)
def test_the_built_in_loop_raises_no_alarm(fields):
    task = {} if "tasks" in fields else {"task": "go"}
    run = scenario(tools=STUBS, allow_leftovers=True, **task, **fields).run()
    assert red(run) == []


def two_turns():
    """Two turns with parallel calls, one failing: 45 events and more."""
    return {"tasks": ["one", "two"], "tools": STUBS, "script": [*SCRIPT, {"call": {"look": {}}}, {"say": "end"}], "allow_leftovers": True}  # fmt: skip


def boundaries():
    """Every event of the run but the harness's own last lines, as kind and occurrence."""
    seen: dict[str, int] = {}
    for event in scenario(**two_turns()).run().trajectory:
        kind = event.fact.TYPE
        seen[kind] = seen.get(kind, 0) + 1
        if kind not in ("note", "run/quiescent"):
            yield kind, seen[kind]


@pytest.mark.conformance("63", "64", "65", "66", "67", "71", "72", "76", "81", "86", "109")
@pytest.mark.parametrize(("scope", "queue"), list(product(("run", "turn"), ("drop", "keep"))))
def test_a_cancel_at_any_event_of_the_built_in_loop_raises_no_alarm(scope, queue):
    n_cancelled = 0
    for kind, nth in boundaries():
        inject = [{"at": {"kind": kind, "nth": nth}, "do": {"cancel": {"scope": scope, "queue": queue}}}]
        run = scenario(**two_turns(), inject=inject).run()
        assert red(run) == [], f"cancel inside {kind} {nth}"
        n_cancelled += any(v.check == "cancel_no_tool_start" and v.outcome is Outcome.PASS for v in run.verdicts)
    assert n_cancelled > 30


# ---------------------------------------------------------------- a loop of one's own, and what may go wrong in it


def own_loop(*, forget_tools=False, one_call=False, swap_results=False, change_arguments=False, run_cut=False, ignore_limit=False):  # fmt: skip
    """A small loop at the two doors, with one habit that breaks a rule (none: a sane loop)."""

    async def agent(env):
        client, messages = env.openai(), [{"role": "user", "content": env.task}]
        for n in range(100 if ignore_limit else env.limits.steps):
            offered = {} if forget_tools and n else {"tools": list(env.tool_schemas)}
            answer = await client.chat.completions.create(model="m", messages=messages, **offered)
            message = answer.choices[0].message.model_dump(exclude_none=True)
            calls = message.get("tool_calls", [])
            if not calls or (answer.choices[0].finish_reason == "length" and not run_cut):
                return message.get("content") or ""
            if one_call:
                calls = message["tool_calls"] = calls[:1]
            results = await asyncio.gather(*(call_tool(env, call) for call in calls), return_exceptions=True)
            if change_arguments:
                calls[0]["function"]["arguments"] = '{"n": 2}'
            told = [
                {"role": "tool", "tool_call_id": c["id"], "content": str(r)}
                for c, r in zip(calls, results, strict=True)
            ]
            messages += [message, *(told[::-1] if swap_results else told)]
        return "stopped"

    return subject(agent)


async def call_tool(env, call):
    """Run one call at the tool door."""
    value = env.tools[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
    return await value if asyncio.iscoroutine(value) else value


CALLS = [{"calls": [{"look": {}}, {"look": {"n": 1}}]}, {"call": {"look": {}}}, {"say": "done"}]
LOOK = {
    "stub": {"look": {"returns": "x", "delay_ms": 5}},
    "schemas": {"look": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}


def test_a_sane_loop_of_ones_own_raises_no_alarm():
    run = scenario(task="go", tools=LOOK, script=CALLS).run(own_loop())
    assert red(run) == []
    judged = {verdict.check for verdict in run.verdicts if verdict.outcome is Outcome.PASS}
    assert {"pairing", "provider_history", "context_closure", "tools_offered", "quiescence", "termination"} <= judged


@pytest.mark.article("3")
@pytest.mark.conformance("28", "49", "89", "94")
@pytest.mark.parametrize(
    ("habit", "script", "check"),
    [
        pytest.param({"forget_tools": True}, CALLS, "tools_offered", id="tools-forgotten-in-the-second-request"),
        pytest.param({"one_call": True}, CALLS, "context_closure", id="one-of-two-parallel-calls-kept"),
        pytest.param({"one_call": True}, CALLS, "pairing", id="the-dropped-call-is-never-answered"),
        pytest.param({"swap_results": True}, CALLS, "provider_history", id="results-in-another-order"),
        pytest.param({"change_arguments": True}, CALLS, "context_closure", id="arguments-rewritten-in-the-history"),
        pytest.param(
            {"run_cut": True}, [{"call": {"look": {}}, "finish": "length"}, {"say": "done"}], "termination", id="runs-a-cut-call"
        ),
        pytest.param({"ignore_limit": True}, [{"call": {"look": {}}}] * 12 + [{"say": "x"}], "steps_and_limits", id="no-limit"),
    ],
)  # fmt: skip
def test_a_loop_with_a_bad_habit_is_refused_by_the_check_that_is_meant(habit, script, check):
    run = scenario(task="go", tools=LOOK, script=script, allow_leftovers=True).run(own_loop(**habit))
    assert check in {name for name, outcome, *_ in red(run) if outcome is Outcome.FAIL}
