"""Runs an evaluation in this process: trials in their order, several at once, each acknowledged by its line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from harness.clock import Clocks, run_in_loop, wall_clock_iso
from harness.errors import CassetteMiss, HarnessError
from harness.redaction import redact_secrets, secret_mask
from harness.runner.evaluation.answerers import open_answerers
from harness.runner.evaluation.asking import Desk, EvaluationStopped, ask, digest_of, is_provider_error, retries
from harness.runner.evaluation.folder import trials_files, trials_in, trials_path, widen
from harness.runner.evaluation.order import Place, Shard
from harness.runner.evaluation.pace import Pace, Purse, purse_of
from harness.runner.evaluation.plan import EvaluationPlan
from harness.runner.evaluation.refusals import Refusals
from harness.runner.evaluation.whole_loop import OutOfDate, run_trial
from harness.runner.pool import side_by_side
from harness.runner.specs import ModelSource
from harness.store import TrialKeys, TrialsWriter, open_trials, read_trials_header
from harness.types.codes import ClockKind
from harness.types.doors import ModelCall
from harness.types.evaluation import Case, Execute, Running
from harness.types.records import Verdict
from harness.types.retrying import RetryPolicy
from harness.types.trials import Trial

if TYPE_CHECKING:
    import httpx2

_UNHURRIED: Final = Running()
_MOST_IN_A_ROW: Final = 10
"""So many trials one after the other that the provider failed, retries and all: then nobody is there."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; ``n_done`` counts lines that were there before too."""

    n_done: int
    n_planned: int
    n_now: int
    n_tokens: int
    micro_usd: int
    took_ms: int

    @property
    def left_ms(self) -> int | None:
        """How long it may still take, by the pace so far."""
        left = self.n_planned - self.n_done
        return None if self.n_now == 0 else self.took_ms * left // self.n_now


class _Interrupted(Exception):
    """Ctrl-C came while somebody's function held this thread; a task must not raise KeyboardInterrupt itself."""


Tell = Callable[[Progress], None]


@dataclass(slots=True)
class Ran:
    """What became of a run: how many trials had their line before, how many got it now, and why no more did.

    ``n_tokens`` and ``micro_usd`` are what was used now. ``stopped`` is the failure that ended it early, ``spent``
    the bound that did; ``out_of_date`` are recordings that did not answer all that was asked (arm, trial, verdict),
    ``n_missed`` the trials that this concerns; ``decided`` the block behind which nothing more had to be asked (0:
    there is none); ``revision`` is what ``run.json`` says of the code that ran.
    """

    n_before: int = 0
    n_now: int = 0
    n_cut_bytes: int = 0
    n_missed: int = 0
    n_tokens: int = 0
    micro_usd: int = 0
    took_ms: int = 0
    stopped: str = ""
    exit_code: int = 0
    spent: str = ""
    interrupted: bool = False
    decided: int = 0
    out_of_date: list[tuple[str, int, Verdict]] = field(default_factory=list)
    revision: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class World:
    """What stands for the machine: which clock, date and time, and what stands for the network."""

    kind: ClockKind = ClockKind.SYSTEM
    now: Callable[[], str] = wall_clock_iso
    upstream: httpx2.AsyncBaseTransport | None = None


def run_share(
    plan: EvaluationPlan, *, worker: int = 1, of: int = 1, tell: Tell | None = None, world: World | None = None
) -> Ran:
    """Ask what has no line yet of the ``worker``-th of ``of`` shares of the plan's shard.

    A failure that stops everything is told in the result; what was answered is kept. Raises UsageError kin where the
    folder holds another evaluation, RecordingFailed where another process runs it, TrajectoryFormatError.
    """
    world = world or World()
    shard = plan.options.shard.split(worker, of)
    done, purse, n_before = trials_before(plan)
    mask = secret_mask(plan.options.secrets)
    path = trials_path(plan.options.folder, plan.options.shard, worker)
    widen(path, plan.header)
    with open_trials(path, plan.header, mask=mask) as writer:
        share = _Share(plan, shard, writer, done, purse, tell, world)
        try:
            share.ran.n_before = n_before
            run_in_loop(world.kind, share.run, seed=plan.evaluation.seed)
        except KeyboardInterrupt:
            share.ran.interrupted = True
    return share.ran


def trials_before(plan: EvaluationPlan) -> tuple[TrialKeys, Purse, int]:
    """Which trials need not be asked any more, what all that were asked took, and how many of this shard there are."""
    done, n_before = TrialKeys(), 0
    models = {plan.model_of(arm).name: plan.prices_of(arm) for arm in plan.arms} if not plan.own else {}
    purse = purse_of(plan.evaluation.running, models)
    prices = {plan.evaluation.arms[arm].name: plan.prices_of(arm) for arm in plan.arms}
    files = trials_files(plan.options.folder)
    ours = [read_trials_header(path).shard == str(plan.options.shard) for path in files]
    for path, is_ours in zip(files, ours, strict=True):
        for trial in trials_in([path]):
            purse.pay(trial.usage, prices.get(trial.arm))
            if not is_provider_error(trial):
                done.add(trial.key)
                n_before += is_ours and trial.arm in prices and trial.trial <= plan.trials
    return done, purse, n_before


class _Share:
    """One run of one share; calling ``run`` asks all that is left of it."""

    def __init__(
        self,
        plan: EvaluationPlan,
        shard: Shard,
        writer: TrialsWriter,
        done: TrialKeys,
        purse: Purse,
        tell: Tell | None,
        world: World,
    ) -> None:
        self._plan, self._shard, self._writer, self._world = plan, shard, writer, world
        self._done, self._purse, self._tell = done, purse, tell
        self.ran = Ran(n_cut_bytes=writer.n_cut_bytes)
        self._places = self._left(plan.places(shard))
        self._error: HarnessError | None = None
        self._n_in_a_row = 0
        self._refusals = Refusals()
        self._began_ms = 0
        self._paid_before = (purse.n_tokens, purse.micro_usd)

    async def run(self, clock: Clocks) -> None:
        """Ask all that is left; what stops it early is in ``ran``."""
        plan, running = self._plan, self._plan.evaluation.running
        self._clock, self._began_ms = clock, clock.now_ms()
        secrets = plan.options.secrets
        retry = RetryPolicy() if plan.source is ModelSource.CASSETTE else retries(running.retries)
        pace = Pace(running if plan.source in (ModelSource.LIVE, ModelSource.RECORD) else _UNHURRIED, clock)
        self._desk = Desk(clock, pace, retry, self._world.now, lambda text: redact_secrets(text, secrets))
        try:
            async with open_answerers(plan, clock, now=self._world.now, upstream=self._world.upstream) as answerers:
                self._answerers = answerers
                await side_by_side(1, lambda: self._work(lambda: self._purse.is_blind))
                await side_by_side(max(1, running.at_once), self._work)
                self.ran.out_of_date.extend(answerers.out_of_date())
            self._close_refusals()
        except _Interrupted:
            self.ran.interrupted = True
        except HarnessError as error:
            self._stop(error)
        finally:
            self._sum_up()

    # ------------------------------------------------------------ one after the other

    def _left(self, places: Iterator[Place]) -> Iterator[tuple[Place, Case]]:
        for place in places:
            case = self._plan.evaluation.cases[place.case]
            if self._plan.key(place, case) not in self._done:
                yield place, case

    async def _work(self, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Ask until nothing is left, something stops all, or the purse is empty."""
        while self._error is None and not self.ran.spent and goes_on():
            await asyncio.sleep(0)  # a function that never waits would let no Ctrl-C arrive
            self.ran.spent = self._purse.spent()
            if self.ran.spent or self.ran.interrupted:  # others are cancelled a moment after the one that was hit
                return
            found = next(self._places, None)
            if found is None:
                return
            try:
                await self._one(*found)
            except KeyboardInterrupt:
                self.ran.interrupted = True
                raise _Interrupted from None

    async def _one(self, place: Place, case: Case) -> None:
        plan = self._plan
        arm = plan.evaluation.arms[place.arm]
        self._purse.n_asked += 1
        try:
            call = plan.request_of(plan.evaluation, arm, case, plan.snapshot)
            trial = await self._asked(place, case, call)
        except CassetteMiss as miss:
            self.ran.n_missed += 1
            if isinstance(miss, OutOfDate):
                self.ran.out_of_date.append((arm.name, place.trial, miss.verdict))
            return
        except HarnessError as error:
            self._stop(error)
            return
        finally:
            self._purse.n_asked -= 1
        self._purse.pay(trial.usage, plan.prices_of(place.arm))
        held = self._refusals.take(trial)
        for one in held.released:
            self._keep(one)
        if held.why:
            self._stop(EvaluationStopped(held.why))

    async def _asked(self, place: Place, case: Case, call: ModelCall) -> Trial:
        plan, key = self._plan, self._plan.key(place, case)
        if plan.evaluation.execute is not Execute.FIRST:
            return run_trial(plan, place.arm, case, call, key, digest_of(call))
        return await ask(key, call, self._answerers.seat(place.arm, place.trial), self._desk)

    def _keep(self, trial: Trial) -> None:
        try:
            self._writer.append(trial)
        except HarnessError as error:
            self._stop(error)
            return
        self.ran.n_now += 1
        self._n_in_a_row = self._n_in_a_row + 1 if is_provider_error(trial) else 0
        if self._n_in_a_row >= _MOST_IN_A_ROW and trial.error is not None:
            why = f"{trial.error.code}: {trial.error.message}"
            self._stop(EvaluationStopped(f"the endpoint failed {self._n_in_a_row} trials in a row ({why})"))
        self._report()

    def _close_refusals(self) -> None:
        why = self._refusals.close() if self._error is None else ""
        if why:
            self._stop(EvaluationStopped(why))

    def _stop(self, error: HarnessError) -> None:
        if self._error is None:
            self._error = error
            self.ran.stopped, self.ran.exit_code = str(error), error.exit_code

    # ------------------------------------------------------------ told

    def _report(self) -> None:
        if self._tell is not None:
            self._sum_up()
            ran = self.ran
            done = ran.n_before + ran.n_now
            planned = self._plan.n_planned
            self._tell(Progress(done, planned, ran.n_now, ran.n_tokens, ran.micro_usd, ran.took_ms))

    def _sum_up(self) -> None:
        self.ran.took_ms = self._clock.now_ms() - self._began_ms
        self.ran.n_tokens = self._purse.n_tokens - self._paid_before[0]
        self.ran.micro_usd = self._purse.micro_usd - self._paid_before[1]
