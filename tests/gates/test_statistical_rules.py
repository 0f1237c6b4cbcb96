"""Statistical rules: the interval decides, too little never passes, and what says nothing is not counted as good."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

from harness.gates.statistical import grown, pass_rate
from harness.statistics import fewest_units, mean_difference
from harness.types.codes import Outcome
from harness.types.gates import Gate, GrowthRule, PassRateRule
from harness.types.review import Rule, Severity
from tests.gates.lab import compared, failing, judged, only, result, run, suite

PASS, FAIL, OPEN = Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE
RATE = PassRateRule(0.05)
COST = GrowthRule(Rule.COST, 0.10)


@pytest.mark.parametrize(
    ("n", "n_failing", "outcome"),
    [
        pytest.param(100, 0, PASS, id="nothing-fell"),
        pytest.param(100, 40, FAIL, id="fell-by-far"),
        pytest.param(100, 5, OPEN, id="fell-by-about-the-margin"),
        pytest.param(30, 0, OPEN, id="nothing-fell-among-too-few"),
        pytest.param(7, 7, OPEN, id="all-fell-among-far-too-few"),
        pytest.param(12, 12, FAIL, id="all-fell"),
    ],
)
def test_the_interval_of_the_pass_rate_decides(n: int, n_failing: int, outcome: Outcome) -> None:
    runs = suite(n)
    decided = pass_rate(compared(runs, failing(runs, n_failing)).scenarios, RATE)
    assert decided.outcome is outcome
    interval = mean_difference([-1.0] * n_failing + [0.0] * (n - n_failing))
    if interval is not None:
        assert f"{100 * interval.low:+.1f} to {100 * interval.high:+.1f}" in decided.why
    assert decided.can_fail is (n >= 8)


def test_too_few_scenarios_say_how_many_it_would_take() -> None:
    runs = suite(20)
    decided = pass_rate(compared(runs, runs).scenarios, RATE)
    assert decided.outcome is OPEN
    assert decided.why.endswith(f"even without a difference that takes {fewest_units(0.05)} scenarios")
    few = pass_rate(compared(runs[:3], runs[:3]).scenarios, RATE)
    assert (few.outcome, few.why, few.can_fail) == (OPEN, "3 scenarios, and an interval takes 8", False)


def test_trials_of_one_scenario_are_no_more_scenarios() -> None:
    few = suite(4, n_trials=50)
    assert pass_rate(compared(few, few).scenarios, RATE).why == "4 scenarios, and an interval takes 8"


def test_a_scenario_counts_by_the_share_of_its_trials() -> None:
    base = suite(10, n_trials=2)
    candidate = [run(one.scenario, one.trial, fails=("answer",) if one.trial == 2 else ()) for one in base]
    why = pass_rate(compared(base, candidate).scenarios, RATE).why
    assert "pass rate 100.0 % → 50.0 %, -50.0 points" in why


def test_scenarios_that_errored_or_are_out_of_date_do_not_help_to_pass() -> None:
    base = suite(120)
    hindered = [run(one.scenario, stale=True) if place < 10 else one for place, one in enumerate(base)]
    decided = pass_rate(compared(base, hindered).scenarios, RATE)
    assert "over 110 scenarios (10 left out: errors or recordings out of date)" in decided.why
    assert decided.outcome is OPEN, "the ten could all have failed"
    assert pass_rate(compared(base[10:], base[10:]).scenarios, RATE).outcome is PASS


def test_scenarios_that_errored_do_not_make_it_fail() -> None:
    base = suite(100)
    errored = [run(one.scenario, errors=("endpoint",)) if place < 60 else one for place, one in enumerate(base)]
    assert pass_rate(compared(base, errored).scenarios, RATE).outcome is OPEN


@pytest.mark.parametrize("side", ["base", "candidate"])
def test_a_rate_goes_without_scenarios_that_a_check_gave_up_on(side: str) -> None:
    whole = suite(120)
    gave_up = [run(one.scenario, errors=("mine",)) if place < 10 else one for place, one in enumerate(whole)]
    sides = {"base": whole, "candidate": whole, side: gave_up}
    decided = pass_rate(compared(sides["base"], sides["candidate"]).scenarios, RATE)
    assert "pass rate 100.0 % → 100.0 %" in decided.why
    assert "over 110 scenarios (10 left out" in decided.why


def spending(
    factor: float, *, n: int = 40, spread: float = 0.0, field: str = "cost_micro_usd", n_trials: int = 1
) -> list[Any]:
    """Scenarios of unequal size; each second one takes more than its factor, each other one less."""
    return [
        run(f"s{i:03}", trial, **{field: round((1000 + 97 * i) * factor * (1 + spread * (-1) ** i))})
        for i in range(n)
        for trial in range(1, n_trials + 1)
    ]


@pytest.mark.parametrize(
    ("factor", "spread", "outcome"),
    [
        pytest.param(1.0, 0.0, PASS, id="the-same"),
        pytest.param(1.02, 0.02, PASS, id="within"),
        pytest.param(0.5, 0.1, PASS, id="less"),
        pytest.param(1.3, 0.1, FAIL, id="beyond"),
        pytest.param(1.1, 0.1, OPEN, id="at-the-border"),
        pytest.param(1.05, 0.6, OPEN, id="within-by-chance"),
    ],
)
@pytest.mark.parametrize(
    ("rule", "field"),
    [
        (Rule.COST, "cost_micro_usd"),
        (Rule.LATENCY, "duration_ms"),
        (Rule.STEPS, "n_steps"),
        (Rule.TOKENS, "input_tokens"),
    ],
)
@pytest.mark.parametrize("n_trials", [1, 3])
def test_the_interval_of_the_growth_decides(
    rule: Rule, field: str, factor: float, spread: float, outcome: Outcome, n_trials: int
) -> None:
    both = compared(
        spending(1.0, field=field, n_trials=n_trials), spending(factor, spread=spread, field=field, n_trials=n_trials)
    )
    decided = grown(both.scenarios, GrowthRule(rule, 0.10))
    assert decided.outcome is outcome
    assert "over 40 scenarios with known" in decided.why


@pytest.mark.parametrize(
    ("base", "candidate", "why"),
    [
        pytest.param(
            spending(1, n=7), spending(9, n=7), "7 scenarios with known cost, and an interval takes 8", id="too-few"
        ),
        pytest.param(suite(20), suite(20), "0 scenarios with known cost (20 left out: not known on both sides), and an interval takes 8", id="not-known"),
    ],
)
def test_a_growth_that_nobody_can_know_is_not_decided(base: list[Any], candidate: list[Any], why: str) -> None:
    decided = grown(compared(base, candidate).scenarios, COST)
    assert (decided.outcome, decided.why, decided.can_fail) == (OPEN, why, False)


NOTHING = "cost was nothing in the base over 40 scenarios with known cost, and is "


@pytest.mark.parametrize(
    ("candidate", "outcome", "why"),
    [
        pytest.param(spending(0), PASS, "nothing now", id="nothing-now-either"),
        pytest.param(spending(1), FAIL, " now", id="something-everywhere"),
        pytest.param([*spending(1)[:20], *spending(0)[20:]], FAIL, " now", id="something-in-half-of-them"),
        pytest.param([*spending(1)[:1], *spending(0)[1:]], OPEN, " now, which may be chance", id="something-once"),
    ],
)
@pytest.mark.parametrize("at_most", [0.0, 0.1, 50.0])
def test_a_growth_from_nothing_is_beyond_every_bound_once_it_is_no_chance(
    candidate: list[Any], outcome: Outcome, why: str, at_most: float
) -> None:
    decided = grown(compared(spending(0), candidate).scenarios, GrowthRule(Rule.COST, at_most))
    assert (decided.outcome, decided.can_fail) == (outcome, True)
    assert decided.why.startswith(NOTHING)
    assert decided.why.endswith(why)


def forgetting(runs: list[Any], n: int, **fields: Any) -> list[Any]:
    """The same runs, of which the first so many do not say what they took."""
    return [dataclasses.replace(one, **fields) if place < n else one for place, one in enumerate(runs)]


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        pytest.param(Rule.COST, {"cost_micro_usd": None}, id="cost"),
        pytest.param(Rule.LATENCY, {"duration_ms": None}, id="latency"),
        pytest.param(Rule.TOKENS, {"input_tokens": None, "output_tokens": None}, id="tokens"),
        pytest.param(Rule.TOKENS, {"output_tokens": None}, id="tokens-of-answers"),
    ],
)
@pytest.mark.parametrize(("grew", "outcome"), [(1.0, OPEN), (1.3, FAIL)], ids=["as-before", "grown"])
def test_what_the_candidate_stopped_telling_is_not_passed_over(
    rule: Rule, fields: dict[str, Any], grew: float, outcome: Outcome
) -> None:
    base = spending(1.0, field="duration_ms" if rule is Rule.LATENCY else "cost_micro_usd")
    if rule is Rule.TOKENS:
        base = [dataclasses.replace(one, input_tokens=1000) for one in base]
    candidate = [
        dataclasses.replace(
            one,
            input_tokens=round(grew * (one.input_tokens or 0)),
            duration_ms=round(grew * (one.duration_ms or 0)),
            cost_micro_usd=None if one.cost_micro_usd is None else round(grew * one.cost_micro_usd),
        )
        for one in base
    ]
    decided = grown(compared(base, forgetting(candidate, 10, **fields)).scenarios, GrowthRule(rule, 0.10))
    assert decided.outcome is outcome
    what = rule.value
    assert f"over 30 scenarios with known {what} (10 left out: not known on both sides); at most" in decided.why
    assert decided.why.endswith(f"; the base knew {what} in 10 of those left out")


def test_what_the_base_did_not_tell_either_is_told_and_decides_nothing() -> None:
    base = spending(1.0)
    for candidate in (base, forgetting(base, 10, cost_micro_usd=None)):
        decided = grown(compared(forgetting(base, 10, cost_micro_usd=None), candidate).scenarios, COST)
        assert decided.outcome is PASS
        assert "over 30 scenarios with known cost (10 left out: not known on both sides);" in decided.why


def test_runs_that_errored_do_not_help_a_growth_to_hold() -> None:
    base = spending(1.0)
    errored = [
        run(one.scenario, errors=("endpoint",), cost_micro_usd=1) if place < 10 else one for place, one in enumerate(base)
    ]
    decided = grown(compared(base, errored).scenarios, COST)
    assert decided.outcome is OPEN
    assert "over 30 scenarios (10 left out: errors or recordings out of date) with known cost" in decided.why
    assert grown(compared(errored, base).scenarios, COST).outcome is PASS, "the base did not know them"


def test_a_gate_that_asks_for_what_the_candidate_stopped_telling_does_not_pass() -> None:
    base = spending(1.0)
    gate = only(Rule.CHECKS, growth=(COST,), inconclusive_statistical=Severity.FAIL)
    verdict = judged(compared(base, forgetting(base, 10, cost_micro_usd=None)), gate)
    assert (verdict.outcome, verdict.rule) == (OPEN, Rule.COST)


def test_an_amount_beyond_any_float_is_not_decided_and_stops_nothing() -> None:
    base = [run(f"s{n}", cost_micro_usd=10) for n in range(20)]
    candidate = [run("s0", cost_micro_usd=10**400), *base[1:]]
    verdict = judged(compared(base, candidate), Gate(growth=(COST,)))
    told = result(verdict, Rule.COST)
    assert (told.outcome, verdict.outcome) == (OPEN, PASS)
    assert "the base knew cost in 1 of those left out" in told.why


def test_nothing_on_both_sides_is_no_growth() -> None:
    assert grown(compared(spending(0), spending(0)).scenarios, COST).outcome is PASS


def test_the_numbers_of_a_growth_are_those_of_the_runs() -> None:
    base, candidate = spending(1.0), spending(1.3, spread=0.1)
    sums = [math.fsum(one.cost_micro_usd for one in side) for side in (base, candidate)]
    assert (
        f"cost {sums[0]:.10g} → {sums[1]:.10g}, {100 * (sums[1] / sums[0] - 1):+.1f} %"
        in grown(compared(base, candidate).scenarios, COST).why
    )


@pytest.mark.parametrize(
    ("asked", "inconclusive", "outcome"),
    [
        pytest.param(RATE, None, PASS, id="warns-unless-said"),
        pytest.param(RATE, Severity.FAIL, OPEN, id="fails-where-asked"),
        pytest.param(RATE, Severity.WARN, PASS, id="warns"),
        pytest.param(RATE, Severity.PASS, PASS, id="passes"),
        pytest.param(
            PassRateRule(0.05, severity=Severity.WARN), Severity.FAIL, PASS, id="a-rule-that-warns-fails-never"
        ),
    ],
)
def test_what_becomes_of_a_statistical_rule_that_is_not_decided(
    asked: PassRateRule, inconclusive: Severity | None, outcome: Outcome
) -> None:
    runs = suite(20)
    verdict = judged(compared(runs, runs), Gate(pass_rate=asked), inconclusive=inconclusive)
    assert result(verdict, Rule.PASS_RATE).outcome is OPEN
    assert verdict.outcome is outcome


def test_exact_and_statistical_rules_are_asked_apart() -> None:
    """Five of a hundred fail: exact, each of them; as a rate, not enough to say."""
    runs = suite(100)
    comparison = compared(runs, failing(runs, 5))
    both = judged(comparison, Gate(pass_rate=PassRateRule(0.20)))
    assert (both.outcome, both.rule) == (FAIL, Rule.CHECKS)
    assert result(both, Rule.PASS_RATE).outcome is PASS
    assert judged(comparison, only(Rule.CHECKS, Severity.WARN, pass_rate=PassRateRule(0.20))).outcome is PASS
    worse = judged(compared(runs, failing(runs, 60)), only(Rule.CHECKS, Severity.WARN, pass_rate=PassRateRule(0.20)))
    assert (worse.outcome, worse.rule) == (FAIL, Rule.PASS_RATE)
