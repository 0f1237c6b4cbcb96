"""All mutants of trajectories, and which check refuses which of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from harness.checks import CHECKS, INFORMATION, judge
from harness.mutants.attempts import ATTEMPTS
from harness.mutants.budgeted import BUDGETED
from harness.mutants.editing import Mutant
from harness.mutants.effectful import EFFECTFUL
from harness.mutants.endings import ENDINGS
from harness.mutants.evidenced import EVIDENCED
from harness.mutants.families import FAMILIES
from harness.mutants.guarded import GUARDED
from harness.mutants.input import INPUT
from harness.mutants.lineage import LINEAGE
from harness.mutants.order import ORDER
from harness.mutants.originals import originals
from harness.mutants.replaced import REPLACED
from harness.mutants.results import RESULTS
from harness.mutants.shown import SHOWN
from harness.mutants.shown_by_step import BY_STEP
from harness.mutants.stopping import STOPPING
from harness.mutants.streams import STREAMS
from harness.mutants.unexpected import UNEXPECTED
from harness.types.codes import Outcome
from harness.types.events import Trajectory

MORE: Final = (*STREAMS, *EVIDENCED, *EFFECTFUL, *FAMILIES, *BY_STEP, *ATTEMPTS, *GUARDED, *REPLACED, *RESULTS)
MUTANTS: Final[dict[str, Mutant]] = {
    mutant.name: mutant
    for mutant in (*ORDER, *SHOWN, *ENDINGS, *STOPPING, *INPUT, *UNEXPECTED, *BUDGETED, *LINEAGE, *MORE)
}
"""Every mutant by name."""

LEGAL: Final = {
    ("left_running", "cancelled"): "a cancel may leave a body running where it is named (CONFORMANCE 76)",
    ("answer_changed", "evidenced"): "nothing is expected there but evidence for what is claimed",
    ("good_result_turned_error", "evidenced"): "nothing is expected there but evidence for what is claimed",
    ("tools_dropped_later", "delegated"): "a child may be offered less",
    ("answer_changed", "delegated"): "what a child says and what its call's body gave are not compared",
    ("kept_queue_dropped", "delegated"): "nothing was queued",
    ("tools_dropped_later", "side_by_side"): "a child may be offered less",
    ("answer_changed", "side_by_side"): "what a child says and what its call's body gave are not compared",
    ("tools_reordered", "shown_by_step"): "one tool has one order",
}
"""Mutants that are sound trajectories of some original: mutant and original, and why."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A mutant of an original, and the checks that refuse it (information: that tell it)."""

    mutant: str
    original: str
    checks: tuple[str, ...]


def kills(trajectories: Mapping[str, Trajectory] | None = None) -> Iterator[Kill]:
    """Every mutant of every original (None: those of :mod:`~harness.mutants.originals`) that it can be made of.

    A check kills a mutant that it refuses although it takes the original; an information check one
    of which it tells something new.
    """
    for name, original in (originals() if trajectories is None else trajectories).items():
        before = _complaints(original)
        for mutant in MUTANTS.values():
            broken = mutant.mutate(original)
            if broken is not None:
                after = _complaints(broken)
                yield Kill(mutant.name, name, tuple(check for check in after if check not in before))


def _complaints(trajectory: Trajectory) -> tuple[str, ...]:
    return tuple(
        verdict.check
        for verdict in judge(trajectory)
        if verdict.outcome is Outcome.FAIL or (verdict.check in INFORMATION and verdict.findings)
    )


def kill_table() -> str:
    """Which check refuses which mutants, as a Markdown table for the docs."""
    killed: dict[str, list[str]] = {check: [] for check in CHECKS}
    for kill in kills():
        for check in kill.checks:
            if kill.mutant not in killed[check]:
                killed[check].append(kill.mutant)
    rows = [f"| `{check}` | {len(names)} | {', '.join(names)} |" for check, names in killed.items()]
    return "\n".join(["| check | mutants refused | which |", "|---|---|---|", *rows]) + "\n"
