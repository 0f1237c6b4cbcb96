"""Many folders of runs and of evaluations in the order of time.

Of runs their summaries and the first lines of their trajectories are read, of evaluations their trials, which are
judged anew. One folder is read at a time, and of each scenario or case in it a few numbers are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness.errors import NothingToRunError, TrajectoryFormatError, UsageError
from harness.folds import scenario_of
from harness.runner.history_evaluations import EVALUATION_FORMAT, has_trials, is_evaluation, read_evaluation_folder
from harness.runner.history_points import NO_RUNS, CaseKey, ReadFolder, RunKey, flakes_of
from harness.store import open_reader, read_info, read_summaries
from harness.types.codes import PASSING, Outcome
from harness.types.events import Header
from harness.types.history import (
    ArmHistory,
    CaseHistory,
    History,
    HistoryFolder,
    HistoryPoint,
    LeftOut,
    ScenarioHistory,
)
from harness.types.records import RunSummary

_FORMAT: Final = "harness-run/"


def history_of(folders: Sequence[Path]) -> History:
    """What became of each scenario over these folders of runs, and of each case over those of evaluations.

    A folder that holds no ``run.json`` of ours is left out, and told. Folders are in the order in which their first
    runs began; those that do not say when come last, as they were named. Raises UsageError for what is no folder or
    is named twice, TrajectoryFormatError for damage and for a run or a trial that a folder holds twice,
    ConfigurationError for an evaluation's folder that is not whole, NothingToRunError where no run is left.
    """
    _check(folders)
    read: list[ReadFolder] = []
    left_out: list[LeftOut] = []
    for folder in folders:
        why, info = _info(folder)
        if why:
            left_out.append(LeftOut(str(folder), why))
        elif info["format"] == EVALUATION_FORMAT:
            read.append(read_evaluation_folder(folder, info))
        else:
            read.append(_read(folder, info))
    if not any(one.runs or one.cases for one in read):
        told = "".join(f"; {one.folder}: {one.why}" for one in left_out)
        raise NothingToRunError(f"there are no runs in {', '.join(map(str, folders))}{told}")
    read.sort(key=lambda one: (one.row.started_at is None, one.row.started_at or ""))
    rows = tuple(one.row for one in read)
    return History(rows, tuple(_scenarios(read)), tuple(left_out), tuple(_arms(read)), tuple(_cases(read)))


def _check(folders: Sequence[Path]) -> None:
    seen: dict[Path, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder}: there is no such folder of runs (harness run --out {folder} makes one)")
        first = seen.setdefault(folder.resolve(), folder)
        if first is not folder:
            raise UsageError(f"{folder} is named twice ({first}): its runs would be counted twice")


def _info(folder: Path) -> tuple[str, dict[str, Any]]:
    """Why a folder is left out (empty: it is not), and its ``run.json``; an evaluation that was killed has none."""
    if (folder / "run.json").exists():
        info = read_info(folder)
    elif is_evaluation(folder):
        info = {"format": EVALUATION_FORMAT, "interrupted": True}
    else:
        return "it holds no run.json, so it is no folder of runs", {}
    form = info.get("format")
    if form == EVALUATION_FORMAT:
        return ("" if is_evaluation(folder) and has_trials(folder) else "it holds no trials of an evaluation"), info
    return ("" if str(form).startswith(_FORMAT) else f"its run.json is of the format {form!r}"), info


def _read(folder: Path, info: dict[str, Any]) -> ReadFolder:
    summaries = read_summaries(folder)
    points: dict[RunKey, HistoryPoint] = {}
    seen: dict[tuple[str, str, int], RunSummary] = {}
    started: list[str] = []
    for run in summaries:
        first = seen.setdefault((scenario_of(run), run.arm, run.trial), run)
        if first is not run:
            raise TrajectoryFormatError(
                f"two runs of scenario {scenario_of(run)!r}, arm {run.arm!r}, trial {run.trial}: "
                f"{first.file!r} and {run.file!r}. Remove one, and summarise again.",
                file=str(folder / "summary.jsonl"),
            )
        header = _header(folder, run)
        if header is not None and header.volatile.started_at is not None:
            started.append(header.volatile.started_at)
        digest = header.scenario.digest if header is not None and header.scenario is not None else ""
        key = RunKey(scenario_of(run), run.arm)
        known = points.get(key, NO_RUNS)
        points[key] = _with(replace(known, digest=known.digest or digest), run)
    return ReadFolder(_row(folder, info, summaries, min(started, default=None)), points)


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
        passed=point.passed + (run.outcome in PASSING),
        failed=point.failed + (run.outcome is Outcome.FAIL),
        n_steps=point.n_steps + run.n_steps,
        cost_micro_usd=point.cost_micro_usd + (run.cost_micro_usd or 0),
        n_priced=point.n_priced + (run.cost_micro_usd is not None),
    )


def _row(folder: Path, info: dict[str, Any], runs: Sequence[RunSummary], started: str | None) -> HistoryFolder:
    passed = sum(run.outcome in PASSING for run in runs)
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


def _scenarios(read: Sequence[ReadFolder]) -> Iterator[ScenarioHistory]:
    for key in sorted({key for one in read for key in one.runs}):
        points = _numbered([one.runs.get(key) for one in read])
        found = flakes_of(points)
        yield ScenarioHistory(*key, *_sums(points), points, found.flaky, found.broke_at, found.fixed_at)


def _cases(read: Sequence[ReadFolder]) -> Iterator[CaseHistory]:
    units: dict[CaseKey, str] = {}
    for one in read:
        units |= one.units
    for key in sorted(units):
        points = _numbered([one.cases.get(key) for one in read])
        found = flakes_of(points)
        sums = _sums(points)
        yield CaseHistory(*key, units[key], *sums, points, found.flaky, found.broke_at, found.fixed_at)


def _arms(read: Sequence[ReadFolder]) -> Iterator[ArmHistory]:
    for key in sorted({key for one in read for key in one.arms}):
        numbered = ((number, one.arms[key]) for number, one in enumerate(read, 1) if key in one.arms)
        yield ArmHistory(*key, tuple(replace(point, folder=number) for number, point in numbered))


def _numbered(points: Sequence[HistoryPoint | None]) -> tuple[HistoryPoint, ...]:
    """The points that are there, each with the number of its folder."""
    return tuple(replace(point, folder=number) for number, point in enumerate(points, 1) if point is not None)


def _sums(points: Sequence[HistoryPoint]) -> tuple[int, int]:
    """Runs, and how many of them passed."""
    return sum(point.runs for point in points), sum(point.passed for point in points)
