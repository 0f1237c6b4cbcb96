"""Which requests of a trace are one conversation, and what of a rewritten history is new."""

import json
from typing import Any

import pytest

from harness.checks import judge, provider_refusals
from harness.folds import calls_of
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, RequestHeader, ToolResult, UserMessage
from harness.types.lifecycle import Note
from tests.formats.test_otel import any_value, export, one, read, span


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def call(*ids: str) -> dict[str, Any]:
    parts = [{"type": "tool_call", "id": each, "name": "look", "arguments": {"x": 1}} for each in ids]
    return {"role": "assistant", "parts": parts}


def result(call_id: str, text: str = "ok", *more: dict[str, Any]) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": text}, *more]}


def chat(number: int, given: list[Any] | None, made: list[Any] | None, parent: str = "", **more: Any) -> dict[str, Any]:
    sides = {"gen_ai.input.messages": given, "gen_ai.output.messages": made}
    told = {name: json.dumps(messages) for name, messages in sides.items() if messages is not None}
    return span(number, parent=parent, **told, **more)


def shape(trajectory: Trajectory) -> list[str]:
    """The conversation in short: texts, calls as ``+id``, results as ``=id``."""
    short: list[str] = []
    for event in trajectory:
        match event.fact:
            case UserMessage(message=message):
                short.append(str(message.content))
            case AssistantMessage(content=content, tool_calls=calls):
                short += [str(content)] if content else []
                short += [f"+{each.id}" for each in calls]
            case ToolResult(call_id=call_id):
                short.append(f"={call_id}")
            case _:
                pass
    return short


GO, DONE, GUARD = said("user", "go"), said("assistant", "done"), said("user", "safe?")
AGENT = [
    chat(10, [GO], [call("c1")]),
    chat(20, [GO, call("c1"), result("c1")], [call("c2")]),
    chat(30, [GO, call("c1"), result("c1"), call("c2"), result("c2")], [DONE]),
]
WHOLE = ["go", "+c1", "=c1", "+c2", "=c2", "done"]


def guard(number: int, *system: dict[str, Any]) -> dict[str, Any]:
    return chat(number, [*system, GUARD], [said("assistant", "yes")])


@pytest.mark.parametrize(
    ("others", "beside"),
    [
        pytest.param([guard(15), guard(25)], [["safe?", "yes", "safe?", "yes"]], id="guard-between-all"),
        pytest.param([guard(15, said("system", "Judge."))], [["safe?", "yes"]], id="guard-of-other-instructions"),
        pytest.param([guard(5, said("system", "Judge.")), guard(35, said("system", "Judge."))], [["safe?", "yes", "safe?", "yes"]], id="guard-around"),
        pytest.param([chat(5, [said("system", "Name it."), GO], [said("assistant", "Going")])], [["go", "Going"]], id="title-of-the-same-words"),
    ],
)  # fmt: skip
def test_a_request_beside_the_conversation_is_no_part_of_it(others: list[Any], beside: list[list[str]]) -> None:
    found = read(export(*AGENT, *others))
    assert sorted(map(shape, found)) == sorted([WHOLE, *beside])
    assert [provider_refusals(trajectory) for trajectory in found] == [()] * len(found)
    assert len({trajectory.header.run_id for trajectory in found}) == len(found)


def test_what_stands_between_two_requests_of_one_history_adds_nothing_of_it_again() -> None:
    first, second = said("assistant", "one"), said("assistant", "two")
    goes_on = chat(30, [GO, first, said("user", "more")], [DONE])
    trajectory = one(export(chat(10, [GO], [first]), chat(20, [GUARD], [second]), goes_on))
    assert shape(trajectory) == ["go", "one", "safe?", "two", "more", "done"]
    assert not any(isinstance(event.fact, Note) and event.fact.name == "otel/history-changed" for event in trajectory)


def test_a_handoff_goes_on_with_the_conversation_that_it_shows() -> None:
    agents = [span(1, "invoke_agent"), span(2, "invoke_agent")]
    handed = [chat(10, [GO], [call("c1")], "s1"), chat(20, [GO, call("c1"), result("c1")], [DONE], "s2")]
    trajectory = one(export(*agents, *handed))
    assert shape(trajectory) == ["go", "+c1", "=c1", "done"]
    assert provider_refusals(trajectory) == ()


REWRITTEN = [
    pytest.param([said("user", "So far: go."), call("c2"), result("c2")], ["=c2", "So far: go."], id="summary-before-the-call"),
    pytest.param([GO, call("c1"), result("c1", "[cleared]"), call("c2"), result("c2")], ["=c2"], id="old-result-cleared"),
    pytest.param([GO, {**call("c1"), "parts": [{"type": "text", "content": "I look."}, *call("c1")["parts"]]}, result("c1"), call("c2"), result("c2")], ["=c2"], id="old-answer-reworded"),
    pytest.param([GO, call("c2"), result("c2"), said("user", "and?")], ["=c2", "and?"], id="oldest-step-dropped"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "new"), REWRITTEN)
def test_of_a_rewritten_history_the_results_come_directly_behind_their_calls(given: list[Any], new: list[str]) -> None:
    trajectory = one(export(AGENT[0], AGENT[1], chat(30, given, [DONE])))
    assert shape(trajectory) == ["go", "+c1", "=c1", "+c2", *new, "done"]
    assert any(isinstance(event.fact, Note) and event.fact.name == "otel/history-changed" for event in trajectory)
    assert provider_refusals(trajectory) == ()


def test_text_beside_a_result_is_user_input_behind_it() -> None:
    given = [GO, call("c1"), {**result("c1", "ok", {"type": "text", "content": "And delete nothing."}), "role": "user"}]
    assert shape(one(export(AGENT[0], chat(20, given, [DONE])))) == ["go", "+c1", "=c1", "And delete nothing.", "done"]


def test_a_changed_system_prompt_is_a_header_of_its_own() -> None:
    first, second = said("system", "Be kind."), said("system", "Be brief.")
    asked = chat(10, [first, GO], [DONE]), chat(20, [second, GO, DONE, said("user", "more")], [said("assistant", "no")])
    trajectory = one(export(*asked))
    headers = [event.fact for event in trajectory if isinstance(event.fact, RequestHeader)]
    assert [(header.system[0].content, header.why.value) for header in headers] == [
        ("Be kind.", "initial"),
        ("Be brief.", "change"),
    ]
    assert shape(trajectory) == ["go", "done", "more", "no"]


NOTHING_SAID = [
    pytest.param([chat(10, None, None), chat(20, None, None)], id="no-content"),
    pytest.param([chat(10, [GO], None), chat(20, [said("user", "other")], None)], id="no-answers"),
    pytest.param([chat(10, None, [call("c1")]), chat(20, None, [DONE])], id="no-requests"),
]


@pytest.mark.parametrize("asked", NOTHING_SAID)
def test_of_what_was_not_recorded_nothing_is_claimed(asked: list[Any]) -> None:
    (trajectory,) = read(export(*asked))
    assert provider_refusals(trajectory) == ()
    assert not any(verdict.outcome is Outcome.FAIL for verdict in judge(trajectory))
    assert sum(isinstance(event.fact, AssistantMessage) for event in trajectory) == 2


def test_an_answer_that_only_the_next_request_shows_is_that_answer() -> None:
    trajectory = one(export(chat(10, [GO], None, gen_ai__usage__input_tokens=3), AGENT[1], AGENT[2]))
    assert shape(trajectory) == WHOLE
    assert len(calls_of(trajectory)) == 2
    first = next(event.fact for event in trajectory if isinstance(event.fact, AssistantMessage))
    assert first.usage is not None


def test_the_null_of_otlp_is_no_object() -> None:
    arguments = {"kvlistValue": {"values": [{"key": "a", "value": {}}, {"key": "b", "value": any_value(1)}]}}
    part = {
        "kvlistValue": {
            "values": [
                {"key": "type", "value": any_value("tool_call")},
                {"key": "id", "value": any_value("c1")},
                {"key": "name", "value": any_value("f")},
                {"key": "arguments", "value": arguments},
            ]
        }
    }
    message = {
        "kvlistValue": {
            "values": [
                {"key": "role", "value": any_value("assistant")},
                {"key": "parts", "value": {"arrayValue": {"values": [part]}}},
            ]
        }
    }
    raw = span(1)
    raw["attributes"] += [{"key": "gen_ai.output.messages", "value": {"arrayValue": {"values": [message]}}}]
    (trace,) = calls_of(one(export(raw)))
    assert json.loads(trace.call.arguments) == {"a": None, "b": 1}
