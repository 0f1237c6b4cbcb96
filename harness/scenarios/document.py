"""Writing: a scenario value back to the fields of its document, in the order of the format's page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from harness.scenarios.agent_fields import agents_document
from harness.scenarios.chunk_fields import plan_document
from harness.scenarios.context_fields import context_document
from harness.scenarios.expect_document import expectations_document, injection_document
from harness.scenarios.fault_fields import fault_document
from harness.scenarios.fields import COVERS
from harness.scenarios.limits_fields import limits_document
from harness.scenarios.model_fields import written_model
from harness.scenarios.outcome_fields import rules_document
from harness.scenarios.policy_fields import call_policy_document
from harness.scenarios.retry_fields import retry_document
from harness.scenarios.tool_policy_fields import policy_document
from harness.scenarios.visible_fields import rules_document as visible_document
from harness.scenarios.visible_fields import told_document
from harness.scenarios.writing import changed, filled, present
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import JsonText
from harness.types.scenario import (
    SCENARIO_FORMAT,
    RoleSpec,
    Scenario,
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
        **filled(
            title=scenario.title,
            tags=list(scenario.tags),
            covers=_covers(scenario.covers),
            skip=scenario.skip,
        ),
        **({} if scenario.system is None else {"system": scenario.system}),
        **({"task": scenario.tasks[0]} if one_task else {"tasks": list(scenario.tasks)}),
        **filled(
            tools=_tools(scenario.tools),
            model=scenario.model and written_model(scenario.model),
            script=scenario.script and [_entry(entry) for entry in scenario.script],
            script_follows="" if scenario.script_follows is ScriptFollows.ORDER else scenario.script_follows.value,
            allow_leftovers=scenario.allow_leftovers,
            models={role: _role(spec) for role, spec in scenario.models},
            faults=[fault_document(fault) for fault in scenario.faults],
            limits=limits_document(scenario.limits),
            inject=[injection_document(injection) for injection in scenario.inject],
            release=list(scenario.release),
            expect=expectations_document(scenario.expect),
            checks=list(scenario.checks),
            tool_policy=policy_document(scenario.tool_policy),
            outcome=rules_document(scenario.outcome),
            policy=call_policy_document(scenario.policy),
            retry=retry_document(scenario.retry),
            agents=agents_document(scenario.agents),
            runtime_context=told_document(scenario.runtime_context),
            context=context_document(scenario.context),
            clock=scenario.clock and scenario.clock.value,
            seed=scenario.seed,
        ),
        **({} if scenario.expect_after is None else {"expect_after": expectations_document(scenario.expect_after)}),
    }


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
    written = filled(
        use=list(tools.use),
        **{"from": tools.source},
        stub={name: stub_document(stub) for name, stub in tools.stubs},
        schemas=_values(tools.schemas),
        files=dict(tools.files),
        memory=_values(tools.memory),
        visible_from=visible_document(tools.visible_from),
        options=_values(tools.options),
    )
    for name, names in (("allowed", tools.allowed), ("visible", tools.visible)):
        if names is not None:
            written[name] = list(names)
    return written["use"] if list(written) == ["use"] else written


def _values(pairs: Iterable[tuple[str, JsonText]]) -> dict[str, Any]:
    return {name: json.loads(text) for name, text in pairs}


def stub_document(stub: Stub) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if stub.returns is not None:
        written["returns"] = json.loads(stub.returns)
    if stub.sequence is not None:
        written["sequence"] = [json.loads(text) for text in stub.sequence]
    if stub.cases is not None:
        written["cases"] = [{"when": json.loads(when), "returns": json.loads(text)} for when, text in stub.cases]
    return {
        **present(description=stub.description, mode=stub.mode and stub.mode.value),
        **present(effect=stub.effect and stub.effect.value),
        **written,
        **present(raises=stub.raises, code=stub.code),
        **filled(delay_ms=stub.delay_ms, delays_ms=list(stub.delays_ms)),
    }


def _role(role: RoleSpec) -> dict[str, Any]:
    return filled(
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
    when = present(tool=case.when.tool, matches=case.when.matches, function=case.when.function)
    return {"when": when, "script": script} if when else {"otherwise": script}


def _reply(reply: ScriptReply) -> dict[str, Any]:
    return {
        **present(
            reasoning=reply.reasoning,
            say=reply.say,
            **_calls(reply.calls),
            refusal=reply.refusal,
            fail=reply.fail and _failure(reply.fail),
        ),
        **filled(hang=reply.hang, function=reply.function, empty=reply.empty),
        **present(raw=reply.raw and json.loads(reply.raw), finish=reply.finish),
        **plan_document(reply.chunks),
        **filled(delay_ms=reply.delay_ms, usage=present(input=reply.input_tokens, output=reply.output_tokens)),
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
    written = changed(failure, ScriptFailure(failure.code))
    return {"code": failure.code, **written} if written else failure.code
