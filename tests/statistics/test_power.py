"""How likely the gate passes: against exact sums, published sizes, another library, and formulas for many units."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import beta, multinomial, norm
from statsmodels.stats.power import TTestPower

from harness.statistics.difference import MIN_DIFFERENCES, mean_difference
from harness.statistics.differences import Differences, differences_of_all_pass, differences_of_rates
from harness.statistics.power import MOST, Belief, Reckoning, bounds_of, bounds_over_units, bounds_within_cases
from harness.statistics.spread import Spread, spread_assumed
from harness.statistics.within import within_cases
from harness.types.evaluation import Metric

SPREAD = spread_assumed(0.85, 0.6, 0.15)


def over_units(spread: Spread = SPREAD, trials: float = 5, **more: object) -> Reckoning:
    return Reckoning.of(bounds_over_units(Belief(spread, trials, **more)))  # type: ignore[arg-type]


def flips(worse: float, better: float, level: float = 0.95) -> Reckoning:
    """Units with one outcome in each arm."""
    return Reckoning.of(
        bounds_of(Differences(np.array([-1.0, 0.0, 1.0]), np.array([worse, 1 - worse - better, better])), level)
    )


@pytest.mark.parametrize(
    ("n", "worse", "better", "margin"), [(12, 0.1, 0.1, 0.3), (25, 0.05, 0.1, 0.1), (30, 0.02, 0.02, 0.12)]
)
def test_the_power_of_one_trial_a_case_is_the_exact_sum_over_all_outcomes(
    n: int, worse: float, better: float, margin: float
) -> None:
    total = 0.0
    for n_worse, n_better in product(range(n + 1), repeat=2):
        n_same = n - n_worse - n_better
        if n_same < 0:
            continue
        found = mean_difference([-1.0] * n_worse + [0.0] * n_same + [1.0] * n_better)
        assert found is not None
        if found.low > -margin:
            total += multinomial.pmf([n_worse, n_same, n_better], n, [worse, 1 - worse - better, better])
    assert flips(worse, better).power(n, margin) == pytest.approx(total, abs=0.025)


# R. J. Connor, "Sample size for testing differences in proportions for the paired-sample design", Biometrics 43 (1987), page
# 209: discordant shares 0.45 and 0.05 need 23 pairs, one-sided 0.05 with power 0.9 and two-sided 0.05 with power 0.8.
@pytest.mark.parametrize(("level", "wanted"), [(0.90, 0.9), (0.95, 0.8)])
def test_at_a_margin_of_nothing_the_pairs_needed_are_the_published_ones(level: float, wanted: float) -> None:
    reckoned = flips(0.05, 0.45, level)
    assert reckoned.power(23, 0.0) == pytest.approx(wanted, abs=0.06)  # 23 pairs make steps of 0.05
    assert reckoned.needed(0.0, wanted) == pytest.approx(23, abs=3)


def restricted(worse: float, better: float, margin: float) -> float:
    """The variance of a difference at -margin, by the closed form of T. Tango (1998): worse = better + margin there."""
    b = -(better + worse) - margin * (better - worse + 2)  # 2 q^2 + b q + c = 0 for q, the share that is worse
    c = margin * (margin + 1) * worse
    q = (-b + math.sqrt(b * b - 8 * c)) / 4
    return 2 * q - margin - margin * margin


# H. Liu, J.-P. Hsueh, E. Hsieh, J. J. Chen, "Tests for equivalence or non-inferiority for paired binary data", Statistics in
# Medicine 21 (2002) 231-245, the power of the test with restricted likelihood; it holds for many pairs.
@pytest.mark.parametrize(
    ("n", "worse", "better", "margin"),
    [(300, 0.1, 0.1, 0.07), (500, 0.05, 0.05, 0.04), (200, 0.2, 0.25, 0.08), (800, 0.03, 0.02, 0.03)],
)
def test_the_power_of_many_pairs_is_that_of_the_published_formula(
    n: int, worse: float, better: float, margin: float
) -> None:
    error, chance = math.sqrt(restricted(worse, better, margin)), math.sqrt(worse + better - (better - worse) ** 2)
    published = norm.cdf((math.sqrt(n) * (margin + better - worse) - norm.isf(0.025) * error) / chance)
    assert flips(worse, better).power(n, margin) == pytest.approx(published, abs=0.03)


@pytest.mark.parametrize(("n", "margin"), [(150, 0.06), (300, 0.04), (600, 0.03)])
def test_the_power_of_many_units_and_trials_is_that_of_the_paired_t_test(n: int, margin: float) -> None:
    spread = spread_assumed(0.6, 0.4, 0.4)
    theirs = TTestPower().power(margin / math.sqrt(spread.difference(20)), n, 0.025, alternative="larger")
    assert over_units(spread, 20).power(n, margin) == pytest.approx(theirs, abs=0.03)


@pytest.mark.parametrize("spread", [SPREAD, spread_assumed(0.95, 0.8, 0.3), spread_assumed(0.6, 0.2, 0.1)], ids=str)
@pytest.mark.parametrize("n", [20, 60, 200])
def test_a_candidate_that_is_worse_by_the_margin_passes_hardly_ever(spread: Spread, n: int) -> None:
    assert over_units(spread, 4, difference=-0.15).power(n, 0.15) <= 0.045


def test_more_units_and_more_trials_have_more_power_and_smaller_margins() -> None:
    found = [[over_units(trials=trials).smallest_margin(n, 0.8) for n in (30, 60, 120, 240)] for trials in (1, 3, 9)]
    assert (np.diff(found, axis=0) < 0).all()
    assert (np.diff(found, axis=1) < 0).all()


def test_the_smallest_margin_is_passed_with_just_the_wanted_power() -> None:
    reckoned = over_units()
    margin = reckoned.smallest_margin(60, 0.8)
    assert reckoned.power(60, margin + 1e-9) >= 0.8 > reckoned.power(60, margin - 0.01)


def test_the_needed_units_have_the_wanted_power_and_much_fewer_have_not() -> None:
    reckoned = over_units(trials=1)
    needed = reckoned.needed(0.10, 0.8)
    assert needed is not None
    assert reckoned.power(needed, 0.10) >= 0.8 > reckoned.power(int(needed * 0.93), 0.10)


def test_units_that_never_differ_still_need_enough_of_them() -> None:
    reckoned = over_units(Spread(0.0, 0.0, 0.0, 1 - 1e-6), 1)
    assert reckoned.needed(0.10, 0.8) == pytest.approx(35, abs=1)  # 1.96 squared times (1 / margin - 1)


def test_nothing_shows_that_a_worse_candidate_is_not_worse() -> None:
    assert over_units(difference=-0.10).needed(0.10, 0.8) is None


@pytest.mark.parametrize("n", [0, 1, MIN_DIFFERENCES - 1])
def test_so_few_units_that_no_interval_is_shown_pass_nothing(n: int) -> None:
    assert over_units().power(n, 1.0) == 0.0
    assert math.isinf(over_units().smallest_margin(n, 0.8))


def test_the_same_seed_finds_the_same_and_another_nearly_the_same() -> None:
    assert over_units().power(60, 0.1) == over_units().power(60, 0.1)
    assert over_units(seed=1).power(60, 0.1) == pytest.approx(over_units(seed=2).power(60, 0.1), abs=0.03)


def test_these_cases_leave_nothing_to_chance_with_trials_without_end() -> None:
    assert Reckoning.of(bounds_within_cases(Belief(SPREAD, math.inf))).smallest_margin(10, 0.8) == 0.0


def within(changing: float, metric: Metric, difference: float = 0.0) -> Reckoning:
    return Reckoning.of(bounds_within_cases(Belief(spread_assumed(0.9, 0.6, changing), 5, metric, difference)))


@pytest.mark.parametrize(("metric", "margin"), [(Metric.CASE_PASS_RATE, 0.05), (Metric.PASS_HAT_K, 0.12)])
def test_these_cases_lose_power_to_cases_that_change(metric: Metric, margin: float) -> None:
    none, some, many = (within(changing, metric).power(60, margin) for changing in (0.0, 0.2, 0.6))
    assert none > some + 0.02
    assert some > many + 0.02


@pytest.mark.parametrize(
    ("n", "metric", "changing", "margin"),
    [(100, Metric.PASS_HAT_K, 0.2, 0.10), (100, Metric.PASS_HAT_K, 0.0, 0.10), (60, Metric.CASE_PASS_RATE, 0.2, 0.05)],
)
def test_the_power_over_these_cases_is_how_often_the_gate_passes(
    n: int, metric: Metric, changing: float, margin: float
) -> None:
    """The cases that change exchange their rates: what is true of all of them stays."""
    source, n_times, size = np.random.default_rng(n), 300, 1 / 0.6 - 1
    before = beta.ppf((np.arange(n) + 0.5) / n, 0.9 * size, 0.1 * size)
    passes = 0
    for _ in range(n_times):
        after, chosen = before.copy(), source.choice(n, round(changing * n), replace=False)
        after[chosen] = before[np.roll(chosen, 1)]
        drawn = [source.binomial(5, rates) for rates in (before, after)]
        sides = [[(int(c == 5), 1) if metric is Metric.PASS_HAT_K else (int(c), 5) for c in side] for side in drawn]
        found = within_cases(*sides, [1 / n] * n)
        passes += found is not None and found.low > -margin
    assert within(changing, metric).power(n, margin) == pytest.approx(passes / n_times, abs=0.07)


def test_a_loss_that_some_cases_carry_costs_fewer_cases_their_every_trial() -> None:
    """Spread over all cases 3 points a trial would cost 13 points of cases that pass always."""
    assert within(0.2, Metric.PASS_HAT_K, -0.03).power(100, 0.15) > 0.6


def test_many_cases_are_reckoned_like_the_few_that_are_drawn() -> None:
    drawn, all_of_them = (
        Reckoning.of(bounds_within_cases(Belief(SPREAD, 1))).smallest_margin(n, 0.8) for n in (300, 1200)
    )
    assert all_of_them == pytest.approx(drawn / 2, rel=0.08)
    assert Reckoning.of(bounds_within_cases(Belief(SPREAD, 1))).power(MOST, 0.01) == 1.0


# ---------------------------------------------------------------- differences


@pytest.mark.parametrize("trials", [1, 3, 10])
@pytest.mark.parametrize("assumed", [(0.85, 0.6, 0.15), (0.5, 0.0, 0.0), (0.97, 1.0, 0.4)], ids=str)
def test_differences_vary_as_their_spread_says(trials: int, assumed: tuple[float, float, float]) -> None:
    spread = spread_assumed(*assumed)
    values, probabilities = differences_of_rates(spread, trials)
    assert probabilities.sum() == pytest.approx(1)
    assert values @ probabilities == pytest.approx(0, abs=1e-9)
    assert values**2 @ probabilities == pytest.approx(spread.difference(trials), rel=1e-4)


@pytest.mark.parametrize("difference", [-0.3, -0.05, 0.05, 0.1])
@pytest.mark.parametrize("changing", [0.0, 0.2, 1.0])
def test_differences_have_the_mean_that_is_planned_for(difference: float, changing: float) -> None:
    values, probabilities = differences_of_rates(spread_assumed(0.85, 0.6, changing), 4, difference)
    assert values @ probabilities == pytest.approx(difference, abs=1e-5)


@pytest.mark.parametrize("trials", [1, 4])
def test_units_that_always_pass_come_as_often_as_in_a_simulation(trials: int) -> None:
    source, n, rate, correlation, changing = np.random.default_rng(8), 200_000, 0.85, 0.5, 0.3
    size = 1 / correlation - 1
    before, after = (source.beta(rate * size, (1 - rate) * size, n) for _ in range(2))
    rates = np.where(source.random(n) < changing, after, before)
    drawn = (source.random(n) < rates**trials).astype(int) - (source.random(n) < before**trials)
    found = differences_of_all_pass(spread_assumed(rate, correlation, changing), trials)
    assert found.probabilities == pytest.approx([(drawn == value).mean() for value in (-1, 0, 1)], abs=0.004)


def test_with_one_trial_all_pass_is_the_rate() -> None:
    for one, other in zip(differences_of_all_pass(SPREAD, 1), differences_of_rates(SPREAD, 1), strict=True):
        assert one == pytest.approx(other)
    assert over_units(trials=1, metric=Metric.PASS_HAT_K).power(60, 0.1) == over_units(trials=1).power(60, 0.1)
