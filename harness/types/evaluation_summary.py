"""What an evaluation says: counts, rates, the one comparison that decides, and where the answers went wrong.

Everything is derived from the evaluation and its trials, and the same trials give the same bytes, in whatever order
they came: lists are sorted, there are no clock times, and every share, p-value and interval is rounded once, to
DECIMALS places. Days and builds stand in ``provenance``, which is there only where answers came from a real model.
Rates are shares of 1; differences are candidate minus base; money is in micro-dollars.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any, Final

from harness.errors import UnknownNameError
from harness.types.codes import Code, Outcome
from harness.types.evaluation import Execute
from harness.types.evaluation_comparison import ComparisonSummary, Range
from harness.types.evaluation_insight import (
    ArgumentAccuracy,
    CaseLine,
    ConfusionCell,
    Curve,
    FactorLine,
    MisfitCount,
    SuspectCase,
    TagRate,
)
from harness.types.grades import Stage, WhyNoCall
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText, OnDisk, camel
from harness.types.trials import Owner

SUMMARY_FORMAT: Final = "harness-evaluation-summary/1"
DECIMALS: Final = 6


def rounded(value: float) -> float:
    """The one rounding of the summary: to DECIMALS places, and never a negative zero."""
    return round(value, DECIMALS) + 0.0


@dataclass(frozen=True, slots=True)
class Counts(OnDisk):
    """What became of the planned trials: planned = passed + failed + errored + skipped, always (INVARIANTS 30)."""

    planned: int
    passed: int
    failed: int
    errored: int
    skipped: int

    @property
    def scored(self) -> int:
        """How many have an answer that was judged, or an error that is the agent's own."""
        return self.passed + self.failed

    @property
    def rate(self) -> float:
        """The headline: passed of planned (PB-040); 0 where nothing was planned."""
        return rounded(self.passed / self.planned) if self.planned else 0.0

    @property
    def scored_rate(self) -> float | None:
        """The second figure: passed of scored only."""
        return rounded(self.passed / self.scored) if self.scored else None


@dataclass(frozen=True, slots=True)
class PassAt(OnDisk):
    """pass@k over cases: whole tasks only. ``left_out`` cases have fewer than k scored trials (PB-041)."""

    k: int
    value: float | None
    n_cases: int
    left_out: int


@dataclass(frozen=True, slots=True)
class NeverCount(OnDisk):
    """Of ``trials`` scored trials whose case names forbidden tools, how many called one."""

    trials: int
    violated: int


@dataclass(frozen=True, slots=True)
class Spent(OnDisk):
    """Tokens and money as the provider told them; ``told`` trials of ``of`` said how many tokens they took."""

    input_tokens: int
    output_tokens: int
    cost_micro_usd: int | None
    told: int
    of: int
    n_retries: int


@dataclass(frozen=True, slots=True)
class ArmSummary(OnDisk):
    """What one arm came to.

    ``unit_rate`` is the mean over units of the share of their planned trials that passed, ``interval`` (Wilson over
    units) is its interval and None below ten units; both are None where nothing was scored. ``pass_hat_k`` is the
    share of units whose every planned trial passed, ``k`` trials a case; None where no unit was asked all of them.
    Where a look ended the plan, what it left out was not planned.
    A flaky case passed sometimes (0 < c < n). ``repeatability`` is the share of
    the cases with two scored trials whose trials all agree; ``icc`` the intraclass correlation of trials within
    cases; ``trials_worth`` how many cases' worth the trials of one case are. None where nothing was repeated, or
    nothing varies.
    """

    name: str
    changes: tuple[str, ...]
    counts: Counts
    n_units: int
    unit_rate: float | None
    interval: Range | None
    k: int
    pass_hat_k: float | None
    n_flaky: int
    repeatability: float | None
    icc: float | None
    trials_worth: float | None
    pass_at: tuple[PassAt, ...]
    stages: tuple[tuple[Stage, int], ...]
    why_no_call: tuple[tuple[WhyNoCall, int], ...]
    never: NeverCount
    spent: Spent

    @property
    def rate(self) -> float:
        """Passed of planned."""
        return self.counts.rate


@dataclass(frozen=True, slots=True)
class ErrorCause(OnDisk):
    """Why so many ``trials`` of an arm have no answer. ``message`` is what they all said: numbers in it stand as ``#``,
    as messages that differ in nothing else are one.
    """

    arm: str
    owner: Owner
    code: Code
    message: str
    trials: int


@dataclass(frozen=True, slots=True)
class AnsweredBy(OnDisk):
    """How many answers of an arm came from one build on one day."""

    arm: str
    origin: str
    n: int
    model: str | None = None
    fingerprint: str | None = None
    server: str | None = None
    day: str | None = None


@dataclass(frozen=True, slots=True)
class ProvenanceSummary(OnDisk):
    """Who answered. ``old_sample`` is the sentence that recorded answers owe; empty where all were live."""

    answered_by: tuple[AnsweredBy, ...]
    old_sample: str


@dataclass(frozen=True, slots=True)
class EvaluationSummary(OnDisk):
    """All that an evaluation says. ``rule`` is in words what ``outcome`` follows from. ``errors`` is None where every
    trial that was asked has an answer.
    """

    evaluation: str
    title: str
    digest: str
    tools_digest: str
    model: str
    execute: Execute
    n_cases: int
    n_units: int
    n_tools: int
    n_trials: int
    outcome: Outcome
    verdict: str
    rule: str
    why: str
    arms: tuple[ArmSummary, ...]
    comparison: ComparisonSummary | None
    confusion: tuple[ConfusionCell, ...]
    arguments: tuple[ArgumentAccuracy, ...]
    misfits: tuple[MisfitCount, ...]
    factors: tuple[FactorLine, ...]
    curves: tuple[Curve, ...]
    tags: tuple[TagRate, ...]
    n_suspects: int
    suspects: tuple[SuspectCase, ...]
    worst: tuple[CaseLine, ...]
    provenance: ProvenanceSummary | None = None
    errors: tuple[ErrorCause, ...] | None = None
    format: str = field(default=SUMMARY_FORMAT)

    def arm(self, name: str) -> ArmSummary:
        """The summary of an arm by its name. Raises UnknownNameError, which names those that there are."""
        found = next((arm for arm in self.arms if arm.name == name), None)
        if found is None:
            raise UnknownNameError(f"no arm {name!r}; there are {', '.join(repr(arm.name) for arm in self.arms)}")
        return found

    def to_json(self) -> JsonText:
        """Canonical JSON: keys sorted, camelCase as everywhere on disk, what is not there left out."""
        return canonical_json(_plain(self))


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        items = ((item.name, getattr(value, item.name)) for item in fields(value))
        return {camel(name): _plain(item) for name, item in items if item is not None}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value
