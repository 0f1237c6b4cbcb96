"""What is shown of a sweep: a strip, the first red cell of each check, and where it is shown again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from harness.report.text import counted, piece
from harness.types.codes import Outcome
from harness.types.records import Finding
from harness.types.sweeps import CellOutcome, Sweep, SweepCell

COMPARED: Final = frozenset(
    {"second_cancel_changes_nothing", "order_changes_nothing", "throw_changes_nothing", "limit_holds"}
)
"""Rules of a sweep that compare a run with its reference, and that no expectation of a file says."""
_LONGEST: Final = 300
Text = Callable[[SweepCell], str]


def sweep_text(sweep: Sweep, *, text_of: Text, shown_by: str = "") -> str:
    """One line of outcome and counts, the strip, and what is wrong.

    ``text_of`` tells an injection in words; ``shown_by`` is the file that reproduces the smallest red cell.
    """
    lines = [f"{_word(sweep)}  {sweep.scenario}  {_counts(sweep)}"]
    lines += [f"  {line}" for line in sweep.strip.split("\n") if line]
    lines += [f"  {sweep.why}"] if sweep.why else []
    lines += [f"  {line}" for line in _wrong(sweep, text_of)]
    lines += [f"  {_told_by(sweep)} {shown_by}"] if shown_by else []
    return "\n".join(lines)


def _told_by(sweep: Sweep) -> str:
    """A rule that compares two runs accuses no single one: its file is the disturbed run, no proof by itself."""
    found = sweep.smallest.findings if sweep.smallest else ()
    alone = found and all(one.check in COMPARED for one in found)
    return "found beside the undisturbed run; the disturbed one is" if alone else "shown again by"


def _word(sweep: Sweep) -> str:
    """INVALID is for a whole set in which nothing was judged; one scenario of it has nothing to sweep."""
    return "NOT SWEPT" if sweep.outcome is Outcome.INVALID else str(sweep.outcome)


def _counts(sweep: Sweep) -> str:
    outcomes = Counter(cell.outcome for cell in sweep.cells)
    told = [f"{outcomes[one]} {one}" for one in CellOutcome if outcomes[one]]
    return f"{counted(len(sweep.cells), 'cell')}" + (f": {', '.join(told)}" if told else "")


def _wrong(sweep: Sweep, text_of: Text) -> list[str]:
    lines = [
        f"{finding.check}: {text_of(cell)}: {piece(finding.message, _LONGEST)}{_events(finding)}{_more(n)}"
        for cell, finding, n in _first_of_each(sweep)
    ]
    other = [*sweep.flaky, *(cell for cell in sweep.cells if cell.outcome is CellOutcome.ERROR)]
    if sweep.reference.outcome is CellOutcome.ERROR and not sweep.why:
        other.append(sweep.reference)
    if other:
        lines.append(f"{other[0].outcome}: {text_of(other[0])}: {piece(other[0].why, _LONGEST)}")
    return lines


def _first_of_each(sweep: Sweep) -> list[tuple[SweepCell, Finding, int]]:
    """For each check the first cell that it makes red, its finding there, and how many cells more."""
    smallest = [] if sweep.smallest is None else [sweep.smallest]
    firsts: dict[str, tuple[SweepCell, Finding]] = {}
    n_cells: Counter[str] = Counter()
    for cell in (*smallest, *sweep.red):
        for finding in cell.findings:
            firsts.setdefault(finding.check, (cell, finding))
    for cell in sweep.red:
        n_cells.update({finding.check for finding in cell.findings})
    return [(cell, finding, n_cells[check] - 1) for check, (cell, finding) in firsts.items()]


def _events(finding: Finding) -> str:
    return f" (events {', '.join(map(str, finding.events))})" if finding.events else ""


def _more(n: int) -> str:
    return f", and in {counted(n, 'more cell')}" if n else ""


def sweeps_line(sweeps: Sequence[Sweep], *, n_without_script: int, wall_ms: int, n_planned: int | None = None) -> str:
    """All sweeps in one line; ``n_planned`` where not all that were planned have ended."""
    n_cells = sum(len(sweep.cells) for sweep in sweeps)
    n_red = sum(len(sweep.red) for sweep in sweeps)
    n_judged = sum(sweep.n_judged for sweep in sweeps)
    n_runs = sum(sweep.n_runs for sweep in sweeps)
    n_swept = sum(sweep.outcome is not Outcome.INVALID for sweep in sweeps)
    n_all = len(sweeps) if n_planned is None else n_planned
    told = f"{n_swept} of {counted(n_all + n_without_script, 'scenario')} swept"
    told += f", {n_all - len(sweeps)} not begun or not ended" if n_all > len(sweeps) else ""
    told += f" ({n_without_script} without a script)" if n_without_script else ""
    return (
        f"{told}: {counted(n_cells, 'cell')}, {n_judged} judged, {n_red} red, "
        f"{sum(len(sweep.flaky) for sweep in sweeps)} flaky, {counted(n_runs, 'run')}, {wall_ms} ms"
    )
