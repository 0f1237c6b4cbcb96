"""Other behaviours of a run: each a sound run of its own, and none the run itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.checks import CHECKS, BuiltCheck, judge
from harness.folds import calls_of, history_of, n_steps, n_turns, requests_of
from harness.mutants import originals
from harness.mutants.behaviours import FAMILIES, Behaviour, behaviours
from harness.testing import Env, scenario, subject
from harness.types.codes import Code, Outcome
from harness.types.events import Trajectory
from harness.types.messages import ChatTool, ChatUser
from harness.types.mutating import MutationKind

REPO = Path(__file__).resolve().parent.parent.parent
DEFAULT = frozenset(name for name, check in CHECKS.items() if not (isinstance(check, BuiltCheck) and check.expectation))
SAMPLED = (
    "articles/answer-52",
    "articles/two-calls-one-step",
    "articles/sum-weather-umbrella",
    "articles/which-environment",
    "streaming/interleaved-calls",
    "children/two-in-parallel",
    "failures/retry-after-a-rate-limit",
)
TWO_TOOLS: dict[str, Any] = {
    "task": "What is 6 * 7, and the weather in Oslo?",
    "system": "Be brief.",
    "tools": ["calculator", "get_weather"],
    "script": [
        {"call": {"calculator": {"expression": "6 * 7"}}},
        {"call": {"get_weather": {"city": "Oslo"}}},
        {"say": "42, and it snows. 2 tools helped."},
    ],
}


def run_of(**fields: Any) -> Trajectory:
    run = scenario(**fields).run()
    assert run.passed, run.explain()
    return run.trajectory


@pytest.fixture(scope="module")
def two_tools() -> Trajectory:
    return run_of(**TWO_TOOLS)


def told(run: Trajectory) -> dict[str, Behaviour]:
    return {one.what: one for one in behaviours(run)}


def names(run: Trajectory) -> list[str]:
    return [trace.call.name for trace in calls_of(run)]


def shipped(name: str) -> Trajectory:
    return scenario(REPO / "scenarios" / f"{name}.yaml").run().trajectory


def refused(run: Trajectory) -> list[str]:
    return [verdict.check for verdict in judge(run, names=DEFAULT) if verdict.check in DEFAULT and verdict.outcome is Outcome.FAIL]


@pytest.mark.parametrize(
    ("what", "calls"),
    [
        pytest.param("'calculator' is not called", ["get_weather"], id="left-out"),
        pytest.param("'calculator' is called again", ["calculator", "calculator", "get_weather"], id="again"),
        pytest.param("'get_weather' is called instead of 'calculator'", ["get_weather", "get_weather"], id="another-tool"),
        pytest.param("'get_weather' before 'calculator'", ["get_weather", "calculator"], id="turned"),
        pytest.param("'calculator' and 'get_weather' are called in one answer", ["calculator", "get_weather"], id="at-once"),
    ],
)
def test_the_calls_of_a_behaviour_are_those_that_it_tells(two_tools: Trajectory, what: str, calls: list[str]) -> None:
    other = told(two_tools)[what].trajectory
    assert names(other) == calls
    assert refused(other) == []


def test_a_call_left_out_is_gone_from_every_request_too(two_tools: Trajectory) -> None:
    other = told(two_tools)["'calculator' is not called"].trajectory
    assert n_steps(other) == 2
    assert all("6 * 7" not in str(message) for request in requests_of(other) for message in request.messages if not isinstance(message, ChatUser))


def test_another_argument_is_shown_to_the_model_and_run_by_the_tool(two_tools: Trajectory) -> None:
    other = told(two_tools)["'calculator' is called with another 'expression'"].trajectory
    (trace, _) = calls_of(other)
    assert trace.call.arguments == '{"expression":"7 * 7"}'
    assert trace.start is not None
    assert getattr(trace.start.fact, "arguments", None) == '{"expression":"7 * 7"}'
    assert any("7 * 7" in str(message) for message in history_of(other))
    assert refused(other) == []


def test_a_failing_tool_is_told_by_its_body_by_its_result_and_to_the_model(two_tools: Trajectory) -> None:
    other = told(two_tools)["the result of 'calculator' is TOOL_FAILED instead of OK"].trajectory
    trace = calls_of(other)[0]
    assert trace.end is not None
    assert trace.result is not None
    assert (getattr(trace.end.fact, "code", None), getattr(trace.result.fact, "code", None)) == (Code.TOOL_FAILED,) * 2
    shown = [message for message in history_of(other) if isinstance(message, ChatTool)]
    assert str(shown[0].content).startswith("TOOL_FAILED")


def test_only_numbers_that_the_answer_itself_claims_are_changed(two_tools: Trajectory) -> None:
    """42 comes from a tool, 2 stands in no earlier message."""
    changed = [what for what in told(two_tools) if what.startswith("the final answer has another number")]
    assert changed == ["the final answer has another number than 2"]


def test_where_the_answer_claims_nothing_of_its_own_the_numbers_of_tools_are_changed() -> None:
    run = run_of(task="What is 6 * 7?", tools=["calculator"], script=[{"call": {"calculator": {"expression": "6 * 7"}}}, {"say": "6 * 7 is 42."}])
    assert told(run)["the final answer has another number than 42"].after == "6 * 7 is 43."


@pytest.mark.parametrize(
    ("answer", "others"),
    [
        pytest.param("There are 2,100 trees.", ["There are 3,100 trees."], id="thousands"),
        pytest.param("It is 4.2 MB.", ["It is 5.2 MB."], id="fraction"),
        pytest.param("1, then 21, then 1.", ["2, then 21, then 2.", "1, then 22, then 1."], id="all-of-one-number"),
        pytest.param("1 2 3 4 5", ["2 2 3 4 5", "1 3 3 4 5", "1 2 4 4 5"], id="three-at-most"),
        pytest.param("None.", [], id="no-number"),
    ],
)
def test_a_number_of_the_answer_is_another_wherever_it_stands(answer: str, others: list[str]) -> None:
    found = told(run_of(task="go", script=[{"say": answer}]))
    assert [one.after for what, one in found.items() if "another number" in what] == others


def test_two_calls_of_one_answer_change_places_or_get_a_step_each() -> None:
    run = run_of(
        task="Both.",
        tools=["calculator", "get_weather"],
        script=[{"call": {"calculator": {"expression": "1 + 1"}, "get_weather": {"city": "Oslo"}}}, {"say": "Done."}],
    )
    turned = told(run)["'calculator' and 'get_weather' are called the other way round"].trajectory
    assert names(turned) == ["get_weather", "calculator"]
    split = told(run)["'get_weather' is called in a step of its own"].trajectory
    assert (names(split), n_steps(split)) == (["calculator", "get_weather"], 3)
    assert refused(turned) == refused(split) == []


def test_the_last_of_two_turns_may_not_happen() -> None:
    run = run_of(tasks=["One.", "Two."], script=[{"say": "1"}, {"say": "2"}])
    other = told(run)["the last turn does not happen"].trajectory
    assert (n_turns(other), refused(other)) == (1, [])


def test_a_failed_run_may_fail_otherwise_or_be_answered() -> None:
    run = run_of(task="go", script=[{"fail": "AUTH"}], expect={"status": "failed"})
    for what in ("the run fails with SERVER", "the last request is answered"):
        assert refused(told(run)[what].trajectory) == []


@pytest.mark.parametrize("name", SAMPLED)
def test_a_behaviour_of_a_shipped_run_is_another_run_that_no_default_check_refuses(name: str) -> None:
    """But an answer that is empty, and a run whose limits rule it out."""
    run = shipped(name)
    judged = Counter[bool]()
    for one in behaviours(run):
        assert one.trajectory.events != run.events, one.what
        assert [event.seq for event in one.trajectory] == list(range(len(one.trajectory)))
        if one.kind is not MutationKind.LOOP and "is empty" not in one.what:
            judged[any(not refused(way) for way in (one.trajectory, *one.instead))] += 1
    assert judged[True] > 0
    assert judged[False] <= judged[True] // 5


@pytest.mark.parametrize("name", SAMPLED)
def test_the_same_run_gives_the_same_behaviours(name: str) -> None:
    one, other = ([(b.what, b.trajectory.events) for b in behaviours(shipped(name))] for _ in range(2))
    assert one == other


@pytest.mark.parametrize("name", originals())
def test_any_original_can_be_taken_and_stays_as_it_was(name: str) -> None:
    run = originals()[name]
    found = list(behaviours(run))
    assert found
    assert run == originals()[name]


def test_every_family_makes_something_of_some_original() -> None:
    made = {family.__name__: any(list(family(run)) for run in originals().values()) for family in FAMILIES}
    system = run_of(**TWO_TOOLS)
    remembered = scenario(
        task="go", tools=["write_memory"], script=[{"call": {"write_memory": {"key": "a", "value": "b"}}}, {"say": "Done."}],
        expect={"end_state": {"memory": {"a": "b"}}},
    ).run().trajectory
    made |= {family.__name__: True for family in FAMILIES for run in (system, remembered) if list(family(run))}
    assert [name for name, done in made.items() if not done] == []


# ---------------------------------------------------------------- input that a loop of its own doubles


async def asks_twice(env: Env) -> str:
    messages = [{"role": "user", "content": env.task}] * 2
    answer = await env.openai().chat.completions.create(model="m", messages=messages)
    return str(answer.choices[0].message.content)


async def asks_anew_after_nothing(env: Env) -> str:
    messages = [{"role": "user", "content": env.task}]
    for _ in range(2):
        answer = await env.openai().chat.completions.create(model="m", messages=messages)
        messages.append({"role": "user", "content": env.task})
    return str(answer.choices[0].message.content)


def test_a_loop_of_its_own_that_shows_the_input_twice_is_refused() -> None:
    run = scenario(task="go", script=[{"say": "Done."}]).run(subject(asks_twice))
    assert "the same input stands twice in a row" in run.explain()


async def forgets_its_prompt(env: Env) -> str:
    client, messages = env.openai(), [{"role": "system", "content": "Be brief."}, {"role": "user", "content": env.task}]
    await client.chat.completions.create(model="m", messages=messages)
    messages = [*messages[1:], {"role": "user", "content": "And now?"}]
    return str((await client.chat.completions.create(model="m", messages=messages)).choices[0].message.content)


async def asks_for_a_title(env: Env) -> str:
    client, messages = env.openai(), [{"role": "system", "content": "Be brief."}, {"role": "user", "content": env.task}]
    answer = await client.chat.completions.create(model="m", messages=messages)
    await client.chat.completions.create(model="m", messages=[{"role": "user", "content": f"A title for: {env.task}"}])
    return str(answer.choices[0].message.content)


def test_a_conversation_that_goes_on_without_its_system_prompt_is_refused() -> None:
    run = scenario(task="go", script=[{"empty": True}, {"say": "Done."}]).run(subject(forgets_its_prompt))
    assert "the system prompt is gone" in run.explain()


def test_another_conversation_needs_no_system_prompt() -> None:
    run = scenario(task="go", script=[{"say": "Done."}, {"say": "Going."}]).run(subject(asks_for_a_title))
    assert "system prompt" not in run.explain()


def test_input_that_is_sent_again_after_an_empty_answer_is_no_doubled_input() -> None:
    run = scenario(task="go", script=[{"empty": True}, {"say": "Done."}]).run(subject(asks_anew_after_nothing))
    assert "twice in a row" not in run.explain()
