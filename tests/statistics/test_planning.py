"""A plan promises what the gate's own interval then does, on answers that are counts."""

import numpy as np
import pytest

from harness.errors import UsageError
from harness.statistics.difference import mean_difference
from harness.statistics.planning import Plan, Price, plan
from harness.statistics.regions import Region, region
from harness.statistics.rules import Sample
from harness.statistics.spread import Spread, spread_assumed
from harness.statistics.within import within_cases
from harness.types.evaluation import Estimand, GateSpec, Metric

GATE = GateSpec("now", "new", 0.10)
SPREAD = spread_assumed(0.85, 0.6, 0.15)
SIXTY = Sample(60, 60, 5)


def planned(gate: GateSpec = GATE, sample: Sample = SIXTY, spread: Spread = SPREAD, **options: object) -> Plan:
    """A plan whose table has one row where no sizes are named."""
    sizes = {"cases": (sample.n_cases or 1,), "trials": (sample.trials,), **options}
    return plan(gate, sample, spread, **sizes)  # type: ignore[arg-type]


def drawn_differences(source: np.random.Generator, n: int, trials: int, *, always: bool = False) -> np.ndarray:
    """Differences of cases whose rates are those that SPREAD assumes."""
    size = 1 / 0.6 - 1
    before, after = (source.beta(0.85 * size, 0.15 * size, n) for _ in range(2))
    rates = np.where(source.random(n) < 0.15, after, before)
    shares = [source.binomial(trials, rate) / trials for rate in (before, rates)]
    return (shares[1] == 1).astype(float) - (shares[0] == 1) if always else shares[1] - shares[0]


@pytest.mark.parametrize(("n", "trials"), [(30, 1), (60, 5), (120, 1)])
def test_the_power_of_a_plan_is_how_often_the_gate_passes(n: int, trials: int) -> None:
    source, n_times = np.random.default_rng(n + trials), 500
    passes = sum(
        region(mean_difference(drawn_differences(source, n, trials).tolist()), 0.10) is Region.PASS
        for _ in range(n_times)
    )
    assert planned(sample=Sample(n, n, trials)).declared.power == pytest.approx(passes / n_times, abs=0.06)


def test_the_power_of_a_plan_for_cases_that_always_pass_is_how_often_the_gate_passes() -> None:
    source, n_times, gate = np.random.default_rng(7), 500, GateSpec("now", "new", 0.15, metric=Metric.PASS_HAT_K)
    passes = sum(
        region(mean_difference(drawn_differences(source, 80, 4, always=True).tolist()), 0.15) is Region.PASS
        for _ in range(n_times)
    )
    assert planned(gate, Sample(80, 80, 4)).declared.power == pytest.approx(passes / n_times, abs=0.06)


def test_a_plan_says_what_is_too_small() -> None:
    found = planned(sample=Sample(20, 20, 5))
    assert found.declared.power < 0.8
    assert found.limit_margin < found.declared.smallest_margin
    assert found.declared.smallest_margin > 0.10
    [five] = [row for trials, row in found.needed if trials == 5]
    assert five is not None
    fewer = int(five.n_cases * 0.93)
    assert five.power >= 0.8 > planned(sample=Sample(fewer, fewer, 5)).declared.power


def test_the_table_has_a_row_for_each_size_with_its_price() -> None:
    found = planned(price=Price(812.5, 300), cases=(20, 40), trials=(1, 4))
    assert [(row.n_cases, row.trials) for row in found.rows] == [(20, 1), (20, 4), (40, 1), (40, 4)]
    assert found.rows[3].n_requests == 2 * 40 * 4
    assert found.rows[3].tokens == 260_000
    assert found.rows[3].cost_micro_usd == 96_000
    assert planned().declared.tokens is None


def test_more_cases_and_more_trials_have_more_power() -> None:
    found = planned(cases=(40, 80, 160), trials=(1, 3, 9))
    powers = np.array([row.power for row in found.rows]).reshape(3, 3)
    assert (np.diff(powers, axis=0) > 0).all()
    assert (np.diff(powers, axis=1) > 0).all()


def test_a_group_of_cases_is_one_unit_with_the_trials_of_all() -> None:
    grouped = planned(sample=Sample(60, 20, 5))
    alone = planned(sample=Sample(20, 20, 15))
    assert grouped.declared.power == pytest.approx(alone.declared.power)
    assert grouped.declared.n_requests == 600


def test_looks_cost_power_at_the_end() -> None:
    once, thrice = planned(), planned(GateSpec("now", "new", 0.10, looks=3))
    assert thrice.declared.power < once.declared.power
    assert thrice.looks.blocks == (2, 4, 5)


def test_a_small_pilot_is_doubted_and_an_assumption_is_not() -> None:
    pilot = planned(spread=Spread(SPREAD.between, SPREAD.within_base, SPREAD.within_candidate, 0.85, n_units=15))
    assert pilot.doubt == pytest.approx(14 / 9.467, rel=1e-3)
    assert pilot.doubtful_power < pilot.declared.power
    assert planned().doubtful_power == planned().declared.power


def test_a_candidate_that_is_worse_by_the_margin_is_never_shown_to_be_good_enough() -> None:
    found = planned(difference=-0.10)
    assert found.needed == ((5, None),)
    assert found.declared.power < 0.04


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"wanted": 1.0}, id="power"),
        pytest.param({"gate": GateSpec("a", "b", 0.0)}, id="margin"),
        pytest.param({"sample": Sample(0, 0, 5)}, id="no-cases"),
        pytest.param({"trials": (0,)}, id="no-trials"),
    ],
)
def test_a_plan_of_what_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="a plan needs"):
        planned(**wrong)  # type: ignore[arg-type]


def test_a_plan_with_more_looks_than_trials_is_refused() -> None:
    with pytest.raises(UsageError, match="whole block"):
        planned(GateSpec("a", "b", 0.1, looks=6))


@pytest.mark.parametrize(("n", "trials"), [(30, 3), (60, 5), (120, 1)])
def test_the_power_of_a_plan_for_these_cases_is_how_often_the_gate_passes(n: int, trials: int) -> None:
    """The cases are fixed: their rates are drawn once, the same under both arms, and only trials are drawn again."""
    source, n_times = np.random.default_rng(n * trials), 500
    rates = source.beta(0.85, 0.15, n)
    inner = float(np.mean(rates * (1 - rates)))
    gate, passes = GateSpec("now", "new", 0.10, estimand=Estimand.THESE_CASES), 0
    for _ in range(n_times):
        base, candidate = ([(int(k), trials) for k in source.binomial(trials, rates)] for _ in range(2))
        passes += region(within_cases(base, candidate), 0.10) is Region.PASS
    found = planned(gate, Sample(n, n, trials), Spread(0.0, inner, inner, float(rates.mean())))
    assert found.declared.power == pytest.approx(passes / n_times, abs=0.06)


def test_these_cases_that_always_pass_are_counted_by_group() -> None:
    """A group passes where all trials of all its cases do: 120 cases in 30 groups are 30 outcomes, of 20 trials each."""
    gate = GateSpec("now", "new", 0.20, metric=Metric.PASS_HAT_K, estimand=Estimand.THESE_CASES)
    grouped, alone = planned(gate, Sample(120, 30, 5)).declared, planned(gate, Sample(30, 30, 20)).declared
    assert grouped.power == alone.power
    assert grouped.smallest_margin == alone.smallest_margin


def test_how_many_cases_change_is_asked_over_these_cases_that_always_pass() -> None:
    gate = GateSpec("now", "new", 0.10, metric=Metric.PASS_HAT_K, estimand=Estimand.THESE_CASES)
    none, some = (
        planned(gate, Sample(100, 100, 5), spread_assumed(0.9, 0.6, changing)).declared.power for changing in (0.0, 0.2)
    )
    assert none > 0.87
    assert some < 0.84
