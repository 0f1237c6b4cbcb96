"""Sweeps as one HTML file: a strip for each scenario, red cells with their findings, and what shows them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.report.html.document import page
from harness.report.text import piece
from harness.types.codes import Outcome
from harness.types.records import Comparison
from harness.types.review import GateVerdict, Review
from harness.types.sweeps import SIGNS, CellOutcome, Sweep, SweepCell

Plain = dict[str, Any]
MOST_SWEEPS: Final = 2_000
MOST_CELLS: Final = 20
MOST_SIGNS: Final = 4_000_000
_NAME_CHARS: Final = 200
_TEXT_CHARS: Final = 600
_SHOWN: Final = (CellOutcome.RED, CellOutcome.ERROR, CellOutcome.FLAKY, CellOutcome.CLOSE)
_WORST_FIRST: Final = (Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.PASS, Outcome.INVALID)


@dataclass(frozen=True, slots=True)
class Told:
    """A sweep, and what shows its smallest red cell again ("" for nothing)."""

    sweep: Sweep
    shown_by: str = ""


def sweeps_page(
    sweeps: Sequence[Told], *, text: str, outcome: Outcome, text_of: Callable[[SweepCell], str], command: str = ""
) -> bytes:
    """The file; ``text`` says in one line what all sweeps came to, ``text_of`` an injection in words."""
    review = Review(Comparison("", "", (), outcome), GateVerdict(outcome, text), command)
    block = sweeps_block([sweep_entry(one.sweep, one.shown_by, text_of) for one in sweeps])
    return page(review, plots=lambda rows, contexts: block)


def sweeps_block(entries: Iterable[Plain]) -> Plain:
    """The block ``plots`` of sweeps, worst first; what has no room is left out, and counted."""
    ranked = sorted(entries, key=lambda one: (_rank(one), one["scenario"]))
    kept: list[Plain] = []
    n_signs = 0
    for entry in ranked[:MOST_SWEEPS]:
        n_signs += sum(len(row["signs"]) for row in entry["rows"])
        if n_signs > MOST_SIGNS:
            break
        kept.append(entry)
    return {"sweeps": kept, "sweepsLeftOut": len(ranked) - len(kept)}


def _rank(entry: Mapping[str, Any]) -> int:
    found = [at for at, outcome in enumerate(_WORST_FIRST) if str(outcome) == entry["outcome"]]
    return found[0] if found else len(_WORST_FIRST)


def sweep_entry(sweep: Sweep, shown_by: str, text_of: Callable[[SweepCell], str]) -> Plain:
    """One sweep: rows of signs, one a cell in the order of the run, and the cells that are not clean."""
    rows: dict[str, list[str]] = {}
    for cell in sweep.cells:
        rows.setdefault(cell.row, []).append(SIGNS[cell.outcome])
    shown = [cell for cell in (sweep.reference, *sweep.cells) if cell.outcome in _SHOWN]
    shown.sort(key=lambda cell: _SHOWN.index(cell.outcome))
    return {
        "scenario": piece(sweep.scenario, _NAME_CHARS),
        "subject": piece(sweep.subject, _NAME_CHARS),
        "outcome": str(sweep.outcome),
        "why": piece(sweep.why, _TEXT_CHARS),
        "nCells": len(sweep.cells),
        "nJudged": sweep.n_judged,
        "nRuns": sweep.n_runs,
        "rows": [{"name": piece(name, _NAME_CHARS), "signs": "".join(signs)} for name, signs in rows.items()],
        "cells": [_cell(cell, text_of) for cell in shown[:MOST_CELLS]],
        "cellsLeftOut": len(shown[MOST_CELLS:]),
        "reproduction": piece(shown_by, _TEXT_CHARS),
    }


def _cell(cell: SweepCell, text_of: Callable[[SweepCell], str]) -> Plain:
    return {
        "outcome": str(cell.outcome),
        "injection": piece(text_of(cell), _TEXT_CHARS),
        "why": piece(cell.why, _TEXT_CHARS),
        "findings": [
            {
                "check": piece(one.check, _NAME_CHARS),
                "message": piece(one.message, _TEXT_CHARS),
                "events": list(one.events),
            }
            for one in cell.findings[:MOST_CELLS]
        ],
    }
