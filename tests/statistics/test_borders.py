"""What the statistics say at the borders: nothing, everything, one, ties, and an arm that is not there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import ConfigurationError, UsageError
from harness.statistics import (
    MIN_DIFFERENCES,
    Interval,
    PValues,
    Region,
    false_alarm_rate,
    fewest_units,
    flakes,
    holm,
    holm_can_reject,
    intraclass_correlation,
    mcnemar,
    mean_difference,
    pass_at_k,
    pass_hat_k,
    reach_of_gate,
    reach_within,
    region,
    repeatability,
    sign_flip,
    smallest_sign_flip,
    smallest_stratified,
    stratified_exact,
    wilson,
    within_cases,
    worth,
)
from harness.statistics.needs import libraries
from tests.house.source import REPO

NOTHING = PValues(1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param(lambda: sign_flip([]), NOTHING, id="sign-flip-no-units"),
        pytest.param(lambda: sign_flip([0.0] * 7), NOTHING, id="sign-flip-all-tied"),
        pytest.param(lambda: sign_flip([-0.2]), PValues(0.5, 1.0, 1.0), id="sign-flip-one-unit"),
        pytest.param(lambda: stratified_exact([], []), NOTHING, id="within-no-cases"),
        pytest.param(lambda: stratified_exact([(5, 5)], [(5, 5)]), NOTHING, id="within-always"),
        pytest.param(lambda: stratified_exact([(0, 5)], [(0, 5)]), NOTHING, id="within-never"),
        pytest.param(
            lambda: stratified_exact([(3, 5), (0, 0)], [(0, 0), (2, 4)]), NOTHING, id="within-no-trials-in-one-arm"
        ),
        pytest.param(lambda: mcnemar(0, 0), NOTHING, id="mcnemar-no-flips"),
        pytest.param(lambda: mean_difference([]), None, id="difference-no-units"),
        pytest.param(lambda: mean_difference([0.2]), None, id="difference-one-unit"),
        pytest.param(lambda: mean_difference([0.2] * (MIN_DIFFERENCES - 1)), None, id="difference-too-few-units"),
        pytest.param(lambda: within_cases([], []), None, id="within-interval-no-cases"),
        pytest.param(lambda: within_cases([(1, 1)], [(0, 1)]), None, id="within-interval-one-pair"),
        pytest.param(lambda: within_cases([(5, 5)] * 9, [(0, 0)] * 9), None, id="within-interval-no-trials-in-one-arm"),
        pytest.param(lambda: wilson(9, 9), None, id="rate-nine-units"),
        pytest.param(lambda: wilson(0, 0), None, id="rate-no-units"),
        pytest.param(lambda: repeatability([]), None, id="repeatability-no-cases"),
        pytest.param(lambda: repeatability([(1, 1), (0, 1)]), None, id="repeatability-one-trial"),
        pytest.param(lambda: repeatability([(5, 5), (0, 5), (1, 5), (1, 1)]), 2 / 3, id="repeatability"),
        pytest.param(lambda: flakes([(0, 5), (1, 5), (5, 5), (1, 1), (4, 5)]), (1, 4), id="flakes"),
        pytest.param(lambda: intraclass_correlation([]), None, id="correlation-no-cases"),
        pytest.param(lambda: intraclass_correlation([(3, 5)]), None, id="correlation-one-case"),
        pytest.param(lambda: intraclass_correlation([(1, 1), (0, 1)]), None, id="correlation-one-trial"),
        pytest.param(lambda: intraclass_correlation([(5, 5)] * 9), None, id="correlation-always"),
        pytest.param(lambda: intraclass_correlation([(0, 5), (0, 3)]), None, id="correlation-never"),
        pytest.param(lambda: intraclass_correlation([(2, 2), (0, 7), (0, 0)]), 1.0, id="correlation-always-or-never"),
        pytest.param(lambda: intraclass_correlation([(1, 2), (1, 2)]), -1.0, id="correlation-below-0"),
        pytest.param(lambda: worth(5, -0.2), 5.0, id="worth-below-0"),
        pytest.param(lambda: worth(5, 1.0), 1.0, id="worth-one"),
        pytest.param(lambda: false_alarm_rate([], 0.1), None, id="halves-no-units"),
        pytest.param(lambda: false_alarm_rate([[(1, 1)]] * 20, 0.1), None, id="halves-one-trial"),
        pytest.param(lambda: false_alarm_rate([[(1, 2)]] * 7, 0.1), None, id="halves-too-few-units"),
        pytest.param(lambda: holm([], 0.05), (), id="holm-nothing"),
        pytest.param(lambda: holm([0.05], 0.05), (True,), id="holm-one-at-the-border"),
        pytest.param(lambda: holm([0.025, 0.025], 0.05), (True, True), id="holm-ties"),
    ],
)
def test_borders_have_defined_results(said: Callable[[], Any], expected: Any) -> None:
    assert said() == (pytest.approx(expected) if isinstance(expected, float) else expected)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        pytest.param(lambda: stratified_exact([(1, 1)], []), "same cases", id="an-arm-is-missing"),
        pytest.param(lambda: within_cases([], [(1, 1)]), "same cases", id="the-other-arm-is-missing"),
        pytest.param(lambda: within_cases([(1, 1)], [(1, 1)], [0.5, 0.5]), "weights", id="weights-of-other-cases"),
        pytest.param(lambda: stratified_exact([(2, 1)], [(0, 1)]), "2 of 1", id="more-passes-than-trials"),
        pytest.param(lambda: intraclass_correlation([(-1, 1)]), "-1 of 1", id="negative-passes"),
        pytest.param(lambda: sign_flip([0.0, 1.2]), "difference 1 is 1.2", id="no-difference-of-shares"),
        pytest.param(lambda: mean_difference([0.0] * 8 + [float("nan")]), "difference 8 is nan", id="not-a-number"),
        pytest.param(lambda: mean_difference([0.0] * 9, level=95), "0.95", id="level-in-per-cent"),
        pytest.param(lambda: wilson(11, 10), "sum 11", id="more-than-all"),
        pytest.param(lambda: pass_at_k(1, 2, 0), "at least 1", id="no-draw"),
        pytest.param(lambda: pass_hat_k(3, 2, 1), "3 of 2", id="more-passed-than-tried"),
        pytest.param(lambda: mcnemar(-1, 2), "negative", id="negative-count"),
        pytest.param(lambda: holm([1.5], 0.05), "1.5", id="no-p"),
        pytest.param(lambda: region(None, 10), "0.10", id="margin-in-points"),
        pytest.param(lambda: worth(0, 0.5), "1 or more", id="no-trial"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_what(said: Callable[[], Any], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        said()


# ---------------------------------------------------------------- regions, and what can be reached


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.09, 0.05, Region.PASS),
        (-0.10, 0.05, Region.INCONCLUSIVE),
        (-0.30, 0.0, Region.INCONCLUSIVE),
        (-0.30, -0.01, Region.FAIL),
        (-0.30, -0.10, Region.FAIL),
        (-0.30, -0.11, Region.FAIL_BY_MARGIN),
        (-0.08, -0.02, Region.PASS),
        (0.02, 0.09, Region.PASS),
    ],
)
def test_a_region_is_where_the_interval_lies(low: float, high: float, expected: Region) -> None:
    assert region(Interval(low, high, 0.95, "given"), 0.10) is expected
    assert expected.fails == (expected in (Region.FAIL, Region.FAIL_BY_MARGIN))


def test_without_an_interval_a_rule_is_invalid() -> None:
    assert region(mean_difference([-1.0] * 5), 0.10) is Region.INVALID


def test_forty_scenarios_at_five_trials_cannot_fail_under_holm() -> None:
    # The smallest p of five trials against five is 1 of 252, and Holm begins at 0.05 / 40.
    smallest = smallest_stratified([(5, 5)])
    assert smallest == pytest.approx(1 / 252)
    assert not holm_can_reject([smallest] * 40, 0.05)
    assert holm_can_reject([smallest] * 12, 0.05)


def test_the_smallest_p_is_the_one_of_the_worst_outcome() -> None:
    assert smallest_sign_flip(9) == pytest.approx(sign_flip([-1.0] * 9).p_worse) == mcnemar(9, 0).p_worse
    trials = [(5, 5), (3, 4), (1, 1)]
    worst = stratified_exact([(m, m) for m, _ in trials], [(0, n) for _, n in trials])
    assert smallest_stratified(trials) == pytest.approx(worst.p_worse)


@pytest.mark.parametrize(
    ("n_units", "can_fail", "can_pass"),
    [(0, False, False), (7, False, False), (8, True, False), (34, True, False), (35, True, True)],
)
def test_a_gate_of_ten_points_needs_35_units_to_pass_and_8_to_fail(
    n_units: int, can_fail: bool, can_pass: bool
) -> None:
    reach = reach_of_gate(n_units, 0.10)
    assert (reach.can_fail, reach.can_pass) == (can_fail, can_pass)
    assert reach.smallest_p == 0.5**n_units


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1, 0.25, 0.5])
def test_the_fewest_units_that_pass_are_the_first_that_can(margin: float) -> None:
    fewest = fewest_units(margin)
    assert fewest is not None
    assert reach_of_gate(fewest, margin).can_pass
    assert fewest == MIN_DIFFERENCES or not reach_of_gate(fewest - 1, margin).can_pass
    assert fewest_units(0) is None


def test_these_cases_need_as_many_pairs_of_trials_and_not_so_many_cases() -> None:
    assert reach_within([(5, 5)] * 7, 0.10).can_pass
    assert not reach_within([(5, 5)] * 6, 0.10).can_pass
    assert reach_within([(5, 5)] * 2, 0.10).can_fail
    assert not reach_within([(1, 1)] * 4, 0.10).can_fail


# ---------------------------------------------------------------- cost, and what is missing


def test_the_room_is_imported_without_numpy() -> None:
    code = (
        "import sys, harness.statistics; print(sorted({'numpy', 'scipy', 'statsmodels', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=REPO, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_library_that_is_missing_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ConfigurationError, match=r"'numpy'.*pip install 'agent-loop-harness\[evaluate\]'"):
        mean_difference([0.0] * 9)
    with pytest.raises(ValueError, match="of another kind"), libraries():
        raise ValueError("of another kind")


def test_a_heavy_case_that_wavers_does_not_hide_behind_many_light_ones() -> None:
    arm = [(2, 4)] + [(4, 4)] * 10
    interval = within_cases(arm, arm, [0.5] + [0.05] * 10)
    assert interval is not None
    # Of the heavy case alone: half the weight, times the difference of two shares of four trials at one half.
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * 0.5 * (2 * 0.25 / 4) ** 0.5, rel=0.2)


def test_weights_and_trials_that_are_all_alike_change_nothing() -> None:
    base, candidate = [(5, 5)] * 9 + [(2, 5)], [(5, 5)] * 8 + [(3, 5), (0, 5)]
    assert within_cases(base, candidate, [0.1] * 10) == within_cases(base, candidate)
