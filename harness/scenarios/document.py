"""Writing: a scenario value back to the fields of its document, in the order of the format's page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Final

from harness.scenarios.agent_fields import agents_document, visible_document
from harness.scenarios.expect_fields import provenance_document
from harness.scenarios.fields import COVERS
from harness.scenarios.limits_fields import limits_document
from harness.scenarios.model_fields import written_model
from harness.scenarios.outcome_fields import rules_document
from harness.scenarios.retry_fields import retry_document
from harness.scenarios.tool_policy_fields import policy_document
from harness.types.codes import InboxQueue
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import JsonText
from harness.types.scenario import (
    SCENARIO_FORMAT,
    Boundary,
    BoundaryWhen,
    CallOrder,
    CancelAction,
    Expectations,
    ExpectedCall,
    FaultAction,
    Injection,
    RoleSpec,
    Scenario,
    SendAction,
    Stub,
    ToolsSpec,
)
from harness.types.script import (
    ScriptBranch,
    ScriptCall,
    ScriptCase,
    ScriptEntry,
    ScriptFailure,
    ScriptFollows,
    ScriptReply,
)

_DEEP: Final = 50


def to_document(scenario: Scenario) -> dict[str, Any]:
    """The fields of a scenario's document; what has its default is left out.

    ``parse_scenario(dump_yaml(to_document(s)), file)`` equals ``s`` but for source and line.
    """
    one_task = len(scenario.tasks) == 1
    return {
        "format": SCENARIO_FORMAT,
        "id": scenario.id,
        **_filled(
            title=scenario.title,
            tags=list(scenario.tags),
            covers=_covers(scenario.covers),
            skip=scenario.skip,
        ),
        **({} if scenario.system is None else {"system": scenario.system}),
        **({"task": scenario.tasks[0]} if one_task else {"tasks": list(scenario.tasks)}),
        **_filled(
            tools=_tools(scenario.tools),
            model=scenario.model and written_model(scenario.model),
            script=scenario.script and [_entry(entry) for entry in scenario.script],
            script_follows="" if scenario.script_follows is ScriptFollows.ORDER else scenario.script_follows.value,
            allow_leftovers=scenario.allow_leftovers,
            models={role: _role(spec) for role, spec in scenario.models},
            limits=limits_document(scenario.limits),
            inject=[_injection(injection) for injection in scenario.inject],
            release=list(scenario.release),
            expect=_expectations(scenario.expect),
            checks=list(scenario.checks),
            tool_policy=policy_document(scenario.tool_policy),
            outcome=rules_document(scenario.outcome),
            retry=retry_document(scenario.retry),
            **agents_document(scenario),
            clock=scenario.clock and scenario.clock.value,
            seed=scenario.seed,
        ),
    }


def _filled(**parts: Any) -> dict[str, Any]:
    """The parts that say something."""
    return {name: value for name, value in parts.items() if value}


def _present(**parts: Any) -> dict[str, Any]:
    """The parts that are there; empty text and 0 are."""
    return {name: value for name, value in parts.items() if value is not None}


def _changed(value: Any, default: Any) -> dict[str, Any]:
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {name: part for name, part in pairs if part != getattr(default, name)}


def _covers(covers: Iterable[str]) -> dict[str, list[str | int]]:
    grouped: dict[str, list[str | int]] = {}
    names = {prefix: name for name, prefix in COVERS.items()}
    for entry in covers:
        prefix, _, number = entry.partition(":")
        plain = number.isascii() and number.isdecimal() and str(int(number)) == number
        grouped.setdefault(names[prefix], []).append(int(number) if plain else number)
    return grouped


# ---------------------------------------------------------------- tools and model


def _tools(tools: ToolsSpec) -> Any:
    written = _filled(
        use=list(tools.use),
        **{"from": tools.source},
        stub={name: _stub(stub) for name, stub in tools.stubs},
        schemas=_values(tools.schemas),
        files=dict(tools.files),
        memory=_values(tools.memory),
        options=_values(tools.options),
    )
    if tools.allowed is not None:
        written["allowed"] = list(tools.allowed)
    if tools.visible:
        written["visible"] = visible_document(tools.visible)
    return written["use"] if list(written) == ["use"] else written


def _values(pairs: Iterable[tuple[str, JsonText]]) -> dict[str, Any]:
    return {name: json.loads(text) for name, text in pairs}


def _stub(stub: Stub) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if stub.returns is not None:
        written["returns"] = json.loads(stub.returns)
    if stub.sequence is not None:
        written["sequence"] = [json.loads(text) for text in stub.sequence]
    if stub.cases is not None:
        written["cases"] = [{"when": json.loads(when), "returns": json.loads(text)} for when, text in stub.cases]
    return {**written, **_present(raises=stub.raises, code=stub.code), **_filled(delay_ms=stub.delay_ms)}


def _role(role: RoleSpec) -> dict[str, Any]:
    return _filled(
        script=role.script and [_entry(entry) for entry in role.script],
        model=role.model and written_model(role.model),
        allow_leftovers=role.allow_leftovers,
    )


# ---------------------------------------------------------------- script


def _entry(entry: ScriptEntry) -> dict[str, Any]:
    if isinstance(entry, ScriptBranch):
        return {"branch": [_case(case) for case in entry.cases]}
    return _reply(entry)


def _case(case: ScriptCase) -> dict[str, Any]:
    script = [_entry(entry) for entry in case.script]
    when = _present(tool=case.when.tool, matches=case.when.matches, function=case.when.function)
    return {"when": when, "script": script} if when else {"otherwise": script}


def _reply(reply: ScriptReply) -> dict[str, Any]:
    return {
        **_present(
            reasoning=reply.reasoning,
            say=reply.say,
            **_calls(reply.calls),
            refusal=reply.refusal,
            fail=reply.fail and _failure(reply.fail),
        ),
        **_filled(hang=reply.hang, function=reply.function, empty=reply.empty),
        **_present(raw=reply.raw and json.loads(reply.raw), finish=reply.finish),
        **_filled(delay_ms=reply.delay_ms, usage=_present(input=reply.input_tokens, output=reply.output_tokens)),
    }


def _calls(calls: tuple[ScriptCall, ...]) -> dict[str, Any]:
    if not calls:
        return {}
    names = [call.name for call in calls]
    if all(map(_is_plain, calls)) and len(set(names)) == len(names):
        return {"call": {str(call.name): _arguments(call.arguments or "") for call in calls}}
    return {"calls": [_call(call) for call in calls]}


def _is_plain(call: ScriptCall) -> bool:
    return bool(call.name) and call.arguments is not None and call.id is None and not call.no_id


def _call(call: ScriptCall) -> dict[str, Any]:
    arguments = None if call.arguments is None else _arguments(call.arguments)
    if _is_plain(call) and not (call.name == "name" and isinstance(arguments, str)):
        return {str(call.name): arguments}
    written = {"name": call.name, "arguments": arguments}
    return {**written, "id": call.id} if call.id is not None or call.no_id else written


def _arguments(text: str) -> Any:
    """A mapping where that says the same, else the raw text."""
    if text.count("[") + text.count("{") > _DEEP:
        return text
    value = parse_json(text)
    if isinstance(value, Refusal) or not isinstance(value, Mapping) or canonical_json(value) != text:
        return text
    return value


def _failure(failure: ScriptFailure) -> Any:
    written = _changed(failure, ScriptFailure(failure.code))
    return {"code": failure.code, **written} if written else failure.code


# ---------------------------------------------------------------- injections and expectations


def _injection(injection: Injection) -> dict[str, Any]:
    if isinstance(injection.do, CancelAction):
        details = _changed(injection.do, CancelAction())
        do: Any = {"cancel": {name: str(value) for name, value in details.items()}} if details else "cancel"
    elif isinstance(injection.do, SendAction):
        queue = injection.do.queue
        do = {"send": {"text": injection.do.text, **({} if queue is InboxQueue.FOLLOWUP else {"queue": str(queue)})}}
    elif isinstance(injection.do, FaultAction):
        fault = _changed(injection.do, FaultAction())
        do = {"fault": fault} if fault else "fault"
    else:
        do = {"throw": injection.do.message}
    return {"at": _boundary(injection.at), "do": do}


def _boundary(at: Boundary) -> Any:
    if at.tick is not None:
        return {"tick": at.tick}
    written = _changed(at, Boundary(at.kind))
    after_ms = written.pop("after_ms", None)
    if after_ms is not None:
        written["when"] = {"after_ms": after_ms}
    elif at.when is not BoundaryWhen.INSIDE:
        written["when"] = at.when.value
    return {"kind": at.kind, **written} if written else at.kind


def _expectations(expect: Expectations) -> dict[str, Any]:
    results: list[str | None] = [None] * max((position for position, _ in expect.result_codes), default=0)
    for position, code in expect.result_codes:
        results[position - 1] = code
    return {
        **_present(
            status=expect.status,
            reason=expect.reason,
            steps=expect.steps,
            messages=expect.messages,
            turns=expect.turns,
        ),
        **_wanted_calls(expect),
        **_filled(
            never=list(expect.never),
            before=[list(pair) for pair in expect.before],
            at_most_once=list(expect.at_most_once),
        ),
        **_present(answer=expect.answer and _answer(expect.answer)),
        **_filled(
            results=results,
            end_state=expect.end_state and json.loads(expect.end_state),
            error=expect.error,
            provenance=provenance_document(expect.provenance),
        ),
    }


def _wanted_calls(expect: Expectations) -> dict[str, Any]:
    if not expect.calls:
        return {}
    by_order = {wanted.order: [_wanted(call) for call in wanted.calls] for wanted in expect.calls}
    if list(by_order) == [CallOrder.EXACT]:
        return {"calls": by_order[CallOrder.EXACT]}
    return {"calls": {order.value: calls for order, calls in by_order.items()}}


def _wanted(call: ExpectedCall) -> Any:
    return call.name if call.arguments is None else {call.name: json.loads(call.arguments)}


def _answer(matcher: JsonText) -> Any:
    value = json.loads(matcher)
    return value if isinstance(value, str) else {name.removeprefix("$"): part for name, part in value.items()}
