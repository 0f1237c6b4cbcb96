"""The bootstrap over units, against a published example and another library."""

from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from harness.errors import UsageError
from harness.statistics.bootstrap import BootstrapMethod, cluster_bootstrap, mean_over_units, ratio_of_sums

# B. Efron and R. Tibshirani, "An Introduction to the Bootstrap" (1993), table 14.1: a spatial test of 26 children.
SPATIAL = (48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41)


def variance(units: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(units[..., 0].var(axis=-1))


def test_the_interval_of_a_variance_is_the_published_one() -> None:
    """Section 14.2, 90 %: estimate 171.5, percentile (100.8, 233.9), BCa (115.8, 259.6), acceleration 0.061, from 2,000 draws."""
    units = [[value] for value in SPATIAL]
    by_percentile = cluster_bootstrap(units, variance, level=0.9, method=BootstrapMethod.PERCENTILE)
    by_bca = cluster_bootstrap(units, variance, level=0.9, method=BootstrapMethod.BCA)
    assert by_percentile is not None
    assert by_bca is not None
    assert by_bca.estimate == pytest.approx(171.5, abs=0.05)
    assert (by_percentile.low, by_percentile.high) == (pytest.approx(100.8, rel=0.04), pytest.approx(233.9, rel=0.02))
    assert (by_bca.low, by_bca.high) == (pytest.approx(115.8, rel=0.02), pytest.approx(259.6, rel=0.02))
    assert by_bca.acceleration == pytest.approx(0.061, abs=5e-4)
    assert by_bca.bias == pytest.approx(0.146, abs=0.06)


@pytest.mark.parametrize("method", list(BootstrapMethod))
@pytest.mark.parametrize("n", [5, 40])
def test_with_one_value_a_unit_the_interval_is_that_of_scipy(method: BootstrapMethod, n: int) -> None:
    values = np.random.default_rng(4).exponential(size=n)
    ours = cluster_bootstrap([[value] for value in values], method=method, seed=7)
    theirs = scipy.stats.bootstrap(
        (values,),
        np.mean,
        method=method.value,
        n_resamples=9_999,
        random_state=np.random.default_rng(7),
        vectorized=True,
    ).confidence_interval
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)


def test_a_small_memory_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    units = [[value] for value in SPATIAL]
    whole = cluster_bootstrap(units, seed=3)
    monkeypatch.setattr("harness.statistics.bootstrap._AT_ONCE", 1000)
    assert cluster_bootstrap(units, seed=3) == whole


def test_another_seed_draws_another_sample_and_the_same_seed_the_same() -> None:
    units = [[value] for value in SPATIAL]
    assert cluster_bootstrap(units, seed=1) == cluster_bootstrap(units, seed=1)
    assert cluster_bootstrap(units, seed=1) != cluster_bootstrap(units, seed=2)


def test_trials_of_a_unit_are_drawn_together() -> None:
    """Ten units of ten equal trials are as uncertain as ten, not as a hundred."""
    units = [(10.0, 10.0)] * 5 + [(0.0, 10.0)] * 5
    found = cluster_bootstrap(units, ratio_of_sums, method=BootstrapMethod.PERCENTILE)
    single = cluster_bootstrap([[1.0]] * 5 + [[0.0]] * 5, mean_over_units, method=BootstrapMethod.PERCENTILE)
    trials = cluster_bootstrap([[1.0]] * 50 + [[0.0]] * 50, mean_over_units, method=BootstrapMethod.PERCENTILE)
    assert found is not None
    assert single is not None
    assert trials is not None
    assert (found.low, found.high) == (single.low, single.high)
    assert found.high - found.low > 2.5 * (trials.high - trials.low)


def test_the_ratio_weighs_units_by_their_trials() -> None:
    found = cluster_bootstrap([(9.0, 10.0), (0.0, 1.0), (1.0, 2.0)], ratio_of_sums)
    assert found is not None
    assert found.estimate == pytest.approx(10 / 13)


def test_coverage_over_clusters_is_near_the_level() -> None:
    source = np.random.default_rng(6)
    held, n_times = 0, 400
    for index in range(n_times):
        rates = source.beta(4, 2, 40)
        shares = source.binomial(5, rates) / 5
        found = cluster_bootstrap([[share] for share in shares], n_resamples=999, seed=index)
        held += found is not None and found.low <= 4 / 6 <= found.high
    assert 0.915 <= held / n_times <= 0.98


@pytest.mark.parametrize("units", [[], [[1.0]], [[1.0]] * 12], ids=["none", "one", "all-equal"])
def test_units_that_show_no_spread_have_no_interval(units: list[list[float]]) -> None:
    assert cluster_bootstrap(units) is None


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_that_is_no_share_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match="confidence level"):
        cluster_bootstrap([[1.0], [2.0]], level=level)
