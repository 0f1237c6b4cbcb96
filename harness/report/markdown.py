"""``harness compare`` for a pull request: Markdown in which no foreign text can be anything but text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from harness.report.comparison import (
    FIRST_SHOWN,
    change_line,
    changed_runs,
    counts_text,
    one_line,
    segment_lines,
    side,
    side_text,
    took_text,
)
from harness.report.text import counted, piece, visible
from harness.types.codes import Outcome
from harness.types.records import RunSummary, ScenarioComparison
from harness.types.review import Review

AIM_BYTES: Final = 10_000
LIMIT_BYTES: Final = 65_536
_BACKTICKS: Final = re.compile("`+")
_ID_CHARS: Final = 200
_SIDE_CHARS: Final = 300
_COMMAND_CHARS: Final = 1_000
_MESSAGE_CHARS: Final = 2_000
_RESERVE_BYTES: Final = 600


def code(text: str) -> str:
    """Foreign text as a code span: no HTML, link, mention, table cell or emphasis can come of it."""
    shown = visible(text) or "(empty)"
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(shown)), default=0) + 1)
    # A span may not begin or end with a backtick, and loses one space on each side unless it is all spaces.
    padding = " " if shown.strip(" ") and (shown[0] in "` " or shown[-1] in "` ") else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def short(text: str, n_chars: int = _ID_CHARS) -> str:
    """A code span of the beginning of a text."""
    return code(piece(text, n_chars))


def comparison_markdown(
    review: Review,
    *,
    full_report: str = "",
    aim_bytes: int = AIM_BYTES,
    limit_bytes: int = LIMIT_BYTES,
) -> str:
    """Verdict, rule, sides, counts and five changed scenarios first; then all changed ids; then details.

    UTF-8 bytes stay below ``limit_bytes``. Details are cut between scenarios once ``aim_bytes`` is reached,
    and a line says how many were left out and where they are (case PB-047).
    """
    comparison, command = review.comparison, review.command
    nothing = one_line(review)
    if nothing:
        return f"{nothing} ({short(comparison.base)}, {short(comparison.candidate)})\n"
    changed = changed_runs(comparison)
    head = "\n".join(_first_screen(review, changed)) + "\n"
    room = limit_bytes - _RESERVE_BYTES - n_bytes(head)
    if len(changed) > FIRST_SHOWN:
        ids = _ids(changed, room)
        head, room = head + ids, room - n_bytes(ids)
    details, n_left = _details(changed, min(room, aim_bytes - n_bytes(head)))
    return head + details + (_left_out(n_left, full_report or command) if n_left else "")


def n_bytes(text: str) -> int:
    """Length in UTF-8, which is what services count."""
    return len(text.encode("utf-8", "replace"))


def _first_screen(review: Review, changed: list[ScenarioComparison]) -> Iterator[str]:
    comparison, command = review.comparison, review.command
    sides = (
        ("base", comparison.base, comparison.base_side),
        ("candidate", comparison.candidate, comparison.candidate_side),
    )
    yield f"### {review.outcome}: {visible(review.verdict.text)}"
    yield ""
    yield f"- {counts_text(comparison)}"
    for name, folder, counts in sides:
        yield f"- {name} {short(folder)}: {short(side_text(counts), _SIDE_CHARS)}"
    for scenario in changed[:FIRST_SHOWN]:
        yield f"- {_change(scenario)}"
    if len(changed) > FIRST_SHOWN:
        yield f"- and {counted(len(changed) - FIRST_SHOWN, 'scenario')} more that changed"
    took = took_text(comparison)
    if took:
        yield f"- {took}"
    if command:
        yield f"- again: {short(command, _COMMAND_CHARS)}"


def _change(scenario: ScenarioComparison) -> str:
    line = change_line(scenario)
    where = f" {short(line.where)}" if line.where else ""
    between = f": {code(side(line.base))} → {code(side(line.candidate))}" if line.has_sides else ""
    cause = f" cause: {short(line.cause)}" if line.cause else ""
    remark = f" {short(line.remark)}" if line.remark else ""
    return f"**{line.change}** {short(line.name)}{where}{between}{cause}{remark}"


def _ids(changed: Iterable[ScenarioComparison], room_bytes: int) -> str:
    """All changed scenarios by name, complete as far as the hard limit allows."""
    text = "\n#### All that changed\n\n"
    left = list(changed)
    while left:
        line = change_line(left[0])
        added = f"- {line.change} {short(line.name)}\n"
        if n_bytes(text) + n_bytes(added) > room_bytes:
            return text + f"- and {counted(len(left), 'scenario')} more, for which there is no room here\n"
        text += added
        left.pop(0)
    return text


def _details(changed: list[ScenarioComparison], room_bytes: int) -> tuple[str, int]:
    """Details of as many scenarios as there is room for, whole ones only, and how many were left out."""
    text = "\n#### Details\n"
    for n, scenario in enumerate(changed):
        added = "\n" + "\n".join(_detail(scenario)) + "\n"
        if n_bytes(text) + n_bytes(added) > room_bytes:
            return (text if n else ""), len(changed) - n
        text += added
    return text, 0


def _detail(scenario: ScenarioComparison) -> Iterator[str]:
    yield f"- {_change(scenario)}"
    found = scenario.divergence
    if found:
        yield f"  - first difference: {short(found.path)}: {code(side(found.base))} → {code(side(found.candidate))}"
    for one in scenario.explanation.inputs[1:] if scenario.explanation else ():
        yield f"  - differs too: {short(one.path)}: {code(side(one.base))} → {code(side(one.candidate))}"
    yield from (f"  - {short(text, _MESSAGE_CHARS)}" for text in segment_lines(scenario))
    for name, run in (("base", scenario.base), ("candidate", scenario.candidate)):
        if run is None:
            continue
        seq = None if found is None else found.base_seq if name == "base" else found.candidate_seq
        event = "" if seq is None else f", event {seq}"
        steps = counted(run.n_steps, "step")
        yield f"  - {name}: {run.outcome}, {short(run.reason)}, {steps}, {short(run.file)}{event}"
        yield from (f"    - {finding}" for finding in _findings(run))


def _findings(run: RunSummary) -> Iterator[str]:
    for verdict in run.verdicts:
        if verdict.outcome in (Outcome.PASS, Outcome.NOT_APPLICABLE):
            continue
        message = verdict.findings[0].message if verdict.findings else verdict.why
        more = f" and {counted(len(verdict.findings) - 1, 'finding')} more" if len(verdict.findings) > 1 else ""
        yield f"{verdict.outcome} {short(verdict.check)}: {short(message, _MESSAGE_CHARS)}{more}"


def _left_out(n_left: int, where: str) -> str:
    there = f"; all of them: {short(where)}" if where else ""
    return f"\nDetails of {counted(n_left, 'scenario')} left out here{there}\n"
