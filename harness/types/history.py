"""Records of a history: folders of runs and of evaluations in the order of time, and what became of each scenario,
case and arm in them."""

from __future__ import annotations

from dataclasses import dataclass

from harness.types.evaluation_comparison import Range
from harness.types.messages import OnDisk


@dataclass(frozen=True, slots=True)
class HistoryFolder(OnDisk):
    """A folder of runs, or of trials, counted: ``planned = passed + failed + other + skipped + not_run``.

    ``started_at`` is when the first of its runs began (ISO 8601, UTC; None: no trajectory in it says so); of an
    evaluation when its first live answer came, else when it ended. ``other`` are runs that came to ERROR,
    INCONCLUSIVE or INVALID, or trials that have no answer; ``not_run`` are runs that left no summary.
    ``evaluation`` and ``model`` (the name that was asked for) are empty where it is a folder of runs.
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
    evaluation: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut(OnDisk):
    """A folder that was named and is not in the history, and why."""

    folder: str
    why: str


@dataclass(frozen=True, slots=True)
class HistoryPoint(OnDisk):
    """The runs of a scenario in one folder (its number, from 1): sums over ``runs``, money over ``n_priced`` of them.

    ``digest`` is that of the scenario; empty where no trajectory is there to say it. Of a case, ``runs`` are trials
    that were asked, and the digest is of its request (model, messages, tools) and of what counts as right.
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
class CaseHistory(OnDisk):
    """A case of an evaluation under an arm over all folders, in the order of time; judged like a scenario.

    ``unit`` is what the statistics count as one: its group, else the case itself.
    """

    evaluation: str
    case: str
    arm: str
    unit: str
    runs: int
    passed: int
    points: tuple[HistoryPoint, ...]
    flaky: bool = False
    broke_at: int | None = None
    fixed_at: int | None = None


@dataclass(frozen=True, slots=True)
class ArmPoint(OnDisk):
    """An arm of an evaluation in one folder (its number, from 1): as its summary counts it.

    ``unit_rate`` is the mean over ``n_units`` of the share of their planned trials that passed (None: nothing was
    scored), ``interval`` its interval (None below ten units); ``n_flaky`` cases passed sometimes. Money is a sum over
    ``n_priced`` of the ``n_asked`` trials, errors included.
    """

    folder: int
    planned: int
    passed: int
    n_asked: int
    n_units: int
    unit_rate: float | None
    interval: Range | None
    n_flaky: int
    cost_micro_usd: int
    n_priced: int


@dataclass(frozen=True, slots=True)
class ArmHistory(OnDisk):
    """An arm of an evaluation over all folders, in the order of time."""

    evaluation: str
    arm: str
    points: tuple[ArmPoint, ...]


@dataclass(frozen=True, slots=True)
class History(OnDisk):
    """All of it; scenarios by name and arm, arms and cases by evaluation, case and arm."""

    folders: tuple[HistoryFolder, ...]
    scenarios: tuple[ScenarioHistory, ...]
    left_out: tuple[LeftOut, ...] = ()
    arms: tuple[ArmHistory, ...] = ()
    cases: tuple[CaseHistory, ...] = ()
