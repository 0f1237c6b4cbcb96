"""An evaluation for the terminal: one screen that decides, then where the answers went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from harness.report.confusing import Matrix, matrix_of
from harness.report.evaluation_words import (
    comparison_lines,
    counts_text,
    headline,
    name_of,
    percent,
    points,
    reasons,
    spent_text,
    steadiness_text,
    verdict_text,
)
from harness.report.text import counted, piece
from harness.types.evaluation_insight import CaseInArm, CaseLine, Curve
from harness.types.evaluation_summary import EvaluationSummary

_LABEL: Final = 8
_MOST_ARMS: Final = 4
_MOST_COLUMNS: Final = 14
_MOST_WORST: Final = 10
_CELL_CHARS: Final = 22


def first_screen(summary: EvaluationSummary) -> str:
    """About a dozen lines: the verdict and its rule, counts and rates of the first arms, the comparison."""
    return "".join(line + "\n" for line in _first(summary))


def evaluation_text(summary: EvaluationSummary) -> str:
    """The first screen, then confusion matrices, classes of mismatch, factors, curves, and the worst cases."""
    parts = [*_first(summary)]
    for section in (_matrices, _stages, _factors, _curves, _suspects, _worst):
        lines = list(section(summary))
        if lines:
            parts += ["", *lines]
    return "".join(line + "\n" for line in parts)


def _first(summary: EvaluationSummary) -> Iterator[str]:
    yield f"{verdict_text(summary)}  {headline(summary)}"
    yield _line("rule", piece(summary.rule, 400))
    for label, text in reasons(summary):
        yield _line(label, text)
    for arm in summary.arms[:_MOST_ARMS]:
        yield _line(name_of(arm.name), counts_text(arm.counts))
        yield _line("", steadiness_text(arm))
    if len(summary.arms) > _MOST_ARMS:
        yield _line("", f"and {counted(len(summary.arms) - _MOST_ARMS, 'arm')} more, in the report")
    if summary.comparison is not None:
        for label, text in comparison_lines(summary.comparison):
            yield _line(label, text)
    if summary.n_suspects:
        yield _line(
            "suspect", f"{counted(summary.n_suspects, 'case')} failed always in every arm: is what they expect right?"
        )


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{'' if len(label) < _LABEL else ' '}{text}"


# ---------------------------------------------------------------- sections


def _matrices(summary: EvaluationSummary) -> Iterator[str]:
    for arm in summary.arms:
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
        low_high = (
            "" if factor.low is None or factor.high is None else f" [{points(factor.low)}, {points(factor.high)}]"
        )
        mixed = "" if factor.one_factor else " (several things at once)"
        changes = piece("; ".join(factor.changes) or "nothing", 200)
        yield f"  {name_of(factor.arm)}: {points(factor.difference)} points{low_high}, {changes}{mixed}"


def _curves(summary: EvaluationSummary) -> Iterator[str]:
    for curve in summary.curves:
        arm = f", {name_of(curve.arm)}" if curve.arm else ""
        points_ = ", ".join(
            f"{piece(point.label, 30)} {percent(point.rate)} ({point.n_units})" for point in curve.points
        )
        yield f"{curve.name}{arm}: {points_}{trend_text(curve)}"


def trend_text(curve: Curve) -> str:
    """The slope and the p of the one test for a trend."""
    if curve.slope is None or curve.p is None:
        return "; no trend to test"
    return f"; {points(curve.slope)} points a step, p {curve.p:.4f} ({curve.test})"


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


def case_in_arm_text(one: CaseInArm) -> str:
    """``now 3 of 5 (wrong tool)``."""
    planned = one.passed + one.failed + one.errored + one.skipped
    kinds: Sequence[str] = [kind.value for kind in one.kinds]
    return f"{name_of(one.arm)} {one.passed} of {planned}" + (f" ({', '.join(kinds)})" if kinds else "")


def worst_line(line: CaseLine) -> str:
    """A case in one line, without its arms."""
    return f"{piece(line.case, 60)}: {piece(line.ask, 80)} expects {piece(line.expected, 80)}"
