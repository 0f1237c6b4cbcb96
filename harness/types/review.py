"""Records of a review: a comparison, the gate that judged it, where both sides come from, what moved beside."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.types.codes import Outcome
from harness.types.messages import OnDisk
from harness.types.records import Comparison

COMPARISON_FORMAT: Final = "harness-comparison/1"
"""What the JSON of a review begins with."""


class Rule(StrEnum):
    """What a gate can ask. The first eight are exact, the others statistical."""

    CHECKS = "checks"
    CANCEL = "cancel"
    PAIRING = "pairing"
    STALE = "stale"
    MISSING = "missing"
    NEW = "new"
    BEHAVIOUR = "behaviour"
    DETAILS = "details"
    PASS_RATE = "pass-rate"
    COST = "cost"
    LATENCY = "latency"
    TOKENS = "tokens"
    STEPS = "steps"

    @property
    def exact(self) -> bool:
        """True where one observation decides; False where it is a matter of noise."""
        return self not in (Rule.PASS_RATE, Rule.COST, Rule.LATENCY, Rule.TOKENS, Rule.STEPS)


class Severity(StrEnum):
    """What becomes of a rule that is broken, or that cannot be decided."""

    FAIL = "fail"
    WARN = "warn"
    PASS = "pass"


@dataclass(frozen=True, slots=True)
class RuleResult(OnDisk):
    """What one rule came to. ``outcome`` is the finding itself, ``severity`` what the gate makes of it.

    ``scenarios`` are those that break it, by id (and arm), as ``folds.row_name`` gives it; ``n_scenarios`` counts them.
    ``errored`` are those of them in which all it found is errors. ``beside`` says what broke it too and is in no
    scenario. ``why`` says it in one line, with numbers and intervals.
    """

    rule: Rule
    outcome: Outcome
    severity: Severity
    why: str = ""
    scenarios: tuple[str, ...] = ()
    n_scenarios: int = 0
    errored: tuple[str, ...] = ()
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Held(OnDisk):
    """A scenario that a known flake kept from failing, as ``folds.row_name`` gives it, and from which rules."""

    scenario: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Quarantined(OnDisk):
    """A known flake. ``until`` is its last day (ISO 8601).

    ``held`` names the exact rules that it kept from failing, and the statistical ones that were judged without it.
    ``scenario`` may be a pattern; ``n_scenarios`` counts those of this comparison that it names, and ``held_scenarios``
    are those of them that would have broken an exact rule. ``remark`` says why an entry holds nothing back, where it
    cannot (it expired, its last day is too far away, it names nothing here).
    """

    scenario: str
    until: str
    why: str
    expired: bool = False
    held: tuple[str, ...] = ()
    n_scenarios: int = 0
    remark: str = ""
    held_scenarios: tuple[Held, ...] = ()


class GateSource(StrEnum):
    """Where the rules come from."""

    NONE = "none"
    MERGE_BASE = "merge-base"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class GateVerdict(OnDisk):
    """The verdict of a gate, and the rule that gave it (None: no rule was broken).

    ``text`` says that rule in one line. ``source`` says where the rules come from: no gate at all (every
    difference fails), the merge base, or the file as it lies here (no repository, or nobody named a base). ``edited``:
    the change edits, adds or deletes the gate, and was judged by the old one. ``note`` is what else is to be told.
    """

    outcome: Outcome
    text: str
    rule: Rule | None = None
    results: tuple[RuleResult, ...] = ()
    quarantine: tuple[Quarantined, ...] = ()
    source: GateSource = GateSource.NONE
    file: str = ""
    edited: bool = False
    note: str = ""


class PostKind(StrEnum):
    """What a change moves beside what is judged."""

    GATE = "gate"
    BASELINE = "baseline"
    CASSETTE = "cassette"
    LIMIT = "limit"
    EXPECTATION = "expectation"
    SCENARIO = "scenario"
    EVALUATION = "evaluation"
    CHECK = "check"
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class GoalPost(OnDisk):
    """One goal post that the change moves: a file, and in it which (``limits.max_steps: 10 → 40``)."""

    kind: PostKind
    file: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Revision(OnDisk):
    """The state of the code that a side ran with. ``commit`` None: not known, or no repository.

    ``dirty``: files that are tracked were changed and not committed.
    """

    commit: str | None = None
    ref: str = ""
    dirty: bool = False


@dataclass(frozen=True, slots=True)
class SourceLine(OnDisk):
    """Where a scenario is written: its file, from the folder of the project, and the line of its first key."""

    scenario: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Review(OnDisk):
    """All that reports say of a change. ``merge_base`` is the commit the gate and goal posts were read against.

    ``command`` is what makes it again. ``sources`` are those of scenarios that are told first. ``remarks`` say, a line
    each, what makes the comparison tell less than it seems to: both sides are the same code, runs of another commit.
    """

    comparison: Comparison
    verdict: GateVerdict
    command: str = ""
    base_revision: Revision = Revision()
    candidate_revision: Revision = Revision()
    merge_base: str | None = None
    goal_posts: tuple[GoalPost, ...] = ()
    sources: tuple[SourceLine, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The verdict, which gives the exit code."""
        return self.verdict.outcome
