"""Wiring: plans runs, executes them, pools them, sweeps them, judges folders. The only place that joins rooms.

Each name is loaded on first use, so that a door can read the settings without loading every room.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from harness.runner.baseline_accept import accept_runs
    from harness.runner.baseline_diff import diff_runs
    from harness.runner.baselines import BASELINES, Baselines
    from harness.runner.cassettes import cassette_users, import_recordings
    from harness.runner.executing import execute
    from harness.runner.folder import summarise_file, summarise_folder, write_folder
    from harness.runner.history import history_of
    from harness.runner.judging import judge
    from harness.runner.lifting import LiftedRun, lift_run
    from harness.runner.mutating import MAX_MUTANTS, MutationSpec, lost_mutation, mutate_one, plan_mutations
    from harness.runner.pool import Ran, check_jobs, exit_code_of, run_one, run_specs, spread
    from harness.runner.replay import Replay, ToolSource
    from harness.runner.replaying import Replayed, replay_run
    from harness.runner.result import RunResult
    from harness.runner.resuming import check_parent, has_changed, plan_fork, plan_resume
    from harness.runner.review.comparing import compare_paths
    from harness.runner.review.reporting import (
        ReportOptions,
        Unwritten,
        check_places,
        markdown_of,
        write_report,
        write_reports,
    )
    from harness.runner.review.reviewing import GateText, Reviewed, ReviewOptions, gate_from_file, review_paths
    from harness.runner.seats import cassettes_of
    from harness.runner.serving import Served, ServeOptions
    from harness.runner.settings import Settings
    from harness.runner.specs import BUILT_IN, ModelSource, RunOptions, RunSpec, plan, source_of
    from harness.runner.subjects import find_subject
    from harness.runner.sweep import SweepSpec, lost_sweep, plan_sweeps, sweep_one
    from harness.runner.sweep_scenario import SWEEP_TAG, cell_text, injection_text
    from harness.runner.version import VERSION

__all__ = [
    "BASELINES",
    "BUILT_IN",
    "MAX_MUTANTS",
    "SWEEP_TAG",
    "VERSION",
    "Baselines",
    "GateText",
    "LiftedRun",
    "ModelSource",
    "MutationSpec",
    "Ran",
    "Replay",
    "Replayed",
    "ReportOptions",
    "ReviewOptions",
    "Reviewed",
    "RunOptions",
    "RunResult",
    "RunSpec",
    "ServeOptions",
    "Served",
    "Settings",
    "SweepSpec",
    "ToolSource",
    "Unwritten",
    "accept_runs",
    "cassette_users",
    "cassettes_of",
    "cell_text",
    "check_jobs",
    "check_parent",
    "check_places",
    "compare_paths",
    "diff_runs",
    "execute",
    "exit_code_of",
    "find_subject",
    "gate_from_file",
    "has_changed",
    "history_of",
    "import_recordings",
    "injection_text",
    "judge",
    "lift_run",
    "lost_mutation",
    "lost_sweep",
    "markdown_of",
    "mutate_one",
    "plan",
    "plan_fork",
    "plan_mutations",
    "plan_resume",
    "plan_sweeps",
    "replay_run",
    "review_paths",
    "run_one",
    "run_specs",
    "source_of",
    "spread",
    "summarise_file",
    "summarise_folder",
    "sweep_one",
    "write_folder",
    "write_report",
    "write_reports",
]

_HOMES: Final = {
    "baseline_accept": ("accept_runs",),
    "baseline_diff": ("diff_runs",),
    "baselines": ("BASELINES", "Baselines"),
    "cassettes": ("cassette_users", "import_recordings"),
    "seats": ("cassettes_of",),
    "review.comparing": ("compare_paths",),
    "executing": ("execute",),
    "folder": ("summarise_file", "summarise_folder", "write_folder"),
    "history": ("history_of",),
    "lifting": ("LiftedRun", "lift_run"),
    "replay": ("Replay", "ToolSource"),
    "replaying": ("Replayed", "replay_run"),
    "judging": ("judge",),
    "mutating": ("MAX_MUTANTS", "MutationSpec", "lost_mutation", "mutate_one", "plan_mutations"),
    "pool": ("Ran", "check_jobs", "exit_code_of", "run_one", "run_specs", "spread"),
    "result": ("RunResult",),
    "review.reporting": ("ReportOptions", "Unwritten", "check_places", "markdown_of", "write_report", "write_reports"),
    "review.reviewing": ("GateText", "ReviewOptions", "Reviewed", "gate_from_file", "review_paths"),
    "resuming": ("check_parent", "has_changed", "plan_fork", "plan_resume"),
    "serving": ("ServeOptions", "Served"),
    "settings": ("Settings",),
    "specs": ("BUILT_IN", "ModelSource", "RunOptions", "RunSpec", "plan", "source_of"),
    "subjects": ("find_subject",),
    "sweep": ("SweepSpec", "lost_sweep", "plan_sweeps", "sweep_one"),
    "sweep_scenario": ("SWEEP_TAG", "cell_text", "injection_text"),
    "version": ("VERSION",),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
