"""Where scipy or statsmodels have the same statistic, ours is theirs; here they are the judges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact, permutation_test
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from harness.statistics import holm, mcnemar, sign_flip, stratified_exact, wilson
from harness.statistics.rates import score_of_rate

COUNTS = st.integers(10, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
LEVELS = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@given(COUNTS, LEVELS)
@settings(max_examples=50)
def test_wilsons_interval_is_that_of_scipy_and_statsmodels(counts: tuple[int, int], level: float) -> None:
    passed, n = counts
    plain = proportion_confint(passed, n, alpha=1 - level, method="wilson")
    assert score_of_rate(passed / n, n, level, shift=0) == pytest.approx(plain, abs=1e-9)
    corrected = binomtest(passed, n).proportion_ci(level, method="wilsoncc")
    interval = wilson(passed, n, level)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((corrected.low, corrected.high), abs=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=50)
def test_mcnemars_test_is_that_of_statsmodels(only_base: int, only_candidate: int) -> None:
    theirs = mcnemar_of_statsmodels([[7, only_base], [only_candidate, 5]], exact=True).pvalue
    assert mcnemar(only_base, only_candidate).p_two_sided == pytest.approx(theirs, abs=1e-12)


@given(*(st.integers(0, 9),) * 4)
@settings(max_examples=50)
def test_one_case_is_fishers_test_of_scipy(a: int, b: int, c: int, d: int) -> None:
    p = stratified_exact([(a, a + b)], [(c, c + d)])
    assert p.p_worse == pytest.approx(fisher_exact([[c, d], [a, b]], alternative="less")[1], rel=1e-9)
    assert p.p_better == pytest.approx(fisher_exact([[c, d], [a, b]], alternative="greater")[1], rel=1e-9)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=9))
@settings(max_examples=30)
def test_sign_flip_is_the_permutation_test_of_scipy(fifths: list[int]) -> None:
    differences = np.array(fifths, dtype=float)
    theirs = [
        permutation_test(
            (differences,), np.sum, permutation_type="samples", alternative=side, n_resamples=np.inf
        ).pvalue
        for side in ("less", "greater")
    ]
    p = sign_flip([each / 5 for each in fifths])
    assert [p.p_worse, p.p_better] == pytest.approx(theirs, rel=1e-9)


@given(st.lists(st.floats(0, 0.1), min_size=1, max_size=12))
@settings(max_examples=10)  # theirs takes its time
def test_holm_is_that_of_statsmodels(p: list[float]) -> None:
    assert holm(p, 0.05) == tuple(multipletests(p, 0.05, method="holm")[0].tolist())
