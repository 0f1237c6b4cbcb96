"""An evaluation as Markdown for a pull request: foreign text is text only, and the page has an end.

Names, questions and messages stand in code spans; in cells of tables their bars are escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from harness.report.confusing import matrix_of
from harness.report.evaluation_words import (
    NO_JUDGE,
    UNNAMED,
    arms_in_order,
    case_in_arm_text,
    cause_lines,
    changes_text,
    comparison_lines,
    counts_text,
    factor_text,
    flip_text,
    model_text,
    percent,
    spent_text,
    steadiness_text,
    suspects_text,
    trend_text,
    verdict_text,
)
from harness.report.markdown import LIMIT_BYTES, n_bytes, short
from harness.report.text import counted
from harness.types.evaluation_summary import EvaluationSummary

_RESERVE_BYTES: Final = 400
_MOST_NAMES: Final = 20
_MOST_ROWS: Final = 50
_MOST_ARMS: Final = 20
_MOST_CAUSES: Final = 10
_NAME_CHARS: Final = 60
_TEXT_CHARS: Final = 160

Lines = Iterator[str]


def evaluation_markdown(
    summary: EvaluationSummary, *, before: Sequence[str] = (), limit_bytes: int = LIMIT_BYTES
) -> str:
    """The whole report: verdict and rule, counts and rates, the comparison, then where the answers went wrong.

    ``before`` tells verdicts that were given before this one.

    UTF-8 bytes stay at or below ``limit_bytes``; sections that find no room are named at the end. Raises ValueError
    where not even the head has room.
    """
    page = "\n".join(_head(summary, before)) + "\n"
    if n_bytes(page) > limit_bytes - _RESERVE_BYTES:
        raise ValueError(f"{limit_bytes} bytes have no room for the head of a report")
    left_out = []
    for title, section in _SECTIONS:
        lines = list(section(summary))
        if not lines:
            continue
        text = f"\n#### {title}\n\n" + "\n".join(lines) + "\n"
        if n_bytes(page) + n_bytes(text) > limit_bytes - _RESERVE_BYTES:
            left_out.append(title.lower())
        else:
            page += text
    said = f"\nLeft out for want of room, all of it in `summary.json`: {', '.join(left_out)}\n" if left_out else ""
    return page + said


def _head(summary: EvaluationSummary, before: Sequence[str]) -> Lines:
    asked = model_text(summary)
    model = UNNAMED if asked == UNNAMED else f"{'model ' if summary.model else ''}{short(asked, _NAME_CHARS)}"
    yield f"### {verdict_text(summary)}: {short(summary.evaluation, _NAME_CHARS)}"
    yield ""
    yield (
        f"{counted(summary.n_cases, 'case')} in {counted(summary.n_units, 'unit')}, "
        f"{counted(summary.n_tools, 'tool')}, {counted(len(summary.arms), 'arm')}, "
        f"{counted(summary.n_trials, 'trial')} a case, {model}"
    )
    yield ""
    yield f"- rule: {short(summary.rule, 400)}"
    if summary.why:
        yield f"- why: {short(summary.why, 600)}"
    for line in before:
        yield f"- before: {short(line, 400)}"
    if summary.provenance and summary.provenance.old_sample:
        yield f"- sample: {short(summary.provenance.old_sample, 400)}"
    for arm in arms_in_order(summary)[:_MOST_ARMS]:
        yield f"- {short(arm.name, _NAME_CHARS)}: {counts_text(arm.counts)}"
        yield f"  - {short(steadiness_text(arm), 400)}"
    if len(summary.arms) > _MOST_ARMS:
        yield f"- and {counted(len(summary.arms) - _MOST_ARMS, 'arm')} more, in `summary.json`"
    for label, text in cause_lines(summary, _MOST_CAUSES):
        yield f"- {label + ': ' if label else ''}{short(text, 400)}"
    if summary.comparison is not None:
        for label, text in comparison_lines(summary.comparison):
            yield f"- {label + ': ' if label else ''}{short(text, 600)}"
    if summary.n_suspects:
        yield f"- suspect: {suspects_text(summary)}"
    yield ""
    yield NO_JUDGE


# ---------------------------------------------------------------- tables


def cell(text: str, n_chars: int = _NAME_CHARS) -> str:
    """Foreign text in a cell: a code span whose bars do not end the cell."""
    return short(text, n_chars).replace("|", "\\|")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Lines:
    """A table of at most so many rows, and how many more there are; nothing without rows."""
    listed = list(rows)
    if not listed:
        return
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in listed[:_MOST_ROWS]:
        yield "| " + " | ".join(row) + " |"
    if len(listed) > _MOST_ROWS:
        yield ""
        yield f"and {len(listed) - _MOST_ROWS} more"


def _matrices(summary: EvaluationSummary) -> Lines:
    for arm in summary.arms:
        matrix = matrix_of(summary, arm.name, _MOST_NAMES)
        if not matrix.rows:
            continue
        yield f"{short(arm.name, _NAME_CHARS)}: expected in rows, chosen in columns"
        yield ""
        head = ["expected", *(cell(name) for name in matrix.columns)]
        rows = (
            [cell(name), *(str(n) if n else "" for n in row)]
            for name, row in zip(matrix.rows, matrix.cells, strict=True)
        )
        yield from _table(head, rows)
        if matrix.n_left_out:
            yield ""
            yield f"and {counted(matrix.n_left_out, 'name')} more, in `confusion.parquet`"
        yield ""


def _flips(summary: EvaluationSummary) -> Lines:
    if summary.comparison is None:
        return
    cases = summary.comparison.cases
    rows = [("worse", flip) for flip in cases.worse] + [("better", flip) for flip in cases.better]
    yield from _table(("", "case", "passed"), ((how, cell(flip.case), flip_text(flip)) for how, flip in rows))
    n_more = cases.n_worse + cases.n_better - len(rows)
    if n_more:
        yield ""
        yield f"and {counted(n_more, 'case')} more, in `cases.parquet`"


def _arguments(summary: EvaluationSummary) -> Lines:
    lines = sorted(summary.arguments, key=lambda line: (line.right / line.n, line.name, line.arm))
    rows = (
        (cell(line.name), cell(line.arm), f"{line.right} of {line.n}", percent(line.right / line.n)) for line in lines
    )
    yield from _table(("argument", "arm", "right", "share"), rows)


def _misfits(summary: EvaluationSummary) -> Lines:
    rows = []
    for line in summary.misfits:
        first = line.examples[0] if line.examples else None
        shown = "" if first is None else f"{cell(first.case)} {cell(first.path)} {cell(first.message, _TEXT_CHARS)}"
        rows.append((cell(line.arm), line.kind.value, str(line.trials), shown))
    yield from _table(("arm", "mismatch", "trials", "for example"), rows)


def _stages(summary: EvaluationSummary) -> Lines:
    for arm in summary.arms[:_MOST_ROWS]:
        said = [f"{n} {stage}" for stage, n in arm.stages]
        said += [f"{n} without a call, since {why}" for why, n in arm.why_no_call]
        if arm.never.trials:
            said.append(f"a forbidden tool called in {arm.never.violated} of {arm.never.trials} trials")
        yield f"- {short(arm.name, _NAME_CHARS)}: {'; '.join([*said, spent_text(arm.spent)])}"


def _factors(summary: EvaluationSummary) -> Lines:
    rows = ((cell(line.arm), factor_text(line), cell(changes_text(line), _TEXT_CHARS)) for line in summary.factors)
    yield from _table(("arm", "against the first", "changes"), rows)


def _curves(summary: EvaluationSummary) -> Lines:
    if summary.curves:
        yield "Each p is of one trend, and not corrected for how many there are."
        yield ""
    for curve in summary.curves[:_MOST_ROWS]:
        arm = f", {short(curve.arm, _NAME_CHARS)}" if curve.arm else ""
        places = ", ".join(f"{short(at.label, _NAME_CHARS)} {percent(at.rate)} of {at.n_units}" for at in curve.points)
        yield f"- {curve.name}{arm}: {places}{trend_text(curve)}"


def _tags(summary: EvaluationSummary) -> Lines:
    rows = (
        (cell(line.tag), cell(line.arm), str(line.n_cases), f"{line.passed} of {line.planned}", percent(line.rate))
        for line in summary.tags
    )
    yield from _table(("tag", "arm", "cases", "passed", "of planned"), rows)


def _suspects(summary: EvaluationSummary) -> Lines:
    rows = (
        (cell(line.case), cell(line.ask, _TEXT_CHARS), cell(line.expected, _TEXT_CHARS), ", ".join(line.kinds))
        for line in summary.suspects
    )
    yield from _table(("case", "ask", "expects", "mismatches"), rows)


def _worst(summary: EvaluationSummary) -> Lines:
    rows = (
        (
            cell(line.case),
            cell(line.ask, _TEXT_CHARS),
            cell(line.expected, _TEXT_CHARS),
            cell(", ".join(case_in_arm_text(one) for one in line.arms), _TEXT_CHARS),
        )
        for line in summary.worst
    )
    yield from _table(("case", "ask", "expects", "passed"), rows)


_SECTIONS: Final[tuple[tuple[str, Callable[[EvaluationSummary], Lines]], ...]] = (
    ("Cases that changed (description)", _flips),
    ("Confusion matrix", _matrices),
    ("Arguments", _arguments),
    ("Mismatches", _misfits),
    ("Stages, forbidden calls, cost", _stages),
    ("Each arm against the first (description)", _factors),
    ("Curves (description)", _curves),
    ("Tags", _tags),
    ("Expectations that may be wrong", _suspects),
    ("Cases that fail most (description)", _worst),
)
