"""What sweeps came to, written: one HTML file, and the same numbers as JSON beside it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.again import as_argument

if TYPE_CHECKING:
    from harness.types.codes import Outcome
    from harness.types.sweeps import Sweep


def sweep_command(paths: Sequence[Path] | None, options: Mapping[str, Any]) -> str:
    """The command again: paths, then each option that was given; lists are repeated, True stands alone."""
    words = ["harness", "sweep", *map(as_argument, paths or ())]
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words += [name] if one is True else [name, str(one)] if one else []
    return shlex.join(words)


def write_sweeps(
    html: Path, told: Sequence[tuple[Sweep, str]], results: Mapping[str, Any], *, line: str, command: str
) -> None:
    """Write the page, and ``results`` (as ``--json`` says them) into the file of that name that ends in ``.json``.

    ``line`` says in words what all sweeps came to, ``command`` makes them again.
    """
    from harness.cli.html_file import write_beside
    from harness.report.html.sweeps import Told, sweeps_page
    from harness.runner import cell_text
    from harness.runner.review.beside import SWEEPS_FORMAT
    from harness.types.jsontext import canonical_json

    sweeps = [Told(sweep, file) for sweep, file in told]
    outcome = _outcome([sweep for sweep, _ in told], finished=bool(results["finished"]))
    write_beside(html, lambda: sweeps_page(sweeps, text=line, outcome=outcome, text_of=cell_text, command=command))
    data = canonical_json({"format": SWEEPS_FORMAT, **results}).encode("utf-8", "replace")
    write_beside(html.with_suffix(".json"), lambda: data + b"\n")


def _outcome(sweeps: Sequence[Sweep], *, finished: bool) -> Outcome:
    """As the exit code says it; what was broken off and found nothing yet is not decided."""
    from harness.types.codes import Outcome

    seen = {sweep.outcome for sweep in sweeps}
    for outcome in (Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE):
        if outcome in seen:
            return outcome
    if not finished:
        return Outcome.INCONCLUSIVE
    return Outcome.PASS if Outcome.PASS in seen else Outcome.INVALID


def sweep_row(one: Sweep, file: str) -> dict[str, Any]:
    """A sweep as plain values; ``file`` shows its smallest red cell again."""
    from harness.folds import to_plain
    from harness.runner import cell_text

    cells = [one.reference, *one.cells]
    shown = [cell for cell in cells if cell.outcome.value in ("red", "flaky", "error", "close")]
    return {
        "scenario": one.scenario,
        "subject": one.subject,
        "outcome": one.outcome.value,
        "clean": one.clean,
        "nCells": len(one.cells),
        "nJudged": one.n_judged,
        "nRuns": one.n_runs,
        "strip": one.strip.split("\n") if one.strip else [],
        "why": one.why,
        "reproduction": file,
        "cells": [
            {
                "outcome": cell.outcome.value,
                "injection": cell_text(cell),
                "findings": to_plain(cell.findings),
                "why": cell.why,
            }
            for cell in shown
        ],
    }
