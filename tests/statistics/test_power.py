"""Power of the paired non-inferiority comparison, against published values, another library, and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm, t
from statsmodels.stats.power import TTestPower

from harness.errors import UsageError
from harness.statistics.power import (
    Spread,
    all_pass_variance,
    power,
    smallest_margin,
    spread_assumed,
    spread_of_one_arm,
    spread_of_pilot,
    units_needed,
    upper_factor,
)


# S. Pardo, "Equivalence and Noninferiority Tests for Quality, Manufacturing and Test Engineers" (2013), page 128: one
# mean, 20 units, standard deviation 3.5, one-sided 0.05. The table gives the probability of not rejecting.
@pytest.mark.parametrize(
    ("distance", "published"),
    [(4.0, 0.00053), (3.5, 0.00390), (3.0, 0.02033), (2.5, 0.07597), (2.0, 0.20668), (1.5, 0.41961), (1.0, 0.66005), (0.5, 0.84815), (0.0, 0.95)],
    ids=str,
)
def test_power_is_that_of_a_published_table(distance: float, published: float) -> None:
    assert 1 - power(20, 3.5**2, distance, alpha=0.10) == pytest.approx(published, abs=6e-6)


# J. Cohen, "Statistical Power Analysis for the Behavioral Sciences" (1988), and the tables of one-sample t tests built on
# it: power 0.8 at an effect of 0.5 needs 27 (one-sided 0.05) and 34 (two-sided 0.05, whose other side is empty).
@pytest.mark.parametrize(
    ("effect", "alpha", "published"),
    [pytest.param(0.5, 0.10, 27, id="medium-one-sided"), pytest.param(0.5, 0.05, 34, id="medium-two-sided"), pytest.param(0.2, 0.05, 199, id="small-two-sided"), pytest.param(0.8, 0.05, 15, id="large-two-sided")],
)
def test_units_needed_are_those_of_published_tables(effect: float, alpha: float, published: int) -> None:
    assert units_needed(1.0, effect, wanted=0.8, alpha=alpha) == published


# S.-C. Chow, J. Shao, H. Wang, "Sample Size Calculations in Clinical Research" (2008), page 52: by the normal distribution
# 7 units show a margin of 0.5 with a true difference of 0.5, power 0.8, one-sided 0.05. The t test needs one more.
def test_units_needed_are_one_more_than_the_normal_formula_says() -> None:
    assert math.ceil(((norm.isf(0.05) + norm.isf(0.2)) / 1.0) ** 2) == 7
    assert units_needed(1.0, 0.5, difference=0.5, wanted=0.8, alpha=0.10) == 8


@given(st.integers(2, 400), st.floats(0.001, 1.0), st.floats(0.005, 0.5), st.sampled_from([0.01, 0.05, 0.1]))
def test_power_without_added_units_is_that_of_statsmodels(n: int, variance: float, margin: float, alpha: float) -> None:
    effect = margin / math.sqrt(variance)
    theirs = 1.0 if effect * math.sqrt(n) > 30 else TTestPower().power(effect, n, alpha / 2, alternative="larger")
    assert power(n, variance, margin, alpha=alpha) == pytest.approx(theirs, abs=1e-6)


def test_power_at_a_true_difference_of_minus_the_margin_is_the_error_of_one_side() -> None:
    assert power(60, 0.2, 0.1, difference=-0.1) == pytest.approx(0.025, abs=1e-9)
    assert power(60, 0.2, 0.1, difference=-0.1, n_added=2) < 0.025


@pytest.mark.parametrize(("n", "variance", "margin"), [(20, 0.05, 0.2), (60, 0.2, 0.15), (12, 0.3, 0.5)])
def test_power_with_added_units_is_what_a_simulation_finds(n: int, variance: float, margin: float) -> None:
    drawn = np.random.default_rng(1).normal(0, math.sqrt(variance), (60_000, n))
    both = np.concatenate([drawn, np.ones((len(drawn), 1)), -np.ones((len(drawn), 1))], axis=1)
    low = both.mean(axis=1) - t.ppf(0.975, n + 1) * both.std(axis=1, ddof=1) / math.sqrt(n + 2)
    assert power(n, variance, margin, n_added=2) == pytest.approx((low > -margin).mean(), abs=0.006)


def test_a_candidate_that_is_worse_by_the_margin_fails_as_often_as_an_equal_one_passes() -> None:
    n, variance, margin = 40, 0.1, 0.15
    drawn = np.random.default_rng(3).normal(-margin, math.sqrt(variance), (40_000, n))
    high = drawn.mean(axis=1) + t.ppf(0.975, n - 1) * drawn.std(axis=1, ddof=1) / math.sqrt(n)
    assert power(n, variance, margin) == pytest.approx((high < 0).mean(), abs=0.007)


@pytest.mark.parametrize("n_added", [0, 2])
def test_the_smallest_margin_has_just_the_wanted_power(n_added: int) -> None:
    margin = smallest_margin(30, 0.08, wanted=0.8, n_added=n_added)
    assert power(30, 0.08, margin, n_added=n_added) == pytest.approx(0.8, abs=1e-6)


def test_cases_that_never_change_still_have_a_smallest_margin_under_the_interval_with_added_units() -> None:
    half = t.ppf(0.975, 21) * math.sqrt(2 / (22 * 21))
    assert smallest_margin(20, 0.0, n_added=2) == pytest.approx(half, abs=1e-8)


@pytest.mark.parametrize("n_added", [0, 2])
def test_the_units_needed_are_the_fewest(n_added: int) -> None:
    needed = units_needed(0.15, 0.1, n_added=n_added)
    assert needed is not None
    assert power(needed, 0.15, 0.1, n_added=n_added) >= 0.8 > power(needed - 1, 0.15, 0.1, n_added=n_added)


def test_no_number_of_units_shows_that_a_worse_candidate_is_not_worse() -> None:
    assert units_needed(0.1, 0.1, difference=-0.1) is None


@pytest.mark.parametrize("n", [0, 1])
def test_one_unit_decides_nothing(n: int) -> None:
    assert power(n, 0.1, 0.5) == 0.0
    assert math.isinf(smallest_margin(n, 0.1))


# ---------------------------------------------------------------- spreads


def test_the_parts_of_a_pilot_are_found_again() -> None:
    """Cases of beta distributed pass rates, of which a third change to a rate of their own."""
    source = np.random.default_rng(2)
    n, trials, rate, correlation, changing = 6000, 5, 0.8, 0.4, 1 / 3
    size = 1 / correlation - 1
    before, after = (beta.rvs(rate * size, (1 - rate) * size, size=n, random_state=source) for _ in range(2))
    rates = np.where(source.random(n) < changing, after, before)
    base = [(int(k), trials) for k in source.binomial(trials, before)]
    candidate = [(int(k), trials) for k in source.binomial(trials, rates)]
    seen, assumed = spread_of_pilot(base, candidate), spread_assumed(rate, correlation, changing)
    assert seen.between == pytest.approx(assumed.between, rel=0.12)
    assert seen.within_base == pytest.approx(assumed.within_base, rel=0.05)
    assert seen.pass_rate == pytest.approx(rate, abs=0.01)
    one_arm = spread_of_one_arm(base, changing)
    assert one_arm.between == pytest.approx(assumed.between, rel=0.12)
    for other_trials in (1, 3, 20):
        assert seen.difference(other_trials) == pytest.approx(assumed.difference(other_trials), rel=0.1)


def test_more_trials_make_only_the_inner_part_smaller() -> None:
    spread = Spread(0.04, 0.1, 0.2, 0.8)
    assert [spread.difference(n) for n in (1, 3, math.inf)] == pytest.approx([0.34, 0.14, 0.04])


def test_a_pilot_with_one_trial_a_case_promises_nothing_of_more_trials() -> None:
    spread = spread_of_pilot([(1, 1), (0, 1), (1, 1), (1, 1)], [(1, 1), (1, 1), (0, 1), (1, 1)])
    assert (spread.within_base, spread.within_candidate) == (0, 0)
    assert spread.difference(1) == spread.difference(100) == pytest.approx(2 / 3)


def test_a_pilot_in_which_nothing_changed_does_not_know_that_nothing_changes() -> None:
    spread = spread_of_pilot([(5, 5)] * 30, [(5, 5)] * 30)
    assert spread.between == pytest.approx(3 / 30, rel=0.06)  # the rule of three


def test_units_without_trials_in_an_arm_are_no_pilot() -> None:
    with pytest.raises(UsageError, match="1 units with trials under both arms"):
        spread_of_pilot([(1, 2), (0, 0)], [(1, 2), (1, 2)])
    with pytest.raises(UsageError, match="at least two"):
        spread_of_one_arm([(1, 2)], 0.2)


@pytest.mark.parametrize("wrong", [(1.2, 0.3, 0.1), (0.5, -0.1, 0.1), (0.5, 0.3, 7.0)], ids=str)
def test_assumptions_that_are_no_shares_are_refused(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        spread_assumed(*wrong)


def test_the_assumed_spread_of_one_trial_is_the_share_of_flips() -> None:
    """With one deterministic trial a case, a difference is -1, 0 or 1: its variance is how often it is not 0."""
    assert spread_assumed(0.9, 1.0, 0.2).difference(1) == pytest.approx(0.2 * 2 * 0.9 * 0.1)


# R. H. Browne, "On the use of a pilot sample for sample size determination", Statistics in Medicine 14 (1995) 1933-1940:
# an upper one-sided 80 % limit is (n - 1) / (the 20 % point of chi squared); 19 / 13.716 at 20 units.
def test_a_small_pilot_may_have_missed_much_of_the_spread() -> None:
    assert upper_factor(Spread(0.1, 0, 0, 0.5, n_units=20)) == pytest.approx(19 / 13.716, rel=1e-4)
    assert upper_factor(Spread(0.1, 0, 0, 0.5)) == 1.0


@pytest.mark.parametrize("trials", [1, 3, 5])
def test_the_variance_of_all_pass_units_is_what_a_simulation_finds(trials: int) -> None:
    source, n, rate, correlation, changing = np.random.default_rng(8), 200_000, 0.85, 0.5, 0.3
    size = 1 / correlation - 1
    before, after = (source.beta(rate * size, (1 - rate) * size, n) for _ in range(2))
    rates = np.where(source.random(n) < changing, after, before)
    differences = (source.random(n) < rates**trials).astype(float) - (source.random(n) < before**trials)
    assert all_pass_variance(rate, correlation, changing, trials) == pytest.approx(differences.var(), rel=0.03)


def test_the_variance_of_all_pass_units_that_always_agree_is_that_of_their_flips() -> None:
    assert all_pass_variance(0.9, 1.0, 0.2, 5) == pytest.approx(0.2 * 2 * 0.9 * 0.1)
