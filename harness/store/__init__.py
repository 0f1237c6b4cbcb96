"""Trajectories on disk: one flat JSON line an event, and folders of runs.

Writing needs the standard library only; reading loads pydantic-core on first use.
"""

from __future__ import annotations

from harness.store.comparison_schema import comparison_schema
from harness.store.files import check_file, check_folder, repair_tail, replace_file, write_trajectory
from harness.store.folder import (
    find_runs,
    read_info,
    read_summaries,
    scenario_path,
    trajectory_file,
    trajectory_path,
    write_summaries,
)
from harness.store.json_schema import trajectory_schema
from harness.store.locks import locked
from harness.store.reading import (
    TrajectoryReader,
    is_trajectory,
    iter_events,
    open_reader,
    read_bytes,
    read_trajectory,
)
from harness.store.repairing import Repaired, repair_file
from harness.store.sink import Durability, Existing, FileSink, continue_sink, open_sink
from harness.store.trial_keys import TrialKeys
from harness.store.trials import (
    TrialsReader,
    TrialsWriter,
    open_trials,
    open_trials_reader,
    read_trials,
    read_trials_header,
    trial_line,
)
from harness.store.writing import dump_trajectory

__all__ = [
    "Durability",
    "Existing",
    "FileSink",
    "Repaired",
    "TrajectoryReader",
    "TrialKeys",
    "TrialsReader",
    "TrialsWriter",
    "check_file",
    "check_folder",
    "comparison_schema",
    "continue_sink",
    "dump_trajectory",
    "find_runs",
    "is_trajectory",
    "iter_events",
    "locked",
    "open_reader",
    "open_sink",
    "open_trials",
    "open_trials_reader",
    "read_bytes",
    "read_info",
    "read_summaries",
    "read_trajectory",
    "read_trials",
    "read_trials_header",
    "repair_file",
    "repair_tail",
    "replace_file",
    "scenario_path",
    "trajectory_file",
    "trajectory_path",
    "trajectory_schema",
    "trial_line",
    "write_summaries",
    "write_trajectory",
]
