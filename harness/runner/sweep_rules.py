"""Rules of a sweep that compare a disturbed run with its reference, so that no check of one run makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from harness.folds import calls_of, committed_view
from harness.runner.sweep_runs import Observed, difference, run_end
from harness.types.codes import Effect, LimitKind, Status
from harness.types.events import Event
from harness.types.exchange import ModelFailed, ToolStart
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import RunEnd
from harness.types.messages import JsonText
from harness.types.reasons import LimitHit
from harness.types.records import Finding
from harness.types.scenario import (
    CallOrder,
    Expectations,
    ExpectedCall,
    ExpectedCalls,
    FaultAction,
    Injection,
    ThrowAction,
)
from harness.types.script import ScriptFollows

SURVIVES: Final = "tool_error_survived"
"""Name of the finding on a loop that dies of a tool's error (CONFORMANCE 39)."""
BEGINS_ANEW: Final = "model_error_runs_tools_again"
"""Name of the finding on a loop that answers a failed request by doing the work again (CONFORMANCE 140)."""
ORDER_CHANGES: Final = "order_changes_nothing"
"""Name of the finding on a run in which another order of ends changed what was committed (CONFORMANCE 49)."""
THROW_CHANGES: Final = "throw_changes_nothing"
"""Name of the finding on a run that a throwing listener changed (CONFORMANCE 11)."""


def against_reference(injection: Injection, run: Observed, reference: Observed, mark: Event) -> Iterator[Finding]:
    """What a run with one injection shows only beside its reference."""
    yield from _died(injection, run, reference, mark)
    yield from _began_anew(injection, run, reference)
    if isinstance(injection.do, ThrowAction):
        other = difference(run.trajectory, reference.trajectory)
        if other:
            text = f"a listener threw, and the run changed: {other}"
            yield Finding(THROW_CHANGES, text, (mark.seq,), "conformance:11")


def in_another_order(run: Observed, reference: Observed) -> Iterator[Finding]:
    """What another order of ends changed in what was committed: nothing may (CONFORMANCE 49, INVARIANTS 4)."""
    mine, theirs = committed_view(run.trajectory), committed_view(reference.trajectory)
    for a, b in zip(mine, theirs, strict=False):
        if a.key != b.key:
            text = f"bodies ended in another order, and what was committed changed: event {a.seq} is {a.kind}"
            yield Finding(ORDER_CHANGES, text, (a.seq,), "conformance:49")
            return
    if len(mine) != len(theirs):
        text = f"bodies ended in another order: {len(mine)} committed events, in the reference {len(theirs)}"
        yield Finding(ORDER_CHANGES, text, (), "conformance:49")


def wishes_of(names: Collection[str], reference: Observed) -> Expectations:
    """What a scenario file must expect to show findings that compare a run with its reference."""
    calls = [trace.call for trace in calls_of(reference.trajectory)]
    wanted = tuple(ExpectedCall(call.name, _as_object(call.arguments)) for call in calls)
    return Expectations(
        status=reference.result.status.value if SURVIVES in names and reference.result.status else None,
        calls=(ExpectedCalls(CallOrder.SUBSET, wanted),) if BEGINS_ANEW in names else (),
    )


def _as_object(arguments: str) -> JsonText | None:
    value = parse_json(arguments or "{}")
    return canonical_json(value) if isinstance(value, Mapping) else None


def _died(injection: Injection, run: Observed, reference: Observed, fault: Event) -> tuple[Finding, ...]:
    """A loop that failed or stood still because a tool failed, which the model should have been told of
    (CONFORMANCE 39).
    """
    of_a_tool = isinstance(injection.do, FaultAction) and injection.at.kind == "tool/start"
    of_the_model = any(isinstance(e.fact, ModelFailed) and e.seq > fault.seq for e in run.trajectory)
    end = run_end(run.trajectory)
    if not of_a_tool or of_the_model or end is None or _gave_up(run_end(reference.trajectory)):
        return ()
    what = _gave_up(end)
    text = f"the run {what} because a tool failed: the model was not told, or the loop did not go on"
    return (Finding(SURVIVES, text, (fault.seq, end.seq), "conformance:39"),) if what else ()


def _began_anew(injection: Injection, run: Observed, reference: Observed) -> Iterator[Finding]:
    """Bodies with an effect that ran more often than in the reference because a request failed.

    Only where the script follows the history: elsewhere the model may have asked for them.
    """
    of_the_model = isinstance(injection.do, FaultAction) and injection.at.kind == "model/request"
    if not of_the_model or run.follows is not ScriptFollows.HISTORY:
        return
    reading = {tool.name for tool in run.trajectory.header.tools if tool.effect is Effect.READ}
    told = {number for finding in run.findings() for number in finding.events}
    left = Counter(_work(event) for event in reference.trajectory)
    for event in run.trajectory:
        work = _work(event)
        left[work] -= 1
        if work is not None and work[0] not in reading and left[work] < 0 and event.seq not in told:
            text = f"the body of {work[0]!r} ran again with {work[1]} because a request to the model failed"
            yield Finding(BEGINS_ANEW, text, (event.seq,), "conformance:140")


def _work(event: Event) -> tuple[str, str] | None:
    return (event.fact.name, event.fact.arguments) if isinstance(event.fact, ToolStart) else None


def _gave_up(end: Event | None) -> str:
    """ "" for a run that came to an end by itself."""
    match end.fact if end else None:
        case RunEnd(status=Status.FAILED):
            return "failed"
        case RunEnd(reason=LimitHit(which=LimitKind.WALL_TIME)):
            return "ran out of time"
        case _:
            return ""
