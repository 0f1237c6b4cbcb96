"""Runs an evaluation here, or in worker processes: each asks its share of the cases and writes a file of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.errors import HarnessError
from harness.runner.evaluation.plan import EvaluationPlan
from harness.runner.evaluation.running import Progress, Ran, Tell, World, run_share
from harness.runner.pool import spread

_LOST = "a worker process died; what it had answered is kept: run it again, or with -j 1 to see why"


@dataclass(frozen=True, slots=True)
class _Part:
    plan: EvaluationPlan
    worker: int
    of: int


def run_evaluation(plan: EvaluationPlan, *, tell: Tell | None = None, world: World | None = None) -> Ran:
    """Ask all that has no line yet; what stops it early is told in the result, and what was answered is kept.

    Raises UsageError kin where the folder holds another evaluation, RecordingFailed where another process runs it,
    TrajectoryFormatError where a file of trials is damaged.
    """
    jobs = min(plan.options.jobs, len(plan.evaluation.cases))
    if jobs == 1:
        return run_share(plan, tell=tell, world=world)
    parts = [_Part(plan, worker, jobs) for worker in range(1, jobs + 1)]
    ended: list[Ran] = []
    try:
        for ran in spread(_run_part, parts, jobs=jobs, lost=_lost):
            ended.append(ran)
            _tell(plan, ended, tell)
    except KeyboardInterrupt:
        ended.append(Ran(interrupted=True))
    return joined(ended)


def _run_part(part: _Part) -> Ran:
    try:
        return run_share(part.plan, worker=part.worker, of=part.of)
    except HarnessError as error:
        return Ran(stopped=str(error), exit_code=error.exit_code)


def _lost(part: _Part) -> Ran:
    return Ran(stopped=_LOST, exit_code=HarnessError.exit_code)


def _tell(plan: EvaluationPlan, ended: list[Ran], tell: Tell | None) -> None:
    if tell is not None:
        so_far = joined(ended)
        n_done = so_far.n_before + so_far.n_now
        tell(Progress(n_done, plan.n_planned, so_far.n_now, so_far.n_tokens, so_far.micro_usd, so_far.took_ms))


def joined(parts: Iterable[Ran]) -> Ran:
    """What several shares came to together. Each saw all that was there before; the first failure stands."""
    whole = Ran()
    for ran in parts:
        whole.n_before = max(whole.n_before, ran.n_before)
        whole.took_ms = max(whole.took_ms, ran.took_ms)
        for name in _SUMS:
            setattr(whole, name, getattr(whole, name) + getattr(ran, name))
        whole.interrupted = whole.interrupted or ran.interrupted
        whole.decided = whole.decided or ran.decided
        whole.spent = whole.spent or ran.spent
        whole.out_of_date.extend(ran.out_of_date)
        if not whole.stopped and ran.stopped:
            whole.stopped, whole.exit_code = ran.stopped, ran.exit_code
    return whole


_SUMS = ("n_now", "n_cut_bytes", "n_missed", "n_tokens", "micro_usd")
