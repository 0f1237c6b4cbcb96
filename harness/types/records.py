"""Records that cross rooms: findings, verdicts, summaries, comparisons."""

from __future__ import annotations

from dataclasses import dataclass

from harness.types.codes import Cause, Change, DivergenceKind, Outcome, SegmentKind, Status
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
    """What a check came to. ``why`` explains an outcome without findings.

    ``asked`` is the name by which somebody asked for a check of their own, whatever it calls itself; empty: the
    harness's own verdict.
    """

    check: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    why: str = ""
    asked: str = ""


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

    kind: DivergenceKind
    path: str
    base: str | None
    candidate: str | None
    turn: int | None = None
    step: int | None = None
    base_seq: int | None = None
    candidate_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Amount(OnDisk):
    """What a stretch of a run took: steps of the main agent, calls, tokens, micro-dollars, ms (None: not known)."""

    n_steps: int = 0
    n_calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_micro_usd: int | None = None
    time_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Segment(OnDisk):
    """A stretch of two aligned runs. ``step`` is where it begins (the base's, else the candidate's), as on disk.

    An amount is None where that side has nothing of it. Amounts of all segments add up to those of the runs.
    """

    kind: SegmentKind
    base: Amount | None
    candidate: Amount | None
    turn: int | None = None
    step: int | None = None
    base_seq: int | None = None
    candidate_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation(OnDisk):
    """Why two runs part. ``first`` is the first difference, ``effect`` the first thing done differently.

    They are one where no input differed; ``effect`` is None where the runs did the same. ``detail`` says
    which (a tool, a line, a parameter); ``inputs`` are the first of the ``n_inputs`` that differ before the effect.
    """

    cause: Cause
    detail: str
    first: Divergence
    effect: Divergence | None = None
    inputs: tuple[Divergence, ...] = ()
    n_inputs: int = 0

    @property
    def shown(self) -> Divergence:
        """What one line shows: what was done differently, else what differs at all."""
        return self.effect or self.first


@dataclass(frozen=True, slots=True)
class Share(OnDisk):
    """``n`` of ``of``: how many of the base's trials that came to the same input chose as the candidate did."""

    n: int
    of: int


@dataclass(frozen=True, slots=True)
class Unpassed(OnDisk):
    """In how many trials of each side a check came to an outcome that is no pass.

    ``check`` is empty for runs without a check that says so (none could be judged). ``stale``: because the recording
    did not answer what was asked. What follows from an error or such a recording is not counted beside it. Of a
    scenario that the base planned and did not run, ``n_base`` trials are INCONCLUSIVE.
    """

    check: str
    outcome: Outcome
    n_base: int
    n_candidate: int
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Took(OnDisk):
    """What all trials of a scenario on one side took together; None where a trial does not know it."""

    steps: int
    tokens: int | None
    cost_micro_usd: int | None
    latency_ms: int | None


@dataclass(frozen=True, slots=True)
class Hindered(OnDisk):
    """How many trials of one side say nothing of the change: ``n`` in all, of which ``errored`` came to an error.

    Of the rest the recording did not answer what they asked. ``unjudged`` trials beside them ran as they do, but a
    check gave up on them: how they behave is known, and whether they pass is not.
    """

    n: int = 0
    errored: int = 0
    unjudged: int = 0


@dataclass(frozen=True, slots=True)
class ScenarioComparison(OnDisk):
    """One scenario (of one arm) in two folders, over its trials.

    ``change`` is same, changed, missing, new, better or worse, by the share of trials that passed, then by
    behaviour. ``base``, ``candidate`` and all that explains are those of the pair of trials that tells most.
    ``line`` says it in one line; ``n_differ`` counts pairs of trials that differ, ``base_chose`` how often the
    base chose as the candidate did; ``segments`` are kept for the first few hundred scenarios that changed.

    Over all trials: ``unpassed`` says what did not pass; of the pairs that differ, ``n_behave`` behave differently and
    ``n_details`` only in bookkeeping or setup (the rest follows from errors and recordings out of date, of trials that
    ``base_hindered`` and ``candidate_hindered`` count). What they took is there where a side has several trials; with
    one it stands in its summary.
    """

    run_id: str
    change: Change
    divergence: Divergence | None = None
    base: RunSummary | None = None
    candidate: RunSummary | None = None
    explanation: Explanation | None = None
    base_chose: Share | None = None
    n_base: int = 1
    n_candidate: int = 1
    base_passed: int = 0
    candidate_passed: int = 0
    n_differ: int = 0
    segments: tuple[Segment, ...] = ()
    line: str = ""
    unpassed: tuple[Unpassed, ...] = ()
    n_behave: int = 0
    n_details: int = 0
    base_took: Took | None = None
    candidate_took: Took | None = None
    base_hindered: Hindered = Hindered()
    candidate_hindered: Hindered = Hindered()

    @property
    def cause(self) -> Cause | None:
        """Why the runs part; None where they do not."""
        return self.explanation.cause if self.explanation else None

    @property
    def step(self) -> int | None:
        """The step that one line names."""
        return self.explanation.shown.step if self.explanation else None


@dataclass(frozen=True, slots=True)
class Side(OnDisk):
    """All runs of one side, counted; ``planned`` is the sum of the others (INVARIANTS 30), without ``out_of_date``.

    ``out_of_date`` are runs, counted elsewhere too, whose recording did not answer what they asked.
    """

    planned: int = 0
    passed: int = 0
    failed: int = 0
    errored: int = 0
    inconclusive: int = 0
    invalid: int = 0
    skipped: int = 0
    not_run: int = 0
    out_of_date: int = 0
    models: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measure(OnDisk):
    """One number of both sides: the sum over ``n_scenarios`` on both sides of the mean of their trials.

    They are those of which every trial knows it and none is hindered. ``noise`` is two standard errors of the
    difference, from repeated trials; None where any of them was not repeated on both sides.
    """

    base: int
    candidate: int
    n_scenarios: int
    noise: int | None = None


@dataclass(frozen=True, slots=True)
class Comparison(OnDisk):
    """Two folders of runs, compared. ``cost`` is in micro-dollars, ``latency`` in ms; None where not known."""

    base: str
    candidate: str
    scenarios: tuple[ScenarioComparison, ...]
    outcome: Outcome
    base_side: Side | None = None
    candidate_side: Side | None = None
    cost: Measure | None = None
    latency: Measure | None = None
    tokens: Measure | None = None
