"""What a scenario expects, one check for each kind of expectation; asked for by being written down."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import two_doors
from harness.folds import CallTrace, answer_of, calls_of, end_of, expectations_from_json, reason_text
from harness.matching import Mismatch, match_calls, match_value
from harness.types.codes import Code, Status
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolEnd, ToolResult
from harness.types.jsontext import Refusal, parse_json
from harness.types.lifecycle import Note, RunEnd
from harness.types.messages import JsonText
from harness.types.reasons import Failed
from harness.types.scenario import Expectations

END_STATE_NOTE = "end_state"
"""Name of the note, written before the last line, that holds ``{memory: {…}, files: {…}}``."""

_NOTHING = Expectations()


@lru_cache(maxsize=64)
def _read(text: JsonText | None) -> Expectations:
    return _NOTHING if text is None else expectations_from_json(text)


def expected_of(trajectory: Trajectory) -> Expectations:
    """The expectations in a header; empty ones where it has none."""
    return _read(trajectory.header.expectations)


def asks(*fields: str) -> Callable[[Trajectory], str]:
    """Applies where one of these expectations is written down."""

    def applies(trajectory: Trajectory) -> str:
        expected = expected_of(trajectory)
        asked = any(getattr(expected, name) != getattr(_NOTHING, name) for name in fields)
        return "" if asked else f"nothing is expected of {', '.join(fields)}"

    return applies


def _end_event(trajectory: Trajectory) -> Event | None:
    return next((event for event in reversed(trajectory.events) if isinstance(event.fact, RunEnd)), None)


# ---------------------------------------------------------------- calls


def _tool_order(trajectory: Trajectory) -> Iterator[Found]:
    expected = expected_of(trajectory)
    traces = calls_of(trajectory)
    calls = [trace.call for trace in traces]
    for one in expected.calls:
        for mismatch in match_calls(one.order, one.calls, calls):
            yield found(f"expect calls {one.order}: {mismatch}", _emitted(mismatch, traces))
    for name in expected.never:
        for trace in _of(name, traces):
            yield found(f"expect never {name!r}: it was called", trace.emitted)
    for first, second in expected.before:
        yield from _before(first, second, traces)
    for name in expected.at_most_once:
        for trace in _of(name, traces)[1:]:
            yield found(f"expect {name!r} at most once: it was called again", trace.emitted)


def _of(name: str, traces: list[CallTrace]) -> list[CallTrace]:
    return [trace for trace in traces if trace.call.name == name]


def _emitted(mismatch: Mismatch, traces: list[CallTrace]) -> Event | None:
    place = re.match(r"calls\[(\d+)\]", mismatch.path)
    return traces[int(place[1]) - 1].emitted if place else None


def _before(first: str, second: str, traces: list[CallTrace]) -> Iterator[Found]:
    names = [trace.call.name for trace in traces]
    if first not in names or second not in names:
        return
    last, earliest = len(names) - 1 - names[::-1].index(first), names.index(second)
    if earliest < last:
        text = f"expect {first!r} before {second!r}: call {earliest + 1} comes before call {last + 1}"
        yield found(text, traces[earliest].emitted, traces[last].emitted)


TOOL_ORDER = BuiltCheck(
    name="tool_order",
    about="calls are those expected: exact, in order, in any order, subset, superset, never, before, at most once",
    needs=(("assistant/message", None),),
    rules=(),
    findings=_tool_order,
    applies=asks("calls", "never", "before", "at_most_once"),
    expectation=True,
)


def _result_codes(trajectory: Trajectory) -> Iterator[Found]:
    traces = calls_of(trajectory)
    for position, code in expected_of(trajectory).result_codes:
        if position > len(traces):
            yield found(f"expect result {position} {code}: there are {len(traces)} calls")
            continue
        trace = traces[position - 1]
        actual = _code_of(trace, of_body=two_doors(trajectory))
        if actual != code:
            text = f"expect result {position} {code}: call {trace.call.id!r} of {trace.call.name!r} came to {actual}"
            yield found(text, trace.emitted, trace.result)


def _code_of(trace: CallTrace, *, of_body: bool) -> str:
    """The code of a result, OK for a plain good one; that of its body where results are only seen in requests."""
    result = trace.result.fact if trace.result else None
    if not isinstance(result, ToolResult):
        return "no result"
    body = trace.end.fact.code if trace.end and isinstance(trace.end.fact, ToolEnd) else None
    code = result.code or (body if of_body else None)
    return code or ("an error without a code" if result.is_error else "OK")


RESULT_CODES = BuiltCheck(
    name="result_codes",
    about="results carry the codes expected, by position of their call in the run",
    needs=(("assistant/message", None), ("tool/result", None)),
    rules=("article:6",),
    findings=_result_codes,
    applies=asks("result_codes"),
    expectation=True,
)


# ---------------------------------------------------------------- answer and state


def _answer(trajectory: Trajectory) -> Iterator[Found]:
    last = next((e for e in reversed(trajectory.events) if isinstance(e.fact, AssistantMessage) and not e.agent), None)
    text = answer_of(trajectory)
    if text is None:
        yield found("expect answer: the run gave none", last)
        return
    for mismatch in match_value(_json(expected_of(trajectory).answer), text):
        yield found(f"expect answer: {mismatch}", last)


ANSWER = BuiltCheck(
    name="answer",
    about="the final answer is what is expected",
    needs=(("assistant/message", None),),
    rules=(),
    findings=_answer,
    applies=asks("answer"),
    expectation=True,
)


def _state_note(trajectory: Trajectory) -> tuple[Event, Any] | None:
    for event in reversed(trajectory.events):
        if isinstance(event.fact, Note) and event.fact.name == END_STATE_NOTE:
            return event, _json(event.fact.data)
    return None


def _end_state(trajectory: Trajectory) -> Iterator[Found]:
    noted = _state_note(trajectory)
    if noted is None:
        return
    event, state = noted
    for mismatch in match_value({"$subset": _json(expected_of(trajectory).end_state)}, state):
        yield found(f"expect end state: {mismatch}", event)


END_STATE = BuiltCheck(
    name="end_state",
    about="memory and files are at the end as expected (parts that are not named are not asked)",
    needs=(),
    rules=(),
    findings=_end_state,
    applies=asks("end_state"),
    evidence=lambda trajectory: "" if _state_note(trajectory) else f"no note {END_STATE_NOTE!r} was written",
    expectation=True,
)


def _json(text: JsonText | None) -> Any:
    value = parse_json(text) if text is not None else None
    return None if isinstance(value, Refusal) else value


# ---------------------------------------------------------------- how it ended


_TOLD_ELSEWHERE: Final = (Code.SCRIPT_EXHAUSTED, Code.CASSETTE_MISS, Code.REPLAY_DIFFERS, Code.RECORDING_FAILED)
"""Failures that a verdict of the runner tells, with what to do about them."""


def _asks_of_end(trajectory: Trajectory) -> str:
    return "" if _failed_unasked(trajectory) else asks("status", "reason", "error")(trajectory)


def _failed_unasked(trajectory: Trajectory) -> str:
    """Why a run of a scenario failed that says nothing of its end; "" for all others."""
    if trajectory.header.expectations is None or not asks("status", "reason", "error")(trajectory):
        return ""
    end = end_of(trajectory)
    if end is None or end.status is not Status.FAILED:
        return ""
    told = isinstance(end.reason, Failed) and end.reason.code in _TOLD_ELSEWHERE
    return "" if told else reason_text(end.reason)


def _expected_end(trajectory: Trajectory) -> Iterator[Found]:
    expected = expected_of(trajectory)
    end, event = end_of(trajectory), _end_event(trajectory)
    if why := _failed_unasked(trajectory):
        yield found(f"the run failed, which nobody expects: {why}. If it should: expect: {{status: failed}}", event)
    status = end.status if end else "interrupted"
    if expected.status is not None and expected.status != status:
        yield found(f"expect status {expected.status}: it was {status}{_because(end)}", event)
    reason = reason_text(end.reason) if end else "interrupted"
    kind = end.reason.kind if end else "interrupted"
    if expected.reason is not None and expected.reason != kind and not _begins(reason, expected.reason):
        yield found(f"expect reason {expected.reason}: it was {reason}", event)
    if expected.error is not None and not _is_error(end, expected.error):
        yield found(f"expect error {expected.error!r}: it was {reason}", event)


def _because(end: RunEnd | None) -> str:
    return f" ({reason_text(end.reason)})" if end else ""


def _begins(reason: str, expected: str) -> bool:
    """The first words of a reason: ``limit``, ``limit steps``, ``error AUTH``."""
    return reason == expected or reason.startswith((expected + " ", expected + ":"))


def _is_error(end: RunEnd | None, expected: str) -> bool:
    if end is None or not isinstance(end.reason, Failed):
        return False
    return expected == end.reason.code or expected in end.reason.message


EXPECTED_END = BuiltCheck(
    name="expected_end",
    about="status, reason and error of the run are those expected; without a word about them it does not fail",
    needs=(("run/end", None),),
    rules=(),
    findings=_expected_end,
    applies=_asks_of_end,
    expectation=True,
)
