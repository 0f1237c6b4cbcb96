"""Lines for the plots of a comparison from what lies beside the runs: results of sweeps, summaries of evaluations.

Both are read as the JSON that they are on disk; numbers stay as they stand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.report.html.evaluation import matrix_entry
from harness.report.text import piece

Plain = dict[str, Any]
SIDES: Final = ("base", "candidate")
_NAME_CHARS: Final = 200
_ROW: Final = re.compile(r"(?P<name>.*?)\s{2,}(?P<runs>[.X~?!-]\d+(?: [.X~?!-]\d+)*)")
_MOST_SIGNS: Final = 1_000_000
_MOST_CELLS: Final = 20


def evaluation_lines(summaries: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Plain]]:
    """Matrices and pass rates of the evaluations of ``base`` and ``candidate``; a side may be missing."""
    confusion = [matrix for side in SIDES if side in summaries for matrix in _matrices(side, summaries[side])]
    return {"confusion": confusion, "rates": _rates(summaries)}


def _matrices(side: str, summary: Mapping[str, Any]) -> Iterator[Plain]:
    counts: dict[str, dict[tuple[str, str], int]] = {}
    for cell in summary["confusion"]:
        counts.setdefault(cell["arm"], {})[cell["expected"], cell["chosen"]] = cell["n"]
    for arm, found in counts.items():
        yield {"side": side, **matrix_entry(arm, found)}


def _rates(summaries: Mapping[str, Mapping[str, Any]]) -> list[Plain]:
    arms: dict[str, Plain] = {}
    for side in SIDES:
        for arm in summaries[side]["arms"] if side in summaries else ():
            if arm.get("unitRate") is not None:
                line = {"group": "arm", "name": piece(arm["name"], _NAME_CHARS), "base": None, "candidate": None}
                arms.setdefault(arm["name"], line)[side] = _rate(arm)
    return list(arms.values())


def _rate(arm: Mapping[str, Any]) -> Plain:
    interval = arm.get("interval") or {}
    return {
        "rate": arm["unitRate"],
        "n": arm["counts"]["passed"],
        "of": arm["counts"]["planned"],
        "units": arm["nUnits"],
        "low": interval.get("low"),
        "high": interval.get("high"),
        "passHat": arm.get("passHatK"),
        "k": arm["k"],
    }


def sweep_lines(results: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Plain]]:
    """Sweeps of ``base`` and ``candidate`` by scenario, both sides of one beside each other, what fails first."""
    found = [{"side": side, **_sweep(sweep)} for side in SIDES if side in results for sweep in results[side]["sweeps"]]
    failing = {one["scenario"] for one in found if one["outcome"] not in ("PASS", "INVALID")}
    found.sort(key=lambda one: (one["scenario"] not in failing, one["scenario"], SIDES.index(one["side"])))
    return {"sweeps": found}


def _sweep(sweep: Mapping[str, Any]) -> Plain:
    shown = [
        {**cell, "findings": [{"events": [], **one} for one in cell["findings"]]}
        for cell in sweep["cells"][:_MOST_CELLS]
    ]
    return {
        **{name: sweep[name] for name in ("outcome", "nCells", "nJudged", "nRuns", "why", "reproduction")},
        "scenario": piece(sweep["scenario"], _NAME_CHARS),
        "subject": piece(sweep["subject"], _NAME_CHARS),
        "rows": [row for line in sweep["strip"] if (row := _row(line)) is not None],
        "cells": shown,
        "cellsLeftOut": len(sweep["cells"]) - len(shown),
    }


def _row(line: str) -> Plain | None:
    """``cancel inside  .18 X2 -4`` as a name and one sign a cell; None for a line that is none."""
    match = _ROW.fullmatch(line)
    if match is None:
        return None
    runs = [(run[0], int(run[1:])) for run in match["runs"].split(" ")]
    if sum(n for _, n in runs) > _MOST_SIGNS:
        return None
    return {"name": piece(match["name"], _NAME_CHARS), "signs": "".join(sign * n for sign, n in runs)}
