"""Expectations out of a recorded run: how it ended, in how many steps, with which calls, results and answer."""

from __future__ import annotations

from collections.abc import Sequence

from harness.folds import CallTrace, answer_of, calls_of, end_of, n_steps, status_of
from harness.types.codes import Code, Origin, Status
from harness.types.events import Trajectory
from harness.types.exchange import ToolResult, ToolStart
from harness.types.expectations import CallOrder, Expectations, ExpectedCall, ExpectedCalls
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.lifecycle import CancelRequested


def expectations_of(trajectory: Trajectory, *, cut: bool) -> Expectations:
    """What the run came to. ``cut``: a cancel stands where the file stops."""
    traces = calls_of(trajectory)
    end = end_of(trajectory)
    status = status_of(trajectory) or (Status.CANCELLED if cut else Status.COMPLETED)
    told = end is not None or cut or not any(isinstance(event.fact, CancelRequested) for event in trajectory.events)
    answer = answer_of(trajectory)
    return Expectations(
        status=status.value if told else None,
        reason=end.reason.kind if end is not None else None,
        steps=n_steps(trajectory),
        calls=(ExpectedCalls(CallOrder.EXACT, tuple(_call(trace) for trace in traces)),) if traces else (),
        answer=canonical_json(answer) if answer and status is Status.COMPLETED else None,
        result_codes=tuple(_codes(traces, watched=is_watched(trajectory))),
    )


def is_watched(trajectory: Trajectory) -> bool:
    """Whether the file tells which bodies began; where it does not, every call that has a result had one."""
    began = any(isinstance(event.fact, ToolStart) for event in trajectory.events)
    return began or dict(trajectory.header.observed).get(ToolStart.TYPE) is Origin.PROBE


def _call(trace: CallTrace) -> ExpectedCall:
    """Its name, and its arguments where they are a plain object: keys that look like matchers would be read as some."""
    value = parse_json(trace.call.arguments)
    if isinstance(value, Refusal) or not isinstance(value, dict) or _has_matcher(value):
        return ExpectedCall(trace.call.name)
    return ExpectedCall(trace.call.name, canonical_json(value))


def _has_matcher(value: object) -> bool:
    if isinstance(value, dict):
        return any(key.startswith("$") or _has_matcher(part) for key, part in value.items())
    return isinstance(value, list) and any(map(_has_matcher, value))


def _codes(traces: Sequence[CallTrace], *, watched: bool) -> list[tuple[int, str]]:
    """The code of each result; an import's error results are given back as text, so they come to OK."""
    found = []
    for position, trace in enumerate(traces, start=1):
        fact = trace.result.fact if trace.result else None
        if isinstance(fact, ToolResult) and fact.code is not Code.SUMMARISED:  # a stub gives the summary, no code
            code = fact.code if watched else None
            nothing = not watched and fact.content == ""
            found.append((position, code.value if code else "EMPTY" if nothing else "OK"))
    return found


__all__ = ["expectations_of"]
