"""What is compared is one thing everywhere: of units of unequal size, of the gate's split, of the trials judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.evaluate.summary import summarise
from harness.types.codes import Outcome
from harness.types.evaluation import Arm, Estimand, Metric, Split
from harness.types.evaluation_comparison import ComparisonSummary
from harness.types.evaluation_summary import EvaluationSummary
from tests.evaluate.made_evaluation import case, evaluation, gate, snapshot, trials

Rows = list[tuple[str, str, str]]
"""(group, what the base answers, what the candidate answers) of each case."""


def said(rows: Rows, *, splits: Mapping[int, Split] | None = None, n_trials: int | None = None, **more: Any) -> EvaluationSummary:
    splits = splits or {}
    made = evaluation(
        [case(f"c{i:03}", group=group or None, split=splits.get(i, Split.DEV)) for i, (group, _, _) in enumerate(rows)],
        [Arm("now"), Arm("new")],
        trials=n_trials or len(rows[0][1]),
        gate=gate(**more),
    )
    table = {arm: {f"c{i:03}": row[side] for i, row in enumerate(rows)} for side, arm in ((1, "now"), (2, "new"))}
    return summarise(made, snapshot(), trials(table))


def compared(rows: Rows, **more: Any) -> ComparisonSummary:
    found = said(rows, **more).comparison
    assert found is not None
    return found


def groups(sizes: list[int], now: str, new: str) -> Rows:
    """Units of so many cases, all alike."""
    return [(f"g{unit}", now, new) for unit, size in enumerate(sizes) for _ in range(size)]


# ---------------------------------------------------------------- pass^k: the unit has the outcome


def test_a_case_that_breaks_in_each_group_breaks_every_group_for_these_cases_too() -> None:
    rows = [(f"g{i // 10}", "+", "t" if i % 10 == 0 else "+") for i in range(80)]
    found = compared(rows, margin=0.2, metric=Metric.PASS_HAT_K, estimand=Estimand.THESE_CASES)
    assert found.cases.interval is not None
    assert (found.base_rate, found.candidate_rate, found.cases.difference) == (1.0, 0.0, -1.0)
    assert found.cases.interval.low <= -0.999
    assert found.verdict == "fail by more than the margin"
    assert (found.cases.n_cases, found.cases.n_worse, found.cases.n_better, found.cases.n_same) == (8, 8, 0, 0)
    assert [flip.case for flip in found.cases.worse] == [f"g{i}" for i in range(8)]
    assert found.cases.mcnemar is not None
    assert found.cases.mcnemar.worse == pytest.approx(0.5**8, abs=1e-6)


@pytest.mark.parametrize("estimand", Estimand)
def test_the_difference_lies_in_its_own_interval_whatever_the_groups(estimand: Estimand) -> None:
    halves = [(f"g{i // 2}", ("+++", "++t")[i % 2], "+++" if i < 20 else "++t") for i in range(40)]
    found = compared(halves, margin=0.2, metric=Metric.PASS_HAT_K, estimand=estimand)
    assert (found.base_rate, found.candidate_rate) == (0.0, 0.5)
    for told in (found.prompts, found.cases):
        assert told.interval is not None
        assert told.difference == 0.5
        assert 0 < told.interval.low < 0.5 < told.interval.high
    assert found.verdict == "pass"


def test_the_rule_speaks_of_units_where_the_metric_is_about_units() -> None:
    found = compared(groups([2] * 12, "+", "+"), metric=Metric.PASS_HAT_K)
    assert "the share of units that pass always" in found.rule


# ---------------------------------------------------------------- unequal weights


def test_twenty_cases_that_fell_are_a_fail_beside_one_large_group_that_rose() -> None:
    rows = [*[("", "+++++", "ttttt")] * 20, *[("large", "++++t", "+++++")] * 400]
    found = compared(rows, estimand=Estimand.THESE_CASES)
    assert found.verdict == "fail by more than the margin"
    assert found.cases.chances is not None
    assert found.cases.chances.worse < 0.001 < 0.999 < found.cases.chances.better
    assert found.cases.mcnemar is None


def test_mcnemar_is_told_only_where_every_case_counts_alike() -> None:
    rows = [*[("", "+", "t")] * 12, *[("large", "t", "+")] * 100]
    assert compared(rows, estimand=Estimand.THESE_CASES).cases.mcnemar is None
    assert compared(groups([2] * 12, "+", "t"), estimand=Estimand.THESE_CASES).cases.mcnemar is not None


# ---------------------------------------------------------------- an INVALID says why


def test_a_rule_whose_pairs_are_too_few_by_their_weights_is_invalid_and_says_so() -> None:
    rows = [("", "+", "t"), *[("large", "+", "+")] * 100]
    summary = said(rows, estimand=Estimand.THESE_CASES)
    assert (summary.outcome, summary.verdict) == (Outcome.INVALID, "invalid")
    assert summary.why.startswith("the rule cannot fail: with 2 units")


def test_heavy_cases_that_waver_leave_no_interval_and_that_is_said() -> None:
    rows = [("", "+", "t"), *[(f"g{i % 6}", "+", "+") for i in range(60)]]
    summary = said(rows, estimand=Estimand.THESE_CASES)
    assert (summary.outcome, summary.verdict) == (Outcome.INVALID, "invalid")
    assert summary.why.startswith("there is no interval: what differs lies in few cases that count much")


# ---------------------------------------------------------------- the gate's split, and what was judged of it

HELD = dict.fromkeys(range(10, 50), Split.HELD_OUT)


@pytest.mark.parametrize(
    ("now", "new", "why"),
    [
        pytest.param("t", "p", "no trial of the arm 'new' was scored in the split 'held-out' (40 errored, 0 skipped)", id="new"),
        pytest.param(".", "+", "no trial of the arm 'now' was scored in the split 'held-out' (0 errored, 40 skipped)", id="now"),
    ],
)
def test_an_arm_that_never_answered_in_the_gates_split_is_invalid(now: str, new: str, why: str) -> None:
    rows = [*[("", "+", "+")] * 10, *[("", now, new)] * 40]
    summary = said(rows, splits=HELD, n_trials=1, split=Split.HELD_OUT)
    assert (summary.outcome, summary.why) == (Outcome.INVALID, why)


@pytest.mark.parametrize(
    ("n_unanswered", "outcome"), [(59, Outcome.INVALID), (13, Outcome.INVALID), (12, Outcome.PASS), (1, Outcome.PASS)]
)
@pytest.mark.parametrize("letter", ["p", "."])
def test_a_fifth_of_the_units_may_be_unanswered_where_they_can_turn_nothing(n_unanswered: int, outcome: Outcome, letter: str) -> None:
    rows = [*[("", "tt", letter * 2)] * n_unanswered, *[("", "tt", "tt")] * (60 - n_unanswered)]
    summary = said(rows, margin=0.3)
    assert summary.outcome is outcome
    if outcome is Outcome.INVALID:
        assert summary.why.startswith(f"too few were answered: {n_unanswered} of 60 units (first 'c000') have no scored trial")


def test_one_answer_a_unit_is_enough_and_another_case_of_the_group_may_give_it() -> None:
    rows = [*[(f"g{i // 2}", "tt", ("pp", "t.")[i % 2]) for i in range(120)]]
    assert said(rows, margin=0.3).outcome is Outcome.PASS


def test_a_look_at_trials_that_were_not_answered_stops_nothing() -> None:
    summary = said([("", "tt..", "pp..")] * 60, margin=0.3, looks=2)
    assert summary.outcome is Outcome.INVALID
    assert summary.comparison is not None
    assert summary.comparison.look.stopped_early is False


@pytest.mark.parametrize("estimand", Estimand)
@pytest.mark.parametrize("metric", Metric)
def test_an_invalid_always_says_why(estimand: Estimand, metric: Metric) -> None:
    for sizes in ([1, 100], [1, 1, 50], [1] * 7 + [10], [10] * 7):
        for new in ("+", "t"):
            rows = groups(sizes, "+", "+")
            rows[0] = (rows[0][0], "+", new)
            summary = said(rows, estimand=estimand, metric=metric)
            assert bool(summary.why) or summary.outcome is not Outcome.INVALID, (sizes, new)
