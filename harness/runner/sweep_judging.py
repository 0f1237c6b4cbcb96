"""Judges one run of a sweep: against the rules that every run obeys, and against its reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from harness.folds import event_at
from harness.runner.inject import FAULT_NOTE
from harness.runner.sweep_axes import QUEUED_TEXT
from harness.runner.sweep_limit_rules import at_limit
from harness.runner.sweep_limits import SweptLimit
from harness.runner.sweep_plan import FAULT_TEXT, SENT_TEXT, SWEPT
from harness.runner.sweep_rules import against_reference, in_another_order
from harness.runner.sweep_runs import Observed, difference
from harness.types.codes import Origin, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolEnd, ToolStart
from harness.types.lifecycle import CancelDelivered, CancelRequested, InboxQueued, Note
from harness.types.messages import CallId
from harness.types.records import Finding
from harness.types.scenario import FaultAction, Injection, SendAction, ThrowAction
from harness.types.sweeps import CellOutcome, SweepCell

_OURS: Final = (SENT_TEXT, QUEUED_TEXT)
_BEGUN: Final = frozenset({"cancel_no_tool_start", "cancel_no_model_request"})


@dataclass(frozen=True, slots=True)
class Mark:
    """Where an injection stands in the log: behind ``n_before`` events; ``judged_from`` None: not delivered."""

    n_before: int
    judged_from: Event | None


def mark_of(trajectory: Trajectory, injection: Injection) -> Mark | None:
    """Where an injection of a sweep stands; None where it never came."""
    if isinstance(injection.do, FaultAction):
        note = next((event for event in trajectory if _is_our_fault(event)), None)
        return None if note is None else Mark(note.seq, note)
    if isinstance(injection.do, ThrowAction):
        there = event_at(trajectory, injection.at)
        return None if there is None else Mark(there.seq + 1, there)
    if isinstance(injection.do, SendAction):
        sent = next((event for event in trajectory if _is_our_input(event)), None)
        return None if sent is None else Mark(sent.seq, sent)
    asked = next((e for e in trajectory if isinstance(e.fact, CancelRequested) and e.fact.reason == SWEPT), None)
    got = next((e for e in trajectory if isinstance(e.fact, CancelDelivered) and e.fact.reason == SWEPT), None)
    first = next((event for event in trajectory if event is asked or _is_our_input(event)), None)
    return None if first is None else Mark(first.seq, got)


def _is_our_input(event: Event) -> bool:
    return isinstance(event.fact, InboxQueued) and any(one.message.content in _OURS for one in event.fact.messages)


def _is_our_fault(event: Event) -> bool:
    return isinstance(event.fact, Note) and event.fact.name == FAULT_NOTE and FAULT_TEXT in (event.fact.data or "")


def judged(injection: Injection, run: Observed, reference: Observed) -> SweepCell:
    """The cell of one disturbed run."""
    mark = mark_of(run.trajectory, injection)
    other = difference(run.trajectory, reference.trajectory, mark.n_before if mark else None)
    if other:
        return SweepCell(injection, CellOutcome.FLAKY, why=f"the loop did not repeat itself before that: {other}")
    if mark is None or mark.judged_from is None:
        return SweepCell(injection, CellOutcome.VOID, why="it came too late, or where nothing was open")
    known = set(reference.findings())
    found = tuple(
        one
        for one in (
            *run.findings(),
            *against_reference(injection, run, reference, mark.judged_from),
        )
        if one not in known
    )
    if found:
        close = all(is_close(one, run, mark.judged_from) for one in found)
        return SweepCell(injection, CellOutcome.CLOSE if close else CellOutcome.RED, found)
    errors = run.errors()
    return SweepCell(injection, CellOutcome.ERROR if errors else CellOutcome.CLEAN, why=errors)


def is_close(finding: Finding, run: Observed, delivered: Event) -> bool:
    """Begun in the tick in which the cancel travels through the tasks of a loop that is cancelled by them,
    and stopped there.

    A task that was ready in that tick runs before its parent is told; no loop can prevent that.
    """
    told_by_tasks = dict(run.trajectory.header.observed).get("tool/result") is Origin.PROBE
    if not (told_by_tasks and run.ticks and finding.check in _BEGUN and finding.events):
        return False
    begun = run.trajectory.events[finding.events[-1]]
    at_once = begun.time == delivered.time and run.ticks[begun.seq] <= run.ticks[delivered.seq] + 1
    return at_once and not _went_on(begun, run.trajectory)


def _went_on(begun: Event, trajectory: Trajectory) -> bool:
    """The request was answered, or the body took its time and was not stopped."""
    for event in trajectory.events[begun.seq + 1 :]:
        if isinstance(event.fact, AssistantMessage) and isinstance(begun.fact, ModelRequest):
            return True
        if isinstance(event.fact, ToolEnd) and event.fact.start == begun.seq:
            return event.fact.outcome is not ToolOutcome.CANCELLED and event.time != begun.time
    return isinstance(begun.fact, ToolStart)


def judged_limit(limit: SweptLimit, value: int, run: Observed, reference: Observed) -> SweepCell:
    """The cell of one run under another limit."""
    return replace(_against(run, reference, at_limit(limit, value, run, reference)), limit=(limit.name, value))


def judged_order(release: tuple[CallId, ...], run: Observed, reference: Observed) -> SweepCell:
    """The cell of one run whose bodies ended in another order."""
    return replace(_against(run, reference, in_another_order(run, reference)), release=release)


def _against(run: Observed, reference: Observed, more: Iterable[Finding]) -> SweepCell:
    known = set(reference.findings())
    found = tuple(one for one in (*run.findings(), *more) if one not in known)
    if found:
        return SweepCell(None, CellOutcome.RED, found)
    errors = run.errors()
    return SweepCell(None, CellOutcome.ERROR if errors else CellOutcome.CLEAN, why=errors)
