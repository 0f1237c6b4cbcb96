"""A history as text: folders in the order of time, and a line for each scenario, each arm and each case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from harness.report.text import Verbosity, counted, visible
from harness.types.history import (
    ArmHistory,
    ArmPoint,
    CaseHistory,
    History,
    HistoryFolder,
    HistoryPoint,
    ScenarioHistory,
)

Line = ScenarioHistory | CaseHistory
_FIRST_SHOWN: Final = 20
_LEGEND: Final = "by folder: P all passed, F none did, ~ some did, . no run; | the scenario changed"


def history_text(history: History, *, verbosity: Verbosity = Verbosity.NORMAL) -> str:
    """Folders, then scenarios, then arms and cases of evaluations: of each flaky ones first, then those that did not
    always pass, then those that took other steps.

    At most 20 scenarios and 20 cases unless VERBOSE.
    """
    n_folders = len(history.folders)
    lines = [
        *(f"{number:>3}  {_folder(folder)}" for number, folder in enumerate(history.folders, 1)),
        *(f"left out  {visible(one.folder)}: {visible(one.why)}" for one in history.left_out),
        _LEGEND,
    ]
    if history.scenarios:
        lines += _listed(history.scenarios, _scenario_names(history.scenarios), "scenario", n_folders, verbosity)
    lines += [_arm(arm) for arm in history.arms]
    if history.cases:
        lines += _listed(history.cases, _case_names(history), "case", n_folders, verbosity)
    folders = counted(n_folders, "folder")
    totals = [_total(counted(len(history.scenarios), "scenario"), history.scenarios)] if history.scenarios else []
    if history.cases:
        n_cases = len({(one.evaluation, one.case) for one in history.cases})
        arms = "" if len(history.arms) == 1 else f" under {counted(len(history.arms), 'arm')}"
        totals.append(_total(f"{counted(n_cases, 'case')}{arms}", history.cases))
    return "\n".join([*lines, *(f"{folders}, {total}" for total in totals)])


def _listed(
    rows: Sequence[Line], names: Sequence[str], word: str, n_folders: int, verbosity: Verbosity
) -> Iterator[str]:
    named = sorted(zip(rows, names, strict=True), key=lambda pair: _rank(pair[0]))
    shown = named if verbosity is Verbosity.VERBOSE else named[:_FIRST_SHOWN]
    strips = [_strip(one, n_folders) for one, _ in shown]
    width = max(map(len, strips), default=0)
    for strip, (one, name) in zip(strips, shown, strict=True):
        yield f"{strip:<{width}}  {_line(one, name)}"
    if len(shown) < len(named):
        yield f"and {counted(len(named) - len(shown), word)} more (-v lists all)"


def _rank(one: Line) -> tuple[bool, bool, bool]:
    return (not one.flaky, one.passed == one.runs, not _moved(one))


def _scenario_names(scenarios: Sequence[ScenarioHistory]) -> list[str]:
    several = len({one.arm for one in scenarios}) > 1
    return [visible(one.scenario) + (f" ({visible(one.arm)})" if several else "") for one in scenarios]


def _case_names(history: History) -> list[str]:
    several = len({one.evaluation for one in history.arms}) > 1
    arms = len({(one.evaluation, one.arm) for one in history.arms}) > 1
    return [
        (f"{visible(one.evaluation)}: " if several else "")
        + visible(one.case)
        + (f" ({visible(one.arm)})" if arms else "")
        + (f" [{visible(one.unit)}]" if one.unit != one.case else "")
        for one in history.cases
    ]


def _total(what: str, rows: Sequence[Line]) -> str:
    n_flaky = sum(one.flaky for one in rows)
    n_always = sum(one.passed == one.runs for one in rows)
    return f"{what}: {n_always} always passed, {n_flaky} passed and failed unchanged"


def _arm(arm: ArmHistory) -> str:
    rates = [point for point in arm.points if point.unit_rate is not None]
    parts = [f"arm {visible(arm.arm)} of {visible(arm.evaluation)}"]
    parts += [_rates(rates)] if rates else ["nothing scored"]
    priced = [_cost(point) for point in arm.points if point.n_priced]
    parts += [_span(priced, "USD a trial")] if priced else []
    parts += [_span([str(point.n_flaky) for point in arm.points], "flaky cases")]
    return "  ".join(parts)


def _rates(points: Sequence[ArmPoint]) -> str:
    """The rate over units in the first folder and in the last, each with its interval, and the extremes between."""
    shares = [f"{100 * (point.unit_rate or 0.0):.1f}" for point in points]
    ends = [_share(points[0], shares[0])] + ([_share(points[-1], shares[-1])] if len(points) > 1 else [])
    return f"{' → '.join(ends)} of units{_beyond(shares)}"


def _share(point: ArmPoint, share: str) -> str:
    if point.interval is None:
        return f"{share} %"
    return f"{share} % ({100 * point.interval.low:.1f} to {100 * point.interval.high:.1f})"


def _folder(row: HistoryFolder) -> str:
    parts = [f"{row.passed} passed", f"{row.failed} failed", f"{row.other} other", f"{row.skipped} skipped"]
    parts += [f"{row.not_run} not run"] if row.not_run else []
    unfinished = "" if row.finished else "  UNFINISHED"
    when = visible(row.started_at) if row.started_at is not None else "(time unknown)"
    of = f"  evaluation {visible(row.evaluation)}, model {visible(row.model)}" if row.evaluation else ""
    return f"{when}  {visible(row.folder)}{of}  {row.planned} planned = {' + '.join(parts)}{unfinished}"


def _strip(history: Line, n_folders: int) -> str:
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


def _line(history: Line, name: str) -> str:
    rate = f"{history.passed}/{history.runs} passed ({100 * history.passed / history.runs:.0f} %)"
    each = "a trial" if isinstance(history, CaseHistory) else "a run"
    steps, priced = _steps_of(history), [_cost(point) for point in history.points if point.n_priced]
    parts = [name, rate]
    parts += [_span(steps, f"steps {each}")] if steps else []
    parts += [_span(priced, f"USD {each}")] if priced else []
    parts += [_remark(history)] if history.flaky else []
    return "  ".join(parts)


def _remark(history: Line) -> str:
    if history.broke_at is not None:
        return f"BROKE in folder {history.broke_at}, unchanged"
    return f"fixed in folder {history.fixed_at}, unchanged" if history.fixed_at is not None else "FLAKY"


def _steps_of(history: Line) -> list[str]:
    """The mean of each folder; nothing for a case of which only first answers were asked."""
    if isinstance(history, CaseHistory) and all(point.n_steps <= point.runs for point in history.points):
        return []
    return [_steps(point) for point in history.points]


def _steps(point: HistoryPoint) -> str:
    return f"{point.n_steps / point.runs:.1f}".removesuffix(".0")


def _cost(point: HistoryPoint | ArmPoint) -> str:
    return f"{point.cost_micro_usd / point.n_priced / 1_000_000:.6f}"


def _span(values: Sequence[str], unit: str) -> str:
    """The mean of a run in the first folder and in the last, and the extremes between them where they stick out."""
    first, last = values[0], values[-1]
    text = first if first == last else f"{first} → {last}"
    return f"{text} {unit}{_beyond(values)}"


def _beyond(values: Sequence[str]) -> str:
    """The extremes, where they lie beyond the first value and the last."""
    first, last = float(values[0]), float(values[-1])
    numbers = sorted(values, key=float)
    beyond = float(numbers[0]) < min(first, last) or float(numbers[-1]) > max(first, last)
    return f" ({numbers[0]} to {numbers[-1]})" if beyond else ""


def _moved(history: Line) -> bool:
    return len(set(_steps_of(history))) > 1
