"""Records that cross rooms: findings, verdicts, summaries, comparisons."""

from __future__ import annotations

from dataclasses import dataclass

from harness.types.codes import Outcome, Status
from harness.types.messages import JsonText, OnDisk, RunId


@dataclass(frozen=True, slots=True)
class Finding(OnDisk):
    """Something a check has to say, with the numbers of the events that show it (seqs)."""

    check: str
    message: str
    events: tuple[int, ...] = ()
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict(OnDisk):
    """What a check came to. ``why`` explains an outcome without findings."""

    check: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class ProviderRefusal(OnDisk):
    """A provider that would not take a history, and a reason for each place, with the events that show them."""

    provider: str
    why: tuple[str, ...]
    events: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CallSummary(OnDisk):
    """A call as a summary keeps it: name, canonical arguments, code of its result (None: none)."""

    name: str
    arguments: JsonText
    code: str | None


@dataclass(frozen=True, slots=True)
class RunSummary(OnDisk):
    """One run of a folder, derived from its trajectory alone (times in ms, money in micro-dollars).

    ``real_time`` says why a loop was run against the server on loopback; None where it was not.
    """

    run_id: RunId
    scenario: str
    arm: str
    trial: int
    subject: str
    model: str
    file: str
    outcome: Outcome
    status: Status | None
    reason: str
    answer: str | None
    n_turns: int
    n_steps: int
    n_requests: int
    n_messages: int
    calls: tuple[CallSummary, ...]
    input_tokens: int | None
    output_tokens: int | None
    cost_micro_usd: int | None
    duration_ms: int | None
    verdicts: tuple[Verdict, ...]
    real_time: str | None = None


@dataclass(frozen=True, slots=True)
class Divergence(OnDisk):
    """The first place where two trajectories differ, on their committed views.

    ``step`` and ``turn`` count as on disk; ``path`` names the field; ``base`` and ``candidate`` are
    short texts of both sides (None: nothing there).
    """

    kind: str
    path: str
    base: str | None
    candidate: str | None
    turn: int | None = None
    step: int | None = None
    base_seq: int | None = None
    candidate_seq: int | None = None


@dataclass(frozen=True, slots=True)
class ScenarioComparison(OnDisk):
    """One run id in two folders. ``change`` is same, changed, missing, new, better or worse."""

    run_id: str
    change: str
    divergence: Divergence | None = None
    base: RunSummary | None = None
    candidate: RunSummary | None = None


@dataclass(frozen=True, slots=True)
class Comparison(OnDisk):
    """Two folders of runs, compared."""

    base: str
    candidate: str
    scenarios: tuple[ScenarioComparison, ...]
    outcome: Outcome
