"""What an earlier evaluation teaches a plan: counts per unit in two arms, and what a trial costs on the mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from harness.errors import NothingToRunError, UsageError
from harness.statistics.planning import Price
from harness.statistics.spread import Counts, Spread, spread_of_one_arm, spread_of_pilot
from harness.types.evaluation import Cases, Split
from harness.types.grades import Score
from harness.types.reasons import Usage
from harness.types.trials import TrialKey

CHANGING: Final = 0.2
"""The share of cases that change, where a pilot has one arm and nobody said."""


@dataclass(frozen=True, slots=True)
class PilotTrial:
    """One trial of the pilot: which, what it counts as, and what it took."""

    key: TrialKey
    score: Score
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Pilot:
    """Counts (passed, judged trials) of the same units in the same order; ``candidate`` is None with one arm only."""

    base: tuple[Counts, ...]
    candidate: tuple[Counts, ...] | None
    price: Price
    n_trials: int

    def spread(self, changing: float = CHANGING) -> Spread:
        """How much differences vary. ``changing`` is used only where there is no candidate."""
        if self.candidate is None:
            return spread_of_one_arm(self.base, changing)
        return spread_of_pilot(self.base, self.candidate)


def pilot_of(
    trials: Iterable[PilotTrial], cases: Cases, base: str, candidate: str, *, split: Split | None = None
) -> Pilot:
    """Count the trials of two arms by unit. Where only one of the arms was asked, it stands for the base.

    Trials without an outcome (errored, skipped) are not counted; what they took is. Raises UsageError for a trial of a
    case that the evaluation does not have, NothingToRunError where no trial of either arm was judged.
    """
    wanted = {case.id: case.unit for case in cases if split is None or case.split is split}
    known = set(wanted) if split is None else {case.id for case in cases}
    sums: dict[str, dict[str, list[int]]] = {base: {}, candidate: {}}
    took = _Took()
    for trial in trials:
        if trial.key.case not in known:
            raise UsageError(
                f"the pilot has a trial of {trial.key.case!r}, which is no case of this evaluation: "
                "give the folder of the same cases"
            )
        if trial.key.arm not in sums or trial.key.case not in wanted:
            continue
        took.add(trial.usage)
        if trial.score in (Score.PASSED, Score.FAILED):
            counts = sums[trial.key.arm].setdefault(wanted[trial.key.case], [0, 0])
            counts[0] += trial.score is Score.PASSED
            counts[1] += 1
    units = sorted(set(wanted.values()))
    first, second = (_in_order(sums[arm], units) for arm in (base, candidate))
    if not first and not second:
        raise NothingToRunError(f"the pilot has no judged trial of the arms {base!r} and {candidate!r}")
    if not first or not second:
        return Pilot(first or second, None, took.price(), took.n)
    return Pilot(first, second, took.price(), took.n)


def _in_order(sums: dict[str, list[int]], units: list[str]) -> tuple[Counts, ...]:
    """Units without a judged trial stay, so that both arms hold the same; nothing where no unit has one."""
    return tuple((sums[unit][0], sums[unit][1]) if unit in sums else (0, 0) for unit in units) if sums else ()


class _Took:
    """Tokens and money of trials that told them."""

    def __init__(self) -> None:
        self.n = self.n_told = self.tokens = self.n_priced = self.cost_micro_usd = 0

    def add(self, usage: Usage | None) -> None:
        self.n += 1
        if usage is None:
            return
        if usage.input_tokens is not None or usage.output_tokens is not None:
            self.n_told += 1
            self.tokens += (usage.input_tokens or 0) + (usage.output_tokens or 0)
        if usage.cost_micro_usd is not None:
            self.n_priced += 1
            self.cost_micro_usd += usage.cost_micro_usd

    def price(self) -> Price:
        return Price(
            self.tokens / self.n_told if self.n_told else None,
            self.cost_micro_usd / self.n_priced if self.n_priced else None,
        )
