"""Before an evaluation is paid for: how many cases and trials it takes to show what its gate asks.

Power is that of the very interval that the gate judges by. Where whole blocks may be looked at early, it is that of the
last look alone: a little less than all looks have together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.errors import UsageError
from harness.statistics.power import Spread, upper_factor
from harness.statistics.rules import Rule, Sample, rule_of
from harness.statistics.sequential import LookPlan, plan_looks
from harness.types.evaluation import GateSpec

MOST_CASES: Final = 1_000_000
"""More cases than this are told as out of reach."""


@dataclass(frozen=True, slots=True)
class Price:
    """What one trial costs on the mean; None where nobody said."""

    tokens: float | None = None
    cost_micro_usd: float | None = None


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One size: how likely an equal candidate passes (as likely as one worse by the margin fails), and its price.

    ``smallest_margin`` can be shown with the wanted power. Requests are of both arms.
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
    desk = _Desk(rule_of(gate, sample, spread, wanted, difference), sample, price)
    doubt = upper_factor(spread)
    return Plan(
        gate=gate,
        wanted=wanted,
        difference=difference,
        spread=spread,
        declared=desk.row(n, sample.trials),
        rows=tuple(desk.row(size, repeat) for size in sizes for repeat in repeats),
        limit_margin=desk.rule.smallest_margin(desk.n_counted(n), math.inf),
        needed=tuple((repeat, desk.needed(repeat)) for repeat in repeats),
        doubt=doubt,
        doubtful_power=desk.rule.power(desk.n_counted(n), sample.trials, doubt),
        looks=plan_looks(sample.trials, gate.looks, alpha=gate.alpha),
    )


@dataclass(frozen=True, slots=True)
class _Desk:
    """What every row of one plan shares."""

    rule: Rule
    sample: Sample
    price: Price

    def n_counted(self, n_cases: int) -> int:
        """How many of what the rule counts so many cases make, in groups of the same size."""
        return max(1, round(n_cases * self.rule.n_counted / self.sample.n_cases))

    def row(self, n_cases: int, trials: int) -> PlanRow:
        n, n_requests = self.n_counted(n_cases), 2 * n_cases * trials
        return PlanRow(
            n_cases,
            trials,
            self.rule.power(n, trials),
            self.rule.smallest_margin(n, trials),
            n_requests,
            _total(self.price.tokens, n_requests),
            _total(self.price.cost_micro_usd, n_requests),
        )

    def needed(self, trials: int) -> PlanRow | None:
        """The fewest cases with the wanted power."""
        n = self.rule.needed(trials)
        n_cases = None if n is None else math.ceil(n * self.sample.n_cases / self.rule.n_counted)
        return None if n_cases is None or n_cases > MOST_CASES else self.row(n_cases, trials)


def _total(each: float | None, n: int) -> int | None:
    return None if each is None else round(each * n)
