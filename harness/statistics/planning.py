"""Before an evaluation is paid for: how many cases and trials it takes to show what its gate asks.

Power is that of the very interval that the gate judges by. Where whole blocks may be looked at early, it is that of the
last look alone: a little less than all looks have together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import UsageError
from harness.statistics.power import Reckoning
from harness.statistics.rules import Sample, reckoning
from harness.statistics.sequential import LookPlan, plan_looks
from harness.statistics.spread import Spread, upper_factor
from harness.types.evaluation import GateSpec


@dataclass(frozen=True, slots=True)
class Price:
    """What one trial costs on the mean; None where nobody said."""

    tokens: float | None = None
    cost_micro_usd: float | None = None


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One size: how likely the candidate passes, and the price. Requests are of both arms.

    ``smallest_margin`` is passed with the wanted power.
    """

    n_cases: int
    trials: int
    power: float
    smallest_margin: float
    n_requests: int
    tokens: int | None
    cost_micro_usd: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What :func:`plan` found. ``declared`` is the size that the evaluation has.

    ``limit_margin`` is the smallest margin that its cases can show however many trials; ``needed`` the fewest cases
    at each number of trials, None where they are out of reach; ``doubtful_power`` is that of ``declared`` where the
    spread is as large as a pilot of its size may have missed, ``doubt`` times what was seen.
    """

    gate: GateSpec
    wanted: float
    difference: float
    spread: Spread
    declared: PlanRow
    rows: tuple[PlanRow, ...]
    limit_margin: float
    needed: tuple[tuple[int, PlanRow | None], ...]
    doubt: float
    doubtful_power: float
    looks: LookPlan


def plan(
    gate: GateSpec,
    sample: Sample,
    spread: Spread,
    price: Price = Price(),
    *,
    wanted: float = 0.8,
    difference: float = 0.0,
    cases: Sequence[int] = (),
    trials: Sequence[int] = (),
) -> Plan:
    """Power and price of each number of cases at each number of trials, for the gate that was declared.

    ``difference`` is the true one to plan for (0: the candidate is as good), ``cases`` and ``trials`` the sizes of the
    table; empty: some around those of the sample. Raises UsageError for sizes below 1, a wanted power or a margin that
    is no share, or fewer trials than looks.
    """
    if not 0 < wanted < 1 or not 0 < gate.margin <= 1 or min((sample.n_cases, sample.trials, *cases, *trials)) < 1:
        raise UsageError(
            f"power {wanted!r}, margin {gate.margin!r}, {sample.n_cases!r} cases and {sample.trials!r} trials: a plan "
            "needs a power between 0 and 1, a margin above 0, and at least one case and trial"
        )
    n = sample.n_cases
    sizes = sorted(set(cases) or {max(1, n // 2), n, 2 * n, 4 * n})
    repeats = sorted(set(trials) or {1, 3, 5, sample.trials})
    desk = _Desk(gate, sample, spread, price, wanted, difference)
    known = {repeat: desk.at(repeat) for repeat in {*repeats, sample.trials}}
    counted, doubt = sample.n_counted(gate, n), upper_factor(spread)
    doubtful = desk.at(sample.trials, spread.enlarged(doubt, sample.trials))
    return Plan(
        gate=gate,
        wanted=wanted,
        difference=difference,
        spread=spread,
        declared=desk.row(n, sample.trials, known[sample.trials]),
        rows=tuple(desk.row(size, repeat, known[repeat]) for size in sizes for repeat in repeats),
        limit_margin=desk.at(math.inf).smallest_margin(counted, wanted),
        needed=tuple((repeat, desk.needed(repeat, known[repeat])) for repeat in repeats),
        doubt=doubt,
        doubtful_power=doubtful.power(counted, gate.margin),
        looks=plan_looks(sample.trials, gate.looks, alpha=gate.alpha),
    )


@dataclass(frozen=True, slots=True)
class _Desk:
    """What every row of one plan shares."""

    gate: GateSpec
    sample: Sample
    spread: Spread
    price: Price
    wanted: float
    difference: float

    def at(self, trials: float, spread: Spread | None = None) -> Reckoning:
        return reckoning(self.gate, self.sample, spread or self.spread, trials, self.difference)

    def row(self, n_cases: int, trials: int, at: Reckoning) -> PlanRow:
        n, n_requests = self.sample.n_counted(self.gate, n_cases), 2 * n_cases * trials
        return PlanRow(
            n_cases,
            trials,
            at.power(n, self.gate.margin),
            at.smallest_margin(n, self.wanted),
            n_requests,
            _total(self.price.tokens, n_requests),
            _total(self.price.cost_micro_usd, n_requests),
        )

    def needed(self, trials: int, at: Reckoning) -> PlanRow | None:
        """The fewest cases with the wanted power."""
        n = at.needed(self.gate.margin, self.wanted)
        return None if n is None else self.row(self.sample.cases_of(self.gate, n), trials, at)


def _total(each: float | None, n: int) -> int | None:
    return None if each is None else round(each * n)
