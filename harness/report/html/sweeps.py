"""Sweeps as one HTML file: a strip for each scenario, red cells with their findings, and what shows them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.report.html.document import page
from harness.report.html.embed import json_bytes
from harness.report.text import piece
from harness.types.codes import Outcome
from harness.types.records import Comparison
from harness.types.review import GateVerdict, Review
from harness.types.sweeps import SIGNS, CellOutcome, Sweep, SweepCell

Plain = dict[str, Any]
MOST_SWEEPS: Final = 2_000
MOST_CELLS: Final = 20
SWEEPS_BYTES: Final = 12_000_000
"""What the sweeps of a page may take; a page that shows runs beside them gives them less."""
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
    kept, n_left_out = fitting(sorted(entries, key=lambda one: (_rank(one), one["scenario"])), SWEEPS_BYTES)
    return {"sweeps": kept, "sweepsLeftOut": n_left_out}


def fitting(entries: Sequence[Plain], n_bytes: int) -> tuple[list[Plain], int]:
    """The first of the entries, as many as have room, and how many have none.

    Strips come before cells: no cells are told of one as long as the strip of another would have no room for them.
    """
    bare = [{**one, "cells": [], "cellsLeftOut": one["cellsLeftOut"] + len(one["cells"])} for one in entries]
    kept: list[Plain] = []
    for one in bare[:MOST_SWEEPS]:
        n_bytes -= len(json_bytes(one)) + 1
        if n_bytes < 0:
            return kept, len(entries) - len(kept)
        kept.append(one)
    for at, one in enumerate(entries[: len(kept)]):
        n_more = len(json_bytes(one["cells"]))
        if n_more > n_bytes:
            break
        n_bytes -= n_more
        kept[at] = one
    return kept, len(entries) - len(kept)


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
        **told_findings([(one.check, one.message, one.events) for one in cell.findings]),
    }


def told_findings(findings: Sequence[tuple[str, str, Sequence[int]]]) -> Plain:
    """The first findings of a cell (check, message, events), each short, and how many more there are."""
    shown = [
        {
            "check": piece(check, _NAME_CHARS),
            "message": piece(message, _TEXT_CHARS),
            "events": list(events[:MOST_CELLS]),
        }
        for check, message, events in findings[:MOST_CELLS]
    ]
    return {"findings": shown, "findingsLeftOut": len(findings) - len(shown)}
