"""Laws of the statistics, against enumeration and against definitions solved another way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import f_oneway

from harness.statistics import (
    MIN_DIFFERENCES,
    false_alarm_rate,
    flakes,
    holm,
    intraclass_correlation,
    mcnemar,
    mean_difference,
    pass_at_k,
    pass_hat_k,
    repeatability,
    sign_flip,
    stratified_exact,
    wilson,
    within_cases,
    worth,
)
from harness.statistics.noise import mean_squares
from harness.statistics.score import score_bounds

FIFTHS = st.integers(-5, 5).map(lambda fifths: fifths / 5)
MIXED = st.builds(lambda a, m, b, n: min(a, m) / m - min(b, n) / n, *(st.integers(0, 4), st.integers(1, 4)) * 2)
COUNTS = st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
ARMS = st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=30)


# ---------------------------------------------------------------- exact tests


@given(st.lists(MIXED, max_size=10))
def test_sign_flip_counts_every_assignment_of_signs(differences: list[float]) -> None:
    seen = sum(differences)
    sums = [
        sum(d * sign for d, sign in zip(differences, signs, strict=True))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    p = sign_flip(differences)
    assert p.p_worse == pytest.approx(sum(s <= seen + 1e-9 for s in sums) / len(sums), rel=1e-9)
    assert p.p_better == pytest.approx(sum(s >= seen - 1e-9 for s in sums) / len(sums), rel=1e-9)


def deals(base: tuple[int, int], candidate: tuple[int, int]) -> list[int]:
    """The candidate's passes in every way to deal the trials of one case to the arms."""
    (base_passed, base_trials), (passed, trials) = base, candidate
    outcomes = [1] * (base_passed + passed) + [0] * (base_trials + trials - base_passed - passed)
    return [sum(dealt) for dealt in combinations(outcomes, trials)]


SMALL = st.integers(0, 3).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(st.lists(st.tuples(SMALL, SMALL), max_size=3))
def test_the_test_within_cases_counts_every_deal_of_trials(arms: list[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    sums = [sum(dealt) for dealt in product(*(deals(*arm) for arm in arms))]
    seen = sum(candidate[0] for _, candidate in arms)
    p = stratified_exact([base for base, _ in arms], [candidate for _, candidate in arms])
    assert p.p_worse == pytest.approx(sum(s <= seen for s in sums) / len(sums), rel=1e-9)
    assert p.p_better == pytest.approx(sum(s >= seen for s in sums) / len(sums), rel=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_at_one_trial_a_case_both_tests_are_mcnemars(outcomes: list[tuple[bool, bool]]) -> None:
    base = [(int(before), 1) for before, _ in outcomes]
    candidate = [(int(after), 1) for _, after in outcomes]
    expected = mcnemar(sum(b and not c for b, c in outcomes), sum(c and not b for b, c in outcomes))
    for p in (stratified_exact(base, candidate), sign_flip([int(c) - int(b) for b, c in outcomes])):
        assert (p.p_worse, p.p_better, p.p_two_sided) == pytest.approx(
            (expected.p_worse, expected.p_better, expected.p_two_sided), rel=1e-9
        )


@given(ARMS)
def test_arms_that_change_places_change_worse_with_better(arms: list[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    base, candidate = [arm[0] for arm in arms], [arm[1] for arm in arms]
    there, back = stratified_exact(base, candidate), stratified_exact(candidate, base)
    assert (there.p_worse, there.p_better) == pytest.approx((back.p_better, back.p_worse), rel=1e-9)
    differences = [c / n - b / m for (b, m), (c, n) in arms]
    there, back = sign_flip(differences), sign_flip([-d for d in differences])
    assert (there.p_worse, there.p_better) == pytest.approx((back.p_better, back.p_worse), rel=1e-9)


def test_differences_without_a_common_denominator_give_nearly_the_p_of_their_own() -> None:
    differences = [math.sin(place) * 0.7 - 0.12 for place in range(14)]
    sums = np.array([np.dot(signs, differences) for signs in product((-1, 1), repeat=14)])
    assert sign_flip(differences).p_worse == pytest.approx(float((sums <= sum(differences) + 1e-12).mean()), abs=2e-3)


def test_a_hundred_thousand_units_are_tested_at_once() -> None:
    chance = np.random.default_rng(5)
    differences = (chance.integers(0, 6, 100_000) - chance.integers(0, 6, 100_000)) / 5
    p = sign_flip(differences.tolist())
    z = differences.sum() / math.sqrt((differences**2).sum())
    assert p.p_better == pytest.approx(0.5 * math.erfc(z / math.sqrt(2)), abs=1e-3)


# ---------------------------------------------------------------- intervals


@given(st.lists(FIFTHS, min_size=MIN_DIFFERENCES, max_size=60))
def test_the_interval_of_a_difference_holds_the_mean_and_turns_with_the_signs(differences: list[float]) -> None:
    interval, turned = mean_difference(differences), mean_difference([-d for d in differences])
    assert interval is not None
    assert turned is not None
    assert -1 <= interval.low <= math.fsum(differences) / len(differences) + 1e-9
    assert math.fsum(differences) / len(differences) - 1e-9 <= interval.high <= 1
    assert (interval.low, interval.high) == pytest.approx((-turned.high, -turned.low), abs=1e-9)
    assert interval.low < interval.high


@given(st.lists(FIFTHS, min_size=MIN_DIFFERENCES, max_size=40))
def test_an_interval_excludes_nothing_that_the_exact_test_does_not(differences: list[float]) -> None:
    interval, p = mean_difference(differences), sign_flip(differences)
    assert interval is not None
    if interval.high < 0:
        assert p.p_worse <= 0.025
    if interval.low > 0:
        assert p.p_better <= 0.025


@given(ARMS)
def test_the_interval_within_cases_holds_the_mean_and_agrees_with_its_test(
    arms: list[tuple[tuple[int, int], tuple[int, int]]],
) -> None:
    base, candidate = [arm[0] for arm in arms], [arm[1] for arm in arms]
    interval = within_cases(base, candidate)
    if interval is None:
        return
    mean = math.fsum(c / n - b / m for (b, m), (c, n) in arms) / len(arms)
    assert -1 <= interval.low <= mean + 1e-9
    assert mean - 1e-9 <= interval.high <= 1
    if interval.high < 0:
        assert stratified_exact(base, candidate, [1 / len(base)] * len(base)).p_worse <= 0.025


def likeliest_variance(values: Sequence[float], mean: float) -> float:
    """Of the likeliest distribution with this mean (below that of the values), by its Lagrange multiplier."""
    if mean <= -1:
        return 0.0
    array, limit = np.asarray(values), 1 / (1 + mean)

    def tilt(multiplier: float) -> float:
        return float(((array - mean) / (1 + multiplier * (array - mean))).sum())

    new_mass = array.min() > -1 and tilt(limit) > 0
    multiplier = limit if new_mass else brentq(tilt, 0.0, limit * (1 - 1e-12), xtol=1e-15)
    mass = 1 / len(values) / (1 + multiplier * (array - mean))
    on_floor = 1 - mass.sum() if new_mass else 0.0
    return float((mass * (array - mean) ** 2).sum() + on_floor * (1 + mean) ** 2)


@given(st.lists(FIFTHS, min_size=8, max_size=30), st.sampled_from([0.8, 0.95, 0.99]))
@settings(max_examples=60)
def test_the_lower_bound_is_where_the_score_says(differences: list[float], level: float) -> None:
    values, counts = np.unique(differences, return_counts=True)
    low = float(score_bounds(counts[None, :].astype(float), values, level)[0][0])
    mean, n = float(np.mean(differences)), len(differences)
    z_squared = {0.8: 1.642375, 0.95: 3.841459, 0.99: 6.634897}[level]
    if -1 + 1e-6 < low < mean - 1e-6:
        assert n * (mean - low) ** 2 == pytest.approx(z_squared * likeliest_variance(differences, low), rel=1e-4)
    else:
        assert low <= -1 + 1e-6 or len(values) == 1


@given(st.integers(10, 300), st.floats(0, 1), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_wilsons_interval_holds_the_rate_and_lies_in_0_to_1(n: int, rate: float, level: float) -> None:
    interval, turned = wilson(rate * n, n, level), wilson((1 - rate) * n, n, level)
    assert interval is not None
    assert turned is not None
    assert 0 <= interval.low <= rate + 1e-12
    assert rate - 1e-12 <= interval.high <= 1
    assert (interval.low, interval.high) == pytest.approx((1 - turned.high, 1 - turned.low), abs=1e-9)


# ---------------------------------------------------------------- several tests, draws, noise


@given(st.lists(st.sampled_from([0.0, 0.001, 0.005, 0.0125, 0.02, 0.04, 0.3, 1.0]), max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(p: list[float]) -> None:
    places = range(len(p))
    groups = [group for size in range(1, len(p) + 1) for group in combinations(places, size)]
    rejected = {group: min(p[place] for place in group) <= 0.05 / len(group) for group in groups}
    assert holm(p, 0.05) == tuple(all(rejected[group] for group in groups if place in group) for place in places)


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))))
def test_pass_k_counts_every_draw(given_counts: tuple[int, int, int]) -> None:
    c, n, k = given_counts
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_hat_k(c, n, k) == pytest.approx(sum(map(all, draws)) / len(draws))
    assert pass_at_k(c, n, k) == pytest.approx(sum(map(any, draws)) / len(draws))


@given(st.lists(COUNTS, min_size=2, max_size=12))
def test_the_mean_squares_are_those_of_an_analysis_of_variance(counts: list[tuple[int, int]]) -> None:
    squares = mean_squares(counts)
    if squares is None or squares[1] < 1e-12:
        return
    f = f_oneway(*([1.0] * passed + [0.0] * (trials - passed) for passed, trials in counts)).statistic
    between, within, size = squares
    assert between / within == pytest.approx(f, rel=1e-6, abs=1e-9)
    assert intraclass_correlation(counts) == pytest.approx((f - 1) / (f + size - 1), rel=1e-6, abs=1e-9)


@given(st.integers(1, 50), st.floats(-1, 1))
def test_trials_are_worth_between_one_and_their_number(trials: int, icc: float) -> None:
    assert 1 - 1e-9 <= worth(trials, icc) <= trials + 1e-9


@given(st.lists(COUNTS, max_size=20))
def test_what_is_not_repeatable_is_flaky(counts: list[tuple[int, int]]) -> None:
    several = [each for each in counts if each[1] > 1]
    share = repeatability(counts)
    assert share == (pytest.approx(1 - len(flakes(counts)) / len(several)) if several else None)


def test_the_gate_alarms_as_often_between_halves_as_it_would_in_half_the_trials() -> None:
    noisy = [[(2, 4)] for _ in range(12)] + [[(4, 4)] for _ in range(12)]
    found = false_alarm_rate(noisy, 0.10, n_splits=400, seed=3)
    assert found is not None
    assert found == false_alarm_rate(noisy, 0.10, n_splits=400, seed=3)
    assert 0 < found.fail_share <= 0.05
    assert found.n_splits == 400
    steady = false_alarm_rate([[(5, 5)]] * 40, 0.10)
    assert steady is not None
    assert (steady.fail_share, steady.pass_share) == (0.0, 1.0)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from((17, 19, 23, 29, 31, 37)).flatmap(
            lambda n: st.builds(Fraction, st.integers(-n, n), st.just(n))
        ),
        min_size=4,
        max_size=6,
    )
)
def test_sums_that_are_equal_stay_so_whatever_the_denominators(half: list[Fraction]) -> None:
    """Each difference comes twice, so that very many assignments of signs have exactly the sum that was seen."""
    differences = [*half, *half]
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    p = sign_flip([float(d) for d in differences])
    assert p.p_worse == pytest.approx(sum(each <= sum(differences) for each in sums) / len(sums), abs=1e-12)
    assert p.p_better == pytest.approx(sum(each >= sum(differences) for each in sums) / len(sums), abs=1e-12)


def test_equal_sums_of_more_units_than_can_be_listed_make_no_p_too_small() -> None:
    """By a sum over all denominators at once, as whole numbers: 24 units of 12 sizes."""
    denominators = (17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61)
    differences = [Fraction(k % 7 - 5, n) for k, n in enumerate(denominators)] + [Fraction(1, n) for n in denominators]
    scale = math.lcm(*denominators)
    whole = [int(each * scale) for each in differences]
    sums = np.zeros(1, dtype=object)
    for size in whole[:12]:
        sums = np.concatenate([sums - size, sums + size])
    others = np.zeros(1, dtype=object)
    for size in whole[12:]:
        others = np.concatenate([others - size, others + size])
    others = np.sort(others)
    at_most = int(np.searchsorted(others, sum(whole) - sums, side="right").sum())
    true = at_most / 2 ** len(whole)
    assert true <= sign_flip([float(each) for each in differences]).p_worse <= true + 5e-3
