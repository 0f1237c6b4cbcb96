"""Histories of the Responses API: what is taken, and what is refused with which place."""

import contextlib
from typing import Any

import pytest

from harness.errors import ModelError
from harness.server.validation_responses import responses_refusal
from harness.wire.requests import call_of
from harness.wire.responses_body import render_response
from harness.wire.responses_items import parse_response
from harness.wire.responses_read import items_in, read_responses_request
from harness.wire.responses_requests import input_items, render_response_request
from harness.wire.tools import render_tools

USER: dict[str, Any] = {"role": "user", "content": "hi"}
CALL: dict[str, Any] = {"type": "function_call", "call_id": "c", "name": "go", "arguments": "{}"}
OUTPUT: dict[str, Any] = {"type": "function_call_output", "call_id": "c", "output": "ok"}
TOOL: dict[str, Any] = {"type": "function", "name": "go", "parameters": {}}


def refusal(given: Any, **fields: Any) -> tuple[str, str] | None:
    body = {"model": "m", "input": given, **fields}
    found = responses_refusal(body, items_in(body))
    return None if found is None else (found.param, found.message)


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        pytest.param("hi", {}, id="text"),
        pytest.param([USER], {"instructions": "be kind", "tools": [TOOL], "tool_choice": "auto"}, id="message"),
        pytest.param([{**USER, "type": "message", "content": [{"type": "input_text", "text": "x"}]}], {}, id="parts"),
        pytest.param([USER, CALL, OUTPUT], {}, id="call-and-output"),
        pytest.param([USER, CALL, {**CALL, "call_id": "d"}, {**OUTPUT, "call_id": "d"}, OUTPUT], {}, id="in-any-order"),
        pytest.param([USER, CALL, USER, OUTPUT], {}, id="need-not-be-neighbours"),
        pytest.param([USER, {"type": "reasoning", "id": "r", "summary": []}, CALL, OUTPUT], {}, id="reasoning"),
        pytest.param([USER, CALL, OUTPUT, CALL, OUTPUT], {}, id="an-id-again-once-it-is-answered"),
        pytest.param([{"type": "custom_tool_call", "call_id": "c", "name": "go", "input": "x"}, {**OUTPUT, "type": "custom_tool_call_output"}], {}, id="custom"),
        pytest.param([USER], {"tools": [{"type": "web_search"}]}, id="a-tool-of-the-provider"),
        pytest.param([USER], {"tools": [TOOL], "tool_choice": {"type": "function", "name": "go"}}, id="choice"),
        pytest.param([USER], {"tool_choice": "auto", "stream": True, "stream_options": {}, "temperature": 0, "text": {"format": {"type": "text"}}}, id="options"),
        pytest.param([USER], {"text": {"format": {"type": "json_schema", "name": "n", "schema": {}}}}, id="format"),
    ],
)  # fmt: skip
def test_a_valid_history_is_taken(given: Any, fields: Any) -> None:
    assert refusal(given, **fields) is None


@pytest.mark.parametrize(
    ("given", "fields", "param", "words"),
    [
        pytest.param("x", {"model": ""}, "model", "missing", id="no-model"),
        pytest.param(None, {}, "input", "must be provided", id="no-input"),
        pytest.param([], {}, "input", "at least one item", id="empty"),
        pytest.param({"role": "user"}, {}, "input", "got an object", id="input-is-an-object"),
        pytest.param(["x"], {}, "input[0]", "expected an object", id="item-is-text"),
        pytest.param([{"type": "web_page"}], {}, "input[0].type", "'web_page'", id="unknown-item"),
        pytest.param([{"type": ["x"]}], {}, "input[0].type", "invalid value", id="type-is-a-list"),
        pytest.param([{**USER, "role": "tool"}], {}, "input[0].role", "'tool'", id="role-of-the-other-api"),
        pytest.param([{**USER, "content": [{"type": "text", "text": "x"}]}], {}, "input[0].content[0].type", "input_text", id="part-of-the-other-api"),
        pytest.param([{**USER, "content": None}], {}, "input[0].content", "got null", id="no-content"),
        pytest.param([{**USER, "content": [{"type": "input_text"}]}], {}, "input[0].content[0].text", "got null", id="part-without-text"),
        pytest.param([USER, OUTPUT], {}, "input", "no tool call found for function call output with call_id c", id="output-without-call"),
        pytest.param([OUTPUT, CALL], {}, "input", "no tool call found", id="output-before-its-call"),
        pytest.param([USER, CALL], {}, "input", "no tool output found for function call c", id="call-without-output"),
        pytest.param([USER, CALL, OUTPUT, OUTPUT], {}, "input", "duplicate output", id="two-outputs"),
        pytest.param([USER, CALL, CALL, OUTPUT, OUTPUT], {}, "input[2].call_id", "duplicate", id="two-calls-of-one-id"),
        pytest.param([{**CALL, "call_id": ""}], {}, "input[0].call_id", "non-empty", id="empty-call-id"),
        pytest.param([{**CALL, "name": "a b"}], {}, "input[0].name", "'a b'", id="bad-name"),
        pytest.param([{**CALL, "arguments": {}}], {}, "input[0].arguments", "got an object", id="arguments-are-an-object"),
        pytest.param([CALL, {**OUTPUT, "output": None}], {}, "input[1].output", "got null", id="no-output"),
        pytest.param([{"type": "reasoning"}], {}, "input[0].summary", "missing", id="reasoning-without-summary"),
        pytest.param("x", {"instructions": 7}, "instructions", "a number", id="instructions-are-a-number"),
        pytest.param("x", {"tools": [{"type": "function"}]}, "tools[0].name", "missing", id="tool-without-name"),
        pytest.param("x", {"tools": [{"type": "function", "function": {"name": "go"}}]}, "tools[0].name", "missing", id="tool-of-the-other-api"),
        pytest.param("x", {"tools": [TOOL, TOOL]}, "tools[1].name", "twice", id="a-tool-twice"),
        pytest.param("x", {"tools": [TOOL], "tool_choice": {"type": "function", "name": "no"}}, "tool_choice", "'no'", id="choice-of-no-tool"),
        pytest.param("x", {"tool_choice": "required"}, "tool_choice", "only allowed", id="required-without-tools"),
        pytest.param("x", {"stream": "yes"}, "stream", "a boolean, got a string", id="stream-text"),
        pytest.param("x", {"stream_options": {}}, "stream_options", "only allowed", id="stream-options-without-stream"),
        pytest.param("x", {"temperature": 2.5}, "temperature", "0 to 2, got 2.5", id="temperature"),
        pytest.param("x", {"text": {"format": {"type": "json_schema", "schema": {}}}}, "text.format.name", "missing", id="format-without-name"),
        pytest.param("x", {"text": {"format": {"type": "json_schema", "name": "n"}}}, "text.format.schema", "missing", id="format-without-schema"),
    ],
)  # fmt: skip
def test_what_the_real_api_refuses_is_refused_with_its_place(given: Any, fields: Any, param: str, words: str) -> None:
    found = refusal(given, **fields)
    assert found is not None
    assert found[0] == param
    assert words in found[1]


def test_items_of_one_answer_become_one_message_and_the_next_answer_another() -> None:
    items = [
        USER,
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "so"}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}, {"type": "refusal", "refusal": "no"}]},
        CALL,
        {**CALL, "call_id": "d"},
        OUTPUT,
        {**OUTPUT, "call_id": "d", "output": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]},
        {"role": "assistant", "content": "one"},
        {"role": "assistant", "content": "two"},
    ]
    request = read_responses_request(
        {"model": "m", "input": items, "instructions": "be kind", "tools": [{**TOOL, "strict": None}], "store": False}, items
    )
    (system,) = request.system
    user, first, one_result, other_result, second, third = request.messages
    assert (system.content, user.content) == ("be kind", "hi")
    assert (first.content, first.reasoning, first.refusal) == ("I look.", "so", "no")  # type: ignore[union-attr]
    assert [call.id for call in first.tool_calls] == ["c", "d"]  # type: ignore[union-attr]
    assert (one_result.content, other_result.content) == ("ok", "ab")
    assert (second.content, third.content) == ("one", "two")
    assert render_tools(request.tools)[0]["function"]["name"] == "go"
    assert request.parameters == '{"store":false}'


def test_what_only_a_provider_understands_goes_on_as_it_came() -> None:
    reasoning = {"type": "reasoning", "id": "rs_7", "summary": [], "encrypted_content": "gAAA"}
    items = [USER, reasoning, {**CALL, "id": "fc_7"}, OUTPUT]
    request = read_responses_request({"model": "m", "input": items}, items)
    sent = render_response_request(call_of(request), "m", [i for one in request.messages for i in input_items(one)])
    assert [item for item in sent["input"] if item.get("type") == "reasoning"] == [reasoning]
    answer = parse_response({"id": "r", "model": "m", "status": "completed", "output": [reasoning, CALL]})
    rendered = render_response(answer, id="resp_1", model="m")["output"]
    assert rendered[0] == reasoning
    assert {key: rendered[1][key] for key in CALL} == CALL
    assert len(rendered) == 2


@pytest.mark.parametrize(
    "items",
    [["x"], [{"type": 7}], [{"role": ["user"], "content": 1}], [{"type": "reasoning", "summary": "x"}], [{"role": "assistant", "content": [7, None]}]],
    ids=str,
)  # fmt: skip
def test_a_history_that_is_taken_leniently_breaks_nothing(items: Any) -> None:
    with contextlib.suppress(ModelError):  # what has no known shape is said to be so
        read_responses_request({"model": "m", "input": items}, items)
