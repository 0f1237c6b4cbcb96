"""Judges one run of a sweep: against the rules that every run obeys, and against its reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from harness.folds import event_at
from harness.runner.sweep_axes import QUEUED_TEXT
from harness.runner.sweep_close import found_in
from harness.runner.sweep_limit_rules import at_limit
from harness.runner.sweep_limits import SweptLimit
from harness.runner.sweep_plan import FAULT_TEXT, SENT_TEXT, SWEPT
from harness.runner.sweep_rules import against_reference, in_another_order
from harness.runner.sweep_runs import Observed, difference
from harness.types.events import Event, Trajectory
from harness.types.lifecycle import FAULT_NOTE, CancelDelivered, CancelRequested, InboxQueued, Note
from harness.types.messages import CallId
from harness.types.records import Finding
from harness.types.scenario import FaultAction, Injection, SendAction, ThrowAction
from harness.types.sweeps import CellOutcome, SweepCell

_OURS: Final = (SENT_TEXT, QUEUED_TEXT)


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


def judged(injection: Injection, run: Observed, reference: Observed, held: Callable[[], Observed]) -> SweepCell:
    """The cell of one disturbed run; ``held`` makes the same run with new tasks held back (see ``found_in``)."""
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
        return found_in(injection, found, run, mark.judged_from, held, known)
    errors = run.errors()
    return SweepCell(injection, CellOutcome.ERROR if errors else CellOutcome.CLEAN, why=errors)


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
