"""What a run came to, as a user sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import (
    LimitReached,
    MaxStepsExceeded,
    RunCancelled,
    RunFailed,
    RunNotCompleted,
    RunUnfinished,
    UsageError,
)
from harness.folds import (
    EXIT_CODES,
    answer_of,
    calls_of,
    end_of,
    history_of,
    n_steps,
    outcome_of,
    reason_text,
    status_of,
    summarise,
)
from harness.protocols import Subject
from harness.report import run_text
from harness.runner.specs import RunSpec
from harness.types.codes import LimitKind, Outcome, Status
from harness.types.events import Trajectory
from harness.types.messages import Messages
from harness.types.reasons import LimitHit, Reason
from harness.types.records import Finding, RunSummary, Verdict
from harness.types.sweeps import Sweep, SweepAxis, SweepKind, SweepLevel


@dataclass(frozen=True, slots=True, repr=False)
class RunResult:
    """One run: its trajectory and the verdicts of its checks. ``path`` is None where none was kept.

    ``ran`` and ``by`` are what was run and by which loop, for a sweep of the same.
    Its ``repr`` is what :meth:`explain` tells, on one line: a failed ``assert run.passed`` shows why.
    """

    trajectory: Trajectory
    verdicts: tuple[Verdict, ...]
    path: Path | None = None
    file: str = ""
    ran: RunSpec | None = field(default=None, repr=False, compare=False)
    by: Subject | None = field(default=None, repr=False, compare=False)

    def sweep(
        self,
        *kinds: SweepKind | str,
        level: SweepLevel | str = SweepLevel.BOUNDARIES,
        axes: Iterable[SweepAxis | str] = (),
    ) -> Sweep:
        """The same scenario and loop, disturbed at every boundary, by the kinds of ``SweepKind``.

        All kinds where none is named; see ``harness.testing.BoundScenario.sweep``. Raises UsageError kin.
        """
        from harness.runner.sweep import plan_sweeps, sweep_one

        if self.ran is None:
            raise UsageError("this result was not made by a run, so it cannot be run again")
        (spec,) = plan_sweeps([self.ran.scenario], self.ran.options, kinds, SweepLevel(level), axes)
        return sweep_one(spec, subject=self.by)

    @property
    def outcome(self) -> Outcome:
        """What all verdicts come to."""
        return outcome_of(self.verdicts)

    @property
    def passed(self) -> bool:
        """True when every asked-for check passed."""
        return self.outcome is Outcome.PASS

    @property
    def exit_code(self) -> int:
        """The exit code of the outcome (design page, Verdicts)."""
        return EXIT_CODES[self.outcome]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings of verdicts that are not PASS."""
        return tuple(f for v in self.verdicts if v.outcome is not Outcome.PASS for f in v.findings)

    @property
    def status(self) -> Status | None:
        """How the run ended; None when it was interrupted."""
        return status_of(self.trajectory)

    @property
    def reason(self) -> Reason | None:
        """Why it stopped."""
        end = end_of(self.trajectory)
        return end.reason if end else None

    @property
    def answer(self) -> str | None:
        """The text of the final answer; None where the last answer asked for tools."""
        return answer_of(self.trajectory)

    @property
    def messages(self) -> Messages:
        """The conversation at the end, without system messages."""
        return history_of(self.trajectory)

    @property
    def n_steps(self) -> int:
        """Answered model requests."""
        return n_steps(self.trajectory)

    @property
    def calls(self) -> list[str]:
        """Names of all calls that the model made, in model order."""
        return [trace.call.name for trace in calls_of(self.trajectory)]

    @property
    def summary(self) -> RunSummary:
        """The run in one record."""
        return summarise(self.trajectory, self.verdicts, self.file)

    def explain(self) -> str:
        """What the run came to and why it is no pass, as ``harness run`` tells it."""
        return run_text(self.summary)

    def __repr__(self) -> str:
        """Outcome, status, and why."""
        return f"<RunResult {'; '.join(line.strip() for line in self.explain().splitlines())}>"

    def raise_for_status(self) -> RunResult:
        """This result when the run completed. Raises MaxStepsExceeded and its kin otherwise."""
        if self.status is Status.COMPLETED:
            return self
        why = reason_text(self.reason) if self.reason else "interrupted"
        raise self._error()(f"run {self.trajectory.header.run_id!r} did not complete: {why}")

    def _error(self) -> type[RunNotCompleted]:
        reason = self.reason
        if self.status is Status.LIMIT_REACHED:
            steps = isinstance(reason, LimitHit) and reason.which is LimitKind.STEPS
            return MaxStepsExceeded if steps else LimitReached
        if self.status is Status.CANCELLED:
            return RunCancelled
        return RunFailed if self.status in (Status.FAILED, None) else RunUnfinished
