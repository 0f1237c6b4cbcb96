"""Every statistic against values that somebody else has published; each row names its source."""

from __future__ import annotations

import numpy as np
import pytest

from harness.statistics import (
    holm,
    intraclass_correlation,
    mcnemar,
    pass_at_k,
    pass_hat_k,
    sign_flip,
    stratified_exact,
    wilson,
    worth,
)
from harness.statistics.noise import correlation_of_squares, mean_squares
from harness.statistics.rates import score_of_rate
from harness.statistics.score import score_bounds

FISHER_MAIZE = (49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48)
"""Darwin's fifteen pairs of maize plants, crossed minus self-fertilised, in eighths of an inch."""


@pytest.mark.parametrize(
    ("passed", "n", "plain", "corrected"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, methods 3 and 4
        pytest.param(81, 263, (0.2553, 0.3662), (0.2535, 0.3682), id="newcombe-81-of-263"),
        pytest.param(15, 148, (0.0624, 0.1605), (0.0598, 0.1644), id="newcombe-15-of-148"),
        pytest.param(0, 20, (0.0, 0.1611), (0.0, 0.2005), id="newcombe-0-of-20"),
        pytest.param(1, 29, (0.0061, 0.1718), (0.0018, 0.1963), id="newcombe-1-of-29"),
        pytest.param(20, 20, (0.8389, 1.0), (0.7995, 1.0), id="newcombe-0-of-20-turned-round"),
    ],
)
def test_wilsons_intervals_are_the_published_ones(
    passed: int, n: int, plain: tuple[float, float], corrected: tuple[float, float]
) -> None:
    assert score_of_rate(passed / n, n, 0.95, shift=0) == pytest.approx(plain, abs=5e-5)
    interval = wilson(passed, n)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(corrected, abs=5e-5)


@pytest.mark.parametrize(
    ("worse", "better", "two_sided"),
    [
        # M. P. Fay, The R Journal 2 (2010) 53-58, and the manual of exact2x2: b = 2, c = 9
        pytest.param(9, 2, 0.06543, id="fay-2-and-9"),
        # A. Agresti, Introduction to Categorical Data Analysis: 2 against 8 would be 2 * 56 / 1024
        pytest.param(8, 2, 0.109375, id="binomial-2-of-10"),
        pytest.param(0, 0, 1.0, id="no-discordant-pair"),
        pytest.param(4, 4, 1.0, id="a-tie"),
    ],
)
def test_mcnemars_exact_p_is_the_published_one(worse: int, better: int, two_sided: float) -> None:
    assert mcnemar(worse, better).p_two_sided == pytest.approx(two_sided, abs=5e-6)


def test_fishers_permutation_of_darwins_maize_gives_his_863_of_32768() -> None:
    # R. A. Fisher, The Design of Experiments (1935), section 21: 863 on one side, 5.267 per cent on both
    p = sign_flip([difference / 100 for difference in FISHER_MAIZE])
    assert p.p_better == pytest.approx(863 / 32768, rel=1e-12)
    assert p.p_two_sided == pytest.approx(0.05267, abs=5e-6)


@pytest.mark.parametrize(
    ("base", "candidate", "p_better"),
    [
        # Fisher's lady tasting tea; A. Agresti, Categorical Data Analysis, table 3.8: P = 0.243 for three right of four
        pytest.param([(1, 4)], [(3, 4)], 17 / 70, id="tea-three-right"),
        pytest.param([(0, 4)], [(4, 4)], 1 / 70, id="tea-all-right"),
        # J. L. Gastwirth (1988), in Agresti, promotions of three months: exact one-sided P = 0.026
        pytest.param([(0, 7), (0, 7), (0, 8)], [(4, 20), (4, 17), (2, 15)], 0.026, id="promotions-three-strata"),
    ],
)
def test_the_exact_test_within_cases_gives_the_published_p(
    base: list[tuple[int, int]], candidate: list[tuple[int, int]], p_better: float
) -> None:
    assert stratified_exact(base, candidate).p_better == pytest.approx(p_better, abs=5e-4)


def test_holm_rejects_as_in_the_thrombolysis_trial() -> None:
    # Y. Benjamini and Y. Hochberg, JRSS B 57 (1995) 289-300, section 4: Bonferroni and Hochberg both reject three,
    # and Holm lies between them.
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.324,
        0.4262,
        0.5719,
        0.6528,
        0.759,
        1.0,
    ]
    assert holm(p, 0.05) == (True,) * 3 + (False,) * 12
    assert holm(p[::-1], 0.05) == (False,) * 12 + (True,) * 3


def test_the_correlation_of_mean_squares_is_that_of_shrout_and_fleiss() -> None:
    # P. E. Shrout and J. L. Fleiss, Psychological Bulletin 86 (1979), tables 3 and 4: BMS 11.24, WMS 6.26, ICC(1,1) .17
    assert correlation_of_squares(11.24, 6.26, 4) == pytest.approx(0.17, abs=5e-3)


def test_the_agreement_of_fleiss_25_subjects_with_unequal_raters_is_his() -> None:
    # J. L. Fleiss, B. Levin and M. C. Paik, Statistical Methods for Rates and Proportions (2003), section 18.3: kappa
    # is .54. He divides the squares between subjects by 25, where the analysis of variance divides by 24.
    raters = (2, 2, 3, 4, 3, 4, 3, 5, 2, 4, 5, 3, 4, 4, 2, 2, 3, 2, 4, 5, 3, 4, 3, 3, 2)
    positive = (2, 0, 2, 3, 3, 1, 0, 0, 0, 4, 5, 3, 4, 3, 0, 2, 1, 1, 1, 4, 2, 0, 0, 3, 2)
    squares = mean_squares(list(zip(positive, raters, strict=True)))
    assert squares is not None
    between, within, size = squares
    assert correlation_of_squares(between * 24 / 25, within, size) == pytest.approx(0.54, abs=5e-3)


@pytest.mark.parametrize(
    ("worse", "better", "n", "low", "high"),
    [
        # M. W. Fagerland, S. Lydersen and P. Laake, Statistics in Medicine 33 (2014) 2850-2875, tables II and V
        pytest.param(7, 1, 21, -0.517, -0.026, id="fagerland-airways"),
        # Without a discordant pair it is z^2 / (n + z^2) to either side, as in Tango's formula
        pytest.param(0, 0, 8, -0.3244, 0.3244, id="no-discordant-pair"),
    ],
)
def test_the_score_interval_of_pairs_is_tangos(worse: int, better: int, n: int, low: float, high: float) -> None:
    counts = np.array([[worse, n - worse - better, better]], dtype=float)
    lows, highs = score_bounds(counts, np.array([-1.0, 0.0, 1.0]), 0.95)
    assert (lows[0], highs[0]) == pytest.approx((low, high), abs=5e-4)


@pytest.mark.public_case("PB-041")
@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [(2, 0, 5, None), (5, 2, 3, 0.9), (10, 1, 5, 0.5), (3, 3, 2, 1.0), (99, 0, 100, None), (4, 0, 4, 0.0)],
)
def test_pass_at_k_has_no_value_with_too_few_samples(n: int, c: int, k: int, expected: float | None) -> None:
    assert pass_at_k(c, n, k) == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_pass_hat_k_is_the_share_of_draws_that_all_pass() -> None:
    assert pass_hat_k(3, 5, 2) == pytest.approx(3 / 10)
    assert pass_hat_k(5, 5, 5) == 1.0
    assert pass_hat_k(4, 5, 5) == 0.0
    assert pass_hat_k(3, 3, 4) is None


def test_five_trials_at_a_correlation_of_four_fifths_are_worth_one_and_a_fifth() -> None:
    assert worth(5, 0.8) == pytest.approx(1.19, abs=5e-3)
    assert intraclass_correlation([(0, 5), (5, 5)]) == 1.0
