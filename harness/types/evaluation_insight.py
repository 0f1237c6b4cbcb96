"""Where the answers of an evaluation went wrong: description, never a verdict."""

from __future__ import annotations

from dataclasses import dataclass

from harness.types.grades import MisfitKind
from harness.types.messages import OnDisk


@dataclass(frozen=True, slots=True)
class Example(OnDisk):
    """One trial that shows something: ``path`` and ``message`` are a misfit's, where there is one."""

    case: str
    trial: int
    path: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class ConfusionCell(OnDisk):
    """How often ``chosen`` came where ``expected`` was right; "(none)" and its kin stand for what is no tool."""

    arm: str
    expected: str
    chosen: str
    n: int
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class ArgumentAccuracy(OnDisk):
    """Of ``n`` times that an argument (``tool.argument``) was expected of a call that was made, ``right`` were."""

    arm: str
    name: str
    right: int
    n: int


@dataclass(frozen=True, slots=True)
class MisfitCount(OnDisk):
    """In how many trials of an arm a class of mismatch was seen, and the first of them."""

    arm: str
    kind: MisfitKind
    trials: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class FactorLine(OnDisk):
    """An arm against the first: what it changes, and how the mean unit rate moved (description only).

    ``one_factor`` is False where it changes several things at once, so that the difference has no single cause.
    ``difference`` is None, over 0 units, where one of both arms has no scored trial.
    ``violated`` and ``first_violated`` are shares of the trials with forbidden tools that called one: where the arm
    injects text, how often the injection worked.
    """

    arm: str
    first: str
    changes: tuple[str, ...]
    one_factor: bool
    n_units: int
    difference: float | None
    low: float | None
    high: float | None
    violated: float | None
    first_violated: float | None


@dataclass(frozen=True, slots=True)
class CurvePoint(OnDisk):
    """One place on a curve: at ``x`` (``label`` where it is a range), over ``n_units`` units; no interval below ten."""

    x: int
    label: str
    n_units: int
    rate: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Curve(OnDisk):
    """How the rate goes with something: distractors, needed tools, turns of history.

    ``arm`` is the arm whose cases are parted, or "" where each point is an arm. ``slope`` is the change of the rate
    per step of ``x`` and ``p`` that of the test for a trend; None where there is nothing to test.
    """

    name: str
    arm: str
    points: tuple[CurvePoint, ...]
    slope: float | None
    p: float | None
    test: str


@dataclass(frozen=True, slots=True)
class TagRate(OnDisk):
    """The cases with one tag under one arm."""

    tag: str
    arm: str
    n_cases: int
    planned: int
    passed: int
    rate: float


@dataclass(frozen=True, slots=True)
class SuspectCase(OnDisk):
    """A case that failed every scored trial in every arm (two at least): perhaps its expectation is wrong."""

    case: str
    ask: str
    expected: str
    trials: int
    kinds: tuple[MisfitKind, ...]


@dataclass(frozen=True, slots=True)
class CaseInArm(OnDisk):
    """A case under an arm: counts of its trials, and the classes of mismatch that were seen."""

    arm: str
    passed: int
    failed: int
    errored: int
    skipped: int
    kinds: tuple[MisfitKind, ...]


@dataclass(frozen=True, slots=True)
class CaseLine(OnDisk):
    """A case that fails most, with what was asked and expected."""

    case: str
    unit: str
    ask: str
    expected: str
    arms: tuple[CaseInArm, ...]
