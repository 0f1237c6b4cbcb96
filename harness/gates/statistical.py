"""Statistical rules: an interval decides. The scenario is the unit; both sides are paired by it, trials lie within.

A rule is broken where the interval lies on the wrong side, holds where all of it lies within the margin, and is not
decided between. Too few scenarios never pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.folds import tokens_of
from harness.statistics import (
    MIN_DIFFERENCES,
    Interval,
    Region,
    fewest_units,
    growth,
    mean_difference,
    reach_of_gate,
    region,
)
from harness.types.codes import Outcome
from harness.types.gates import GrowthRule, PassRateRule
from harness.types.records import RunSummary, ScenarioComparison, Took
from harness.types.review import Rule

_MOST_AMOUNT: Final = 10**100
"""Files may hold any whole number; the squares of larger ones are none that a machine's numbers hold."""
_FEW: Final = f"an interval takes {MIN_DIFFERENCES}"


@dataclass(frozen=True, slots=True)
class Decided:
    """What a statistical rule came to. ``can_fail``: could it have been broken with so many scenarios?"""

    outcome: Outcome
    why: str
    can_fail: bool


@dataclass(slots=True)
class _Rates:
    """Pass rates of both sides by scenario. ``worst`` counts what the candidate does not know as not passed."""

    base: list[float] = field(default_factory=list)
    candidate: list[float] = field(default_factory=list)
    worst: list[float] = field(default_factory=list)
    n_hindered: int = 0

    def add(self, row: ScenarioComparison) -> None:
        base, candidate = row.base_passed / row.n_base, row.candidate_passed / row.n_candidate
        if row.base_hindered.n or row.base_hindered.unjudged:
            self.n_hindered += 1
            return
        self.worst.append(candidate - base)
        if row.candidate_hindered.n or row.candidate_hindered.unjudged:
            self.n_hindered += 1
            return
        self.base.append(base)
        self.candidate.append(candidate)

    @property
    def differences(self) -> list[float]:
        return [after - before for before, after in zip(self.base, self.candidate, strict=True)]


def pass_rate(rows: Sequence[ScenarioComparison], rule: PassRateRule) -> Decided:
    """Has the pass rate fallen by more than the margin? ``rows`` are on both sides, and not held back."""
    rates = _Rates()
    for row in rows:
        rates.add(row)
    n, interval = len(rates.base), mean_difference(rates.differences, rule.level)
    can_fail = reach_of_gate(n, rule.margin, rule.level).can_fail
    if interval is None:
        return Decided(Outcome.INCONCLUSIVE, f"{_over(n, rates.n_hindered)}, and {_FEW}", can_fail)
    found = region(interval, rule.margin)
    told = (
        f"pass rate {100 * _mean(rates.base):.1f} % → {100 * _mean(rates.candidate):.1f} %, "
        f"{100 * _mean(rates.differences):+.1f} points ({_points(interval)}) over {_over(n, rates.n_hindered)}; "
        f"at most {100 * rule.margin:g} points are allowed"
    )
    if found.fails:
        return Decided(Outcome.FAIL, told, can_fail)
    if found is Region.PASS and region(mean_difference(rates.worst, rule.level), rule.margin) is Region.PASS:
        return Decided(Outcome.PASS, told, can_fail)
    return Decided(Outcome.INCONCLUSIVE, told + _wanting(n, rule), can_fail)


def _wanting(n: int, rule: PassRateRule) -> str:
    """What it would take, where no result at all could have passed."""
    needed = fewest_units(rule.margin, rule.level)
    return "" if needed is None or n >= needed else f"; even without a difference that takes {needed} scenarios"


def _points(interval: Interval) -> str:
    return f"{100 * interval.level:g} % interval {100 * interval.low:+.1f} to {100 * interval.high:+.1f}"


def _over(n: int, n_hindered: int) -> str:
    left = f" ({n_hindered} left out: errors or recordings out of date)" if n_hindered else ""
    return f"{n} scenario{'' if n == 1 else 's'}{left}"


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


_OF_TOOK: Final[dict[Rule, Callable[[Took], int | None]]] = {
    Rule.COST: lambda took: took.cost_micro_usd,
    Rule.LATENCY: lambda took: took.latency_ms,
    Rule.TOKENS: lambda took: took.tokens,
    Rule.STEPS: lambda took: took.steps,
}


@dataclass(slots=True)
class _Amounts:
    """What scenarios took on both sides, where both say it, and in how many one of them does not."""

    known: list[tuple[float, float]] = field(default_factory=list)
    n_hindered: int = 0
    n_unknown: int = 0
    n_lost: int = 0

    def add(self, row: ScenarioComparison, value: Callable[[Took], int | None]) -> None:
        stopped = bool(row.base_hindered.n or row.candidate_hindered.n)
        base = None if row.base_hindered.n else _each(value, row.base_took, row.base, row.n_base)
        candidate = _each(value, row.candidate_took, row.candidate, row.n_candidate)
        if base is not None and candidate is not None and not stopped:
            self.known.append((base, candidate))
            return
        self.n_lost += base is not None
        self.n_hindered += stopped
        self.n_unknown += not stopped

    def over(self, what: str) -> str:
        """How many scenarios speak, and how many do not."""
        left = f" ({self.n_unknown} left out: not known on both sides)" if self.n_unknown else ""
        return f"{_over(len(self.known), self.n_hindered)} with known {what}{left}"


def grown(rows: Sequence[ScenarioComparison], rule: GrowthRule) -> Decided:
    """Has what runs take grown by more than the rule allows? ``rows`` are on both sides, and not held back.

    What the base knew and the candidate does not may have grown by any amount: without it nothing holds.
    """
    value, what, amounts = _OF_TOOK[rule.rule], rule.rule.value, _Amounts()
    for row in rows:
        amounts.add(row, value)
    known, over = amounts.known, amounts.over(what)
    lost = f"; the base knew {what} in {amounts.n_lost} of those left out" if amounts.n_lost else ""
    if len(known) < MIN_DIFFERENCES:
        return Decided(Outcome.INCONCLUSIVE, f"{over}, and {_FEW}{lost}", can_fail=False)
    interval = growth(known, rule.level)
    if interval is None:
        (outcome, told), can_fail = _from_nothing([candidate for _, candidate in known], rule, over), True
    else:
        (outcome, told), can_fail = _grown(interval, known, rule, over), True
    if lost and outcome is Outcome.PASS:
        outcome = Outcome.INCONCLUSIVE
    return Decided(outcome, told + lost, can_fail)


def _grown(
    interval: Interval, known: Sequence[tuple[float, float]], rule: GrowthRule, over: str
) -> tuple[Outcome, str]:
    sums = [math.fsum(side) for side in zip(*known, strict=True)]
    told = (
        f"{rule.rule.value} {sums[0]:.10g} → {sums[1]:.10g}, {100 * (sums[1] / sums[0] - 1):+.1f} % "
        f"({_points(interval)} %) over {over}; at most +{100 * rule.at_most:g} % is allowed"
    )
    if interval.low > rule.at_most:
        return Outcome.FAIL, told
    return (Outcome.PASS if interval.high <= rule.at_most else Outcome.INCONCLUSIVE), told


def _from_nothing(amounts: Sequence[float], rule: GrowthRule, over: str) -> tuple[Outcome, str]:
    """Where the base took nothing at all: anything is beyond every bound, once it is more than nothing for sure."""
    told = f"{rule.rule.value} was nothing in the base over {over}"
    total = math.fsum(amounts)
    if not total:
        return Outcome.PASS, f"{told}, and is nothing now"
    each = total / len(amounts)
    beside = growth([(each, each + amount) for amount in amounts], rule.level)
    sure = beside is not None and beside.low > 0
    told += f", and is {total:.10g} now"
    return (Outcome.FAIL, told) if sure else (Outcome.INCONCLUSIVE, f"{told}, which may be chance")


def _each(
    value: Callable[[Took], int | None], took: Took | None, run: RunSummary | None, n_trials: int
) -> float | None:
    """What one trial of a scenario took on average; None where it is not known, or more than can be reckoned with."""
    if took is None and run is not None:
        took = Took(run.n_steps, tokens_of(run), run.cost_micro_usd, run.duration_ms)
    found = None if took is None else value(took)
    return None if found is None or found > _MOST_AMOUNT else found / n_trials
