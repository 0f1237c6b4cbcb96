"""A run that goes on from another one's file: which, from where, and what it is given."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.errors import TrajectoryFormatError, UsageError
from harness.folds import prefix_digest
from harness.store import locked, read_trajectory, replace_file
from harness.types.events import Event, Parent
from harness.types.going_on import GoingOn, GoingOnWhy
from harness.types.jsontext import canonical_json, parse_json
from harness.types.messages import CallId, RunId
from harness.types.policy import ApprovalReply

_CLAIM_SUFFIX = ".resumed"


@dataclass(frozen=True, slots=True)
class Continuation:
    """What a run goes on from: the parent's file, the last event taken over, and what comes behind it.

    Small, so that it crosses to another process; the events are read where the run is.
    """

    why: GoingOnWhy
    parent: Path
    parent_run: RunId
    seq: int
    digest: str
    run_id: RunId
    tasks: tuple[str, ...] = ()
    answers: tuple[tuple[CallId, ApprovalReply], ...] = ()

    @property
    def header(self) -> Parent:
        """The parent as the new file's header names it."""
        return Parent(self.parent_run, self.seq, self.why.value, self.digest)

    def going_on(self) -> GoingOn:
        """With the parent's events. Raises TrajectoryFormatError where the file has changed since it was looked at."""
        past = read_trajectory(self.parent).events[: self.seq + 1]
        if prefix_digest(past) != self.digest:
            raise TrajectoryFormatError("has changed since the run was planned: plan it again", file=str(self.parent))
        return GoingOn(self.why, past, self.tasks, self.answers)

    def claim(self) -> None:
        """Take the one right to resume this file, so that no parked call goes on twice. Forks need none.

        Beside the file, under its lock; one left by an older run of the same name is replaced. Raises UsageError where
        the file was resumed before.
        """
        if self.why is GoingOnWhy.FORK:
            return
        with locked(self.parent):
            started = self.check_unclaimed()
            mark = {"parent": self.parent_run, "startedAt": started, "digest": self.digest, "runId": self.run_id}
            replace_file(self._claim, [canonical_json(mark).encode("utf-8") + b"\n"])

    def check_unclaimed(self) -> str | None:
        """When the parent's run started. Raises UsageError where it was resumed before."""
        started = read_trajectory(self.parent).header.volatile.started_at
        before = _mark_in(self._claim)
        if before.get("startedAt") == started and before.get("parent") == self.parent_run:
            raise UsageError(
                f"{self.parent} was resumed before, as {before.get('runId')!r}: go on from that run's file, or "
                "branch off with --fork"
            )
        return started

    def give_back(self) -> None:
        """The run did not begin: the file may be resumed by another."""
        if self.why is GoingOnWhy.RESUME:
            with suppress(FileNotFoundError):
                os.unlink(self._claim)

    @property
    def _claim(self) -> Path:
        return self.parent.with_name(self.parent.name + _CLAIM_SUFFIX)


def _mark_in(path: Path) -> dict[str, object]:
    """What an earlier claim says; nothing for one that is not there."""
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return value if isinstance(value, dict) else {}


def past_of(going_on: GoingOn | None) -> tuple[Event, ...]:
    """The events that the run begins with; none for one that begins by itself."""
    return () if going_on is None else going_on.past
