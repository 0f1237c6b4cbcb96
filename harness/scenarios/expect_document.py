"""Writing: injections and expectations back to the fields of their document."""

from __future__ import annotations

import json
from typing import Any

from harness.scenarios.effect_fields import effects_document
from harness.scenarios.expect_fields import provenance_document
from harness.scenarios.writing import changed, filled, present
from harness.types.codes import InboxQueue
from harness.types.messages import JsonText
from harness.types.scenario import (
    Boundary,
    BoundaryWhen,
    CallOrder,
    CancelAction,
    Expectations,
    ExpectedCall,
    FaultAction,
    Injection,
    SendAction,
)


def injection_document(injection: Injection) -> dict[str, Any]:
    if isinstance(injection.do, CancelAction):
        details = changed(injection.do, CancelAction())
        do: Any = {"cancel": {name: str(value) for name, value in details.items()}} if details else "cancel"
    elif isinstance(injection.do, SendAction):
        queue = injection.do.queue
        do = {"send": {"text": injection.do.text, **({} if queue is InboxQueue.FOLLOWUP else {"queue": str(queue)})}}
    elif isinstance(injection.do, FaultAction):
        fault = changed(injection.do, FaultAction())
        do = {"fault": fault} if fault else "fault"
    else:
        do = {"throw": injection.do.message}
    return {"at": _boundary(injection.at), "do": do}


def _boundary(at: Boundary) -> Any:
    if at.tick is not None:
        return {"tick": at.tick}
    written = changed(at, Boundary(at.kind))
    after_ms = written.pop("after_ms", None)
    if after_ms is not None:
        written["when"] = {"after_ms": after_ms}
    elif at.when is not BoundaryWhen.INSIDE:
        written["when"] = at.when.value
    return {"kind": at.kind, **written} if written else at.kind


def expectations_document(expect: Expectations) -> dict[str, Any]:
    results: list[str | None] = [None] * max((position for position, _ in expect.result_codes), default=0)
    for position, code in expect.result_codes:
        results[position - 1] = code
    return {
        **present(
            status=expect.status,
            reason=expect.reason,
            steps=expect.steps,
            messages=expect.messages,
            turns=expect.turns,
        ),
        **_wanted_calls(expect),
        **filled(
            never=list(expect.never),
            before=[list(pair) for pair in expect.before],
            at_most_once=list(expect.at_most_once),
        ),
        **present(answer=expect.answer and answer_document(expect.answer)),
        **filled(
            results=results,
            end_state=expect.end_state and json.loads(expect.end_state),
            error=expect.error,
            provenance=provenance_document(expect.provenance),
            effects=effects_document(expect.effects),
        ),
    }


def _wanted_calls(expect: Expectations) -> dict[str, Any]:
    if not expect.calls:
        return {}
    by_order = {wanted.order: [wanted_call(call) for call in wanted.calls] for wanted in expect.calls}
    if list(by_order) == [CallOrder.EXACT]:
        return {"calls": by_order[CallOrder.EXACT]}
    return {"calls": {order.value: calls for order, calls in by_order.items()}}


def wanted_call(call: ExpectedCall) -> Any:
    return call.name if call.arguments is None else {call.name: json.loads(call.arguments)}


def answer_document(matcher: JsonText) -> Any:
    value = json.loads(matcher)
    return value if isinstance(value, str) else {name.removeprefix("$"): part for name, part in value.items()}
