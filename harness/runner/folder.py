"""A folder of runs, judged again from its files alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.errors import NothingToRunError
from harness.folds import summarise
from harness.runner.judging import judge
from harness.runner.version import VERSION
from harness.store import find_runs, read_info, read_trajectory, write_summaries
from harness.types.records import RunSummary


def summarise_folder(folder: Path, names: tuple[str, ...] | None = None) -> tuple[RunSummary, ...]:
    """Judge every trajectory of a folder and summarise it, in the order of the files.

    Without ``names`` the checks that its ``run.json`` says were asked for, else all. Raises
    NothingToRunError where there is none, TrajectoryFormatError for damage or duplicates.
    """
    paths = find_runs(folder)
    if not paths:
        raise NothingToRunError(f"{folder} holds no runs: no .jsonl file under trajectories/")
    names = names or asked_for(folder)
    return tuple(summarise_file(path, folder, names) for path in paths)


def asked_for(folder: Path) -> tuple[str, ...] | None:
    """The checks that its ``run.json`` says were asked for; None: all."""
    if not (folder / "run.json").exists():
        return None
    checks = read_info(folder).get("checks")
    return tuple(map(str, checks)) if isinstance(checks, list) else None


def summarise_file(path: Path, folder: Path, names: tuple[str, ...] | None = None) -> RunSummary:
    """Judge and summarise one trajectory of a folder. Raises TrajectoryFormatError."""
    trajectory = read_trajectory(path)
    return summarise(trajectory, judge(trajectory, names), path.relative_to(folder).as_posix())


def write_folder(folder: Path, summaries: Iterable[RunSummary], **info: Any) -> None:
    """Write ``summary.jsonl`` and ``run.json`` of a folder of runs. Raises RecordingFailed."""
    write_summaries(folder, summaries, {"format": "harness-run/1", "version": VERSION, **info})
