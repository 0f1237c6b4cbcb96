"""Who answers an evaluation: a live endpoint, its recordings, or a user's own function."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from harness.errors import CassetteError, UsageError
from harness.protocols import Clock, Model
from harness.runner.evaluation.asking import Seat
from harness.runner.evaluation.plan import EvaluationPlan
from harness.runner.functions import FunctionModel, function_model
from harness.runner.specs import ModelSource
from harness.runner.version import VERSION
from harness.store import locked
from harness.types.evaluation import Execute
from harness.types.records import Verdict
from harness.types.trials import AnswerOrigin

if TYPE_CHECKING:
    import httpx2

    from harness.cassettes import Exchange, Journal, Passing, ReplayTransport


def source_decided(plan: EvaluationPlan) -> tuple[ModelSource, str]:
    """Where answers come from, AUTO decided, and the name of the user's own function.

    AUTO is the function that the evaluation names, else its recordings. Raises UsageError kin for what is not there.
    """
    source, name = plan.options.source, plan.options.model or plan.evaluation.model_from or ""
    match source:
        case ModelSource.AUTO:
            source = ModelSource.OWN if plan.evaluation.model_from else ModelSource.CASSETTE
        case ModelSource.SCRIPTED | ModelSource.REPLAY:
            raise UsageError(
                f"--model {source}: an evaluation has no script; its model is live, cassette, or a function "
                "package.module:name"
            )
        case ModelSource.OWN | ModelSource.CASSETTE | ModelSource.LIVE | ModelSource.RECORD:
            pass
        case _:
            assert_never(source)
    if source is ModelSource.OWN:
        return source, function_model(name).name
    if source is ModelSource.CASSETTE and plan.evaluation.execute is Execute.FIRST:
        _look_for_recordings(plan)
    return source, ""


def _look_for_recordings(plan: EvaluationPlan) -> None:
    from harness.cassettes.journal import journal_path

    for arm in plan.arms:
        for trial in range(1, plan.trials + 1):
            path = recording_path(plan, arm, trial)
            if not path.exists() and not journal_path(path).exists():
                raise CassetteError(
                    f"{plan.evaluation.id!r} has no recording {path.as_posix()!r}: ask the model and keep what it "
                    "answers (--model live --record), or ask it alone (--model live)"
                )


def recording_path(plan: EvaluationPlan, arm: int, trial: int) -> Path:
    """The cassette of one arm and trial; it holds all cases."""
    from harness.cassettes import cassette_path

    return cassette_path(plan.options.cassettes, plan.recorded_as, plan.evaluation.arms[arm].name, trial)


# ---------------------------------------------------------------- seats


@dataclass(slots=True)
class Answerers:
    """The seats of an evaluation, each opened when it is first needed."""

    plan: EvaluationPlan
    clock: Clock
    upstream: httpx2.AsyncBaseTransport | None
    now: Callable[[], str]
    _own: FunctionModel | None = None
    _seats: dict[tuple[int, int], Seat] = field(default_factory=dict)
    _replays: dict[tuple[int, int], ReplayTransport] = field(default_factory=dict)
    _journals: list[JournalKeeper] = field(default_factory=list)
    _locks: ExitStack = field(default_factory=ExitStack)

    def seat(self, arm: int, trial: int) -> Seat:
        """Who answers this arm's trials of that number. Raises CassetteError, RecordingFailed."""
        found = self._seats.get((arm, trial))
        if found is None:
            found = self._seats[arm, trial] = self._opened(arm, trial)
        return found

    def out_of_date(self) -> tuple[tuple[str, int, Verdict], ...]:
        """Arm, trial and verdict of each recording that did not answer all that was asked of it."""
        told = []
        for (arm, trial), replay in sorted(self._replays.items()):
            for verdict in replay.closing_verdicts():
                if verdict.findings and "out of date" in verdict.why:
                    told.append((self.plan.evaluation.arms[arm].name, trial, verdict))
        return tuple(told)

    def close(self) -> None:
        """Fold what was recorded into its cassettes. Raises SecretFoundError, RecordingFailed, CassetteError."""
        with self._locks:
            for keeper in self._journals:
                keeper.close()

    def _opened(self, arm: int, trial: int) -> Seat:
        source = self.plan.source
        match source:
            case ModelSource.OWN:
                if self._own is None:
                    self._own = function_model(self.plan.own)
                return Seat(self._own, AnswerOrigin.SCRIPTED)
            case ModelSource.CASSETTE:
                return Seat(self._replaying(arm, trial), AnswerOrigin.RECORDED)
            case ModelSource.LIVE:
                return Seat(self._live(arm, None), AnswerOrigin.LIVE)
            case _:
                keeper = self._recording(arm, trial)
                return Seat(self._live(arm, keeper), AnswerOrigin.LIVE, keeper)

    def _replaying(self, arm: int, trial: int) -> Model:
        from harness.cassettes import open_replay
        from harness.models import model_over

        path = recording_path(self.plan, arm, trial)
        fold(self.plan, path, self.now)
        replay = open_replay(path, scenario=self.plan.recorded_as, secrets=self.plan.options.secrets)
        self._replays[arm, trial] = replay
        about = replay.cassette.about
        return model_over(replay, self.plan.model_of(arm), host=about.host if about is not None else "")

    def _live(self, arm: int, keeper: JournalKeeper | None) -> Model:
        from harness.cassettes import Cassette, RefreshTransport, WatchTransport
        from harness.models import live_model

        assert self.upstream is not None  # it is opened for live sources
        upstream = self.upstream
        if keeper is not None and keeper.before:
            upstream = RefreshTransport(Cassette(keeper.before), upstream)
        watched = WatchTransport(upstream, self.clock)
        return live_model(dict(self.plan.options.environ), self.plan.model_of(arm), watched)

    def _recording(self, arm: int, trial: int) -> JournalKeeper:
        keeper = JournalKeeper(self.plan, recording_path(self.plan, arm, trial), self.now)
        self._locks.enter_context(locked(keeper.journal.path))
        keeper.begin()
        self._journals.append(keeper)
        return keeper


class JournalKeeper:
    """Keeps what was answered in a journal; ``before`` are exchanges of a run that died: they answer first."""

    def __init__(self, plan: EvaluationPlan, path: Path, now: Callable[[], str]) -> None:
        from harness.cassettes import Journal

        self._plan = plan
        self._path = path
        self._now = now
        self.journal: Journal = Journal(path, plan.options.secrets)
        self.before: tuple[Exchange, ...] = ()

    def begin(self) -> None:
        """Take up what an earlier run left behind. Only once nobody else writes it."""
        from harness.cassettes import cut_journal, read_journal

        cut_journal(self._path)
        self.before = read_journal(self._path)

    def keep(self, passed: Passing) -> None:
        """Keep the last exchange. Raises SecretFoundError, RecordingFailed."""
        last = passed.latest()
        if last is not None and not last.at:  # what has a date is in the journal already
            self.journal.append(replace(last, at=self._now()))

    def close(self) -> None:
        """Fold the journal into the cassette."""
        self.journal.close()
        fold(self._plan, self._path, self._now)


def fold(plan: EvaluationPlan, path: Path, now: Callable[[], str]) -> None:
    """Fold what a run left in a journal into its cassette."""
    from harness.cassettes import RecordingInfo, fold_journal
    from harness.cassettes.journal import journal_path

    if not journal_path(path).exists():
        return
    info = RecordingInfo(plan.recorded_as, plan.evaluation.digest, now(), VERSION)
    order = [case.id for case in plan.evaluation.cases]
    fold_journal(path, info, order=order, secrets=plan.options.secrets)


@asynccontextmanager
async def open_answerers(
    plan: EvaluationPlan, clock: Clock, *, now: Callable[[], str], upstream: httpx2.AsyncBaseTransport | None = None
) -> AsyncIterator[Answerers]:
    """The seats of a plan; at the end what was recorded is in its cassettes, whatever happened.

    ``now`` gives date and time, for recordings; ``upstream`` stands for the network.
    """
    live = plan.source in (ModelSource.LIVE, ModelSource.RECORD)
    if live and upstream is None:
        import httpx2

        upstream = httpx2.AsyncHTTPTransport()
    answerers = Answerers(plan, clock, upstream if live else None, now)
    try:
        yield answerers
    finally:
        try:
            answerers.close()
        finally:
            if live and upstream is not None:
                await upstream.aclose()
