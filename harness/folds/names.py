"""What runs and rows of a comparison are called, and by what runs of two sides belong together."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from harness.types.records import RunSummary, ScenarioComparison


def scenario_of(run: RunSummary) -> str:
    """The scenario's id, or that of the run where it names none; foreign text as it is."""
    return run.scenario or run.run_id


def row_scenario(row: ScenarioComparison) -> str:
    """As :func:`scenario_of`, of a row."""
    some = row.candidate or row.base
    return row.run_id if some is None else scenario_of(some)


def row_name(row: ScenarioComparison) -> str:
    """Scenario (or run id), with its arm where that is not the default one; foreign text as it is."""
    some = row.candidate or row.base
    return row.run_id if some is None else run_name(some)


def named_by(pattern: str, row: ScenarioComparison) -> bool:
    """Whether a quarantine of this name (or pattern) is for this row: by the id of its scenario, or by id and arm."""
    some, name = row.candidate or row.base, row_scenario(row)
    names = (name,) if some is None else (name, f"{name}@{some.arm}")
    return any(one == pattern or fnmatchcase(one, pattern) for one in names)


def run_name(run: RunSummary) -> str:
    """What a run is of: its scenario (or run id), with its arm where that is not the default one."""
    return scenario_of(run) + (f"@{run.arm}" if run.arm != "default" else "")


def several_arms(*sides: Iterable[RunSummary]) -> bool:
    """Whether some side has several arms: then runs of two sides belong together by scenario and arm."""
    return any(len({run.arm for run in side}) > 1 for side in sides)


def side_key(run: RunSummary, *, by_arm: bool) -> tuple[str, str]:
    """By what runs of two sides belong together: their scenario, and their arm where a side has several."""
    return scenario_of(run), run.arm if by_arm else ""
