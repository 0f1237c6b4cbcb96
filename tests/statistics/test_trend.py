"""Trends over a factor, against published values."""

import numpy as np
import pytest

from harness.errors import UsageError
from harness.statistics.trend import cochran_armitage, slope_trend, slopes

# Slopes of 18 people over 10 days of little sleep (G. Belenky et al. 2003; the data set sleepstudy of D. Bates et al.,
# "Fitting linear mixed-effects models using lme4", 2015). As every person has all days, the mixed model's test of
# the slope is the t test of these: 10.467, standard error 1.546, t = 6.771.
SLEEP = (
    21.764702, 2.261785, 6.114899, 3.008073, 5.266019, 9.566768, 9.142045, 12.253141, -2.881034,
    19.025974, 13.493933, 19.504017, 6.433498, 13.566549, 11.348109, 18.056151, 9.188445, 11.298073,
)  # fmt: skip


@pytest.mark.parametrize(
    ("passed", "n", "scores", "z", "p"),
    [
        # A. Agresti, "Categorical Data Analysis" (2002), section 5.3.5: z squared 6.57, p = 0.010.
        pytest.param(
            (48, 38, 5, 1, 1),
            (17114, 14502, 793, 127, 38),
            (0, 0.5, 1.5, 4, 7),
            6.57**0.5,
            0.0104,
            id="alcohol-and-malformation",
        ),
        # SAS/STAT User's Guide, example "Cochran-Armitage Trend Test": statistic -4.7918, p below 0.0001.
        pytest.param((26, 26, 23, 18, 9), (32, 33, 32, 32, 32), (0, 1, 2, 3, 4), -4.7918, 1.65e-6, id="doses-and-pain"),
    ],
)
def test_the_trend_of_independent_shares_is_the_published_one(
    passed: tuple[int, ...], n: tuple[int, ...], scores: tuple[float, ...], z: float, p: float
) -> None:
    found = cochran_armitage(passed, n, scores)
    assert found is not None
    assert found.statistic == pytest.approx(z, abs=5e-4)
    assert found.p_two_sided == pytest.approx(p, rel=0.02)
    assert min(found.p_falling, found.p_rising) * 2 == found.p_two_sided
    assert (found.slope < 0) == (found.p_falling < found.p_rising)


def test_the_trend_of_two_groups_is_the_z_test_of_two_shares() -> None:
    found = cochran_armitage((15, 25), (50, 50), (0, 1))
    assert found is not None
    assert found.slope == pytest.approx(0.2)
    assert found.statistic == pytest.approx(0.2 / (0.4 * 0.6 * 2 / 50) ** 0.5)


@pytest.mark.parametrize(
    ("passed", "n", "scores"),
    [
        ((0, 0), (5, 5), (0, 1)),
        ((5, 5), (5, 5), (0, 1)),
        ((2, 3), (5, 5), (4, 4)),
        ((2, 0), (5, 0), (0, 1)),
        ((), (), ()),
    ],
    ids=["none-passed", "all-passed", "one-score", "one-group", "no-group"],
)
def test_where_there_is_no_trend_to_see_none_is_told(
    passed: tuple[int, ...], n: tuple[int, ...], scores: tuple[float, ...]
) -> None:
    assert cochran_armitage(passed, n, scores) is None


@pytest.mark.parametrize(
    ("passed", "n", "scores"), [((6,), (5,), (1,)), ((-1,), (5,), (1,)), ((1, 2), (5, 5), (1,))], ids=str
)
def test_counts_that_cannot_be_are_refused(
    passed: tuple[int, ...], n: tuple[int, ...], scores: tuple[float, ...]
) -> None:
    with pytest.raises(UsageError, match="each score needs"):
        cochran_armitage(passed, n, scores)


def test_the_trend_over_units_is_the_published_one() -> None:
    days = range(10)
    found = slope_trend([[250 + slope * day for day in days] for slope in SLEEP], days)
    assert found is not None
    assert (found.slope, found.standard_error) == (pytest.approx(10.467, abs=5e-4), pytest.approx(1.546, abs=5e-4))
    assert found.statistic == pytest.approx(6.771, abs=1e-3)
    assert found.n_units == 18


def test_the_exact_trend_counts_every_assignment_of_signs() -> None:
    found = slope_trend([[1.0, 0.5], [0.9, 0.7], [0.8, 0.9], [1.0, 0.3]], (0, 10))
    assert found is not None
    assert found.exact is not None
    # Slopes -5, -2, +1, -7 hundredths: of 16 assignments the sums -13 and (with the +1 flipped) -15 are as low.
    assert found.exact.p_worse == pytest.approx(2 / 16)


def test_more_trials_of_the_same_answers_are_no_more_evidence() -> None:
    curves = [[1.0, 0.8, 0.6, 0.2], [0.6, 0.8, 0.4, 0.4], [1.0, 1.0, 1.0, 0.8], [0.2, 0.0, 0.2, 0.0]]
    found = slope_trend(curves, (0, 5, 10, 20))
    repeated = cochran_armitage((14, 13, 11, 7), (20, 20, 20, 20), (0, 5, 10, 20))
    assert found is not None
    assert repeated is not None
    assert found.p_falling > 2 * repeated.p_falling, "trials of a case, counted as cases, pass for more than they are"


def test_values_that_are_missing_leave_a_case_its_slope() -> None:
    assert slopes([[1.0, None, 0.5], [None, None, 0.5], [None, None, None]], (0, 5, 10)) == pytest.approx((-0.05,))


def test_the_order_of_the_scores_does_not_matter() -> None:
    curves = [[0.9, 0.5, 0.1], [0.8, 0.6, 0.5], [1.0, 0.9, 0.4]]
    assert slope_trend(curves, (0, 5, 20)) == slope_trend([curve[::-1] for curve in curves], (20, 5, 0))


@pytest.mark.parametrize(
    "curves", [[], [[1.0, 0.5]], [[1.0, 0.5], [1.0, None]]], ids=["none", "one", "one-with-a-slope"]
)
def test_fewer_than_two_slopes_tell_no_trend(curves: list[list[float | None]]) -> None:
    assert slope_trend(curves, (0, 10)) is None


@pytest.mark.parametrize(
    ("curve", "slope", "falling", "both"),
    [
        pytest.param([1.0, 0.0], -0.1, 2.0**-30, 2.0**-29, id="every-unit-breaks"),
        pytest.param([0.3, 0.2], -0.01, 2.0**-30, 2.0**-29, id="every-unit-falls-alike"),
        pytest.param([0.0, 1.0], 0.1, 1.0, 2.0**-29, id="every-unit-is-mended"),
        pytest.param([0.7, 0.7], 0.0, 1.0, 1.0, id="flat"),
    ],
)
def test_slopes_that_are_all_alike_have_the_exact_test(
    curve: list[float], slope: float, falling: float, both: float
) -> None:
    found = slope_trend([curve] * 30, (0, 10))
    assert found is not None
    assert found.exact is not None
    assert found.slope == pytest.approx(slope)
    assert (found.p_falling, found.p_two_sided) == (pytest.approx(falling), pytest.approx(both))
    assert (found.exact.p_worse, found.exact.p_two_sided) == (found.p_falling, found.p_two_sided)


def test_slopes_that_differ_by_what_arithmetic_leaves_are_alike() -> None:
    found = slope_trend([[0.3, 0.2], [0.2, 0.1], [0.9, 0.8]], (0, 10))
    assert found is not None
    assert found.p_two_sided == pytest.approx(0.25), "of 3 units no p is smaller"


def test_a_curve_of_another_length_is_refused() -> None:
    with pytest.raises(UsageError, match="a curve has 2 values at 3 scores"):
        slope_trend([[1.0, 0.5]], (0, 5, 10))


def test_where_nothing_changes_a_trend_is_seen_as_often_as_it_should() -> None:
    source = np.random.default_rng(9)
    n_times, n_cases, scores = 2000, 20, np.array([0, 5, 10, 20])
    seen = 0
    for _ in range(n_times):
        rates = source.beta(2, 1, n_cases)[:, None]
        curves = source.binomial(5, np.broadcast_to(rates, (n_cases, 4))) / 5
        found = slope_trend(curves.tolist(), scores.tolist())
        seen += found is not None and found.p_two_sided <= 0.05
    assert seen / n_times == pytest.approx(0.05, abs=0.015)
