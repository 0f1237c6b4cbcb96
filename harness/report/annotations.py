"""Workflow commands (``::error file=…,line=…::…``) that a service shows at the lines of scenarios that fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.folds import row_name, row_scenario
from harness.report.comparison import change_line, side
from harness.report.fates import Row, beside_rows, rows_of, worst_first
from harness.report.text import counted, piece, visible
from harness.report.unpassed import bad_verdicts, said_of, unpassed, unpassed_text
from harness.types.records import ScenarioComparison
from harness.types.review import Review, SourceLine

FIRST_ANNOTATED: Final = 10
"""A service shows no more errors of one step."""
_TITLE: Final = "harness compare"
_FINDINGS: Final = 3
_CHARS: Final = 400


def annotation_commands(review: Review) -> str:
    """A command a line for the first scenarios that fail, the worst first; then how many more do. Empty: none does.

    Whatever was said, each line is one command of ours: foreign text is on one line, and what could end a
    property or the command is escaped (INVARIANTS 34).
    """
    rows = rows_of(review)
    sources = {source.scenario: source for source in review.sources}
    failing = [row for row in worst_first(rows) if row.fails]
    beside = list(beside_rows(review, rows))
    lines = [_error(_told(row, sources)) for row in failing[:FIRST_ANNOTATED]]
    lines += [
        _error(((("title", f"{_TITLE}: {name}"),), why)) for name, _, why in beside[: FIRST_ANNOTATED - len(lines)]
    ]
    n_more = len(failing) + len(beside) - len(lines)
    if n_more:
        told = f"and {n_more} more that fail; all of them: {review.command or 'harness compare'}"
        lines.append(command("notice", (("title", _TITLE),), piece(told, _CHARS)))
    return "".join(line + "\n" for line in lines)


Said = tuple[tuple[tuple[str, str], ...], str]


def _told(row: Row, sources: dict[str, SourceLine]) -> Said:
    scenario = row.scenario
    source = sources.get(row_scenario(scenario))
    place = (("file", source.file), ("line", str(source.line))) if source and source.file else ()
    title = f"{piece(row_name(scenario), _CHARS)}: {scenario.change}"
    return (*place, ("title", title)), "\n".join(_message(scenario))


def _message(scenario: ScenarioComparison) -> Iterator[str]:
    line = change_line(scenario)
    if line.has_sides:
        yield f"{piece(line.where)}: {side(line.base)} → {side(line.candidate)}"
    if line.cause:
        yield f"cause: {piece(line.cause, _CHARS)}"
    if line.remark:
        yield piece(line.remark, _CHARS)
    bad, shown = unpassed(scenario), bad_verdicts(scenario.candidate)
    for one in bad[:_FINDINGS]:
        why = said_of(one, shown)
        said = unpassed_text(one, scenario)
        if why or said not in line.remark:
            yield f"{said}: {piece(why, _CHARS)}" if why else said
    if len(bad) > _FINDINGS:
        yield f"and {counted(len(bad) - _FINDINGS, 'check')} more"


def _error(said: Said) -> str:
    return command("error", *said)


def command(name: str, properties: tuple[tuple[str, str], ...], message: str) -> str:
    """One workflow command on one line; properties that are empty are left out."""
    told = ",".join(f"{key}={_property(value)}" for key, value in properties if value)
    return f"::{name} {told}::{_data(message)}"


def _data(text: str) -> str:
    """The older form of a command (``##[…]``) is found anywhere in a line, so it is broken up."""
    lines = [visible(line).replace("##[", "#\\x23[") for line in text.split("\n")]
    return "%0A".join(line.replace("%", "%25") for line in lines)


def _property(text: str) -> str:
    return visible(text).replace("##[", "#\\x23[").replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
