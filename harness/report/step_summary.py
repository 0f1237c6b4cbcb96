"""A review for the summary of a CI step: more than a comment holds, and below the limit of the service in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from harness.folds import row_name
from harness.report.amounts import means_of
from harness.report.comparison import change_line, side
from harness.report.fates import Row, is_told, rows_of, worst_first
from harness.report.markdown import (
    RESERVE_BYTES,
    add_details,
    add_goal_posts,
    diagram,
    first_screen,
    left_out,
    nothing_changed,
)
from harness.report.markdown_text import Page, cell, short
from harness.report.text import counted
from harness.types.records import ScenarioComparison
from harness.types.review import Review

SUMMARY_BYTES: Final = 1_048_576
"""Beyond it a service drops the whole summary, not only its end (case PB-047)."""
_HEAD: Final = ("verdict", "change", "scenario", "where", "base", "candidate", "cause", "outcome", *(
    "passed", "steps", "tokens", "cost µ$", "ms"
))  # fmt: skip
_CELL_CHARS: Final = 120
_NAMES_SHARE: Final = 5
"""The names of what fails take at most a fifth of the room: the table says them again, the same ones first, and why."""


def step_summary(review: Review, *, trace: str = "", full_report: str = "", limit_bytes: int = SUMMARY_BYTES) -> str:
    """The first screen, all that fail by name, a table of all scenarios, the diagram, details.

    UTF-8 bytes stay below ``limit_bytes``; less is given where the file holds something already. Only whole rows and
    details are left out, and a line says how many. Raises ValueError where not even the head has room.
    """
    rows = worst_first(rows_of(review))
    changed = [row for row in rows if is_told(row)]
    page = Page(limit_bytes)
    nothing = nothing_changed(review)
    head = nothing or "\n".join(first_screen(review, changed)) + "\n"
    if not page.add(head, keep=RESERVE_BYTES):
        raise ValueError(f"{limit_bytes} bytes have no room for the head of a report")
    where = full_report or review.command
    failing = [row for row in rows if row.fails]
    room = limit_bytes - page.used
    _add_lines(page, "Failing", failing, _bullet, where=where, keep=max(4 * RESERVE_BYTES, room - room // _NAMES_SHARE))
    add_goal_posts(page, review)
    if trace:
        page.add(diagram(trace), keep=3 * RESERVE_BYTES)
    _add_table(page, rows, where)
    n_left = add_details(page, changed, keep=RESERVE_BYTES)
    return page.text() + (left_out(n_left, where) if n_left else "")


def _add_lines(
    page: Page, title: str, rows: list[Row], line: Callable[[Row], str], *, where: str, keep: int, before: str = ""
) -> None:
    """A section of lines, each whole, and how many found no room; ``keep`` bytes are left for the sections behind."""
    if not rows or not page.add(f"\n#### {title}\n\n{before}", keep=keep + RESERVE_BYTES):
        return
    for n, row in enumerate(rows):
        if not page.add(line(row), keep=keep + RESERVE_BYTES):
            there = f"; all of them: {short(where)}" if where else ""
            page.add(f"\nand {counted(len(rows) - n, 'scenario')} more, for which there is no room here{there}\n")
            return


def _bullet(row: Row) -> str:
    return f"- {short(row_name(row.scenario))}\n"


def _add_table(page: Page, rows: list[Row], where: str) -> None:
    head = f"| {' | '.join(_HEAD)} |\n|{'---|' * len(_HEAD)}\n"
    _add_lines(page, "All scenarios", rows, _line, where=where, keep=RESERVE_BYTES, before=head)


def _line(row: Row) -> str:
    return f"| {' | '.join(_cells(row))} |\n"


def _cells(row: Row) -> Iterator[str]:
    scenario = row.scenario
    line = change_line(scenario)
    base, candidate = scenario.base, scenario.candidate
    yield row.fate
    yield scenario.change
    yield cell(row_name(scenario))
    yield cell(line.where, _CELL_CHARS) if line.where else ""
    yield cell(side(line.base), _CELL_CHARS) if line.has_sides else ""
    yield cell(side(line.candidate), _CELL_CHARS) if line.has_sides else ""
    yield cell(line.cause, _CELL_CHARS) if line.cause else ""
    yield _both(base.outcome if base else None, candidate.outcome if candidate else None)
    yield _passed(scenario)
    for was, now in zip(*means_of(scenario), strict=True):
        yield _both(was, now)


def _passed(scenario: ScenarioComparison) -> str:
    base = f"{scenario.base_passed} of {scenario.n_base}" if scenario.base else None
    candidate = f"{scenario.candidate_passed} of {scenario.n_candidate}" if scenario.candidate else None
    return _both(base, candidate)


def _both(base: object, candidate: object) -> str:
    """Both sides where they differ, else one of them; what is not known is ``–``."""
    one, other = ("–" if value is None else str(value) for value in (base, candidate))
    return one if one == other else f"{one} → {other}"
