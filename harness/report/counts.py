"""How many scenarios of a comparison became what, and what the runs of one side came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from harness.report.text import piece
from harness.types.codes import Change
from harness.types.records import Comparison, Side

_COUNTED: Final = (Change.SAME, Change.WORSE, Change.MISSING, Change.CHANGED, Change.BETTER, Change.NEW)
_NAMES_CHARS: Final = 60


def counts_text(comparison: Comparison) -> str:
    """``9 same, 1 worse, 0 missing, 2 changed, 0 better, 0 new``."""
    n = Counter(scenario.change for scenario in comparison.scenarios)
    return ", ".join(f"{n[change]} {change}" for change in _COUNTED)


def side_text(side: Side | None) -> str:
    """Outcomes, models and subjects of one side; the outcomes add up to what was planned (INVARIANTS 30)."""
    if side is None:
        return "not counted"
    parts = [
        f"{side.passed} passed",
        f"{side.failed} failed",
        f"{side.errored} errored",
        f"{side.inconclusive} inconclusive",
        f"{side.skipped} skipped",
    ]
    parts += [f"{side.invalid} invalid"] if side.invalid else []
    parts += [f"{side.not_run} not run"] if side.not_run else []
    names = (("model", side.models), ("subject", side.subjects))
    shown = [f"{name} {_names(values)}" for name, values in names if any(values)]
    sums = f"{side.planned} planned = {' + '.join(parts)}; {side.out_of_date} out of date"
    return "  ".join([sums, *shown])


def _names(values: Sequence[str]) -> str:
    """The first ones whole, and how many more there are."""
    kept = 1
    while kept < len(values) and len(", ".join(values[: kept + 1])) <= _NAMES_CHARS:
        kept += 1
    more = f" and {len(values) - kept} more" if kept < len(values) else ""
    return f"{piece(', '.join(values[:kept]), _NAMES_CHARS)}{more}"
