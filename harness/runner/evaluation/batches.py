"""Trials that are asked elsewhere: batches of requests go out, lines come back, and only this process writes.

A batch says all that it needs, so that who works on it needs no file of ours. Trials of a batch that was lost are
asked again; what came back has its line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from harness.clock import Clocks, run_in_loop, wall_clock_iso
from harness.errors import HarnessError, UsageError
from harness.redaction import redact_secrets, secret_mask
from harness.runner.evaluation.asking import Desk, Seat, ask, retries
from harness.runner.evaluation.folder import trials_path, widen
from harness.runner.evaluation.pace import Pace
from harness.runner.evaluation.plan import EvaluationPlan
from harness.runner.evaluation.running import Progress, Ran, Tell, trials_before
from harness.runner.functions import function_model
from harness.store import TrialKeys, open_trials
from harness.types.codes import ClockKind
from harness.types.doors import ModelCall
from harness.types.evaluation import Execute, Running
from harness.types.trials import AnswerOrigin, Trial, TrialKey

BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests for the function named ``own``; ``search`` is where its module is looked for too."""

    own: str
    asked: tuple[tuple[TrialKey, ModelCall], ...]
    n_retries: int
    search: tuple[str, ...]
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """The trials of a batch, and what stopped it before its end."""

    trials: tuple[Trial, ...]
    stopped: str = ""
    exit_code: int = 0


Spread = Callable[[Iterable[Batch]], Iterator[Answered]]
"""Works on batches somewhere, and gives what comes of them in any order."""


def ask_batch(batch: Batch) -> Answered:
    """Ask everything in a batch, one after the other; where that happens is nobody's business."""
    sys.path.extend(path for path in batch.search if path not in sys.path)
    trials: list[Trial] = []

    async def asked(clock: Clocks) -> None:
        seat = Seat(function_model(batch.own), AnswerOrigin.SCRIPTED)
        pace = Pace(Running(), clock)
        desk = Desk(
            clock, pace, retries(batch.n_retries), wall_clock_iso, lambda text: redact_secrets(text, batch.secrets)
        )
        for key, call in batch.asked:
            trials.append(await ask(key, call, seat, desk))

    try:
        run_in_loop(ClockKind.SYSTEM, asked)
    except HarnessError as error:
        return Answered(tuple(trials), str(error), error.exit_code)
    return Answered(tuple(trials))


def run_in_batches(plan: EvaluationPlan, spread: Spread, *, size: int = BATCH, tell: Tell | None = None) -> Ran:
    """Have all that has no line yet asked in batches. Raises as ``run_evaluation`` does, and UsageError where whole
    loops are to run: only requests travel.
    """
    if plan.evaluation.execute is not Execute.FIRST:
        raise UsageError(
            "a cluster answers first decisions: whole loops ('stubs', 'execute: true') run here (--backend local), "
            "with -j in several processes, or in shards"
        )
    done, _, n_before = trials_before(plan)
    ran = Ran(n_before=n_before)
    mask = secret_mask(plan.options.secrets)
    path = trials_path(plan.options.folder, plan.options.shard)
    widen(path, plan.header)
    with open_trials(path, plan.header, mask=mask) as writer:
        ran.n_cut_bytes = writer.n_cut_bytes
        try:
            for found in spread(_batches(plan, done, size)):
                for trial in found.trials:
                    writer.append(trial)
                    ran.n_now += 1
                if found.stopped and not ran.stopped:
                    ran.stopped, ran.exit_code = found.stopped, found.exit_code
                    break
                if tell is not None:
                    tell(Progress(ran.n_before + ran.n_now, plan.n_planned, ran.n_now, 0, 0, 0))
        except KeyboardInterrupt:
            ran.interrupted = True
    return ran


def _batches(plan: EvaluationPlan, done: TrialKeys, size: int) -> Iterator[Batch]:
    requests = _requests(plan, done)
    while asked := tuple(islice(requests, size)):
        yield Batch(plan.own, asked, plan.evaluation.running.retries, tuple(sys.path), plan.options.secrets)


def _requests(plan: EvaluationPlan, done: TrialKeys) -> Iterator[tuple[TrialKey, ModelCall]]:
    evaluation = plan.evaluation
    for place in plan.places(plan.options.shard):
        case = evaluation.cases[place.case]
        key = plan.key(place, case)
        if key not in done:
            yield key, plan.request_of(evaluation, evaluation.arms[place.arm], case, plan.snapshot)
