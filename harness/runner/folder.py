"""A folder of runs, judged again from its files alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.errors import NothingToRunError
from harness.folds import summarise
from harness.runner.executing import judge
from harness.runner.version import VERSION
from harness.store import find_runs, read_trajectory, write_summaries
from harness.types.records import RunSummary


def summarise_folder(folder: Path, names: tuple[str, ...] | None = None) -> tuple[RunSummary, ...]:
    """Judge every trajectory of a folder and summarise it, in the order of the files.

    Raises NothingToRunError where there is none, TrajectoryFormatError for damage or duplicates.
    """
    paths = find_runs(folder)
    if not paths:
        raise NothingToRunError(f"{folder} holds no runs: no .jsonl file under trajectories/")
    return tuple(_summary(path, folder, names) for path in paths)


def _summary(path: Path, folder: Path, names: tuple[str, ...] | None) -> RunSummary:
    trajectory = read_trajectory(path)
    return summarise(trajectory, judge(trajectory, names), path.relative_to(folder).as_posix())


def write_folder(folder: Path, summaries: Iterable[RunSummary], **info: Any) -> None:
    """Write ``summary.jsonl`` and ``run.json`` of a folder of runs. Raises RecordingFailed."""
    write_summaries(folder, summaries, {"format": "harness-run/1", "version": VERSION, **info})
