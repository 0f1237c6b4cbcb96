"""Every statistic against values that somebody else has published; each row names its source."""

from __future__ import annotations

import pytest

from harness.statistics import (
    Interval,
    PValues,
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
from harness.statistics.noise import correlation_of_squares

FISHER_MAIZE = (49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48)
"""Darwin's fifteen pairs of maize plants, crossed minus self-fertilised, in eighths of an inch."""


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3
        pytest.param(81, 263, 0.2553, 0.3662, id="newcombe-81-of-263"),
        pytest.param(15, 148, 0.0624, 0.1605, id="newcombe-15-of-148"),
        pytest.param(0, 20, 0.0, 0.1611, id="newcombe-0-of-20"),
        pytest.param(1, 29, 0.0061, 0.1718, id="newcombe-1-of-29"),
        pytest.param(20, 20, 0.8389, 1.0, id="newcombe-0-of-20-turned-round"),
    ],
)
def test_wilsons_interval_is_the_published_one(passed: int, n: int, low: float, high: float) -> None:
    interval = wilson(passed, n)
    assert interval is not None
    assert (interval.low, interval.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert interval.level == 0.95


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
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1.0]
    assert holm(p, 0.05) == (True,) * 3 + (False,) * 12
    assert holm(p[::-1], 0.05) == (False,) * 12 + (True,) * 3


def test_the_correlation_of_mean_squares_is_that_of_shrout_and_fleiss() -> None:
    # P. E. Shrout and J. L. Fleiss, Psychological Bulletin 86 (1979), tables 3 and 4: BMS 11.24, WMS 6.26, ICC(1,1) .17
    assert correlation_of_squares(11.24, 6.26, 4) == pytest.approx(0.17, abs=5e-3)


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


def test_intervals_and_ps_are_plain_values() -> None:
    assert wilson(5, 9) is None
    assert wilson(5.0, 10) == Interval(pytest.approx(0.2366, abs=5e-5), pytest.approx(0.7634, abs=5e-5), 0.95, "Wilson over units")
    assert sign_flip([]) == PValues(1.0, 1.0, 1.0)
