"""Trying a scenario on other behaviours of its run: what is noticed, what would be, what is no pass to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.documents import dump_yaml, load_document
from harness.errors import ConfigurationError, NothingToRunError
from harness.runner import RunOptions, execute, mutate_one, plan, plan_mutations
from harness.scenarios import load_scenario, parse_scenario, to_document
from harness.scenarios import scenario as scenario_of
from harness.testing import Env, scenario, subject
from harness.types.codes import Outcome
from harness.types.mutating import Mutation, MutationKind
from tests.subjects.article_e import run_agent

REPO = Path(__file__).resolve().parent.parent.parent
SAMPLED = (
    "articles/limit-3",
    "articles/login-500",
    "articles/sum-weather-umbrella",
    "approval/parked",
    "children/one-child",
    "inbox/concluded-by-a-tool",
    "failures/provider-auth",
    "recorded/banana",
    "recorded/remember_then_recall",
)
GOOD: dict[str, Any] = {
    "task": "What is 6 * 7?",
    "tools": ["calculator"],
    "script": [{"call": {"calculator": {"expression": "6 * 7"}}}, {"say": "It is 42."}],
}


def mutation_of(name: str) -> Mutation:
    (wanted,) = plan_mutations([load_scenario(REPO / "scenarios" / f"{name}.yaml")], RunOptions(cassettes=REPO / "cassettes"))
    return mutate_one(wanted)


def test_without_expectations_nothing_but_faults_and_bad_ends_is_noticed() -> None:
    made = scenario(**GOOD).mutate()
    assert made.outcome() is Outcome.FAIL
    noticed = {one.kind for one in made.mutants if one.noticed}
    assert noticed == {MutationKind.ANSWER, MutationKind.END, MutationKind.LOOP}
    assert {one.what for one in made.mutants if one.noticed and one.kind is MutationKind.ANSWER} == {"the final answer is empty"}


def test_with_what_is_advised_everything_is_noticed() -> None:
    made = scenario(**GOOD).mutate()
    better = scenario(**GOOD, **load_document(made.advice, "advice").value).mutate()
    assert (better.outcome(), better.unnoticed, better.advice) == (Outcome.PASS, (), "")


def test_a_field_that_is_missing_is_the_one_that_is_advised() -> None:
    expect = {"status": "completed", "calls": [{"calculator": {"expression": "6 * 7"}}], "results": ["OK"]}
    made = scenario(**GOOD, expect=expect).mutate()
    assert {one.kind for one in made.unnoticed} == {MutationKind.ANSWER}
    assert made.advice == "expect: {answer: {contains: '42'}}\n"


@pytest.mark.parametrize("name", SAMPLED)
def test_each_hint_put_into_the_scenario_makes_its_mutant_noticed_and_lets_the_run_pass(name: str) -> None:
    source = load_scenario(REPO / "scenarios" / f"{name}.yaml")
    made = mutation_of(name)
    assert made.reference is Outcome.PASS, made.why
    hinted = [one for one in made.unnoticed if one.hint]
    for one in hinted[:6]:
        document = to_document(source)
        document["expect"] = {**document.get("expect", {}), **load_document(one.hint, "hint").value["expect"]}
        better = parse_scenario(dump_yaml(document).encode(), "better.yaml")
        (wanted,) = plan_mutations([better], RunOptions(cassettes=REPO / "cassettes"))
        again = mutate_one(wanted)
        assert again.reference is Outcome.PASS, (one.hint, again.why)
        found = [other for other in again.mutants if (other.kind, other.what, other.where) == (one.kind, one.what, one.where)]
        assert found, one
        assert all(other.noticed for other in found), one.hint


@pytest.mark.parametrize("name", SAMPLED)
def test_the_same_scenario_comes_to_the_same(name: str) -> None:
    assert mutation_of(name) == mutation_of(name)


def test_a_scenario_that_does_not_pass_is_not_mutated() -> None:
    made = scenario(**GOOD, expect={"steps": 9}).mutate()
    assert (made.reference, made.outcome(), made.mutants) == (Outcome.FAIL, Outcome.FAIL, ())
    assert "expect 9 steps" in made.why


def test_a_missing_cassette_is_invalid_and_not_mutated(tmp_path: Path) -> None:
    (wanted,) = plan_mutations([scenario_of(id="x", task="go", model="m")], RunOptions(cassettes=tmp_path))
    made = mutate_one(wanted)
    assert (made.outcome(), made.mutants) == (Outcome.INVALID, ())
    assert "cassette" in made.why.lower()


def test_what_a_loop_raises_is_an_outcome_and_no_traceback() -> None:
    async def dies(env: Env) -> None:
        raise ZeroDivisionError("no")

    made = scenario(**GOOD).mutate(subject(dies))
    assert made.reference is not Outcome.PASS
    assert "ZeroDivisionError" in made.why


def test_kinds_that_are_allowed_are_told_and_not_counted() -> None:
    kinds = ["calls", "arguments", "results", "answer", "loop"]
    made = scenario(**GOOD, expect={"status": "completed"}).mutate(allow=kinds)
    assert {one.kind for one in made.counted} == {MutationKind.END}
    assert (made.outcome(), made.unnoticed) == (Outcome.PASS, ())
    assert len(made.mutants) > len(made.counted)


def test_a_part_may_be_enough() -> None:
    made = scenario(**GOOD).mutate()
    share = 1000 * made.n_noticed // len(made.counted)
    assert made.outcome(share) is Outcome.PASS
    assert made.outcome(share + 1) is Outcome.FAIL


def test_where_nothing_counts_nothing_was_checked() -> None:
    assert scenario(**GOOD).mutate(allow=list(MutationKind)).outcome() is Outcome.INVALID


def test_beyond_the_bound_mutants_are_counted_and_every_family_has_had_its_turn() -> None:
    whole = scenario(**GOOD).mutate()
    made = scenario(**GOOD).mutate(limit=8)
    assert len(made.mutants) == 8
    assert made.n_left_out == len(whole.mutants) + whole.n_unsound - 8 - made.n_unsound
    assert len({one.kind for one in made.mutants}) >= 4


@pytest.mark.parametrize(
    ("given", "error"),
    [
        pytest.param({"limit": 0}, "at least 1 mutant", id="no-limit"),
        pytest.param({"allow": ["colour"]}, "no kind of mutant is called 'colour'", id="no-kind"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], error: str) -> None:
    with pytest.raises(ConfigurationError, match=error):
        scenario(**GOOD).mutate(**given)


def test_skipped_scenarios_are_left_out_and_nothing_left_is_said() -> None:
    with pytest.raises(NothingToRunError):
        plan_mutations([scenario_of(task="go", skip="later", script=[{"say": "x"}])], RunOptions())


@pytest.mark.parametrize(
    ("calls", "n_meant"),
    [
        pytest.param({"any-order": ["calculator", "get_weather"]}, 1, id="any-order"),
        pytest.param({"any-order": ["calculator", "get_weather"], "in-order": ["calculator"]}, 0, id="in-order-too"),
        pytest.param(["calculator", "get_weather"], 0, id="exact"),
    ],
)
def test_another_order_is_no_mutant_where_the_scenario_leaves_the_order_open(calls: Any, n_meant: int) -> None:
    made = scenario(
        task="Both.",
        tools=["calculator", "get_weather"],
        script=[{"call": {"calculator": {"expression": "1 + 1"}, "get_weather": {"city": "Oslo"}}}, {"say": "Done."}],
        expect={"calls": calls},
    ).mutate()
    assert made.n_meant == n_meant
    assert (MutationKind.ORDER in {one.kind for one in made.mutants}) is not bool(n_meant)


ARTICLES = sorted((REPO / "scenarios" / "articles").glob("*.yaml"))


@pytest.mark.parametrize("file", ARTICLES, ids=lambda file: file.stem)
def test_the_scenarios_to_copy_from_notice_everything(file: Path) -> None:
    made = scenario(file).mutate()
    assert (made.outcome(), made.unnoticed) == (Outcome.PASS, ()), made.advice


def test_only_the_first_trial_is_tried() -> None:
    assert len(plan_mutations([scenario_of(**GOOD)], RunOptions(trials=5))) == 1


def test_memory_that_nobody_asks_for_is_a_mutant_too_and_what_it_advises_notices_it() -> None:
    fields: dict[str, Any] = {
        "task": "Remember that the sky is blue.",
        "tools": ["write_memory"],
        "script": [{"call": {"write_memory": {"key": "sky", "value": "blue"}}}, {"say": "Done."}],
    }
    made = scenario(**fields).mutate()
    lost = [one for one in made.unnoticed if one.kind is MutationKind.STATE]
    assert [one.what for one in lost] == ["'sky' is remembered otherwise", "'sky' is not remembered"]
    assert lost[0].hint == "expect: {end_state: {memory: {sky: blue}}}\n"


async def tells_the_model(env: Env) -> Any:
    schemas = [{"type": "function", "function": {"name": n, "description": n, "parameters": {"type": "object"}}} for n in env.tools]
    return await run_agent(env.task, client=env.openai(), tools=env.tools, schemas=schemas)


def test_a_loop_of_ones_own_is_tried_in_the_same_way() -> None:
    ours, theirs = scenario(**GOOD).mutate(), scenario(**GOOD).mutate(subject(tells_the_model))
    assert theirs.reference is Outcome.PASS, theirs.why
    assert {one.kind for one in theirs.mutants} == {one.kind for one in ours.mutants}
    better = scenario(**GOOD, **load_document(theirs.advice, "advice").value).mutate(subject(tells_the_model))
    assert better.unnoticed == ()


def test_an_order_that_nobody_asks_for_is_asked_for_as_before() -> None:
    script = [{"call": {"calculator": {"expression": "1 + 1"}}}, {"call": {"get_weather": {"city": "Oslo"}}}, {"say": "Done."}]
    made = scenario(task="Both.", tools=["calculator", "get_weather"], script=script).mutate()
    turned = next(one for one in made.unnoticed if one.kind is MutationKind.ORDER)
    assert turned.hint == "expect: {before: [[calculator, get_weather]]}\n"


def test_every_mutant_of_a_loop_of_ones_own_is_a_sound_run_of_two_doors() -> None:
    expect = {"calls": [{"calculator": {"expression": "6 * 7"}}], "results": ["OK"], "answer": "It is 42.", "status": "completed"}
    made = scenario(**GOOD, expect=expect).mutate(subject(tells_the_model))
    assert (made.outcome(), made.n_unsound) == (Outcome.PASS, 0)
    behaved = [one for one in made.mutants if one.kind not in (MutationKind.LOOP, MutationKind.END, MutationKind.ANSWER)]
    assert behaved
    assert {check for one in behaved for check in one.noticed_by} <= {"tool_order", "result_codes"}


def test_a_check_of_ones_own_may_notice_what_no_expectation_does() -> None:
    from harness.checks.base import BuiltCheck, found
    from harness.folds import calls_of

    once = BuiltCheck(
        name="once", about="one call", needs=(), rules=(),
        findings=lambda run: (found(f"{len(calls_of(run))} calls") for _ in range(len(calls_of(run)) != 1)),
    )
    made = scenario(**GOOD).mutate(checks=[once])
    again = next(one for one in made.mutants if one.what == "'calculator' is called again")
    assert again.noticed_by == ("once",)


def test_the_run_is_judged_as_harness_run_judges_it() -> None:
    for name in SAMPLED[:4]:
        (spec,) = plan([load_scenario(REPO / "scenarios" / f"{name}.yaml")], RunOptions())
        assert execute(spec).outcome is mutation_of(name).reference
