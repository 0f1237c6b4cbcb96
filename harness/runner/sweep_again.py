"""A red cell is run again: what does not come again was chance, and its cell is flaky."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from harness.types.records import Finding
from harness.types.sweeps import CellOutcome, SweepCell, rank

NOT_AGAIN: Final = "it did not come again in a second run"


@dataclass(frozen=True, slots=True)
class Again:
    """Runs red cells of one sweep a second time: those that are the first to show a check, so all that are shown.

    The rest need no second run: what their checks find has come twice already.
    """

    _seen: set[tuple[tuple[bool, ...], str]] = field(default_factory=set)

    def confirmed(self, made: Callable[[], SweepCell]) -> SweepCell:
        """The cell, with what came again of its findings; flaky where nothing did."""
        cell = made()
        wanted = {(rank(cell), one.check) for one in cell.findings}
        if cell.outcome is not CellOutcome.RED or wanted <= self._seen:
            return cell
        second = made()
        cell = of_both(replace(cell, n_runs=cell.n_runs + second.n_runs), second)
        if cell.outcome is CellOutcome.RED:
            self._seen.update((rank(cell), one.check) for one in cell.findings)
        return cell


def of_both(cell: SweepCell, second: SweepCell) -> SweepCell:
    """A red cell, with the findings whose checks accuse both runs; flaky where there are none."""
    checks = {one.check for one in second.findings} if second.outcome is CellOutcome.RED else set()
    found = tuple(one for one in cell.findings if one.check in checks)
    if found:
        return replace(cell, findings=found)
    return replace(cell, outcome=CellOutcome.FLAKY, findings=(), why=_chance(cell.findings[0]))


def _chance(finding: Finding) -> str:
    return f"{NOT_AGAIN}: {finding.check}: {finding.message}"
