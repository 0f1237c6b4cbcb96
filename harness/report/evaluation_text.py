"""An evaluation for the terminal: one screen that decides, then where the answers went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from harness.report.confusing import Matrix, matrix_of
from harness.report.evaluation_words import (
    arms_in_order,
    case_in_arm_text,
    cause_lines,
    changes_text,
    comparison_lines,
    counts_text,
    factor_text,
    flip_text,
    headline,
    name_of,
    percent,
    reasons,
    spent_text,
    steadiness_text,
    suspects_text,
    trend_text,
    verdict_text,
)
from harness.report.text import counted, piece
from harness.types.evaluation_summary import EvaluationSummary

_LABEL: Final = 8
_WIDEST: Final = 20
_MOST_ARMS: Final = 4
_MOST_CAUSES: Final = 4
_MOST_COLUMNS: Final = 14
_MOST_WORST: Final = 10
_CELL_CHARS: Final = 22


def first_screen(summary: EvaluationSummary, before: Sequence[str] = ()) -> str:
    """About a dozen lines: the verdict and its rule, counts and rates of the first arms, the comparison.

    ``before`` tells verdicts that were given before this one.
    """
    return "".join(line + "\n" for line in _first(summary, before))


def evaluation_text(summary: EvaluationSummary, before: Sequence[str] = ()) -> str:
    """The first screen, then confusion matrices, classes of mismatch, factors, curves, and the worst cases."""
    parts = [*_first(summary, before)]
    for section in (_flips, _matrices, _arguments, _stages, _factors, _curves, _suspects, _worst):
        lines = list(section(summary))
        if lines:
            parts += ["", *lines[: -1 if not lines[-1] else None]]
    return "".join(line + "\n" for line in parts)


def _first(summary: EvaluationSummary, before: Sequence[str]) -> Iterator[str]:
    yield f"{verdict_text(summary)}  {headline(summary)}"
    lines = list(_lines(summary, before))
    width = max(_LABEL, min(_WIDEST, max(len(label) for label, _ in lines)) + 1)
    yield from (f"{label:<{width}}{' ' if len(label) >= width else ''}{text}" for label, text in lines)


def _lines(summary: EvaluationSummary, before: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Label and text of each line of the first screen behind its first; a line without a label goes on."""
    yield "rule", piece(summary.rule, 400)
    yield from reasons(summary, before)
    for arm in arms_in_order(summary)[:_MOST_ARMS]:
        yield name_of(arm.name), counts_text(arm.counts)
        yield "", steadiness_text(arm)
    if len(summary.arms) > _MOST_ARMS:
        yield "", f"and {counted(len(summary.arms) - _MOST_ARMS, 'arm')} more, in the report"
    yield from cause_lines(summary, _MOST_CAUSES)
    if summary.comparison is not None:
        yield from comparison_lines(summary.comparison)
    if summary.n_suspects:
        yield "suspect", suspects_text(summary)


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{'' if len(label) < _LABEL else ' '}{text}"


# ---------------------------------------------------------------- sections


def _flips(summary: EvaluationSummary) -> Iterator[str]:
    cases = summary.comparison.cases if summary.comparison is not None else None
    if cases is None or not cases.n_worse + cases.n_better:
        return
    for label, n, flips in (("worse", cases.n_worse, cases.worse), ("better", cases.n_better, cases.better)):
        for flip in flips[:_MOST_WORST]:
            yield _line(label, f"{piece(flip.case, 60)}: {flip_text(flip)}")
        if n > _MOST_WORST:
            yield _line(label, f"and {counted(n - _MOST_WORST, 'case')} more")


def _arguments(summary: EvaluationSummary) -> Iterator[str]:
    wrong = [line for line in summary.arguments if line.right < line.n]
    if wrong:
        yield "arguments that were wrong at least once: right of expected"
    for line in sorted(wrong, key=lambda line: (line.right / line.n, line.name, line.arm))[:_MOST_WORST]:
        yield f"  {piece(line.name, 60)}, {name_of(line.arm)}: {line.right} of {line.n}"
    if len(wrong) > _MOST_WORST:
        yield f"  and {len(wrong) - _MOST_WORST} more, in arguments.parquet"


def _matrices(summary: EvaluationSummary) -> Iterator[str]:
    for arm in arms_in_order(summary)[:_MOST_ARMS]:
        matrix = matrix_of(summary, arm.name, _MOST_COLUMNS)
        if matrix.rows:
            yield f"expected (rows) and chosen (columns), {name_of(arm.name)}"
            yield from _matrix(matrix)
            yield ""


def _matrix(matrix: Matrix) -> Iterator[str]:
    keys = [f"{chr(ord('a') + place)}" for place in range(len(matrix.columns))]
    width = max(len(piece(row, _CELL_CHARS)) for row in matrix.rows)
    cells = [[str(n) if n else "." for n in row] for row in matrix.cells]
    wide = max(len(cell) for row in cells for cell in row)
    yield f"  {'':<{width}}  " + " ".join(f"{key:>{wide}}" for key in keys)
    for name, row in zip(matrix.rows, cells, strict=True):
        yield f"  {piece(name, _CELL_CHARS):<{width}}  " + " ".join(f"{cell:>{wide}}" for cell in row)
    yield "  " + ", ".join(
        f"{key} {piece(column, _CELL_CHARS)}" for key, column in zip(keys, matrix.columns, strict=True)
    )
    if matrix.n_left_out:
        yield f"  and {counted(matrix.n_left_out, 'name')} more, in confusion.parquet"


def _stages(summary: EvaluationSummary) -> Iterator[str]:
    for arm in summary.arms:
        said = [f"{n} {stage}" for stage, n in arm.stages]
        said += [f"no call {n}, since {why}" for why, n in arm.why_no_call]
        kinds = [f"{line.trials} {line.kind}" for line in summary.misfits if line.arm == arm.name]
        if said:
            yield _line(name_of(arm.name), "went wrong in " + ", ".join(said))
        if kinds:
            yield _line("", "mismatches: " + ", ".join(kinds))
        if arm.never.trials:
            yield _line("", f"a forbidden tool was called in {arm.never.violated} of {arm.never.trials} trials")
        yield _line("" if said or kinds else name_of(arm.name), spent_text(arm.spent))


def _factors(summary: EvaluationSummary) -> Iterator[str]:
    if summary.factors:
        yield f"against {name_of(summary.factors[0].first)} (description, not a verdict)"
    for factor in summary.factors:
        yield f"  {name_of(factor.arm)}: {factor_text(factor)}; {piece(changes_text(factor), 200)}"


def _curves(summary: EvaluationSummary) -> Iterator[str]:
    shown = {"", *(arm.name for arm in arms_in_order(summary)[:2])}
    curves = [curve for curve in summary.curves if curve.arm in shown]
    if curves:
        yield "curves (description; each p is of one trend and not corrected for how many there are)"
    for curve in curves:
        arm = f", {name_of(curve.arm)}" if curve.arm else ""
        places = ", ".join(f"{piece(at.label, 30)} {percent(at.rate)} ({at.n_units})" for at in curve.points)
        yield f"  {curve.name}{arm}: {places}{trend_text(curve)}"


def _suspects(summary: EvaluationSummary) -> Iterator[str]:
    for line in summary.suspects[:_MOST_WORST]:
        yield f"suspect  {piece(line.case, 60)}: {piece(line.ask, 80)} expects {piece(line.expected, 80)}"
    if summary.n_suspects > _MOST_WORST:
        yield f"suspect  and {counted(summary.n_suspects - _MOST_WORST, 'case')} more"


def _worst(summary: EvaluationSummary) -> Iterator[str]:
    if summary.worst:
        yield "cases that fail most"
    for line in summary.worst[:_MOST_WORST]:
        yield f"  {piece(line.case, 60)}: {piece(line.ask, 80)} expects {piece(line.expected, 80)}"
        yield "    " + ", ".join(case_in_arm_text(one) for one in line.arms[:_MOST_ARMS])
