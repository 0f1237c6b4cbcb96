"""When the primary comparison may not say anything, and why: nothing was asked, or no outcome could have failed."""

from __future__ import annotations

from typing import Final, assert_never

from harness.evaluate.sides import Sides, counts_of, unanswered
from harness.evaluate.tally import Tally
from harness.statistics.difference import MIN_DIFFERENCES
from harness.statistics.regions import Reach, Region, fewest_units, reach_of_gate, reach_within
from harness.types.evaluation import Estimand, GateSpec

MOST_UNANSWERED: Final = 0.2
"""The largest share of units that may be without a scored trial in one of the arms."""


def invalid(tally: Tally, gate: GateSpec, sides: Sides, blocks: int, level: float) -> str:
    """Why nothing can be said of the first ``blocks`` trials, whatever the numbers; "" where something can."""
    if not sides.cases:
        return f"no case is in the split {gate.split.value if gate.split else 'all'!r} that the gate names"
    where = f" in the split {gate.split.value!r}" if gate.split else ""
    for name in (gate.base, gate.candidate):
        counts = counts_of(tally, gate, name, blocks)
        if not counts.scored:
            rest = f"{counts.errored} errored, {counts.skipped} skipped"
            return f"no trial of the arm {name!r} was scored{where} ({rest})"
    if not _reach(sides, gate, level).can_fail:
        return (
            f"the rule cannot fail: with {sides.n_units} units and these trials, even a candidate that never passes "
            f"beside a base that always does is not below 0; to pass, {_fewest(gate, level)}"
        )
    return ""


def too_few_answered(tally: Tally, gate: GateSpec, blocks: int) -> str:
    """Why too little was answered to speak of these units, though what is missing could turn nothing; "" where enough.

    More than MOST_UNANSWERED of the units of the gate's split have no scored trial in one of the arms.
    """
    missing, n_units = unanswered(tally, gate, blocks)
    if len(missing) <= MOST_UNANSWERED * n_units:
        return ""
    return (
        f"too few were answered: {len(missing)} of {n_units} units (first {tally.index.cases[missing[0]].unit!r}) have "
        f"no scored trial in one of the arms, {MOST_UNANSWERED:.0%} may be without; run again, which asks only those"
    )


def undecided(sides: Sides, gate: GateSpec, level: float, found: Region) -> str:
    """That an INCONCLUSIVE says nothing of the candidate, where no candidate could have passed; why an INVALID is one.

    "" for any other region.
    """
    if found is Region.INVALID:
        return (
            f"there is no interval: what differs lies in few cases that count much, and is worth fewer than "
            f"{MIN_DIFFERENCES} pairs of trials; more trials or more units are needed"
        )
    if found is not Region.INCONCLUSIVE or _reach(sides, gate, level).can_pass:
        return ""
    return f"{_fewest(gate, level)}: with {sides.n_units} units not even a candidate without any difference passes"


def _reach(sides: Sides, gate: GateSpec, level: float) -> Reach:
    match gate.estimand:
        case Estimand.PROMPTS_LIKE_THESE:
            return reach_of_gate(sides.n_units, gate.margin, level)
        case Estimand.THESE_CASES:
            trials = [(n, m) for (_, n), (_, m) in zip(sides.base, sides.candidate, strict=True)]
            return reach_within(trials, gate.margin, level, sides.weights())
        case never:
            assert_never(never)


def _fewest(gate: GateSpec, level: float) -> str:
    fewest = fewest_units(gate.margin, level) if gate.estimand is Estimand.PROMPTS_LIKE_THESE else None
    needed = "more cases are needed" if fewest is None else f"{fewest} units are needed"
    return f"at a margin of {gate.margin * 100:.3g} points {needed}"
