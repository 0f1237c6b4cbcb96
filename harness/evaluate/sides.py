"""Base and candidate of the primary comparison as numbers: counts per case, rates and differences per unit."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

from harness.evaluate.tally import ERRORED, FAILED, PASSED, Tally, summed
from harness.statistics.robustness import Extreme
from harness.types.evaluation import GateSpec, Metric
from harness.types.evaluation_summary import Counts

ALL_FAILED: Final = Extreme(base_passes=False, candidate_passes=False)
"""How the headline counts trials without an answer, which the provider failed or nobody asked."""


@dataclass(frozen=True)
class Sides:
    """The two arms over the cases of the gate's split, in the cases' order.

    ``base`` and ``candidate`` hold (passed, trials) a case; equal pairs are one object. ``unit`` is the place of each
    case's unit among ``n_units``. With PASS_HAT_K what has an outcome is the unit, (1 or 0, 1): did all trials of all
    its cases pass? There each unit stands once, by its first case, so that every number is about that one outcome.
    """

    cases: Sequence[int]
    base: Sequence[tuple[int, int]]
    candidate: Sequence[tuple[int, int]]
    unit: Sequence[int]
    n_units: int
    metric: Metric

    def rates(self, side: Sequence[tuple[int, int]]) -> list[float]:
        """The rate of each unit: the share of its trials that passed; with PASS_HAT_K 1 or 0."""
        passed, trials = array("L", [0]) * self.n_units, array("L", [0]) * self.n_units
        for unit, (c, n) in zip(self.unit, side, strict=True):
            passed[unit] += c
            trials[unit] += n
        known: dict[tuple[int, int], float] = {}
        return [known.setdefault((c, n), c / n) for c, n in zip(passed, trials, strict=True)]

    def differences(self) -> list[float]:
        """Candidate minus base, a unit."""
        known: dict[float, float] = {}
        pairs = zip(self.rates(self.base), self.rates(self.candidate), strict=True)
        return [known.setdefault(after - before, after - before) for before, after in pairs]

    def weights(self) -> list[float]:
        """What each case counts in the mean over units."""
        size = array("L", [0]) * self.n_units
        for unit in self.unit:
            size[unit] += 1
        known: dict[int, float] = {}
        return [known.setdefault(size[unit], 1 / (size[unit] * self.n_units)) for unit in self.unit]

    def by_unit(self, side: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, int], ...]]:
        """The counts of each unit's cases; equal ones are one object."""
        units: list[tuple[tuple[int, int], ...]] = [()] * self.n_units
        known: dict[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]] = {}
        for unit, counts in zip(self.unit, side, strict=True):
            grown = (*units[unit], counts)
            units[unit] = known.setdefault(grown, grown)
        return units


def sides_of(tally: Tally, gate: GateSpec, extreme: Extreme = ALL_FAILED, blocks: int | None = None) -> Sides:
    """The two arms of the gate, over its split, of the first ``blocks`` trials of each case or all.

    ``extreme`` says what trials without an answer count as.
    """
    cases = tally.index.in_split(gate.split)
    unit, n_units = _places(tally, cases)
    known: dict[tuple[int, int], tuple[int, int]] = {}

    def side(name: str, errors_pass: bool) -> list[tuple[int, int]]:
        arm = tally.arm_number[name]
        counts = (_counts(tally.row(case, arm, blocks), errors_pass) for case in cases)
        return [known.setdefault(pair, pair) for pair in counts]

    base, candidate = side(gate.base, extreme.base_passes), side(gate.candidate, extreme.candidate_passes)
    if gate.metric is Metric.PASS_HAT_K:
        firsts = _firsts(cases, unit, n_units)
        base, candidate = (_outcomes(each, unit, n_units) for each in (base, candidate))
        return Sides(firsts, base, candidate, range(n_units), n_units, gate.metric)
    return Sides(cases, base, candidate, unit, n_units, gate.metric)


def _firsts(cases: Sequence[int], unit: Sequence[int], n_units: int) -> Sequence[int]:
    """The first case of each unit."""
    found = array("L", [0]) * n_units
    for place in range(len(cases) - 1, -1, -1):
        found[unit[place]] = cases[place]
    return found


def _outcomes(side: Sequence[tuple[int, int]], unit: Sequence[int], n_units: int) -> list[tuple[int, int]]:
    """Of each unit (1, 1) where all trials of all its cases passed, else (0, 1)."""
    always, failed, passed = [True] * n_units, (0, 1), (1, 1)
    for place, (c, n) in zip(unit, side, strict=True):
        always[place] &= c == n
    return [passed if each else failed for each in always]


def _places(tally: Tally, cases: Sequence[int]) -> tuple[Sequence[int], int]:
    """For each case the place of its unit among the units that these cases have, and how many units those are."""
    place, n_units = array("l", [-1]) * tally.index.n_units, 0
    found = array("L")
    for case in cases:
        unit = tally.index.unit[case]
        if place[unit] < 0:
            place[unit], n_units = n_units, n_units + 1
        found.append(place[unit])
    return found, n_units


def _counts(row: bytes, errors_pass: bool) -> tuple[int, int]:
    return len(row) - row.count(FAILED) if errors_pass else row.count(PASSED), len(row)


def whole_blocks(tally: Tally, gate: GateSpec) -> int:
    """How many blocks are whole from the first on: each case of the split has that trial under both arms."""
    arms = (tally.arm_number[gate.base], tally.arm_number[gate.candidate])
    done = (_done(tally.row(case, arm)) for case in tally.index.in_split(gate.split) for arm in arms)
    return min(done, default=0)


def _done(row: bytes) -> int:
    for place, mark in enumerate(row):
        if mark not in _ANSWERED:
            return place
    return len(row)


_ANSWERED: Final = frozenset((PASSED, FAILED, ERRORED))


def has_gaps(tally: Tally, gate: GateSpec, blocks: int) -> bool:
    """Whether any of these trials has no answer that was judged."""
    arms = (tally.arm_number[gate.base], tally.arm_number[gate.candidate])
    rows = (tally.row(case, arm, blocks) for case in tally.index.in_split(gate.split) for arm in arms)
    return any(row.count(PASSED) + row.count(FAILED) < len(row) for row in rows)


def counts_of(tally: Tally, gate: GateSpec, name: str, blocks: int) -> Counts:
    """What became of the trials of an arm that are compared."""
    arm = tally.arm_number[name]
    return summed(tally.counts(case, arm, blocks) for case in tally.index.in_split(gate.split))


def unanswered(tally: Tally, gate: GateSpec, blocks: int) -> tuple[list[int], int]:
    """A case of each unit that has no scored trial in one of the arms, and how many units there are."""
    cases = tally.index.in_split(gate.split)
    unit, n_units = _places(tally, cases)
    seen = bytearray(n_units)
    for bit, name in enumerate((gate.base, gate.candidate)):
        arm = tally.arm_number[name]
        for place, case in zip(unit, cases, strict=True):
            row = tally.row(case, arm, blocks)
            seen[place] |= (PASSED in row or FAILED in row) << bit
    return [case for case, bits in zip(_firsts(cases, unit, n_units), seen, strict=True) if bits != _BOTH_ARMS], n_units


_BOTH_ARMS: Final = 0b11


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return fsum(values) / len(values) if values else 0.0
