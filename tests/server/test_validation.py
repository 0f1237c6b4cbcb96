"""Histories that the real API refuses are refused at the same place, and good ones are not."""

from typing import Any

import pytest

from harness.server import refusal_of

USER = {"role": "user", "content": "go"}
TOOL = {"type": "function", "function": {"name": "go", "parameters": {"type": "object"}}}


def made(*ids: Any, **fields: Any) -> dict[str, Any]:
    calls = [{"id": one, "type": "function", "function": {"name": "go", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls} | fields


def result(identity: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": "ok"} | fields


def body(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages)} | fields


@pytest.mark.parametrize(
    "good",
    [
        pytest.param(body(USER), id="one-message"),
        pytest.param(
            body({"role": "system", "content": "s"}, {"role": "developer", "content": "d"}, USER), id="instructions"
        ),
        pytest.param(body(USER, made("a"), result("a"), USER), id="call-and-result"),
        pytest.param(body(USER, made("a", "b"), result("b"), result("a")), id="results-in-any-order"),
        pytest.param(body(USER, made("a"), result("a"), made("a"), result("a")), id="id-used-again-later"),
        pytest.param(body(USER, {"role": "assistant", "content": "x"}, USER), id="two-turns"),
        pytest.param(body(USER, {"role": "assistant", "refusal": "no"}), id="refusal-without-content"),
        pytest.param(
            body({"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url"}]}), id="parts"
        ),
        pytest.param(
            body(USER, tools=[TOOL], tool_choice={"type": "function", "function": {"name": "go"}}), id="named-choice"
        ),
        pytest.param(body(USER, tools=[TOOL], tool_choice="required", temperature=0), id="required"),
        pytest.param(body(USER, tool_choice=None, stream=None, stream_options=None, temperature=None), id="nulls"),
        pytest.param(body(USER, stream=True, stream_options={"include_usage": True}, temperature=2, top_p=1.0), id="edges"),
        pytest.param(
            body(USER, response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}), id="format"
        ),
        pytest.param(
            body(
                USER,
                made("a", tool_calls=[{"id": "a", "type": "custom", "custom": {"name": "f", "input": ""}}]),
                result("a"),
            ),
            id="custom-call",
        ),
    ],
)
def test_a_valid_request_is_not_refused(good: dict[str, Any]) -> None:
    assert refusal_of(good) is None


def changed(message: dict[str, Any], **fields: Any) -> dict[str, Any]:
    call = message["tool_calls"][0]
    return message | {"tool_calls": [call | fields]}


NO_ARGUMENTS: dict[str, Any] = {"name": "go", "arguments": {"a": 1}}


@pytest.mark.parametrize(
    ("bad", "place", "words"),
    [
        pytest.param({"messages": [USER]}, "model", "model", id="no-model"),
        pytest.param(body(), "messages", "at least one message, got an empty array", id="no-messages"),
        pytest.param(body("go"), "messages[0]", "object", id="message-text"),
        pytest.param(body({"role": "robot", "content": "x"}), "messages[0].role", "'robot'", id="unknown-role"),
        pytest.param(body({"role": ["user"], "content": "x"}), "messages[0].role", "invalid", id="role-list"),
        pytest.param(body(USER, {"role": "function", "name": "go", "content": "x"}), "messages[1].role", "role 'tool'", id="legacy-role"),
        pytest.param(body({"role": "user", "content": None}), "messages[0].content", "null", id="user-null"),
        pytest.param(body(USER, {"role": "assistant", "content": None}), "messages[1].content", "null", id="assistant-null-without-calls"),
        pytest.param(body(USER, made("a"), result("a", content=None)), "messages[2].content", "null", id="result-null"),
        pytest.param(body(USER, made("a"), result("a", content={"x": 1})), "messages[2].content", "an object", id="result-object"),
        pytest.param(body({"role": "user", "content": []}), "messages[0].content", "at least one part", id="no-parts"),
        pytest.param(body({"role": "system", "content": [{"type": "image_url"}]}), "messages[0].content[0].type", "'image_url'", id="image-in-system"),
        pytest.param(body({"role": "user", "content": [{"type": "text"}]}), "messages[0].content[0].text", "null", id="part-without-text"),
        pytest.param(body(USER, made()), "messages[1].content", "null", id="no-calls-no-content"),
        pytest.param(body(USER, made(content="x")), "messages[1].tool_calls", "at least one call", id="empty-calls"),
        pytest.param(body(USER | {"tool_calls": []}), "messages[0].tool_calls", "no tool_calls", id="calls-of-a-user"),
        pytest.param(body(USER, made(""), result("")), "messages[1].tool_calls[0].id", "non-empty", id="empty-id"),
        pytest.param(body(USER, made(None), result(None)), "messages[1].tool_calls[0].id", "None", id="null-id"),
        pytest.param(body(USER, made("a", "a"), result("a"), result("a")), "messages[1].tool_calls[1].id", "twice", id="id-twice"),
        pytest.param(body(USER, changed(made("a"), type="web"), result("a")), "messages[1].tool_calls[0].type", "'web'", id="call-type"),
        pytest.param(body(USER, changed(made("a"), function=NO_ARGUMENTS)), "messages[1].tool_calls[0].function.arguments", "an object", id="arguments-object"),
        pytest.param(body(USER, changed(made("a"), function={"name": "a b", "arguments": ""})), "messages[1].tool_calls[0].function.name", "pattern", id="call-name"),
        pytest.param(body(USER, made("a")), "messages[1].tool_calls", "without an answer: a", id="no-result"),
        pytest.param(body(USER, made("a", "b"), result("a"), USER), "messages[1].tool_calls", "without an answer: b", id="half-answered"),
        pytest.param(body(USER, made("a"), USER, result("a")), "messages[1].tool_calls", "without an answer: a", id="result-separated"),
        pytest.param(body(USER, made("a"), result("x"), result("a")), "messages[2].tool_call_id", "'x'", id="wrong-id"),
        pytest.param(body(USER, made("a"), result("a"), result("a")), "messages[3].tool_call_id", "'a'", id="result-twice"),
        pytest.param(body(USER, result("a")), "messages[1].tool_call_id", "'a'", id="result-without-call"),
        pytest.param(body(USER, made("a"), result("")), "messages[2].tool_call_id", "non-empty", id="result-empty-id"),
        pytest.param(body(USER, tools=[]), "tools", "1 to 128", id="empty-tools"),
        pytest.param(body(USER, tools=[TOOL, TOOL]), "tools[1].function.name", "twice", id="tool-twice"),
        pytest.param(body(USER, tools=[{"type": "function", "function": {"name": "a.b"}}]), "tools[0].function.name", "pattern", id="tool-name"),
        pytest.param(body(USER, tools=[{"type": "function", "function": {"name": "x" * 65}}]), "tools[0].function.name", "pattern", id="tool-name-long"),
        pytest.param(body(USER, tools=[{"function": {"name": "a"}}]), "tools[0].type", "None", id="tool-type"),
        pytest.param(body(USER, tools=[{"type": "function", "function": {"name": "a", "parameters": "x"}}]), "tools[0].function.parameters", "object", id="schema"),
        pytest.param(body(USER, tool_choice="required"), "tool_choice", "only allowed", id="choice-without-tools"),
        pytest.param(body(USER, tools=[TOOL], tool_choice={"type": "function", "function": {"name": "x"}}), "tool_choice", "names no tool", id="choice-unknown"),
        pytest.param(body(USER, tools=[TOOL], tool_choice="sometimes"), "tool_choice", "names no tool", id="choice-word"),
        pytest.param(body(USER, tool_choice="auto"), "tool_choice", "only allowed", id="choice-auto-without-tools"),
        pytest.param(body(USER, tool_choice="none"), "tool_choice", "only allowed", id="choice-none-without-tools"),
        pytest.param(body(USER, stream="yes"), "stream", "a boolean, got a string", id="stream-text"),
        pytest.param(body(USER, stream_options={"include_usage": True}), "stream_options", "only allowed", id="stream-options-without-stream"),
        pytest.param(body(USER, stream=False, stream_options={}), "stream_options", "only allowed", id="stream-options-and-no-stream"),
        pytest.param(body(USER, stream=True, stream_options=[]), "stream_options", "an object, got an array", id="stream-options-list"),
        pytest.param(body(USER, temperature=99), "temperature", "0 to 2, got 99", id="temperature"),
        pytest.param(body(USER, temperature="hot"), "temperature", "a number, got a string", id="temperature-text"),
        pytest.param(body(USER, temperature=True), "temperature", "a number, got a boolean", id="temperature-true"),
        pytest.param(body(USER, top_p=-0.1), "top_p", "0 to 1, got -0.1", id="top-p"),
        pytest.param(body(USER, frequency_penalty=3), "frequency_penalty", "-2 to 2, got 3", id="penalty"),
        pytest.param(body(USER, response_format={"type": "json_schema", "json_schema": {"schema": {}}}), "response_format.json_schema.name", "missing", id="format-without-name"),
        pytest.param(body(USER, response_format={"type": "json_schema"}), "response_format.json_schema", "missing", id="format-without-schema"),
    ],
)  # fmt: skip
def test_an_invalid_request_is_refused_at_its_place(bad: dict[str, Any], place: str, words: str) -> None:
    refusal = refusal_of(bad)
    assert refusal is not None
    assert refusal.param == place
    assert words in refusal.message
