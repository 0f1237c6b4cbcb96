"""A history as text: folders in the order of time, and a line for each scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.report.text import Verbosity, counted, visible
from harness.types.history import History, HistoryFolder, HistoryPoint, ScenarioHistory

_FIRST_SHOWN: Final = 20
_LEGEND: Final = "by folder: P all passed, F none did, ~ some did, . no run; | the scenario changed"


def history_text(history: History, *, verbosity: Verbosity = Verbosity.NORMAL) -> str:
    """Folders, then scenarios: flaky ones first, then those that did not always pass, then those that took other steps.

    At most 20 scenarios unless VERBOSE.
    """
    several = len({one.arm for one in history.scenarios}) > 1
    ranked = sorted(history.scenarios, key=lambda one: (not one.flaky, one.passed == one.runs, not _moved(one)))
    shown = ranked if verbosity is Verbosity.VERBOSE else ranked[:_FIRST_SHOWN]
    strips = [_strip(one, len(history.folders)) for one in shown]
    width = max(map(len, strips), default=0)
    lines = [
        *(f"{number:>3}  {_folder(folder)}" for number, folder in enumerate(history.folders, 1)),
        *(f"left out  {visible(one.folder)}: {visible(one.why)}" for one in history.left_out),
        _LEGEND,
        *(f"{strip:<{width}}  {_line(one, several)}" for strip, one in zip(strips, shown, strict=True)),
    ]
    if len(shown) < len(ranked):
        lines.append(f"and {counted(len(ranked) - len(shown), 'scenario')} more (-v lists all)")
    n_flaky = sum(one.flaky for one in history.scenarios)
    n_always = sum(one.passed == one.runs for one in history.scenarios)
    total = f"{counted(len(history.folders), 'folder')}, {counted(len(history.scenarios), 'scenario')}"
    return "\n".join([*lines, f"{total}: {n_always} always passed, {n_flaky} passed and failed unchanged"])


def _folder(row: HistoryFolder) -> str:
    parts = [f"{row.passed} passed", f"{row.failed} failed", f"{row.other} other", f"{row.skipped} skipped"]
    parts += [f"{row.not_run} not run"] if row.not_run else []
    unfinished = "" if row.finished else "  UNFINISHED"
    when = visible(row.started_at) if row.started_at is not None else "(time unknown)"
    return f"{when}  {visible(row.folder)}  {row.planned} planned = {' + '.join(parts)}{unfinished}"


def _strip(history: ScenarioHistory, n_folders: int) -> str:
    by_folder = {point.folder: point for point in history.points}
    strip, digest = "", ""
    for number in range(1, n_folders + 1):
        point = by_folder.get(number)
        if point is None:
            strip += "."
            continue
        changed = digest and point.digest and point.digest != digest
        digest = point.digest or digest
        strip += ("|" if changed else "") + ("P" if point.passed == point.runs else "~" if point.passed else "F")
    return strip


def _line(history: ScenarioHistory, several_arms: bool) -> str:
    name = visible(history.scenario) + (f" ({visible(history.arm)})" if several_arms else "")
    rate = f"{history.passed}/{history.runs} passed ({100 * history.passed / history.runs:.0f} %)"
    parts = [name, rate, _span([_steps(point) for point in history.points], "steps a run")]
    priced = [_cost(point) for point in history.points if point.n_priced]
    parts += [_span(priced, "USD a run")] if priced else []
    parts += [_remark(history)] if history.flaky else []
    return "  ".join(parts)


def _remark(history: ScenarioHistory) -> str:
    if history.broke_at is not None:
        return f"BROKE in folder {history.broke_at}, unchanged"
    return f"fixed in folder {history.fixed_at}, unchanged" if history.fixed_at is not None else "FLAKY"


def _steps(point: HistoryPoint) -> str:
    return f"{point.n_steps / point.runs:.1f}".removesuffix(".0")


def _cost(point: HistoryPoint) -> str:
    return f"{point.cost_micro_usd / point.n_priced / 1_000_000:.6f}"


def _span(values: Sequence[str], unit: str) -> str:
    """The mean of a run in the first folder and in the last, and the extremes between them where they stick out."""
    first, last = values[0], values[-1]
    numbers = sorted(values, key=float)
    text = first if first == last else f"{first} → {last}"
    beyond = float(numbers[0]) < min(float(first), float(last)) or float(numbers[-1]) > max(float(first), float(last))
    return f"{text} {unit}" + (f" ({numbers[0]} to {numbers[-1]})" if beyond else "")


def _moved(history: ScenarioHistory) -> bool:
    return len({_steps(point) for point in history.points}) > 1
