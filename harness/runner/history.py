"""Many folders of runs in the order of time, from their summaries and the first lines of their trajectories.

One folder is read at a time, and of each scenario in it a few numbers are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from harness.errors import NothingToRunError, TrajectoryFormatError, UsageError
from harness.store import open_reader, read_info, read_summaries
from harness.types.codes import Outcome
from harness.types.events import Header
from harness.types.history import History, HistoryFolder, HistoryPoint, LeftOut, ScenarioHistory
from harness.types.records import RunSummary

_FORMAT: Final = "harness-run/"
_GOOD: Final = (Outcome.PASS, Outcome.NOT_APPLICABLE)
_Key = tuple[str, str]


@dataclass(slots=True)
class _Read:
    """One folder: its row, and a point for each scenario and arm."""

    row: HistoryFolder
    points: dict[_Key, HistoryPoint] = field(default_factory=dict)


def history_of(folders: Sequence[Path]) -> History:
    """What became of each scenario over these folders of runs.

    A folder that holds no ``run.json`` of ours is left out, and told. Folders are in the order in which their first
    runs began; those that do not say when come last, as they were named. Raises UsageError for what is no folder or
    is named twice, TrajectoryFormatError for damage and for a run that a folder holds twice, NothingToRunError where
    no run is left.
    """
    _check(folders)
    read: list[_Read] = []
    left_out: list[LeftOut] = []
    for folder in folders:
        why, info = _info(folder)
        if why:
            left_out.append(LeftOut(str(folder), why))
        else:
            read.append(_read(folder, info))
    if not any(one.points for one in read):
        told = "".join(f"; {one.folder}: {one.why}" for one in left_out)
        raise NothingToRunError(f"there are no runs in {', '.join(map(str, folders))}{told}")
    read.sort(key=lambda one: (one.row.started_at is None, one.row.started_at or ""))
    return History(tuple(one.row for one in read), tuple(_scenarios(read)), tuple(left_out))


def _check(folders: Sequence[Path]) -> None:
    seen: dict[Path, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder}: there is no such folder of runs (harness run --out {folder} makes one)")
        first = seen.setdefault(folder.resolve(), folder)
        if first is not folder:
            raise UsageError(f"{folder} is named twice ({first}): its runs would be counted twice")


def _info(folder: Path) -> tuple[str, dict[str, Any]]:
    """Why a folder is left out (empty: it is not), and its ``run.json``."""
    if not (folder / "run.json").exists():
        return "it holds no run.json, so it is no folder of runs", {}
    info = read_info(folder)
    form = info.get("format")
    return ("" if str(form).startswith(_FORMAT) else f"its run.json is of the format {form!r}"), info


def _read(folder: Path, info: dict[str, Any]) -> _Read:
    summaries = read_summaries(folder)
    points: dict[_Key, HistoryPoint] = {}
    seen: dict[tuple[str, str, int], RunSummary] = {}
    started: list[str] = []
    for run in summaries:
        first = seen.setdefault((run.scenario, run.arm, run.trial), run)
        if first is not run:
            raise TrajectoryFormatError(
                f"two runs of scenario {run.scenario!r}, arm {run.arm!r}, trial {run.trial}: "
                f"{first.file!r} and {run.file!r}. Remove one, and summarise again.",
                file=str(folder / "summary.jsonl"),
            )
        header = _header(folder, run)
        if header is not None and header.volatile.started_at is not None:
            started.append(header.volatile.started_at)
        digest = header.scenario.digest if header is not None and header.scenario is not None else ""
        key = (run.scenario or run.run_id, run.arm)
        points[key] = _with(points.get(key) or HistoryPoint(0, 0, 0, 0, 0, 0, 0, digest), run)
    return _Read(_row(folder, info, summaries, min(started, default=None)), points)


def _header(folder: Path, run: RunSummary) -> Header | None:
    path = folder / run.file
    if not path.exists():
        return None  # summaries may be kept without their trajectories
    with open_reader(path) as reader:
        return reader.header


def _with(point: HistoryPoint, run: RunSummary) -> HistoryPoint:
    return replace(
        point,
        runs=point.runs + 1,
        passed=point.passed + (run.outcome in _GOOD),
        failed=point.failed + (run.outcome is Outcome.FAIL),
        n_steps=point.n_steps + run.n_steps,
        cost_micro_usd=point.cost_micro_usd + (run.cost_micro_usd or 0),
        n_priced=point.n_priced + (run.cost_micro_usd is not None),
    )


def _row(folder: Path, info: dict[str, Any], runs: Sequence[RunSummary], started: str | None) -> HistoryFolder:
    passed = sum(run.outcome in _GOOD for run in runs)
    failed = sum(run.outcome is Outcome.FAIL for run in runs)
    skipped = info.get("skipped")
    n_skipped = len(skipped) if isinstance(skipped, list) else 0
    said = info.get("planned")
    planned = max(said if type(said) is int else 0, len(runs) + n_skipped)
    return HistoryFolder(
        str(folder),
        started,
        planned,
        passed,
        failed,
        len(runs) - passed - failed,
        n_skipped,
        planned - len(runs) - n_skipped,
        info.get("finished") is not False,
    )


def _scenarios(read: Sequence[_Read]) -> Iterator[ScenarioHistory]:
    for key in sorted({key for one in read for key in one.points}):
        numbered = [(number, one.points[key]) for number, one in enumerate(read, 1) if key in one.points]
        points = tuple(replace(point, folder=number) for number, point in numbered)
        runs, passed = sum(point.runs for point in points), sum(point.passed for point in points)
        yield _judged(ScenarioHistory(*key, runs, passed, points))


def _judged(history: ScenarioHistory) -> ScenarioHistory:
    """Say whether it is flaky, by the points of each digest; a folder that does not know its own stands alone."""
    versions: dict[str, list[HistoryPoint]] = {}
    for point in history.points:
        versions.setdefault(point.digest or f"folder {point.folder}", []).append(point)
    mixed = [points for points in versions.values() if any(p.passed for p in points) and any(p.failed for p in points)]
    if not mixed:
        return history
    clean = _one_change(mixed[0]) if len(mixed) == 1 else None
    if clean is None:
        return replace(history, flaky=True)
    place = clean.folder
    return replace(
        history, flaky=True, broke_at=None if clean.passed else place, fixed_at=place if clean.passed else None
    )


def _one_change(points: Sequence[HistoryPoint]) -> HistoryPoint | None:
    """The first point behind the one clean change from passing to failing or back; None where it is not that clean."""
    decided = [point for point in points if point.passed or point.failed]
    if any(point.passed and point.failed for point in decided):
        return None
    changes = [after for before, after in pairwise(decided) if bool(before.passed) != bool(after.passed)]
    return changes[0] if len(changes) == 1 else None
