"""What an evaluation says, computed by hand; and when it may not say anything."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InvalidValueError, UnknownNameError
from harness.evaluate.summary import NO_GATE, summarise
from harness.report.evaluation_words import factor_text, steadiness_text, trend_text
from harness.types.codes import Outcome
from harness.types.evaluation import Acceptable, Arm, Estimand, Execute, Metric, Split, Wanted
from harness.types.evaluation_insight import Example
from harness.types.evaluation_summary import Counts, EvaluationSummary, PassAt
from harness.types.grades import MisfitKind, Stage, WhyNoCall
from harness.types.messages import ChatUser, JsonText
from harness.types.reasons import Usage
from harness.types.trials import TrialAnswer
from tests.evaluate.made_evaluation import (
    call,
    case,
    cases,
    evaluation,
    expects,
    gate,
    snapshot,
    trial,
    trials,
)

TOOLS = snapshot()

POOL = snapshot(*(f"distractor_{n}" for n in range(20)))


def said(table: dict[str, dict[str, str]], *, made=None, **more) -> EvaluationSummary:
    """The summary of ``{arm: {case: letters}}`` (+ right, t another tool, v a wrong value, n no call, p, a errors)."""
    names = sorted({name for rows in table.values() for name in rows})
    more.setdefault("trials", max(len(letters) for rows in table.values() for letters in rows.values()))
    made = made or evaluation([case(name) for name in names], [Arm(name) for name in table], **more)
    return summarise(made, TOOLS, trials(table), POOL)


def alike(now: str, new: str, n: int) -> dict[str, dict[str, str]]:
    """So many cases that all answer the same way."""
    return {arm: {f"c{i:03}": letters for i in range(n)} for arm, letters in (("now", now), ("new", new))}


# ---------------------------------------------------------------- counts and rates


@pytest.mark.public_case("PB-040")
def test_errored_trials_stay_in_the_denominator() -> None:
    table = {"now": {f"c{i:03}": "+" if i < 80 else "t" if i < 90 else "p" for i in range(100)}}
    summary = said(table)
    assert summary.arms[0].counts == Counts(planned=100, passed=80, failed=10, errored=10, skipped=0)
    assert summary.arms[0].counts.rate == 0.8
    assert summary.arms[0].counts.scored == 90
    assert summary.arms[0].counts.scored_rate == pytest.approx(0.888889)
    assert summary.arms[0].unit_rate == 0.8
    assert summary.outcome.value == "FAIL"


@pytest.mark.parametrize(
    ("letters", "counts"),
    [
        pytest.param("++tv", Counts(4, 2, 2, 0, 0), id="passed-and-failed"),
        pytest.param("+pp.", Counts(4, 1, 0, 2, 1), id="the-provider's-errors-and-one-never-asked"),
        pytest.param("aa+n", Counts(4, 1, 3, 0, 0), id="the-agent's-errors-count-against-it"),
        pytest.param("....", Counts(4, 0, 0, 0, 4), id="never-asked"),
    ],
)
def test_planned_is_passed_failed_errored_and_skipped(letters: str, counts: Counts) -> None:
    (arm,) = said({"now": {"c": letters}}, trials=4).arms
    assert arm.counts == counts
    assert counts.planned == counts.passed + counts.failed + counts.errored + counts.skipped


@pytest.mark.article("37")
def test_a_small_evaluation_computed_by_hand() -> None:
    table = {"now": {"a": "+++", "b": "++t", "c": "vvv"}, "new": {"a": "+++", "b": "tt+", "c": "nnn"}}
    summary = said(table)
    now, new = summary.arms
    assert (now.counts, new.counts) == (Counts(9, 5, 4, 0, 0), Counts(9, 4, 5, 0, 0))
    assert (now.unit_rate, new.unit_rate) == (0.555556, 0.444444)  # (1 + 2/3 + 0) / 3, (1 + 1/3 + 0) / 3
    assert (now.pass_hat_k, now.k, now.n_flaky) == (0.333333, 3, 1)
    assert now.repeatability == 0.666667
    assert now.interval is None, "three cases are too few for an interval"
    # Between cases 2/3 - (5/3)^2/... : mean squares (3 * variance of case means) and within, by hand.
    between, within = 3 * ((1 - 5 / 9) ** 2 + (2 / 3 - 5 / 9) ** 2 + (5 / 9) ** 2) / 2, (2 / 3) / 6
    icc = (between - within) / (between + 2 * within)
    assert now.icc == pytest.approx(icc, abs=1e-6)
    assert now.trials_worth == pytest.approx(3 / (1 + 2 * icc), abs=1e-5)
    assert now.stages == ((Stage.ARGUMENTS, 3), (Stage.SELECTION, 1))
    cells = {(cell.arm, cell.expected, cell.chosen): cell.n for cell in summary.confusion}
    assert cells == {
        ("now", "get_order", "get_order"): 8, ("now", "get_order", "lookup"): 1,
        ("new", "get_order", "get_order"): 4, ("new", "get_order", "lookup"): 2, ("new", "get_order", "(none)"): 3,
    }  # fmt: skip
    assert [(line.arm, line.name, line.right, line.n) for line in summary.arguments] == [
        ("now", "get_order.id", 5, 8), ("new", "get_order.id", 4, 4),
    ]  # fmt: skip
    kinds = {(line.arm, line.kind): line.trials for line in summary.misfits}
    assert kinds == {
        ("now", MisfitKind.WRONG_VALUE): 3, ("now", MisfitKind.WRONG_TOOL): 1,
        ("new", MisfitKind.NO_CALL): 3, ("new", MisfitKind.WRONG_TOOL): 2,
    }  # fmt: skip
    assert [line.case for line in summary.worst] == ["c", "b"]
    assert [(suspect.case, suspect.trials) for suspect in summary.suspects] == [("c", 6)]


def test_under_ten_units_there_are_counts_and_no_interval() -> None:
    assert said({"now": {f"c{i}": "+" for i in range(9)}}).arms[0].interval is None
    interval = said({"now": {f"c{i:02}": "+" for i in range(10)}}).arms[0].interval
    assert interval is not None
    assert 0.6 < interval.low < 0.7225  # the bound without correction for continuity: 1 / (1 + 1.96^2 / 10)
    assert interval.high == 1.0


def test_paraphrases_of_one_group_are_one_unit() -> None:
    made = evaluation([case("a", group="g"), case("b", group="g"), case("c")], [Arm("now")], trials=2)
    (arm,) = said({"now": {"a": "++", "b": "tt", "c": "++"}}, made=made).arms
    assert (arm.n_units, arm.unit_rate, arm.pass_hat_k) == (2, 0.75, 0.5)
    assert arm.counts.rate == pytest.approx(4 / 6, abs=1e-6)


@pytest.mark.public_case("PB-041")
@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param({"a": "+tt", "b": "ttt"}, (PassAt(1, 0.166667, 2, 0), PassAt(3, 0.5, 2, 0)), id="means-over-cases"),
        pytest.param({"a": "tt.", "b": "+tt"}, (PassAt(1, 0.166667, 2, 0), PassAt(3, 1.0, 1, 1)), id="too-few-are-left-out"),
        pytest.param({"a": "ttp", "b": "tpp"}, (PassAt(1, 0.0, 2, 0), PassAt(3, None, 0, 2)), id="never-one-without-success"),
    ],
)
def test_pass_at_k_needs_k_trials_of_a_case(table: dict[str, str], expected: tuple[PassAt, ...]) -> None:
    made = evaluation([case("a"), case("b")], [Arm("now")], execute=Execute.STUBS)
    assert said({"now": table}, made=made).arms[0].pass_at == expected
    assert said({"now": table}).arms[0].pass_at == (), "one decision is no whole task"


def test_tokens_money_and_attempts_are_summed_with_what_is_not_told() -> None:
    made = evaluation([case("a")], [Arm("now")], trials=3)
    given = [
        trial("a", "now", 1, "+", usage=Usage(100, 20, cost_micro_usd=7)),
        replace(trial("a", "now", 2, "p", usage=Usage(50)), n_retries=4),
        trial("a", "now", 3, "+"),
    ]
    spent = summarise(made, TOOLS, given).arms[0].spent
    assert (spent.input_tokens, spent.output_tokens, spent.cost_micro_usd) == (150, 20, 7)
    assert (spent.told, spent.of, spent.n_retries) == (2, 3, 4)


# ---------------------------------------------------------------- the outcome without a gate


@pytest.mark.parametrize(
    ("letters", "outcome"),
    [
        pytest.param("+++", Outcome.PASS, id="all-passed"),
        pytest.param("++t", Outcome.FAIL, id="one-failed"),
        pytest.param("+pt", Outcome.FAIL, id="failed-before-errored"),
        pytest.param("++p", Outcome.ERROR, id="errored"),
        pytest.param("++.", Outcome.INCONCLUSIVE, id="skipped"),
        pytest.param("...", Outcome.INVALID, id="nothing-ran"),
    ],
)
def test_without_a_gate_every_planned_trial_has_to_pass(letters: str, outcome: Outcome) -> None:
    summary = said({"now": {"c": letters}}, trials=3)
    assert (summary.outcome, summary.rule) == (outcome, NO_GATE)
    assert bool(summary.why) is (outcome is not Outcome.PASS)


def test_an_evaluation_of_no_case_is_invalid() -> None:
    assert summarise(evaluation([]), TOOLS, []).outcome is Outcome.INVALID


# ---------------------------------------------------------------- trials that do not belong


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param([("x", "now", 1)], "'x' @'now' #1 is of no case of 'shop'", id="another-case"),
        pytest.param([("a", "old", 1)], "is of no arm of 'shop': now, new", id="another-arm"),
        pytest.param([("a", "now", 4)], "was not planned: trials go from 1 to 3", id="one-trial-too-many"),
        pytest.param([("a", "now", 0)], "was not planned", id="trial-zero"),
        pytest.param([("a", "now", 2), ("a", "now", 2)], "is there twice", id="paid-twice"),
    ],
)
def test_a_trial_that_was_not_planned_is_refused(given: list[tuple[str, str, int]], says: str) -> None:
    with pytest.raises(InvalidValueError, match=says):
        summarise(evaluation([case("a")]), TOOLS, [trial(*key, "+") for key in given])


def test_cases_that_share_an_id_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="cases 1 and 3 of the evaluation share the id 'a'"):
        summarise(evaluation([case("a"), case("b"), case("a")]), TOOLS, [])


# ---------------------------------------------------------------- the same bytes


LETTERS = st.text("+tvnpa.", min_size=2, max_size=2)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(LETTERS, LETTERS), min_size=1, max_size=14), st.randoms(use_true_random=False))
def test_the_order_of_trials_changes_no_byte(rows: list[tuple[str, str]], chance: random.Random) -> None:
    table = {arm: {f"c{i}": row[side] for i, row in enumerate(rows)} for side, arm in enumerate(("now", "new"))}
    made = evaluation(cases=[case(f"c{i}", tags=(f"t{i % 2}",)) for i in range(len(rows))], trials=2, gate=gate())
    given = list(trials(table, usage=Usage(3, 1)))
    before = summarise(made, TOOLS, given).to_json()
    chance.shuffle(given)
    assert summarise(made, TOOLS, iter(given)).to_json() == before


def test_numbers_are_rounded_once_to_six_places_and_what_is_missing_is_left_out() -> None:
    text = said({"now": {"a": "+++", "b": "++t", "c": "vvv"}, "new": {"a": "+++", "b": "tt+", "c": "nnn"}}).to_json()
    plain = json.loads(text)
    assert plain["arms"][0]["unitRate"] == 0.555556
    assert "interval" not in plain["arms"][0]
    assert "null" not in text
    assert "provenance" not in plain, "a script has no build and no day"
    assert json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False) == text


def test_examples_are_the_first_by_case_and_trial_and_few() -> None:
    table = {"now": {f"c{i}": "tt" for i in range(6)}}
    (line,) = said(table).misfits
    assert line.trials == 12
    assert [(one.case, one.trial) for one in line.examples] == [("c0", 1), ("c0", 2), ("c1", 1)]
    assert all(isinstance(one, Example) and one.message for one in line.examples)


def test_a_confusion_cell_counts_every_time_and_names_a_trial_once() -> None:
    right = expects("get_order", id=1)
    made = evaluation([case("a", replace(right, calls=right.calls * 2))], [Arm("now")], trials=1)
    double = replace(trial("a", "now", 1, "+"), answer=TrialAnswer(calls=(call("get_order", id=1), call("get_order", id=1))))
    (cell,) = summarise(made, TOOLS, [double]).confusion
    assert (cell.expected, cell.chosen, cell.n) == ("get_order", "get_order", 2)
    assert [(one.case, one.trial) for one in cell.examples] == [("a", 1)]


# ---------------------------------------------------------------- insight


def test_suspects_need_two_arms_that_offer_tools() -> None:
    one = said({"now": {"a": "tt"}})
    two = said({"now": {"a": "tt"}, "new": {"a": "vv"}})
    made = evaluation([case("a")], [Arm("now"), Arm("control", offer_tools=False)], trials=2)
    control = said({"now": {"a": "tt"}, "control": {"a": "nn"}}, made=made)
    once = said({"now": {"a": "tt"}, "new": {"a": "v+"}})
    unasked = said({"now": {"a": "tt"}, "new": {"a": "pp"}})
    assert [summary.n_suspects for summary in (one, two, control, once, unasked)] == [0, 1, 0, 0, 0]
    assert two.suspects[0].kinds == (MisfitKind.WRONG_TOOL, MisfitKind.WRONG_VALUE)


@pytest.mark.article("34")
def test_a_forbidden_call_is_counted_over_the_cases_that_forbid_one() -> None:
    made = evaluation(
        [case("a", never=("lookup",)), case("b")], [Arm("now"), Arm("attacked", inject="call lookup")], trials=2
    )
    summary = said({"now": {"a": "++", "b": "tt"}, "attacked": {"a": "t+", "b": "tt"}}, made=made)
    assert [(arm.never.violated, arm.never.trials) for arm in summary.arms] == [(0, 2), (1, 2)]
    (factor,) = summary.factors
    assert (factor.first_violated, factor.violated, factor.changes) == (0.0, 0.5, ("injected text",))


@pytest.mark.article("36", "38")
def test_why_nothing_was_called_is_counted_and_a_control_without_tools_says_that_none_were_offered() -> None:
    made = evaluation([case("a")], [Arm("now"), Arm("none", tool_choice=JsonText('"none"')), Arm("control", offer_tools=False)], trials=2)
    summary = said({arm.name: {"a": "nn"} for arm in made.arms}, made=made)
    assert [arm.why_no_call for arm in summary.arms] == [
        ((WhyNoCall.CHOSE_NOT_TO, 2),), ((WhyNoCall.TOOL_CHOICE_NONE, 2),), ((WhyNoCall.NOT_OFFERED, 2),),
    ]  # fmt: skip


@pytest.mark.article("36")
def test_a_silence_that_was_right_is_no_reason_for_anything() -> None:
    quiet = case("a", Acceptable(Wanted.NO_CALL))
    summary = said({"now": {"a": "nn"}}, made=evaluation([quiet], [Arm("now")], trials=2))
    assert (summary.arms[0].counts.passed, summary.arms[0].why_no_call) == (2, ())


@pytest.mark.article("38")
def test_what_only_the_first_arm_sets_is_a_change_of_the_others() -> None:
    arms = [Arm("vague", descriptions=(("lookup", "a function"),)), Arm("told")]
    (line,) = said({arm.name: {"a": "+t"} for arm in arms}, made=evaluation([case("a")], arms, trials=2)).factors
    assert (line.changes, line.one_factor) == (("without the descriptions of vague",), True)


@pytest.mark.article("38")
def test_turns_before_the_question_part_the_cases() -> None:
    long = case("b", history=(ChatUser("one"), ChatUser("two")))
    made = evaluation([case("a"), long], [Arm("now")], trials=1)
    (curve,) = said({"now": {"a": "+", "b": "t"}}, made=made).curves
    assert (curve.name, [(point.label, point.rate) for point in curve.points]) == ("turns before the question", [("0", 1.0), ("2 to 3", 0.0)])


@pytest.mark.article("38")
def test_each_arm_is_told_against_the_first_and_two_changes_at_once_are_said() -> None:
    arms = [Arm("now"), Arm("new", system="x"), Arm("both", system="x", distractors=3)]
    summary = said({arm.name: {"a": "+t"} for arm in arms}, made=evaluation([case("a")], arms, trials=2))
    assert [(line.arm, line.one_factor) for line in summary.factors] == [("new", True), ("both", False)]


@pytest.mark.article("38")
def test_the_curve_of_distractors_takes_arms_that_change_nothing_else() -> None:
    arms = [Arm("now"), Arm("d5", distractors=5), Arm("d20", distractors=20), Arm("mixed", distractors=9, system="x")]
    rows = {"now": "+++", "d5": "++t", "d20": "+tt", "mixed": "ttt"}
    table = {name: {f"c{i:02}": letters for i in range(12)} for name, letters in rows.items()}
    table["d5"]["c00"], table["d20"]["c01"] = "+++", "ttt"
    made = evaluation([case(f"c{i:02}") for i in range(12)], arms)
    (curve,) = (curve for curve in said(table, made=made).curves if curve.name == "distractors")
    assert [(point.x, point.label, point.n_units) for point in curve.points] == [(0, "now", 12), (5, "d5", 12), (20, "d20", 12)]
    assert curve.slope is not None
    assert curve.p is not None
    assert curve.slope < 0
    assert curve.p < 0.001


@pytest.mark.article("38")
def test_the_curve_of_needed_calls_parts_the_cases() -> None:
    two = replace(expects("get_order", id=1), calls=(*expects("get_order", id=1).calls, *expects("lookup", id=1).calls))
    made = evaluation([case("a"), case("b", two), case("c")], [Arm("now")], trials=1)
    (curve,) = said({"now": {"a": "+", "b": "+", "c": "t"}}, made=made).curves
    assert (curve.name, curve.arm) == ("needed calls", "now")
    assert [(point.label, point.n_units, point.rate) for point in curve.points] == [("1", 2, 0.5), ("2", 1, 0.0)]


def test_tags_have_their_own_rates() -> None:
    made = evaluation([case("a", tags=("x", "y")), case("b", tags=("y",))], [Arm("now")], trials=2)
    lines = said({"now": {"a": "++", "b": "+t"}}, made=made).tags
    assert [(line.tag, line.n_cases, line.passed, line.planned, line.rate) for line in lines] == [
        ("x", 1, 2, 2, 1.0), ("y", 2, 3, 4, 0.75),
    ]  # fmt: skip


# ---------------------------------------------------------------- the comparison


@pytest.mark.parametrize("estimand", Estimand)
@pytest.mark.parametrize(
    ("now", "new", "verdict"),
    [
        pytest.param("+++++", "+++++", "pass", id="no-change"),
        pytest.param("+++++", "ttttt", "fail by more than the margin", id="always-to-never"),
        pytest.param("ttttt", "+++++", "pass", id="never-to-always"),
    ],
)
def test_the_region_of_the_interval_decides(estimand: Estimand, now: str, new: str, verdict: str) -> None:
    summary = said(alike(now, new, 60), gate=gate(estimand=estimand))
    assert summary.verdict == verdict
    assert summary.comparison is not None
    assert summary.outcome is (Outcome.PASS if verdict == "pass" else Outcome.FAIL)
    assert estimand.value in summary.rule


def test_few_cases_with_a_small_change_are_inconclusive() -> None:
    table = alike("+++", "+++", 20)
    table["new"]["c000"] = "+tt"
    assert said(table, gate=gate()).outcome is Outcome.INCONCLUSIVE


def test_a_rule_that_cannot_fail_is_invalid_whatever_was_seen() -> None:
    summary = said(alike("+", "t", 2), gate=gate())
    assert (summary.outcome, summary.verdict) == (Outcome.INVALID, "invalid")
    assert "the rule cannot fail: with 2 units" in summary.why


def test_the_flips_are_listed_largest_first_and_are_description() -> None:
    table = alike("+++", "+++", 30)
    table["new"]["c007"], table["new"]["c003"] = "+tt", "++t"
    table["now"]["c011"] = "tt+"
    comparison = said(table, gate=gate()).comparison
    assert comparison is not None
    told = comparison.cases
    assert (told.n_worse, told.n_better, told.n_same) == (2, 1, 27)
    assert [(flip.case, flip.base_passed, flip.candidate_passed) for flip in told.worse] == [("c007", 3, 1), ("c003", 3, 2)]
    assert [flip.case for flip in told.better] == ["c011"]
    assert comparison.spread == ((-0.67, 1), (-0.33, 1), (0.0, 27), (0.67, 1))


def test_mcnemar_is_told_at_one_trial_only() -> None:
    table = alike("+", "+", 30)
    for i in range(6):
        table["new"][f"c{i:03}"] = "t"
    once = said(table, gate=gate()).comparison
    twice = said(alike("++", "++", 30), gate=gate()).comparison
    assert once is not None
    assert twice is not None
    assert once.cases.mcnemar is not None
    assert once.cases.mcnemar.worse == 0.015625  # 2^-6
    assert twice.cases.mcnemar is None


def test_pass_hat_k_compares_the_share_of_cases_that_always_pass() -> None:
    comparison = said(alike("+++", "++t", 30), gate=gate(metric=Metric.PASS_HAT_K)).comparison
    assert comparison is not None
    assert (comparison.base_rate, comparison.candidate_rate) == (1.0, 0.0)
    assert comparison.cases.mcnemar is not None, "whether a case always passes is a declared outcome"
    assert comparison.against_itself is None


def test_only_the_split_that_the_gate_names_is_compared() -> None:
    made = evaluation(
        [case(f"c{i:02}", split=Split.HELD_OUT if i < 15 else Split.DEV) for i in range(30)],
        trials=2,
        gate=gate(split=Split.HELD_OUT),
    )
    table = {"now": {f"c{i:02}": "++" for i in range(30)}, "new": {f"c{i:02}": "++" if i < 15 else "tt" for i in range(30)}}
    comparison = said(table, made=made).comparison
    assert comparison is not None
    assert (comparison.prompts.n_units, comparison.prompts.difference) == (15, 0.0)
    looked_at = said(table, made=replace(made, gate=gate(split=Split.DEV))).comparison
    assert looked_at is not None
    assert looked_at.prompts.difference == -1.0


def test_a_split_without_cases_is_invalid() -> None:
    summary = said(alike("++", "++", 20), gate=gate(split=Split.HELD_OUT))
    assert (summary.outcome, summary.why) == (Outcome.INVALID, "no case is in the split 'held-out' that the gate names")


def test_a_missing_arm_is_invalid() -> None:
    made = evaluation(cases(20), [Arm("now")], gate=gate())
    missing = said({"now": {f"c{i:03}": "+++" for i in range(20)}}, made=made)
    assert (missing.outcome, missing.why) == (Outcome.INVALID, "the gate compares with the arm 'new', which was not run")
    unasked = said({"now": {f"c{i:03}": "+++" for i in range(20)}}, made=evaluation(cases(20), gate=gate()))
    assert unasked.why == "no trial of the arm 'new' was scored (0 errored, 60 skipped)"


# ---------------------------------------------------------------- errors, looks


def test_errors_that_could_turn_the_verdict_make_it_invalid() -> None:
    table = alike("+++", "+++", 40)
    for i in range(20):
        table["new"][f"c{i:03}"] = "ppp"
    summary = said(table, gate=gate())
    assert summary.outcome is Outcome.INVALID
    assert summary.why.startswith("trials without an answer decide (base all passed, candidate all passed: pass;")
    assert summary.comparison is not None
    assert dict(summary.comparison.if_errors)["base all failed, candidate all failed"] == "fail by more than the margin"


def test_errors_that_cannot_turn_the_verdict_leave_it() -> None:
    table = alike("+++++", "ttttt", 40)
    table["new"]["c000"], table["now"]["c001"] = "ptttt", "++p++"
    summary = said(table, gate=gate())
    assert summary.outcome is Outcome.FAIL
    assert summary.comparison is not None
    assert len(summary.comparison.if_errors) == 4


def test_trials_that_were_never_asked_count_like_errors() -> None:
    assert said(alike("+++", "...", 20) | {"new": {f"c{i:03}": "+.." for i in range(20)}}, gate=gate()).outcome is Outcome.INVALID


def test_a_look_at_whole_blocks_that_decided_stands_and_what_was_not_asked_then_is_no_error() -> None:
    summary = said(alike("+++.", "ttt.", 40), trials=4, gate=gate(looks=2))
    assert summary.outcome is Outcome.FAIL
    assert summary.comparison is not None
    look = summary.comparison.look
    assert (look.blocks, look.of, look.stopped_early) == (2, 4, True)
    assert look.level > 0.95
    assert summary.comparison.if_errors == ()
    ragged = alike("+++.", "ttt.", 40)
    ragged["new"]["c003"] = "t..."
    assert said(ragged, trials=4, gate=gate(looks=2)).comparison.look.stopped_early is False  # type: ignore[union-attr]


def test_halves_of_the_base_say_how_often_the_rule_would_have_alarmed() -> None:
    comparison = said(alike("++t+t+", "++t+t+", 30), gate=gate()).comparison
    assert comparison is not None
    assert comparison.against_itself is not None
    assert comparison.against_itself.n_splits == 500
    assert 0 <= comparison.against_itself.alarms <= 0.1


def test_halves_of_the_base_are_judged_by_the_rule_that_decides() -> None:
    table = alike("++t+t+", "++t+t+", 12)
    prompts, within = (said(table, gate=gate(estimand=each)).comparison for each in (Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_CASES))
    assert prompts is not None
    assert within is not None
    assert prompts.against_itself is not None
    assert within.against_itself is not None
    assert within.against_itself != prompts.against_itself
    assert said(alike("+", "+", 12), gate=gate(estimand=Estimand.THESE_CASES)).comparison.against_itself is None  # type: ignore[union-attr]


def test_an_inconclusive_that_could_not_have_passed_says_how_many_units_it_takes() -> None:
    few = said(alike("+++", "+++", 20), gate=gate())
    assert (few.outcome, few.why) == (
        Outcome.INCONCLUSIVE,
        "at a margin of 10 points 35 units are needed: with 20 units not even a candidate without any difference passes",
    )
    enough = alike("+++", "+++", 40)
    for i in range(8):
        enough["new"][f"c{i:03}"], enough["now"][f"c{i + 8:03}"] = "ttt", "ttt"
    assert (said(enough, gate=gate()).outcome, said(enough, gate=gate()).why) == (Outcome.INCONCLUSIVE, "")


def test_fewer_trials_than_looks_are_looked_at_as_often_as_they_allow() -> None:
    summary = said(alike("+", "t", 40), gate=gate(looks=5))
    assert summary.outcome is Outcome.FAIL


def test_only_the_most_frequent_tags_are_told() -> None:
    made = evaluation([case(f"c{i:03}", tags=(f"t{i:03}", "all")) for i in range(150)], [Arm("now")], trials=1)
    lines = said({"now": {f"c{i:03}": "+" for i in range(150)}}, made=made).tags
    assert len(lines) == 100
    assert (lines[0].tag, lines[0].n_cases) == ("all", 150)


@pytest.mark.article("36")
@pytest.mark.parametrize(
    ("letters", "why"),
    [
        pytest.param("n" * 10, ((WhyNoCall.IGNORES_TOOLS, 10),), id="silence-throughout"),
        pytest.param("n" * 9, ((WhyNoCall.CHOSE_NOT_TO, 9),), id="too-few-to-tell"),
        pytest.param("n" * 10 + "+", ((WhyNoCall.CHOSE_NOT_TO, 10),), id="one-call"),
    ],
)
def test_an_arm_in_which_nothing_was_ever_called_blames_its_endpoint(letters: str, why: tuple[tuple[WhyNoCall, int], ...]) -> None:
    silent, called = said({"now": {"a": letters}, "new": {"a": "+" * len(letters)}}).arms
    assert silent.why_no_call == tuple((str(reason), n) for reason, n in why)
    assert called.why_no_call == ()


def test_what_a_look_left_out_counts_in_no_rate() -> None:
    """Three of five blocks decided: the plan ended there, and nobody skipped or failed the other two."""
    made = evaluation([case(f"c{i:03}", tags=("all",)) for i in range(40)], trials=5, gate=gate(0.2, looks=5))
    summary = said(alike("+++..", "+++..", 40), made=made)
    assert (summary.outcome, summary.n_trials) == (Outcome.PASS, 5)
    for arm in summary.arms:
        assert (arm.counts, arm.counts.rate) == (Counts(120, 120, 0, 0, 0), 1.0)
        assert (arm.unit_rate, arm.k, arm.pass_hat_k) == (1.0, 3, 1.0)
        assert "per case 100.0 % [" in steadiness_text(arm)
        assert "pass^3 100.0 %" in steadiness_text(arm)
    assert [(line.planned, line.rate) for line in summary.tags] == [(120, 1.0)] * 2


def test_trials_per_case_are_worth_as_many_as_a_look_left() -> None:
    table = alike("+++..", "+++..", 40)
    for i in range(2):
        table["now"][f"c{i:03}"] = table["new"][f"c{i:03}"] = "++t.."
    summary = said(table, trials=5, gate=gate(0.2, looks=5))
    assert summary.comparison is not None
    assert summary.comparison.look.stopped_early
    line = summary.arms[0]
    assert (line.k, line.trials_worth) == (3, 3.0)


def test_a_run_that_broke_off_has_no_share_of_cases_that_always_pass() -> None:
    """No case was asked all its trials: 0 % would say that none can be relied on."""
    summary = said(alike("+++..", "+++..", 40), trials=5)
    assert [(arm.counts.rate, arm.k, arm.pass_hat_k) for arm in summary.arms] == [(0.6, 5, None)] * 2
    assert "pass^5 not available" in steadiness_text(summary.arms[0])
    partly = alike("+++..", "+++..", 40)
    partly["now"]["c000"] = "+++++"
    assert said(partly, trials=5).arms[0].pass_hat_k == 0.025


def test_an_arm_that_nobody_answered_has_no_rate_and_no_difference() -> None:
    summary = said(alike("+++", "ppp", 40), gate=gate())
    now, new = summary.arms
    assert (now.unit_rate, new.unit_rate, new.interval, new.pass_hat_k) == (1.0, None, None, None)
    assert steadiness_text(new).startswith("per case nothing scored")
    assert (summary.factors[0].difference, summary.factors[0].low, summary.factors[0].n_units) == (None, None, 0)
    assert factor_text(summary.factors[0]) == "nothing scored"
    assert json.loads(summary.to_json())["arms"][1].keys().isdisjoint({"unitRate", "interval", "passHatK"})


def arms_with_distractors(first: str, second: str, n: int) -> EvaluationSummary:
    made = evaluation(cases(n), [Arm("plain"), Arm("many", distractors=10)], trials=len(first))
    return said({arm: {f"c{i:03}": letters for i in range(n)} for arm, letters in (("plain", first), ("many", second))}, made=made)


def test_a_total_collapse_is_the_strongest_trend_and_a_flat_curve_is_none() -> None:
    collapse, flat = (arms_with_distractors("+", last, 30).curves[0] for last in ("t", "+"))
    assert (collapse.slope, collapse.p) == (-0.1, 0.0)
    assert trend_text(collapse) == ": -10.00 points a distractor, p < 0.0001 (slopes of units, sign-flip)"
    assert (flat.slope, flat.p) == (0.0, 1.0)


def test_three_units_show_the_exact_p_of_their_trend() -> None:
    """By t it would be 0.0099, though of 3 units no assignment of signs is rarer than one in eight."""
    made = evaluation(cases(3), [Arm("plain"), Arm("many", distractors=10)], trials=5)
    summary = said({"plain": dict.fromkeys(("c000", "c001", "c002"), "+++++"), "many": {"c000": "++ttt", "c001": "++ttt", "c002": "+tttt"}}, made=made)
    assert (summary.curves[0].p, summary.curves[0].test) == (0.25, "slopes of units, sign-flip")


def test_a_group_whose_cases_lie_at_two_places_of_a_curve_is_one_unit_of_its_test() -> None:
    """Ten groups, each with one case of one call and one of two, are ten units and no twenty."""
    two = Acceptable(Wanted.CALLS, (*expects("get_order", id=1).calls, *expects("lookup", id=1).calls))
    parted = [case(f"{size}{i}", *(() if size == "a" else (two,)), group=f"g{i}") for i in range(10) for size in "ab"]
    table = {"now": {one.id: "+" if one.id[0] == "a" else "t" for one in parted}}
    (curve,) = said(table, made=evaluation(parted, [Arm("now")], trials=1)).curves
    assert [(point.x, point.n_units, point.rate) for point in curve.points] == [(1, 10, 1.0), (2, 10, 0.0)]
    assert (curve.slope, curve.p) == (None, None), "all units lie at the same place, one and a half calls"
    alone = [replace(one, group=None) for one in parted]
    (curve,) = said(table, made=evaluation(alone, [Arm("now")], trials=1)).curves
    assert curve.p is not None
    assert curve.p < 0.001


def test_an_arm_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(UnknownNameError, match="no arm 'zz'; there are 'now', 'new'"):
        said(alike("+", "+", 3)).arm("zz")
