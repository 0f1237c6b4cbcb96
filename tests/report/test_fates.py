"""What a verdict makes of each scenario is one thing for every report, and adds up to the verdict."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.fates import Fate, beside_rows, rows_of, shown_name, worst_first
from harness.types.codes import Change, Outcome
from harness.types.records import Unpassed
from harness.types.review import GateSource, GateVerdict, Quarantined, Review, Rule, RuleResult, Severity
from tests.report.reviews import COMPARISON, FAIL, GATED, PASS, ROWS, UNGATED, row

FATES = {
    "shop/worse": Fate.FAILED, "shop/changed": Fate.WARNED, "shop/held": Fate.HELD, "gone": Fate.PASSED,
    "a/b/fresh": Fate.FAILED, "fresh": Fate.PASSED, "shop/better": Fate.PASSED, "shop/broken": Fate.ERRORED,
    "shop/same": Fate.PASSED, "shop/undecided": Fate.UNDECIDED,
}  # fmt: skip


def fates(review: Review) -> dict[str, Fate]:
    return {shown_name(found.scenario): found.fate for found in rows_of(review)}


def judged(*results: RuleResult, outcome: Outcome = FAIL, quarantine: tuple[Quarantined, ...] = ()) -> Review:
    verdict = GateVerdict(outcome, "told", results=results, quarantine=quarantine, source=GateSource.FILE)
    return dataclasses.replace(GATED, verdict=verdict)


def test_a_gate_says_which_fail_which_are_warned_of_and_which_are_held() -> None:
    assert fates(GATED) == FATES


def test_without_a_gate_every_difference_fails_and_new_ones_where_they_do_not_pass() -> None:
    failing = [name for name, fate in fates(UNGATED).items() if fate in (Fate.FAILED, Fate.ERRORED)]
    assert failing == ["shop/worse", "shop/changed", "shop/held", "gone", "a/b/fresh", "shop/better", "shop/broken"]


@pytest.mark.parametrize(
    ("found", "fate"),
    [
        pytest.param(Unpassed("endpoint", Outcome.ERROR, 1, 1), Fate.ERRORED, id="an-error-on-both-sides"),
        pytest.param(Unpassed("endpoint", Outcome.ERROR, 1, 0), Fate.PASSED, id="an-error-of-the-base"),
        pytest.param(Unpassed("cassette", FAIL, 1, 1, stale=True), Fate.UNDECIDED, id="out-of-date-on-both-sides"),
        pytest.param(Unpassed("answer", FAIL, 1, 1), Fate.PASSED, id="a-failure-as-before"),
    ],
)
def test_without_a_gate_the_same_outcome_on_both_sides_passes_where_it_says_something(found: Unpassed, fate: Fate) -> None:
    same = dataclasses.replace(row("a", Change.SAME, candidate=PASS), unpassed=(found,))
    review = dataclasses.replace(UNGATED, comparison=dataclasses.replace(COMPARISON, scenarios=(same,)))
    assert fates(review) == {"a": fate}


def test_a_new_gate_that_does_not_judge_leaves_every_difference_to_fail() -> None:
    review = dataclasses.replace(UNGATED, verdict=dataclasses.replace(UNGATED.verdict, source=GateSource.MERGE_BASE))
    assert fates(review) == fates(UNGATED)


@pytest.mark.parametrize(
    ("entry", "fate"),
    [
        pytest.param(Quarantined("shop/held", "2026-12-31", "flaky", held=("behaviour",)), Fate.HELD, id="by-name"),
        pytest.param(Quarantined("shop/h*", "2026-12-31", "flaky", held=("behaviour",)), Fate.HELD, id="by-pattern"),
        pytest.param(Quarantined("shop/held@default", "2026-12-31", "flaky", held=("behaviour",)), Fate.HELD, id="with-arm"),
        pytest.param(Quarantined("shop/held", "2026-12-31", "flaky"), Fate.PASSED, id="held-nothing"),
        pytest.param(Quarantined("shop/held", "2020-12-31", "flaky", True, ("behaviour",), remark="its last day was"), Fate.PASSED, id="expired"),
        pytest.param(Quarantined("shop/other", "2026-12-31", "flaky", held=("behaviour",)), Fate.PASSED, id="another"),
    ],
)
def test_a_scenario_is_held_where_an_entry_that_held_something_names_it(entry: Quarantined, fate: Fate) -> None:
    assert fates(judged(RuleResult(Rule.NEW, PASS, Severity.FAIL), quarantine=(entry,)))["shop/held"] is fate


def test_what_breaks_a_rule_fails_although_another_rule_only_warns_of_it() -> None:
    both = judged(
        RuleResult(Rule.CHECKS, FAIL, Severity.FAIL, "", ("shop/worse",), 1),
        RuleResult(Rule.BEHAVIOUR, FAIL, Severity.WARN, "", ("shop/worse",), 1),
    )
    (found,) = [found for found in rows_of(both) if found.scenario is ROWS[0]]
    assert (found.fate, found.broken, found.warned) == (Fate.FAILED, (Rule.CHECKS,), (Rule.BEHAVIOUR,))


@pytest.mark.parametrize("outcome", [FAIL, Outcome.INCONCLUSIVE, Outcome.INVALID, Outcome.ERROR])
def test_a_rule_over_all_scenarios_is_told_beside_them(outcome: Outcome) -> None:
    review = judged(RuleResult(Rule.COST, outcome, Severity.FAIL, "cost + 10 %"), outcome=outcome)
    assert list(beside_rows(review, rows_of(review))) == [("cost", outcome, "cost + 10 %")]


def test_a_rule_whose_scenarios_are_not_all_here_is_told_beside_them() -> None:
    review = judged(RuleResult(Rule.CHECKS, FAIL, Severity.FAIL, "200 fail", ("shop/worse",), 200))
    assert list(beside_rows(review, rows_of(review))) == [("checks", FAIL, "200 fail")]


def test_a_verdict_that_no_rule_gave_is_told_as_itself() -> None:
    same = dataclasses.replace(COMPARISON, scenarios=(row("a", "same", candidate=PASS),))
    review = Review(same, GateVerdict(Outcome.INVALID, "the gate cannot fail"))
    assert list(beside_rows(review, rows_of(review))) == [("verdict", Outcome.INVALID, "the gate cannot fail")]


RESULTS = st.builds(
    RuleResult,
    st.sampled_from(Rule),
    st.sampled_from([PASS, FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE, Outcome.ERROR, Outcome.INVALID]),
    st.sampled_from(Severity),
    scenarios=st.lists(st.sampled_from([*FATES, "elsewhere"]), max_size=3, unique=True).map(tuple),
    n_scenarios=st.integers(0, 4),
)


@given(st.lists(RESULTS, max_size=5))
def test_every_list_of_what_fails_holds_something_exactly_where_a_rule_fails(results: list[RuleResult]) -> None:
    failing = [one for one in results if one.severity is Severity.FAIL and one.outcome not in (PASS, Outcome.NOT_APPLICABLE)]
    review = judged(RuleResult(Rule.NEW, PASS, Severity.FAIL), *results, outcome=failing[0].outcome if failing else PASS)
    rows = rows_of(review)
    assert bool(failing) == (any(found.fails for found in rows) or bool([*beside_rows(review, rows)]))


def test_what_fails_comes_first_and_of_that_the_worst_change() -> None:
    names = [shown_name(found.scenario) for found in worst_first(rows_of(GATED))]
    assert names[:4] == ["shop/worse", "shop/broken", "a/b/fresh", "gone"]
    assert names[-1] == "shop/undecided"
