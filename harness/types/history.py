"""Records of a history: folders of runs in the order of time, and what became of each scenario in them."""

from __future__ import annotations

from dataclasses import dataclass

from harness.types.messages import OnDisk


@dataclass(frozen=True, slots=True)
class HistoryFolder(OnDisk):
    """A folder of runs, counted: ``planned = passed + failed + other + skipped + not_run``.

    ``started_at`` is when the first of its runs began (ISO 8601, UTC; None: no trajectory in it says so);
    ``other`` are runs that came to ERROR, INCONCLUSIVE or INVALID, ``not_run`` those that left no summary.
    """

    folder: str
    started_at: str | None
    planned: int
    passed: int
    failed: int
    other: int
    skipped: int = 0
    not_run: int = 0
    finished: bool = True


@dataclass(frozen=True, slots=True)
class LeftOut(OnDisk):
    """A folder that was named and is not in the history, and why."""

    folder: str
    why: str


@dataclass(frozen=True, slots=True)
class HistoryPoint(OnDisk):
    """The runs of a scenario in one folder (its number, from 1): sums over ``runs``, money over ``n_priced`` of them.

    ``digest`` is that of the scenario; empty where no trajectory is there to say it.
    """

    folder: int
    runs: int
    passed: int
    failed: int
    n_steps: int
    cost_micro_usd: int
    n_priced: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class ScenarioHistory(OnDisk):
    """A scenario (of one arm) over all folders, in the order of time.

    ``flaky``: it passed in some and failed in other folders or trials, and its digest was the same. Where that is one
    clean change between two folders, ``broke_at`` or ``fixed_at`` is the number of the folder behind it.
    """

    scenario: str
    arm: str
    runs: int
    passed: int
    points: tuple[HistoryPoint, ...]
    flaky: bool = False
    broke_at: int | None = None
    fixed_at: int | None = None


@dataclass(frozen=True, slots=True)
class History(OnDisk):
    """All of it; scenarios by name and arm."""

    folders: tuple[HistoryFolder, ...]
    scenarios: tuple[ScenarioHistory, ...]
    left_out: tuple[LeftOut, ...] = ()
