"""What a plan believes of differences, from a pilot or from assumptions."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from harness.errors import UsageError
from harness.statistics.spread import Spread, spread_assumed, spread_of_one_arm, spread_of_pilot, upper_factor


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


@pytest.mark.parametrize("assumed", [(0.8, 0.4, 0.3), (0.5, 1.0, 0.1), (0.9, 0.0, 0.0)], ids=str)
def test_a_spread_tells_the_assumptions_that_it_came_from(assumed: tuple[float, float, float]) -> None:
    spread = spread_assumed(*assumed)
    assert (spread.pass_rate, spread.correlation, spread.changing) == pytest.approx(assumed)


def test_a_pilot_in_which_all_passed_does_not_know_that_all_ever_will() -> None:
    spread = spread_of_pilot([(3, 3)] * 12, [(3, 3)] * 12)
    assert 0.85 < spread.pass_rate < 0.95
    assert spread.changing == pytest.approx(1.0)
    one_arm = spread_of_one_arm([(0, 3)] * 12, 0.3)
    assert 0.05 < one_arm.pass_rate < 0.15
    assert one_arm.between > 0


def test_an_enlarged_spread_varies_as_much_more_at_its_trials() -> None:
    spread = spread_assumed(0.7, 0.5, 0.2)
    assert spread.enlarged(1.5, 4).difference(4) == pytest.approx(1.5 * spread.difference(4))
    assert spread.enlarged(1.5, 4).within_base == spread.within_base
    assert spread.enlarged(50, 4).changing == 1.0
