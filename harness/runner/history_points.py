"""What is kept of each folder of a history, and which of its scenarios and cases are flaky."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from harness.types.history import ArmPoint, HistoryFolder, HistoryPoint

NO_RUNS: Final = HistoryPoint(0, 0, 0, 0, 0, 0, 0)


class RunKey(NamedTuple):
    """Which runs are one line."""

    scenario: str
    arm: str


class CaseKey(NamedTuple):
    """Which trials are one line."""

    evaluation: str
    case: str
    arm: str


class ArmKey(NamedTuple):
    """Which arm of which evaluation."""

    evaluation: str
    arm: str


@dataclass(slots=True)
class ReadFolder:
    """One folder: its row, and points for what is in it; their folders are numbered once all are in order."""

    row: HistoryFolder
    runs: dict[RunKey, HistoryPoint] = field(default_factory=dict)
    cases: dict[CaseKey, HistoryPoint] = field(default_factory=dict)
    units: dict[CaseKey, str] = field(default_factory=dict)
    arms: dict[ArmKey, ArmPoint] = field(default_factory=dict)


class Flakes(NamedTuple):
    """Whether something passed and failed unchanged; where that is one clean change, the folder behind it."""

    flaky: bool
    broke_at: int | None
    fixed_at: int | None


def flakes_of(points: Sequence[HistoryPoint]) -> Flakes:
    """By the points of each digest; a folder that does not know its own stands alone."""
    versions: dict[str, list[HistoryPoint]] = {}
    for point in points:
        versions.setdefault(point.digest or f"folder {point.folder}", []).append(point)
    mixed = [same for same in versions.values() if any(p.passed for p in same) and any(p.failed for p in same)]
    clean = _one_change(mixed[0]) if len(mixed) == 1 else None
    if clean is None:
        return Flakes(bool(mixed), None, None)
    return Flakes(True, None if clean.passed else clean.folder, clean.folder if clean.passed else None)


def _one_change(points: Sequence[HistoryPoint]) -> HistoryPoint | None:
    """The first point behind the one clean change from passing to failing or back; None where it is not that clean."""
    decided = [point for point in points if point.passed or point.failed]
    if any(point.passed and point.failed for point in decided):
        return None
    changes = [after for before, after in pairwise(decided) if bool(before.passed) != bool(after.passed)]
    return changes[0] if len(changes) == 1 else None
