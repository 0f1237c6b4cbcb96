"""What a limit did to a run of a sweep: it ends it there, and nothing that was done before is lost (89 to 93, 100)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.folds import n_turns
from harness.runner.sweep_limits import SweptLimit, most_steps
from harness.runner.sweep_runs import Observed, difference
from harness.types.codes import LimitKind, Status, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolEnd, ToolResult, ToolStart
from harness.types.lifecycle import RunEnd, TurnEnd
from harness.types.messages import CallId, Content
from harness.types.reasons import Blocked, Cancelled, Failed, LimitHit, Reason, Waiting
from harness.types.records import Finding

LIMIT_HOLDS: Final = "limit_holds"
"""Name of the finding on a limit that does not end a run where it must, or ends one where it must not (89 to 91)."""
_OF_THE_RUN: Final = (LimitKind.TOKENS, LimitKind.COST)


def at_limit(limit: SweptLimit, value: int, run: Observed, reference: Observed) -> Iterator[Finding]:
    """What a limit did to a run: it ends it there, unless the reference needs no more."""
    if value >= limit.needed:
        other = difference(run.trajectory, reference.trajectory)
        if other:
            text = f"{_amount(limit)} fit a limit of {value}, yet the run changed: {other}"
            yield Finding(LIMIT_HOLDS, text, (), "conformance:91")
        return
    yield from _where(limit, value, run, reference)
    yield from _told(limit, value, run, reference)
    yield from _lost(run, reference)


def _amount(limit: SweptLimit) -> str:
    return f"{limit.needed} {limit.name.replace('_', ' ')}"


def _where(limit: SweptLimit, value: int, run: Observed, reference: Observed) -> Iterator[Finding]:
    """The work ends at the very place: nothing is left out before it, and nothing begins that it forbids."""
    before = _worked_until(reference.trajectory, limit.blocked)
    other = difference(run.trajectory, reference.trajectory, before)
    if other:
        text = f"a limit of {value} {limit.name} changed what came before it was reached: {other}"
        yield Finding(LIMIT_HOLDS, text, (), "conformance:91")
    elif limit.which is LimitKind.STEPS:
        taken = most_steps(run.trajectory)
        if taken != value:
            ended = [event.seq for event in run.trajectory if isinstance(event.fact, TurnEnd | RunEnd)][:1]
            text = f"a turn took {taken} steps under a limit of {value}"
            yield Finding(LIMIT_HOLDS, text, tuple(ended), "conformance:89")
    elif not difference(run.trajectory, reference.trajectory, limit.blocked + 1):
        text = f"something began although the limit of {value} {limit.name} was reached"
        yield Finding(LIMIT_HOLDS, text, (limit.blocked,), "conformance:100")


def _worked_until(reference: Trajectory, blocked: int) -> int:
    """How many events there were when the last work before an event had been done or begun."""
    work = (ModelRequest, AssistantMessage, ToolStart, ToolEnd)
    events = reference.events[:blocked]
    return max((event.seq + 1 for event in events if isinstance(event.fact, work) and not event.agent), default=0)


def _told(limit: SweptLimit, value: int, run: Observed, reference: Observed) -> Iterator[Finding]:
    """The end names the limit where turns are seen, and never says that the work was completed."""
    ended = [event for event in run.trajectory if isinstance(event.fact, TurnEnd | RunEnd) and not event.agent]
    turns = [event for event in ended if isinstance(event.fact, TurnEnd)]
    if n_turns(run.trajectory) > n_turns(reference.trajectory):
        return  # what steered at the last step got a turn of its own
    at = tuple(event.seq for event in ended[-1:])
    if not turns:
        if not any(_status(event) is not Status.COMPLETED for event in ended):
            text = f"a limit of {value} {limit.name} ended the work, and the run says that it is completed"
            yield Finding(LIMIT_HOLDS, text, at, "conformance:90")
        return
    judged = turns[-1:] if limit.which in _OF_THE_RUN else turns
    stopped = {e.fact.reason for e in reference.trajectory if isinstance(e.fact, TurnEnd) and _came_first(e.fact)}
    told = [event.fact.reason for event in judged if isinstance(event.fact, TurnEnd)]
    if not any(_names(reason, limit.which, value) or reason in stopped for reason in told):
        what = "the run" if limit.which in _OF_THE_RUN else "its turn"
        text = f"a limit of {value} {limit.name} ended the work, and the end of {what} does not say so"
        yield Finding(LIMIT_HOLDS, text, at, "conformance:90")


def _status(event: Event) -> Status | None:
    return event.fact.status if isinstance(event.fact, TurnEnd | RunEnd) else None


def _came_first(end: TurnEnd) -> bool:
    """Whether a turn ended for a cause that comes before any limit: a cancel, a question, an error (101)."""
    return isinstance(end.reason, Cancelled | Waiting | Failed | Blocked)


def _names(reason: Reason, which: LimitKind, value: int) -> bool:
    return isinstance(reason, LimitHit) and reason.which is which and reason.value == value


def _lost(run: Observed, reference: Observed) -> Iterator[Finding]:
    """What was done before the limit stays in the history (CONFORMANCE 93)."""
    done, kept = _results(run.trajectory), _results(reference.trajectory)
    for call, (seq, content) in done.items():
        if call in kept and content != kept[call][1]:
            text = f"the body of call {call!r} ended before the limit, and its result is another than without it"
            yield Finding(LIMIT_HOLDS, text, (seq,), "conformance:93")


def _results(trajectory: Trajectory) -> dict[CallId, tuple[int, Content]]:
    """Results of calls of the main agent whose bodies ended well, with the event of each."""
    calls: dict[int, CallId | None] = {}
    ended: set[CallId | None] = set()
    found = {}
    for event in trajectory:
        match event.fact:
            case ToolStart(call_id=call_id):
                calls[event.seq] = call_id
            case ToolEnd(start=start, outcome=ToolOutcome.OK):
                ended.add(calls.get(start))
            case ToolResult(call_id=call_id, content=content) if call_id in ended and not event.agent:
                found[call_id] = (event.seq, content)
            case _:
                pass
    return found
