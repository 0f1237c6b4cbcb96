"""Whatever is in a file, a reader gives trajectories that can be written, or its one error (RELIABILITY P7)."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks import provider_refusals
from harness.errors import ForeignFormatError
from harness.formats import FORMATS, WRITERS, format_of, parse_document, write_foreign
from harness.store import dump_trajectory, read_bytes
from harness.types.events import Trajectory

WORDS = [
    "role", "content", "type", "tool_calls", "toolCalls", "id", "callId", "toolCallId", "tool_call_id", "name", "function",
    "arguments", "input", "output", "isError", "messages", "tools", "traj", "trial", "task_id", "data", "turn", "step",
    "message", "chunk", "header", "reason", "kind", "source", "usage", "error", "code", "texts", "index", "start", "inserted",
    "removedCount", "target", "surfaceOp", "op", "end", "text", "extra", "model", "config", "failure", "delayMs", "createdAt",
]  # fmt: skip
SAID = [
    "system", "user", "assistant", "tool", "function", "text", "tool-call", "tool-result", "tool_use", "session", "turn/start",
    "turn/end", "step/start", "user/message", "assistant/message", "assistant/chunk", "text-chunks", "tool-call-chunks",
    "tool/call", "tool/result", "request/header", "agent/inbox/spliced", "approval/asked", "approval/decided", "llm/retry",
    "llm/retry-started", "completed", "aborted", "error", "c1", "", "{}", "next-turn", "replace", "finish",
]  # fmt: skip
leaves = st.none() | st.booleans() | st.integers(-2, 9) | st.just(10**30) | st.just(0.5) | st.sampled_from(SAID)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4), max_leaves=12)
objects = st.dictionaries(st.sampled_from(WORDS), values, max_size=6)
messages = st.builds(lambda one, role: {**one, "role": role}, objects, st.sampled_from(SAID[:5]))
lines = st.builds(lambda one, kind, data: {**one, "type": kind, "data": data}, objects, st.sampled_from(SAID[10:27]), objects)
SESSION = {"type": "session", "id": "s", "createdAt": 0}


def outcome(name: str, data: bytes) -> list[Trajectory] | ForeignFormatError:
    try:
        return list(FORMATS[name].read(parse_document(data, "hostile")))
    except ForeignFormatError as error:
        return error


def check_writable(found: list[Trajectory] | ForeignFormatError) -> None:
    if isinstance(found, ForeignFormatError):
        assert "hostile" in str(found)
        return
    for one in found:
        read = read_bytes(dump_trajectory(one), "again")
        assert (read.header, read.events) == (one.header, one.events)
        for form in WRITERS:
            with suppress(ForeignFormatError):
                write_foreign(one, form)
        for _ in provider_refusals(one):
            pass


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(st.one_of(values, st.lists(messages, max_size=5), st.lists(objects, max_size=4)))
def test_any_json_is_read_or_refused_by_every_reader(name: str, value: Any) -> None:
    check_writable(outcome(name, json.dumps(value).encode()))


@given(st.lists(lines, max_size=8))
def test_any_lines_behind_a_session_are_read_or_refused(log: list[Any]) -> None:
    data = "\n".join(json.dumps(line) for line in [SESSION, *log]).encode()
    assert format_of(parse_document(data, "hostile")) == "dsh"
    check_writable(outcome("dsh", data))


@given(st.lists(messages, min_size=1, max_size=5))
def test_any_messages_are_read_by_the_format_they_are_said_to_be(conversation: list[Any]) -> None:
    name = format_of(parse_document(json.dumps(conversation).encode(), "hostile"))
    if name is not None:
        check_writable(outcome(name, json.dumps(conversation).encode()))


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize(
    "data",
    [b"[" * 200_000, b'{"a":' * 100_000, b'[{"role":"user","content":"' + b"x" * 3_000_000, b"\x00" * 1000, b'[{"role":"user","content":"\xff"}]', b'[{"role":"user","content":"x"},' + b"9" * 6000 + b"]"],
    ids=["deep", "deep-objects", "never-closed", "zeros", "bad-utf8", "digits"],
)  # fmt: skip
def test_a_hostile_file_is_refused_by_name_without_repeating_it(name: str, data: bytes) -> None:
    found = outcome(name, data)
    assert isinstance(found, ForeignFormatError)
    assert len(str(found)) < 1000


# ---------------------------------------------------------------- every single place, made odd

AT = {"turn": 1, "step": 1}
LOG: list[Any] = [
    SESSION,
    {"type": "agent/inbox/spliced", "data": {"target": "next-turn", "start": 0, "inserted": [{"content": [{"type": "text", "text": "go"}], "id": "m"}]}},
    {"type": "turn/start", "data": {"turn": 1}},
    {"type": "agent/inbox/spliced", "data": {"target": "next-turn", "start": 0, "removedCount": 1, "inserted": [], "outcome": "canceled"}},
    {"type": "step/start", "data": AT},
    {"type": "user/message", "data": {"content": [{"type": "text", "text": "go"}], "source": {"kind": "user"}, "id": "m"}},
    {"type": "request/header", "data": {"header": {"config": {"model": "m"}, "system": "s", "tools": [{"name": "x"}]}, "reason": "initial"}},
    {"type": "text-chunks", "data": {**AT, "index": 0, "texts": ["a"]}},
    {"type": "assistant/chunk", "data": {**AT, "chunk": {"type": "finish", "reason": {"kind": "error", "failure": {"message": "x", "code": "SERVER"}}}}},
    {"type": "llm/retry", "data": {**AT, "delayMs": 1, "failure": {"code": "SERVER"}}},
    {"type": "assistant/message", "data": {**AT, "message": {"content": [{"type": "tool-call", "id": "c", "name": "x", "arguments": "{}"}, {"type": "reasoning", "text": "r"}], "source": {"model": "m"}}, "usage": {"inputTokens": 1}, "interrupted": False}},
    {"type": "approval/asked", "data": {"id": "q", "callId": "c"}},
    {"type": "approval/decided", "data": {"id": "q", "outcome": "approved"}},
    {"type": "tool/call", "data": {**AT, "callId": "c", "name": "x", "arguments": "{}"}},
    {"type": "tool/result", "data": {**AT, "message": {"content": [{"type": "tool-result", "toolCallId": "c", "content": "out", "isError": True}], "source": {"callId": "c"}}, "error": {"name": "E", "code": "ABORTED"}, "meta": {}}},
    {"type": "tool/result", "data": {**AT, "callId": "c", "content": [{"type": "text", "text": "out"}], "isError": False}},
    {"type": "user/message", "data": {"content": "short", "source": {"kind": "plugin"}}, "surfaceOp": {"op": "replace", "start": 4, "end": 4}},
    {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "max-steps", "limit": 3}}},
    {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "aborted", "reason": {"kind": "user"}}}},
    {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "waiting", "callId": "c"}}},
    {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "error", "error": {"message": "x", "code": "AUTH"}}}},
]  # fmt: skip
CHAT: list[Any] = [
    {"task_id": 1, "trial": 0, "model": "m", "temperature": 1, "tools": [{"type": "function", "function": {"name": "x"}}], "messages": [
        {"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": None, "refusal": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "x", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "name": "x", "content": "out"},
        {"role": "assistant", "content": "done", "function_call": {"name": "x", "arguments": "{}"}},
    ]},
]  # fmt: skip
ARTICLE: list[Any] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": [{"type": "text", "text": "t"}, {"type": "tool-call", "toolCallId": "c", "toolName": "x", "input": {}}], "toolCalls": [{"callId": "d", "name": "y", "arguments": "{}", "function": {"name": "z"}}]},
    {"role": "tool", "callId": "c", "output": "out", "isError": False},
    {"type": "tool_result", "call_id": "d", "output": {"a": 1}, "is_error": True},
]  # fmt: skip
CALL = {"id": "c", "type": "function", "function": {"name": "x", "arguments": "{}"}}
ATIF: Any = {"schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1", "model_name": "m", "tool_definitions": [{"type": "function", "function": {"name": "x"}}]}, "steps": [
    {"step_id": 1, "source": "system", "message": "s", "extra": {"harness": {"message": {"role": "developer", "content": "s"}}}},
    {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "go"}, {"type": "image", "source": {"media_type": "i", "path": "sha256:x"}}], "extra": {"harness": {"extra": {}}}},
    {"step_id": 3, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "c", "function_name": "x", "arguments": {}, "extra": {"harness": {"arguments": "{", "wireId": ""}}}], "observation": {"results": [
        {"source_call_id": "c", "content": "o", "extra": {"harness": {"isError": True, "code": "EMPTY"}}}, {"content": "screen"}]}, "metrics": {"prompt_tokens": 1, "cost_usd": 0.1},
     "extra": {"harness": {"answer": {"finishReason": "stop", "usage": {"inputTokens": 1}, "content": [{"text": "t"}]}}}},
], "subagent_trajectories": [{"schema_version": "ATIF-v1.7", "agent": {"name": "b", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": "x"}]}],
    "extra": {"harness": {"runId": "r", "trial": 2, "end": {"status": "failed", "reason": {"kind": "error", "code": "SERVER", "message": "m"}}}}}  # fmt: skip
SWE: Any = {"history": [
    {"role": "system", "content": "s", "agent": "main"}, {"role": "assistant", "content": "t", "agent": "main", "tool_calls": [CALL]},
    {"role": "tool", "content": "o", "agent": "main", "tool_call_ids": ["c"]}], "info": {"exit_status": "exit_cost"}}  # fmt: skip
MINI: Any = {"trajectory_format": "mini-swe-agent-1", "info": {"exit_status": "LimitsExceeded", "model_stats": {"api_calls": 1}, "config": {"agent": {"step_limit": 1}}}, "messages": [
    {"role": "user", "content": "go"}, {"role": "assistant", "content": "t", "tool_calls": [CALL], "extra": {"response": {"model": "m", "choices": [{"finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}}},
    {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}}]}  # fmt: skip
DOJO: Any = {"suite_name": "s", "user_task_id": "u", "pipeline_name": "m", "error": None, "utility": False, "messages": [
    {"role": "user", "content": [{"type": "text", "content": "go"}]},
    {"role": "assistant", "content": [{"type": "thinking", "content": "t"}], "tool_calls": [{"function": "f", "args": {}, "id": "c", "placeholder_args": {"a": 1}}]},
    {"role": "tool", "content": None, "tool_call_id": "c", "tool_call": {"function": "f", "id": "c"}, "error": "e"}, {"role": "assistant", "content": "x"}]}  # fmt: skip
ITEMS: Any = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}, {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}]},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "o"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}, {"type": "refusal", "refusal": "n"}]}]  # fmt: skip
NEMO: Any = {"responses_create_params": {"input": ITEMS[:2], "tools": [{"type": "function", "name": "f"}], "instructions": "i", "temperature": 1}, "response": {
    "output": ITEMS[2:], "model": "m", "status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "error": {"message": "x"}}, "_ng_task_index": 1, "_ng_rollout_index": 1, "agent_timed_out": False}  # fmt: skip
def attribute(key: str, value: Any) -> Any:
    return {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}


SPANS: Any = {"resourceSpans": [{"scopeSpans": [{"spans": [
    {"traceId": "t", "spanId": "a", "name": "chat", "startTimeUnixNano": "1", "status": {"code": 2, "message": "m"}, "attributes": [
        attribute("gen_ai.operation.name", "chat"), attribute("gen_ai.output.messages", [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": {}}], "finish_reason": "stop"}]),
        {"key": "gen_ai.input.messages", "value": {"arrayValue": {"values": [{"kvlistValue": {"values": [attribute("role", "user"), {"key": "parts", "value": {"arrayValue": {"values": []}}}]}}]}}},
        {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "3"}}, {"key": "gen_ai.response.finish_reasons", "value": {"arrayValue": {"values": [{"stringValue": "stop"}]}}}]},
    {"traceId": "t", "spanId": "b", "parentSpanId": "a", "startTimeUnixNano": "2", "attributes": [attribute("gen_ai.operation.name", "chat"), attribute("gen_ai.tool.definitions", [{"type": "function", "name": "f"}])],
     "events": [{"name": "gen_ai.user.message", "attributes": [attribute("gen_ai.event.content", {"content": "x"})]}, {"name": "gen_ai.choice", "attributes": [attribute("message", {"content": "x"}), attribute("finish_reason", "stop")]}]},
    {"traceId": "t", "spanId": "d", "startTimeUnixNano": "3", "attributes": [attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.call.id", "c"), attribute("gen_ai.tool.call.result", "r")]},
]}]}], "resourceLogs": [{"scopeLogs": [{"logRecords": [{"traceId": "t", "spanId": "b", "eventName": "gen_ai.tool.message", "body": {"kvlistValue": {"values": [attribute("id", "c"), attribute("content", "x")]}}}]}]}]}  # fmt: skip
INSPECT: Any = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m", "created": "2025"}, "samples": [{"id": 1, "epoch": 1, "scores": {}, "attachments": {"ab": "x"},
    "limit": {"type": "time", "limit": 1.5}, "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "attachment://ab"},
    {"id": "m", "role": "assistant", "content": [{"type": "reasoning", "reasoning": "t"}, {"type": "text", "text": "x"}], "tool_calls": [{"id": "c", "function": "f", "arguments": {}, "type": "function"}]},
    {"role": "tool", "content": "o", "tool_call_id": "c", "function": "f", "error": {"type": "parsing", "message": "m"}}],
    "events": [{"event": "model", "tools": [{"name": "f"}], "config": {"temperature": 0}, "output": {"model": "m", "choices": [{"message": {"id": "m"}, "stop_reason": "stop"}], "usage": {"input_tokens": 1}}}]}]}  # fmt: skip
GOOD: dict[str, Any] = {"inspect": INSPECT, "otel": SPANS, "dsh": LOG, "chat": CHAT, "article": ARTICLE, "atif": ATIF, "swe": SWE, "mini": MINI, "agentdojo": DOJO, "responses": ITEMS, "nemo": NEMO}
ODD: list[Any] = [None, True, 0, -1, 10**30, 1.5, "", "x", "\ud800", [], [[]], [None], ["x"], {}, {"type": "text"}, {"kind": []}, {"a": {"b": 1}}]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def test_every_reader_has_a_good_file_here() -> None:
    assert set(GOOD) == set(FORMATS)


@pytest.mark.parametrize("name", sorted(GOOD))
def test_every_value_of_a_good_file_may_be_odd(name: str) -> None:
    document = GOOD[name]
    whole = outcome(name, json.dumps(document).encode() if name != "dsh" else b"\n".join(json.dumps(line).encode() for line in document))
    assert isinstance(whole, list)
    check_writable(whole)
    for path in places(document)[1:]:
        for odd in ODD:
            changed = replaced(document, path, odd)
            text = json.dumps(changed) if name != "dsh" else "\n".join(json.dumps(line) for line in changed)
            check_writable(outcome(name, text.encode()))
            assert format_of(parse_document(text.encode(), "hostile")) in {None, *FORMATS}
