"""Plots of an evaluation as SVG: rates with intervals, differences of units, confusion matrices, curves.

The same summary gives the same bytes: ids are salted with a fixed text and no date is written. Names that somebody
chose are text and nothing else (no formula, no markup); nothing is fetched, and no window is opened.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from harness.errors import ConfigurationError
from harness.report.confusing import Matrix, matrix_of
from harness.report.evaluation_words import percent, points, trend_text
from harness.report.text import counted, piece
from harness.types.evaluation_insight import Curve
from harness.types.evaluation_summary import EvaluationSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE: Final = "#2f6db3"
RED: Final = "#c4472f"
GREY: Final = "#8a8f98"
INK: Final = "#22252a"
PALE: Final = "#e4e7ec"
_NAME_CHARS: Final = 28
_MOST_NAMES: Final = 24
_MOST_ARMS: Final = 40
_STYLE: Final[Any] = {
    "svg.hashsalt": "agent-loop-harness",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "text.parse_math": False,
    "text.usetex": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "axes.unicode_minus": False,
}


def plots(summary: EvaluationSummary) -> dict[str, bytes]:
    """Every plot that the summary has numbers for, as SVG by file name. ConfigurationError without matplotlib."""
    found: dict[str, bytes] = {}
    with _drawing():
        found["rates.svg"] = _svg(rates_figure(summary))
        if summary.comparison is not None and summary.comparison.spread:
            found["differences.svg"] = _svg(differences_figure(summary))
        for number, arm in enumerate(summary.arms[:_MOST_ARMS], 1):
            matrix = matrix_of(summary, arm.name, _MOST_NAMES)
            if matrix.rows:
                found[f"confusion-{number:02}.svg"] = _svg(confusion_figure(matrix, arm.name))
        for name, curves in _by_name(summary.curves).items():
            found[f"curve-{name.replace(' ', '-')}.svg"] = _svg(curves_figure(name, curves))
    return found


@contextmanager
def _drawing() -> Iterator[None]:
    try:
        from matplotlib import rc_context
    except ModuleNotFoundError as missing:
        raise ConfigurationError(
            f"plots need {missing.name!r}, which is not installed: pip install 'agent-loop-harness[evaluate]'"
        ) from missing
    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def _svg(figure: Figure) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight", pad_inches=0.15)
    return target.getvalue()


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def _short(name: str) -> str:
    return piece(name, _NAME_CHARS)


# ---------------------------------------------------------------- rates


def rates_figure(summary: EvaluationSummary) -> Figure:
    """One line an arm: the mean rate of the units with its interval, and pass^k as a hollow mark."""
    arms = summary.arms[:_MOST_ARMS]
    figure, axes = _figure(7.5, 1.1 + 0.5 * len(arms))
    for place, arm in enumerate(arms):
        if arm.interval is not None:
            axes.plot([arm.interval.low, arm.interval.high], [place, place], color=BLUE, linewidth=2, zorder=2)
        said = "nothing scored" if arm.unit_rate is None else percent(arm.unit_rate)
        if arm.unit_rate is not None:
            axes.plot([arm.unit_rate], [place], "o", color=BLUE, markersize=8, zorder=3)
        if arm.pass_hat_k is not None:
            axes.plot(
                [arm.pass_hat_k], [place], "D", markerfacecolor="white", markeredgecolor=GREY, markersize=7, zorder=2
            )
        axes.annotate(said, (1.03, place), xycoords=("data", "data"), va="center", annotation_clip=False)
    _shares(axes, len(arms))
    axes.set_yticks(range(len(arms)), [_short(arm.name) for arm in arms])
    level = next((f", line: {arm.interval.level:.0%} interval" for arm in arms if arm.interval is not None), "")
    k = summary.arms[0].k if summary.arms else summary.n_trials
    axes.set_title(f"Pass rate over {counted(summary.n_units, 'unit')} (dot{level}), pass^{k} (diamond)")
    return figure


def _shares(axes: Axes, n_lines: int) -> None:
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(n_lines - 0.5, -0.5)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.grid(axis="x", color=PALE, zorder=0)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


# ---------------------------------------------------------------- differences


def differences_figure(summary: EvaluationSummary) -> Figure:
    """How many units changed by how much; the mean with its interval, zero, and the margin."""
    comparison = summary.comparison
    assert comparison is not None  # plots() asked
    figure, axes = _figure(7.5, 3.4)
    for difference, n in comparison.spread:
        colour = GREY if difference == 0 else RED if difference < 0 else BLUE
        axes.bar([difference], [n], width=0.03, color=colour, zorder=2)
        axes.annotate(
            str(n), (difference, n), ha="center", va="bottom", fontsize=8, xytext=(0, 1), textcoords="offset points"
        )
    axes.axvline(-comparison.margin, color=RED, linestyle=(0, (4, 3)), linewidth=1)
    axes.annotate(
        "margin", (-comparison.margin, 0.98), xycoords=("data", "axes fraction"), rotation=90, ha="right", va="top",
        fontsize=8, color=RED,
    )  # fmt: skip
    mean, interval = comparison.prompts.difference, comparison.prompts.interval
    low, high = (mean, mean) if interval is None else (interval.low, interval.high)
    axes.axvspan(low, high, color=PALE, zorder=0)
    axes.axvline(mean, color=INK, linewidth=1.2, zorder=3)
    axes.set_xlim(-1.08, 1.08)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], ["-100", "-50", "0", "+50", "+100"])
    axes.set_xlabel(f"{_short(comparison.candidate)} minus {_short(comparison.base)}, points of the unit's rate")
    axes.set_ylabel("units")
    axes.set_ylim(0, 1.15 * max(n for _, n in comparison.spread))
    worse = sum(n for difference, n in comparison.spread if difference < 0)
    better = sum(n for difference, n in comparison.spread if difference > 0)
    axes.set_title(f"{worse} worse, {better} better; mean {points(mean)} points (line) with its interval (grey)")
    return figure


# ---------------------------------------------------------------- confusion matrix


def confusion_figure(matrix: Matrix, arm: str) -> Figure:
    """Rows are what was right, columns what was chosen; the shade is the share of its row."""
    n_rows, n_columns = len(matrix.rows), len(matrix.columns)
    figure, axes = _figure(2.6 + 0.5 * n_columns, 1.9 + 0.36 * n_rows)
    shades = [[n / sum(row) if sum(row) else 0.0 for n in row] for row in matrix.cells]
    axes.imshow(shades, cmap="Blues", vmin=0, vmax=1.25, aspect="auto")
    for i, row in enumerate(matrix.cells):
        for j, n in enumerate(row):
            if n:
                right = matrix.rows[i] == matrix.columns[j]
                colour = "white" if shades[i][j] > 0.65 else INK if right else RED
                axes.text(j, i, str(n), ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(n_columns), [_short(name) for name in matrix.columns], rotation=40, ha="right")
    axes.set_yticks(range(n_rows), [_short(name) for name in matrix.rows])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_ylabel("expected")
    axes.set_xlabel("chosen")
    more = f", {counted(matrix.n_left_out, 'name')} more in confusion.parquet" if matrix.n_left_out else ""
    axes.set_title(f"{_short(arm)}: expected and chosen{more}")
    return figure


# ---------------------------------------------------------------- curves


def _by_name(curves: Sequence[Curve]) -> dict[str, list[Curve]]:
    found: dict[str, list[Curve]] = {}
    for curve in curves:
        found.setdefault(curve.name, []).append(curve)
    return found


def curves_figure(name: str, curves: Sequence[Curve]) -> Figure:
    """The rate along a factor; one line an arm where cases are parted."""
    figure, axes = _figure(6.5, 3.6)
    colours = (BLUE, RED, "#3c8d5a", "#8456a8", "#b98a1d", GREY)
    for place, curve in enumerate(curves[: len(colours)]):
        xs, rates = [point.x for point in curve.points], [point.rate for point in curve.points]
        shift = 0.04 * place
        axes.plot([x + shift for x in xs], rates, "o-", color=colours[place], label=_short(curve.arm) or None, zorder=3)
        for point in curve.points:
            if point.low is not None and point.high is not None:
                at = point.x + shift
                axes.plot([at, at], [point.low, point.high], color=colours[place], linewidth=1.2, alpha=0.6, zorder=2)
    axes.set_ylim(-0.03, 1.05)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    labels = {point.x: point.label if curve.arm else f"{point.x}" for curve in curves for point in curve.points}
    axes.set_xticks(sorted(labels), [_short(labels[x]) for x in sorted(labels)])
    axes.grid(axis="y", color=PALE, zorder=0)
    axes.set_xlabel(name)
    axes.set_title(_trend_title(name, curves))
    if any(curve.arm for curve in curves):
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize=9)
    return figure


def _trend_title(name: str, curves: Sequence[Curve]) -> str:
    only = curves[0]
    if len(curves) > 1:
        return f"Pass rate and {name}"
    return f"Pass rate and {name}{trend_text(only)}"
