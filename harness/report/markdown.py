"""``harness compare`` for a pull request: Markdown in which no foreign text can be anything but text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from harness.errors import UsageError
from harness.folds import row_name
from harness.report.comparison import (
    FIRST_SHOWN,
    change_line,
    counts_text,
    event_of,
    more_text,
    one_line,
    segment_lines,
    side,
    side_text,
    took_text,
)
from harness.report.fates import Fate, Row, is_told, rows_of, worst_first
from harness.report.markdown_text import Page, cell, code, n_bytes, short
from harness.report.text import counted
from harness.report.unpassed import bad_verdicts, of_trials
from harness.report.verdict_words import (
    gate_text,
    goal_posts_text,
    quarantine_lines,
    revision_text,
    verdict_text,
    warning_lines,
)
from harness.types.codes import Change
from harness.types.records import Explanation, RunSummary, ScenarioComparison
from harness.types.review import GoalPost, Review

__all__ = [
    "AIM_BYTES",
    "LIMIT_BYTES",
    "RESERVE_BYTES",
    "cell",
    "code",
    "comparison_markdown",
    "marker",
    "n_bytes",
    "short",
]

AIM_BYTES: Final = 10_000
LIMIT_BYTES: Final = 65_536
"""A service takes so many characters of a comment, another one so many bytes: kept in bytes, it holds for both."""
_KEY: Final = re.compile(r"[A-Za-z0-9_.]+(?:-[A-Za-z0-9_.]+)*")
_KEY_CHARS: Final = 60
_SIDE_CHARS: Final = 300
_COMMAND_CHARS: Final = 1_000
_MESSAGE_CHARS: Final = 2_000
_VERDICT_CHARS: Final = 400
_MOST_LINES: Final = 4
_MOST_POSTS: Final = 100
_MOST_SEGMENTS: Final = 20
_MOST_FINDINGS: Final = 10
RESERVE_BYTES: Final = 1_000
"""For the lines that say what was left out."""


def marker(key: str = "") -> str:
    """The first line of a comment, by which the next one finds and replaces it; several jobs have several keys.

    Raises UsageError for a key that is more than a plain word.
    """
    if key and (not _KEY.fullmatch(key) or len(key) > _KEY_CHARS):
        raise UsageError(f"--comment-key {key!r}: at most {_KEY_CHARS} letters, digits, '.', '_' and single '-' inside")
    return f"<!-- harness-comparison{f' {key}' if key else ''} -->"


def comparison_markdown(
    review: Review,
    *,
    key: str = "",
    trace: str = "",
    full_report: str = "",
    limit_bytes: int = LIMIT_BYTES,
) -> str:
    """Marker, verdict, rule, sides, counts, what moved, five changed scenarios; a diagram; all changed ids; details.

    UTF-8 bytes stay below ``limit_bytes``, so characters do. ``trace`` is Mermaid text of one pair of runs. Details
    are cut between scenarios once AIM_BYTES are reached, and a line says how many were left out and where they are
    (case PB-047). Where nothing changed, one line follows the marker. Raises UsageError for a bad key, ValueError
    where not even the head has room.
    """
    first = f"{marker(key)}\n"
    nothing = nothing_changed(review)
    if nothing:
        return first + nothing
    changed = [row for row in worst_first(rows_of(review)) if is_told(row)]
    page = Page(limit_bytes)
    if not page.add(first + "\n".join(first_screen(review, changed)) + "\n", keep=RESERVE_BYTES):
        raise ValueError(f"{limit_bytes} bytes have no room for the head of a report")
    if trace:
        page.add(diagram(trace), keep=RESERVE_BYTES)
    add_goal_posts(page, review)
    if len(changed) > FIRST_SHOWN:
        _add_ids(page, changed)
    n_left = add_details(page, changed, keep=max(RESERVE_BYTES, limit_bytes - AIM_BYTES))
    return page.text() + (left_out(n_left, full_report or review.command) if n_left else "")


def nothing_changed(review: Review) -> str:
    """The line that is the whole report where nothing changed; else empty."""
    comparison, nothing = review.comparison, one_line(review)
    return f"{nothing} ({short(comparison.base)}, {short(comparison.candidate)})\n" if nothing else ""


def first_screen(review: Review, changed: list[Row]) -> Iterator[str]:
    """What decides, and the first five that changed with step and cause, in fewer than 40 lines."""
    yield f"### {review.outcome}: {short(verdict_text(review.verdict), _VERDICT_CHARS)}"
    yield ""
    yield f"- {counts_text(review.comparison)}"
    yield from _sides(review)
    yield from (f"- **note**: {short(remark, _SIDE_CHARS)}" for remark in review.remarks)
    moved = goal_posts_text(review)
    if moved:
        yield f"- **goal posts moved**: {short(moved, _SIDE_CHARS)}"
        yield from (f"  - {_post(post)}" for post in review.goal_posts[:FIRST_SHOWN])
        if len(review.goal_posts) > FIRST_SHOWN:
            yield f"  - and {len(review.goal_posts) - FIRST_SHOWN} more, below"
    judged = gate_text(review.verdict)
    if judged:
        yield f"- judged by {short(judged, _SIDE_CHARS)}"
    yield from _listed("quarantine", quarantine_lines(review.verdict))
    yield from _listed("warning", warning_lines(review.verdict))
    for row in changed[:FIRST_SHOWN]:
        yield f"- {_change(row)}"
    if len(changed) > FIRST_SHOWN:
        yield f"- and {more_text([row.scenario for row in changed[FIRST_SHOWN:]])}"
    took = took_text(review.comparison)
    if took:
        yield f"- {took}"
    if review.command:
        yield f"- again: {short(review.command, _COMMAND_CHARS)}"


def _sides(review: Review) -> Iterator[str]:
    comparison = review.comparison
    for name, folder, counts, revision in (
        ("base", comparison.base, comparison.base_side, review.base_revision),
        ("candidate", comparison.candidate, comparison.candidate_side, review.candidate_revision),
    ):
        commit = revision_text(revision)
        at = f" at {short(commit)}" if commit else ""
        yield f"- {name} {short(folder)}{at}: {short(side_text(counts), _SIDE_CHARS)}"


def _listed(name: str, lines: list[str]) -> Iterator[str]:
    yield from (f"- {name}: {short(line, _SIDE_CHARS)}" for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield f"- {name}: and {len(lines) - _MOST_LINES} more"


def _change(row: Row) -> str:
    line = change_line(row.scenario)
    where = f" {short(line.where)}" if line.where else ""
    between = f": {code(side(line.base))} → {code(side(line.candidate))}" if line.has_sides else ""
    cause = f" cause: {short(line.cause)}" if line.cause else ""
    remark = f" {short(line.remark)}" if line.remark else ""
    fate = f" ({row.fate})" if row.fate in (Fate.HELD, Fate.WARNED, Fate.UNDECIDED) else ""
    return f"**{line.change}** {short(line.name)}{where}{between}{cause}{remark}{fate}"


def _post(post: GoalPost) -> str:
    detail = f": {short(post.detail)}" if post.detail else ""
    return f"{post.kind} {short(post.file)}{detail}"


def add_goal_posts(page: Page, review: Review) -> None:
    """All goal posts that moved, where the first screen has no room for them."""
    posts = review.goal_posts
    if len(posts) <= FIRST_SHOWN or not page.add("\n#### Goal posts moved\n\n", keep=3 * RESERVE_BYTES):
        return
    for n, post in enumerate(posts):
        if n == _MOST_POSTS or not page.add(f"- {_post(post)}\n", keep=3 * RESERVE_BYTES):
            page.add(f"- and {len(posts) - n} more\n")
            return


def diagram(trace: str) -> str:
    """A Mermaid diagram, folded. Its labels hold no backtick, so nothing ends the block early."""
    return f"\n<details><summary>Where the first one parts</summary>\n\n```mermaid\n{trace}\n```\n\n</details>\n"


def _add_ids(page: Page, changed: list[Row]) -> None:
    """All changed scenarios by name, complete as far as the hard limit allows."""
    same = any(row.scenario.change == Change.SAME for row in changed)
    page.add(f"\n#### All that changed{' or fail' if same else ''}\n\n", keep=2 * RESERVE_BYTES)
    for n, row in enumerate(changed):
        if not page.add(f"- {row.scenario.change} {short(row_name(row.scenario))}\n", keep=2 * RESERVE_BYTES):
            page.add(f"- and {counted(len(changed) - n, 'scenario')} more, for which there is no room here\n")
            return


def add_details(page: Page, changed: list[Row], *, keep: int) -> int:
    """Add details of as many scenarios as there is room for, whole ones only, and how many were left out."""
    title = "\n#### Details\n"
    for n, row in enumerate(changed):
        text = "\n" + "\n".join(detail(row)) + "\n"
        if not page.add(text if n else title + text, keep=keep):
            return len(changed) - n
    return 0


def _other_inputs(found: Explanation | None) -> Iterator[str]:
    inputs = found.inputs[1:_MOST_FINDINGS] if found else ()
    for one in inputs:
        yield f"  - differs too: {short(one.path)}: {code(side(one.base))} → {code(side(one.candidate))}"
    n_more = found.n_inputs - 1 - len(inputs) if found else 0
    if n_more > 0:
        yield f"  - and {n_more} more input{'s' if n_more > 1 else ''}"


def detail(row: Row) -> Iterator[str]:
    """All that one row has to say, as items of a list."""
    scenario = row.scenario
    yield f"- {_change(row)}"
    found = scenario.divergence
    if found:
        yield f"  - first difference: {short(found.path)}: {code(side(found.base))} → {code(side(found.candidate))}"
    yield from _other_inputs(scenario.explanation)
    yield from (f"  - over all trials: {short(text)}" for text in of_trials(scenario)[:_MOST_FINDINGS])
    yield from _segments(scenario)
    for name, run in (("base", scenario.base), ("candidate", scenario.candidate)):
        if run is None:
            continue
        at = event_of(found, name)
        event = f", {at}" if at else ""
        steps = counted(run.n_steps, "step")
        yield f"  - {name}: {run.outcome}, {short(run.reason)}, {steps}, {short(run.file)}{event}"
        yield from (f"    - {finding}" for finding in _findings(run))


def _segments(scenario: ScenarioComparison) -> Iterator[str]:
    lines = list(segment_lines(scenario))
    yield from (f"  - {short(text, _MESSAGE_CHARS)}" for text in lines[:_MOST_SEGMENTS])
    if len(lines) > _MOST_SEGMENTS:
        yield f"  - and {len(lines) - _MOST_SEGMENTS} more of its stretches"


def _findings(run: RunSummary) -> Iterator[str]:
    bad = bad_verdicts(run)
    for verdict in bad[:_MOST_FINDINGS]:
        message = verdict.findings[0].message if verdict.findings else verdict.why
        more = f" and {counted(len(verdict.findings) - 1, 'finding')} more" if len(verdict.findings) > 1 else ""
        yield f"{verdict.outcome} {short(verdict.check)}: {short(message, _MESSAGE_CHARS)}{more}"
    if len(bad) > _MOST_FINDINGS:
        yield f"and {counted(len(bad) - _MOST_FINDINGS, 'check')} more"


def left_out(n_left: int, where: str) -> str:
    """How many have no details here, and where they are."""
    there = f"; all of them: {short(where)}" if where else ""
    return f"\nDetails of {counted(n_left, 'scenario')} left out here{there}\n"
