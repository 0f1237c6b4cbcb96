"""Lines for the plots of a comparison from what lies beside the runs: results of sweeps, summaries of evaluations.

Both are read as the JSON that they are on disk; numbers stay as they stand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.report.html.evaluation import MOST_ARMS, matrix_entry
from harness.report.html.sweeps import MOST_CELLS, fitting, told_findings
from harness.report.text import piece

Plain = dict[str, Any]
SIDES: Final = ("base", "candidate")
SWEEPS_BYTES: Final = 5_000_000
"""What the sweeps of both sides may take beside the runs of a page."""
_NAME_CHARS: Final = 200
_TEXT_CHARS: Final = 600
_ROW: Final = re.compile(r"(?P<name>.*?)\s{2,}(?P<runs>[.X~?!-]\d+(?: [.X~?!-]\d+)*)")
_MOST_SIGNS: Final = 1_000_000


def evaluation_lines(summaries: Mapping[str, Mapping[str, Any]]) -> Plain:
    """Matrices and pass rates of the evaluations of ``base`` and ``candidate``; a side may be missing.

    Of the first ``MOST_ARMS`` arms; ``armsLeftOut`` counts the others.
    """
    names = dict.fromkeys(name for side in SIDES if side in summaries for name in _arms(summaries[side]))
    arms = list(names)[:MOST_ARMS]
    confusion = [matrix for side in SIDES if side in summaries for matrix in _matrices(side, summaries[side], arms)]
    left_out = {"armsLeftOut": len(names) - len(arms)} if len(names) > len(arms) else {}
    return {"confusion": confusion, "rates": _rates(summaries, arms), **left_out}


def _arms(summary: Mapping[str, Any]) -> Iterator[str]:
    yield from (arm["name"] for arm in summary["arms"])
    yield from (cell["arm"] for cell in summary["confusion"])


def _matrices(side: str, summary: Mapping[str, Any], arms: Sequence[str]) -> Iterator[Plain]:
    counts: dict[str, dict[tuple[str, str], int]] = {}
    for cell in summary["confusion"]:
        if cell["arm"] in arms:
            counts.setdefault(cell["arm"], {})[cell["expected"], cell["chosen"]] = cell["n"]
    for arm, found in counts.items():
        yield {"side": side, **matrix_entry(arm, found)}


def _rates(summaries: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> list[Plain]:
    arms: dict[str, Plain] = {}
    for side in SIDES:
        for arm in summaries[side]["arms"] if side in summaries else ():
            if arm.get("unitRate") is not None and arm["name"] in names:
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


def sweep_lines(results: Mapping[str, Mapping[str, Any]]) -> Plain:
    """Sweeps of ``base`` and ``candidate`` by scenario, both sides of one beside each other, what fails first.

    ``sweepsLeftOut`` counts those without room.
    """
    found = [{"side": side, **_sweep(sweep)} for side in SIDES if side in results for sweep in results[side]["sweeps"]]
    failing = {one["scenario"] for one in found if one["outcome"] not in ("PASS", "INVALID")}
    found.sort(key=lambda one: (one["scenario"] not in failing, one["scenario"], SIDES.index(one["side"])))
    kept, n_left_out = fitting(found, SWEEPS_BYTES)
    return {"sweeps": kept, **({"sweepsLeftOut": n_left_out} if n_left_out else {})}


def _sweep(sweep: Mapping[str, Any]) -> Plain:
    shown = [_cell(cell) for cell in sweep["cells"][:MOST_CELLS]]
    return {
        **{name: sweep[name] for name in ("nCells", "nJudged", "nRuns")},
        "outcome": piece(sweep["outcome"], _NAME_CHARS),
        "why": piece(sweep["why"], _TEXT_CHARS),
        "reproduction": piece(sweep["reproduction"], _TEXT_CHARS),
        "scenario": piece(sweep["scenario"], _NAME_CHARS),
        "subject": piece(sweep["subject"], _NAME_CHARS),
        "rows": [row for line in sweep["strip"] if (row := _row(line)) is not None],
        "cells": shown,
        "cellsLeftOut": len(sweep["cells"]) - len(shown),
    }


def _cell(cell: Mapping[str, Any]) -> Plain:
    return {
        "outcome": piece(cell["outcome"], _NAME_CHARS),
        "injection": piece(cell["injection"], _TEXT_CHARS),
        "why": piece(cell["why"], _TEXT_CHARS),
        **told_findings([(one["check"], one["message"], one.get("events", ())) for one in cell["findings"]]),
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
