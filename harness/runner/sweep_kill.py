"""Sweeps of kill -9: the file that a dead process leaves at each write, repaired, resumed and judged (130 to 140).

The death is a prefix of the reference's file, with half of the line that was being written: all that a killed process
leaves, since nothing begins before its line is in the file. A body that the prefix says began may have taken effect.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from harness.errors import HarnessError, NothingLeftError
from harness.folds import parked_at, repaired
from harness.protocols import Subject
from harness.runner.judging import judge
from harness.runner.resuming import plan_resume
from harness.runner.specs import RunSpec
from harness.runner.sweep_again import Again
from harness.runner.sweep_kill_rules import after_death, repair_owes
from harness.runner.sweep_runs import Observed, errors_in, findings_in, observe, run_end
from harness.store import dump_trajectory, repair_file
from harness.types.codes import ApprovalOutcome
from harness.types.events import Trajectory
from harness.types.lifecycle import ApprovalAnswered, ApprovalAsked
from harness.types.policy import ApprovalReply
from harness.types.records import Finding
from harness.types.sweeps import CellOutcome, SweepCell

REPAIR_HOLDS: Final = "repair_holds"
"""Name of the finding on a repair that is not the same each time, or that a second one adds to (CONFORMANCE 139)."""
CANNOT_GO_ON: Final = "a run of this subject cannot start from an existing log"
_FAILED: Final = 1


@dataclass(frozen=True, slots=True)
class _Dead:
    """A process that died when ``n_events`` were written: what is in its file, and the trajectory in that."""

    n_events: int
    trajectory: Trajectory
    written: bytes
    folder: str


def killed(spec: RunSpec, subject: Subject, reference: Observed, again: Again) -> Iterator[SweepCell]:
    """A cell for each line of the reference's file that a kill may have come before."""
    lines = dump_trajectory(reference.trajectory).splitlines(keepends=True)
    with tempfile.TemporaryDirectory(prefix="harness-kill-") as folder:
        for n_events in range(len(reference.trajectory.events)):
            whole, cut = b"".join(lines[: n_events + 1]), lines[n_events + 1]
            left = replace(reference.trajectory, events=reference.trajectory.events[:n_events])
            dead = _Dead(n_events, left, whole + cut[: len(cut) // 2], folder)
            cell = again.confirmed(partial(_died, spec, subject, dead, reference))
            if cell.outcome is CellOutcome.RED:
                cell = replace(cell, reproduction=whole.decode("utf-8"))
            yield cell


def _died(spec: RunSpec, subject: Subject, dead: _Dead, reference: Observed) -> SweepCell:
    told = SweepCell(None, CellOutcome.VOID, killed=dead.n_events, n_runs=0)
    end = run_end(reference.trajectory)
    if dead.n_events == 0:
        return replace(told, why="no event was written: nothing had begun")
    if end is not None and dead.n_events > end.seq:
        return replace(told, why="the run had ended")
    told = replace(told, n_runs=1)
    path = Path(tempfile.mkdtemp(dir=dead.folder), "dead.jsonl")  # what is resumed there leaves files of its own
    try:
        path.write_bytes(dead.written)
        whole, wrong = _repaired(dead, path)
        verdicts = judge(whole)
        found = (*wrong, *findings_in(verdicts), *repair_owes(dead.trajectory, whole))
        errors, left = errors_in(verdicts), ""
        try:
            answers = _answers(whole, reference.trajectory)
            going_on = plan_resume(path, [spec.scenario], spec.options, answers=answers, subject=subject)
        except NothingLeftError as nothing:
            left = str(nothing)
        else:
            run = observe(going_on, subject)
            found += (*run.findings(), *after_death(dead.trajectory, run, reference))
            errors = errors or run.errors()
    except (Exception, SystemExit) as error:  # somebody else's loop may raise anything
        return _raised(told, error)
    known = set(reference.findings())
    found = tuple(dict.fromkeys(one for one in found if one not in known))
    if found:
        return replace(told, outcome=CellOutcome.RED, findings=found)
    return replace(told, outcome=CellOutcome.ERROR if errors else CellOutcome.CLEAN, why=errors or left)


def _repaired(dead: _Dead, path: Path) -> tuple[Trajectory, tuple[Finding, ...]]:
    """The file's trajectory behind its repair, and what is wrong with that."""
    whole = repair_file(path).trajectory
    found = []
    if whole.events != repaired(dead.trajectory).events:
        found.append(Finding(REPAIR_HOLDS, "a repair depends on what was torn off", (), "conformance:139"))
    if repair_file(path).changed:
        found.append(Finding(REPAIR_HOLDS, "a second repair adds to the first", (), "conformance:139"))
    return whole, tuple(found)


def _answers(whole: Trajectory, reference: Trajectory) -> dict[str, ApprovalReply]:
    """An answer to the question at which it is parked: the reference's, else that it may."""
    asked = parked_at(whole)
    if asked is None or not isinstance(asked.fact, ApprovalAsked):
        return {}
    call = asked.fact.call_id
    given = (e.fact for e in reference if isinstance(e.fact, ApprovalAnswered) and e.fact.call_id == call)
    allowed = all(one.outcome is ApprovalOutcome.ALLOWED for one in given)
    return {call: ApprovalReply.ALLOW if allowed else ApprovalReply.REJECT}


def _raised(told: SweepCell, error: BaseException) -> SweepCell:
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, HarnessError) and error.exit_code != _FAILED:
        return replace(told, outcome=CellOutcome.ERROR, why=text)
    return replace(told, outcome=CellOutcome.RED, findings=(Finding("run", f"the resumed run raised {text}"),))


__all__ = ["CANNOT_GO_ON", "REPAIR_HOLDS", "killed"]
