"""Single cases of an evaluation as somebody looks at them: what was asked, what was right, what each trial did."""

from __future__ import annotations

from dataclasses import dataclass

from harness.types.grades import MisfitKind, Score, Stage
from harness.types.messages import OnDisk


@dataclass(frozen=True, slots=True)
class MisfitStory(OnDisk):
    """One difference of an answer: its class, its place (``calls[1].arguments.city``), and in words what came."""

    kind: MisfitKind
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class TrialStory(OnDisk):
    """One trial: ``chosen`` is its calls, its text, or why there is no answer, cut to a length."""

    trial: int
    score: Score
    chosen: str
    stage: Stage | None = None
    misfits: tuple[MisfitStory, ...] = ()


@dataclass(frozen=True, slots=True)
class ArmStory(OnDisk):
    """A case under an arm: its counts, and its trials, those that did not pass first; ``left_out`` are not told."""

    arm: str
    passed: int
    planned: int
    trials: tuple[TrialStory, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class CaseStory(OnDisk):
    """A case: ``before`` is how many messages came before ``ask``; ``expected`` is what is right, on one line."""

    case: str
    unit: str
    tags: tuple[str, ...]
    before: int
    ask: str
    expected: str
    arms: tuple[ArmStory, ...]


@dataclass(frozen=True, slots=True)
class CaseStories(OnDisk):
    """The cases that fail most, and how many more fail."""

    cases: tuple[CaseStory, ...]
    left_out: int = 0
