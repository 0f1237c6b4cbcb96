"""Two folders of runs: the same ids on both sides, and what became of each."""

from __future__ import annotations

import pytest

from harness.compare import compare_runs
from harness.errors import TrajectoryFormatError
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.records import Comparison, RunSummary, Verdict
from tests.compare.made import ANSWERS, refund_run, summary

LOOK, REFUND, SAY = ANSWERS
OTHER = refund_run(answers=(LOOK, ([("cancel_order", '{"id":7}')], None), SAY))
PASS, FAIL, ERROR, NOT_APPLICABLE = Outcome.PASS, Outcome.FAIL, Outcome.ERROR, Outcome.NOT_APPLICABLE


def compared(base: list[RunSummary], candidate: list[RunSummary], *, other: tuple[str, ...] = ()) -> Comparison:
    """``other``: scenarios whose candidate behaves differently."""

    def load(side: str, run: RunSummary) -> Trajectory:
        return OTHER if side == "candidate" and run.scenario in other else refund_run()

    return compare_runs(base, candidate, load)


def changes(comparison: Comparison) -> dict[str, str]:
    return {scenario.run_id: scenario.change for scenario in comparison.scenarios}


@pytest.mark.parametrize(
    ("base", "candidate", "differs", "change", "outcome"),
    [
        pytest.param(PASS, PASS, False, "same", PASS, id="same"),
        pytest.param(PASS, PASS, True, "changed", FAIL, id="changed"),
        pytest.param(PASS, FAIL, True, "worse", FAIL, id="worse"),
        pytest.param(PASS, ERROR, False, "worse", FAIL, id="worse-by-error"),
        pytest.param(PASS, Outcome.INCONCLUSIVE, False, "worse", FAIL, id="worse-by-not-knowing"),
        pytest.param(FAIL, PASS, True, "better", FAIL, id="better"),
        pytest.param(FAIL, PASS, False, "better", FAIL, id="better-by-other-rules"),
        pytest.param(FAIL, FAIL, False, "same", PASS, id="fails-as-before"),
        pytest.param(FAIL, ERROR, False, "changed", FAIL, id="bad-in-another-way"),
        pytest.param(PASS, NOT_APPLICABLE, False, "changed", FAIL, id="not-applicable-is-not-worse"),
    ],
)
def test_what_became_of_a_run_is_told_by_its_outcome_then_by_its_behaviour(
    base: Outcome, candidate: Outcome, differs: bool, change: str, outcome: Outcome
) -> None:
    comparison = compared([summary("a", base)], [summary("a", candidate)], other=("a",) if differs else ())
    assert (changes(comparison), comparison.outcome) == ({"a@default#1": change}, outcome)
    assert (comparison.scenarios[0].divergence is not None) is differs


def test_a_run_that_fails_by_another_check_has_changed() -> None:
    base = summary("a", FAIL, verdicts=(Verdict("pairing", FAIL),))
    candidate = summary("a", FAIL, verdicts=(Verdict("answer", FAIL),))
    assert changes(compared([base], [candidate])) == {"a@default#1": "changed"}


def test_a_missing_scenario_is_a_regression_and_a_new_one_is_listed() -> None:
    missing = compared([summary("a"), summary("b")], [summary("a")])
    new = compared([summary("a")], [summary("a"), summary("b")])
    new_and_red = compared([summary("a")], [summary("a"), summary("b", FAIL)])
    assert (changes(missing), missing.outcome) == ({"a@default#1": "same", "b@default#1": "missing"}, FAIL)
    assert (changes(new), new.outcome) == ({"a@default#1": "same", "b@default#1": "new"}, PASS)
    assert new_and_red.outcome is FAIL


@pytest.mark.parametrize(
    ("base", "candidate"),
    [pytest.param([], [], id="empty"), pytest.param([], [summary("a")], id="nothing-to-compare-with")],
)
def test_nothing_compared_is_never_a_pass(base: list[RunSummary], candidate: list[RunSummary]) -> None:
    assert compared(base, candidate).outcome is Outcome.INVALID


@pytest.mark.parametrize("side", ["base", "candidate"])
def test_two_runs_of_one_scenario_arm_and_trial_on_one_side_are_an_error(side: str) -> None:
    twice = [summary("a", file="one.jsonl"), summary("a", file="two.jsonl")]
    sides = {"base": [summary("a")], "candidate": [summary("a")], side: twice}
    with pytest.raises(TrajectoryFormatError, match=rf"the {side} holds two runs of scenario 'a'.*'one.jsonl' and 'two") as error:
        compared(sides["base"], sides["candidate"])
    assert error.value.exit_code == 4


def test_trials_and_several_arms_are_a_row_for_each_arm_and_pair_with_their_own() -> None:
    runs = [summary("a", arm=arm, trial=trial, run_id=f"a@{arm}#{trial}") for arm in ("x", "y") for trial in (1, 2)]
    comparison = compared(runs, runs[::-1])
    assert changes(comparison) == {"a@x#1": "same", "a@y#1": "same"}
    assert [(row.n_base, row.n_candidate, row.base_passed, row.n_differ) for row in comparison.scenarios] == [(2, 2, 2, 0)] * 2
    assert comparison.outcome is PASS


def test_the_line_of_a_row_names_its_arm() -> None:
    runs = [summary("a", arm=arm, run_id=f"a@{arm}#1") for arm in ("default", "x", "y")]
    lines = [row.line for row in compared(runs, [*runs[:2], summary("b", arm="x")]).scenarios]
    assert lines == ["a", "a@x", "a@y  in the base only", "b@x  in the candidate only"]


def test_one_arm_on_each_side_pairs_by_scenario_whatever_the_arms_are_called() -> None:
    comparison = compared([summary("a", arm="main")], [summary("a", arm="branch")])
    assert [scenario.change for scenario in comparison.scenarios] == ["same"]


def test_the_order_of_the_runs_does_not_matter_and_each_pair_is_loaded_alone() -> None:
    loaded: list[tuple[str, str]] = []

    def load(side: str, run: RunSummary) -> Trajectory:
        loaded.append((side, run.scenario))
        return refund_run()

    runs = [summary("b"), summary("a"), summary("c")]
    comparison = compare_runs(runs, runs[::-1], load, base_name="main", candidate_name="branch")
    assert (comparison.base, comparison.candidate) == ("main", "branch")
    assert [s.run_id for s in comparison.scenarios] == ["a@default#1", "b@default#1", "c@default#1"]
    assert loaded == [(side, scenario) for scenario in "abc" for side in ("base", "candidate")]
