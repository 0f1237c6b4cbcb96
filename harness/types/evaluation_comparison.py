"""The one declared primary comparison of an evaluation: what it found, and under which conditions it holds."""

from __future__ import annotations

from dataclasses import dataclass

from harness.types.evaluation import Estimand, Metric, Split
from harness.types.messages import OnDisk


@dataclass(frozen=True, slots=True)
class Range(OnDisk):
    """An interval at a level (0.95), and the method it was made by."""

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, slots=True)
class Chances(OnDisk):
    """p-values of one test: that the candidate is worse, that it is better, that it differs."""

    worse: float
    better: float
    differs: float
    test: str


@dataclass(frozen=True, slots=True)
class PromptsLikeThese(OnDisk):
    """The cases are a sample of prompts: a unit's difference is one number, and units are what is drawn."""

    n_units: int
    difference: float
    interval: Range | None
    chances: Chances | None
    region: str


@dataclass(frozen=True, slots=True)
class Flip(OnDisk):
    """A case whose share of passed trials changed: passed and scored under the base, and under the candidate."""

    case: str
    base_passed: int
    base_trials: int
    candidate_passed: int
    candidate_trials: int


@dataclass(frozen=True, slots=True)
class TheseCases(OnDisk):
    """The cases are all there is: only the trials within each case are chance. Lists are bounded, counts are not.

    ``mcnemar`` is there only at one trial a case.
    """

    n_cases: int
    difference: float
    interval: Range | None
    chances: Chances | None
    mcnemar: Chances | None
    region: str
    n_worse: int
    n_better: int
    n_same: int
    worse: tuple[Flip, ...]
    better: tuple[Flip, ...]


@dataclass(frozen=True, slots=True)
class AgainstItself(OnDisk):
    """The A/A line: the base's trials split in halves at random, and how often the same rule alarmed."""

    alarms: float
    n_splits: int


@dataclass(frozen=True, slots=True)
class Look(OnDisk):
    """When whole blocks were looked at: after ``blocks`` of ``of``, at which level."""

    blocks: int
    of: int
    level: float
    stopped_early: bool


@dataclass(frozen=True, slots=True)
class ComparisonSummary(OnDisk):
    """The one declared primary comparison. ``verdict`` is a region in words, or DRIFT.

    ``if_errors`` says which region comes out under each extreme of what trials without an answer hid (all passed or
    all failed, in either arm): all must say the same, or ``verdict`` is INVALID. It is empty where every trial has an
    answer. ``spread`` holds how many units changed by how much, to two places. ``drift`` says what else differed
    between the arms. ``why`` explains an INVALID.
    """

    base: str
    candidate: str
    metric: Metric
    estimand: Estimand
    margin: float
    alpha: float
    split: Split | None
    rule: str
    verdict: str
    why: str
    base_rate: float
    candidate_rate: float
    prompts: PromptsLikeThese
    cases: TheseCases
    if_errors: tuple[tuple[str, str], ...]
    look: Look
    against_itself: AgainstItself | None
    spread: tuple[tuple[float, int], ...]
    drift: tuple[str, ...]
