"""Stubs out of recorded calls: what each tool's body gave, in the order in which the bodies began."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from harness.folds import CallTrace, text_of
from harness.matching import match_value
from harness.scenarios.lifted.script import Note
from harness.types.codes import BODY_CODES, Code, ToolOutcome
from harness.types.exchange import ToolEnd, ToolResult
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import JsonText
from harness.types.scenario import Boundary, FaultAction, Injection, Stub

_LONG_MS: Final = 60_000
"""How long a body takes that was stopped before its end."""
_ANY: Final = Stub(returns=JsonText("null"))


@dataclass(frozen=True, slots=True)
class Body:
    """One body that ran: its call, its arguments, and what it gave (``value``) or how it failed (``fault``)."""

    trace: CallTrace
    arguments: JsonText
    value: JsonText | None
    fault: FaultAction | None = None
    took_ms: int = 0

    @property
    def gives(self) -> JsonText:
        """What a stub is to return for it; a body that fails or is stopped returns nothing that anybody sees."""
        return self.value if self.value is not None else JsonText("null")


def bodies_of(traces: Iterable[CallTrace], *, watched: bool, timeout_ms: int | None, note: Note) -> list[Body]:
    """The bodies of a run. ``watched``: the file tells which began; else every call that has a result is one."""
    if not watched:
        return [_imported(trace, note) for trace in traces if trace.result is not None]
    begun = sorted((one for one in traces if one.start is not None), key=lambda one: one.start.seq if one.start else 0)
    return [_watched(trace, timeout_ms, note) for trace in begun]


def _imported(trace: CallTrace, note: Note) -> Body:
    result = _result(trace)
    assert result is not None, "looked at by the caller"
    if result.is_error:
        note("results that were marked as errors are given back as they read; only their text is known to the model")
    return Body(trace, _arguments(trace.call.arguments), _value(result, note))


def _watched(trace: CallTrace, timeout_ms: int | None, note: Note) -> Body:
    start, end, result = trace.start, trace.end, _result(trace)
    assert start is not None, "looked at by the caller"
    arguments = JsonText(getattr(start.fact, "arguments", "{}"))
    took = (end.time or 0) - (start.time or 0) if end is not None else _LONG_MS
    fact = end.fact if end is not None else None
    outcome = fact.outcome if isinstance(fact, ToolEnd) else ToolOutcome.CANCELLED
    if outcome is ToolOutcome.CANCELLED or result is None:
        return Body(trace, arguments, None, took_ms=took + _LONG_MS)
    if result.code is Code.TOOL_TIMEOUT and timeout_ms is not None:
        return Body(trace, arguments, None, took_ms=timeout_ms + _LONG_MS)
    fault = _fault(result, note)
    return Body(trace, arguments, None if fault else _value(result, note), fault, took)


def _result(trace: CallTrace) -> ToolResult | None:
    return trace.result.fact if trace.result is not None and isinstance(trace.result.fact, ToolResult) else None


def _fault(result: ToolResult, note: Note) -> FaultAction | None:
    """How the body is to fail, where that reads the same; else None, and its text is returned."""
    content = text_of(result.content)
    if result.code is Code.SUMMARISED:
        note(f"the result of {result.name!r} was summed up by a model; its summary is given back")
    if result.code is Code.TRUNCATED:
        note(f"the result of {result.name!r} was cut; only what was left of it is known")
    if result.code is Code.TRUNCATED or (result.code is Code.EMPTY and not _is_nothing(content)):
        note("results that were cut or found nothing have their text as their message too")
        return FaultAction(result.code.value, content)
    if not result.is_error:
        return None
    code = result.code or Code.TOOL_FAILED
    if code in BODY_CODES and content == f"Error ({code}): {result.message}":
        return FaultAction(code.value, result.message or "")
    note(f"the error result of {result.name!r} is given back as it reads")
    return None


def _is_nothing(content: str) -> bool:
    return content in ("", "null", "[]", "{}")


def _value(result: ToolResult, note: Note) -> JsonText:
    """The value whose content the result is: JSON where that reads the same, else the text."""
    content = text_of(result.content)
    if not isinstance(result.content, str):
        note(f"the result of {result.name!r} was made of parts (images are known by digests); its text is given back")
    value = parse_json(content)
    plain = isinstance(value, Refusal | str) or canonical_json(value) != content
    if plain or (_is_nothing(content) and result.code is not Code.EMPTY):
        return canonical_json(content)
    return JsonText(content)


def _arguments(text: str) -> JsonText:
    value = parse_json(text or "{}")
    return canonical_json(value) if isinstance(value, Mapping) else JsonText("{}")


# ---------------------------------------------------------------- stubs


def stub_of(bodies: list[Body], *, timed: bool) -> Stub:
    """The simplest stub that gives these bodies what they gave: one value, by arguments, one after the other."""
    ran = [body for body in bodies if body.fault is None]
    if always := _always_fails(bodies):
        return Stub(raises=always.message, code=None if always.code == Code.TOOL_FAILED else always.code)
    stub = _said_by(ran) if ran else _ANY
    delays = tuple(body.took_ms for body in ran)
    if not timed or not any(delays):
        return stub
    if len(set(delays)) == 1:
        return replace(stub, delay_ms=delays[0])
    return replace(stub, delays_ms=delays)


def _always_fails(bodies: list[Body]) -> FaultAction | None:
    faults = {body.fault for body in bodies}
    return faults.pop() if len(faults) == 1 else None


def _said_by(bodies: list[Body]) -> Stub:
    values = [body.gives for body in bodies]
    if len(set(values)) == 1:
        return Stub(returns=values[0])
    by_arguments = {body.arguments: body.gives for body in bodies}
    if any(by_arguments[body.arguments] != body.gives for body in bodies):
        return Stub(sequence=tuple(values))
    cases = tuple(sorted(by_arguments.items(), key=lambda case: (-_size(case[0]), case[0])))
    if all(_first(cases, body.arguments) == body.gives for body in bodies):
        return Stub(cases=cases)
    return Stub(sequence=tuple(values))


def _size(arguments: JsonText) -> int:
    return len(json.loads(arguments))


def _first(cases: Iterable[tuple[JsonText, JsonText]], arguments: JsonText) -> JsonText | None:
    """What ``cases`` give for these arguments: the first that is part of them (as the stub decides)."""
    actual: Any = json.loads(arguments)
    return next((value for when, value in cases if not match_value({"$subset": json.loads(when)}, actual)), None)


def faults_of(bodies: list[Body]) -> tuple[Injection, ...]:
    """The failures of a tool's bodies, each at the start of its own call; none where its stub always fails."""
    if _always_fails(bodies):
        return ()
    return tuple(
        Injection(Boundary("tool/start", tool=body.trace.call.name, call=body.trace.call.id), body.fault)
        for body in bodies
        if body.fault is not None
    )
