"""What a format says beside messages, calls and results is read as what it is, or kept in a note; nothing is lost."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from harness.checks import judge
from harness.errors import ForeignFormatError
from harness.folds import calls_of, history_of
from harness.formats import FORMATS, parse_document
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ToolResult, UserMessage
from harness.types.lifecycle import Note
from harness.types.reasons import Usage
from tests.formats.lab import again

USER = {"role": "user", "content": "go"}
USES = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "I look"},
        {"type": "tool_use", "id": "t1", "name": "a", "input": {"x": 1}},
        {"type": "tool_use", "id": "t2", "name": "b", "input": {}},
    ],
}


def tells(*ids: str, text: str | None = None) -> dict[str, Any]:
    results = [{"type": "tool_result", "tool_use_id": one, "content": f"of {one}"} for one in ids]
    return {"role": "user", "content": [*results, *([{"type": "text", "text": text}] if text else [])]}


def notes(trajectory: Trajectory) -> dict[str, Any]:
    return {
        event.fact.name: json.loads(event.fact.data or "null") for event in trajectory if isinstance(event.fact, Note)
    }


def test_results_of_anthropic_histories_answer_the_call_that_they_name() -> None:
    trajectory = again("article", [USER, USES, tells("t2", "t1", text="and Z")])
    assert [trace.result and trace.result.fact.content for trace in calls_of(trajectory)] == ["of t1", "of t2"]  # type: ignore[union-attr]
    assert [e.fact.message.content for e in trajectory if isinstance(e.fact, UserMessage)] == ["go", "and Z"]


def test_a_result_that_names_no_call_of_the_history_is_found() -> None:
    trajectory = again("article", [USER, USES, tells("WRONG", "t2")])
    assert "pairing" in [one.check for one in judge(trajectory) if one.outcome is Outcome.FAIL]


def test_what_stands_beside_a_list_of_an_articles_messages_is_kept() -> None:
    messages = [USER, {"role": "assistant", "content": "x", "toolCalls": []}]
    assert notes(again("article", {"history": messages, "info": {"exit_status": "x"}}))["article/beside"] == {
        "info": {"exit_status": "x"}
    }
    assert notes(again("article", {"history": messages})) == {}


def test_unknown_fields_of_an_agentdojo_message_are_kept() -> None:
    messages = [{**USER, "note": "KEEP"}, {"role": "assistant", "content": None, "tool_calls": None}]
    run = {"suite_name": "s", "user_task_id": "t", "messages": messages, "error": None}
    assert notes(again("agentdojo", run))["agentdojo/extra"] == {"note": "KEEP"}


def test_fields_of_calls_and_of_reasoning_in_inspect_are_kept_and_a_cypher_is_no_reasoning() -> None:
    call = {
        "id": "c1",
        "function": "f",
        "arguments": {},
        "type": "function",
        "parse_error": "bad",
        "view": {"title": "V"},
    }
    cypher = {"type": "reasoning", "reasoning": "CYPHER", "signature": "S", "redacted": True, "summary": "in short"}
    answer = {"role": "assistant", "content": [cypher, {"type": "reasoning", "reasoning": "hm"}], "tool_calls": [call]}
    log = {"version": 2, "eval": {"task": "t"}, "samples": [{"id": 1, "messages": [USER, answer]}]}
    trajectory = again("inspect", log)
    (fact,) = [event.fact for event in trajectory if isinstance(event.fact, AssistantMessage)]
    assert fact.reasoning == "in short\n\nhm"
    kept = notes(trajectory)
    assert kept["inspect/call-extra"] == {"0": {"parse_error": "bad", "view": {"title": "V"}}}
    assert kept["inspect/reasoning"] == [cypher]


@pytest.mark.parametrize("kind", ["local_shell", "shell", "computer", "apply_patch"])
def test_calls_of_the_providers_own_kinds_are_calls(kind: str) -> None:
    call = {"type": f"{kind}_call", "id": "x", "call_id": "c1", "action": {"n": 1}, "status": "completed"}
    items = [USER, call, {"type": f"{kind}_call_output", "call_id": "c1", "output": "a"}, {**call, "call_id": "c2"}]
    items += [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": "done"}]
    one, two = calls_of(again("responses", items))
    assert (one.call.name, one.call.arguments) == (kind, '{"action":{"n":1}}')
    assert one.result is not None
    assert two.result is None


def test_the_output_of_a_computer_stands_between_two_answers() -> None:
    call = {"type": "computer_call", "call_id": "c1", "action": {"type": "screenshot"}}
    shot = {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"}
    items = [
        USER,
        call,
        {"type": "computer_call_output", "call_id": "c1", "output": shot},
        {"type": "message", "role": "assistant", "content": "done"},
    ]
    items += [{"type": "reasoning", "summary": []}]
    assert [message.role for message in history_of(again("responses", items))] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_runs_of_mini_swe_agent_with_its_responses_model_are_read() -> None:
    response = {
        "object": "response",
        "model": "m-1",
        "status": "completed",
        "output": [{"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"}],
        "usage": {"input_tokens": 5, "output_tokens": 2},
        "extra": {"cost": 0.1},
    }
    output = {"type": "function_call_output", "call_id": "c1", "output": "x", "extra": {"returncode": 0}}
    exits = {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}}
    info = {"exit_status": "Submitted", "mini_version": "2.1.0", "config": {}}
    trajectory = again(
        "mini", {"info": info, "messages": [USER, response, output, exits], "trajectory_format": "mini-swe-agent-1.1"}
    )
    (trace,) = calls_of(trajectory)
    assert trace.result is not None
    assert isinstance(trace.result.fact, ToolResult)
    assert (trace.call.name, trace.result.fact.content) == ("bash", "x")
    (answer,) = [event.fact for event in trajectory if isinstance(event.fact, AssistantMessage)]
    assert (answer.model, answer.usage) == ("m-1", Usage(5, 2, None, None))
    assert trajectory.header.models == (("main", "m-1"),)


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("atif", "schema_version", "2 lines, each of them an ATIF document"),
        ("agentdojo", "suite_name", "2 lines, each of them a run of AgentDojo"),
    ],
)
def test_lines_of_what_is_read_one_a_file_say_so(name: str, key: str, words: str) -> None:
    value = {key: "ATIF-v1.8", "user_task_id": "t", "messages": []}
    document = parse_document(f"{json.dumps(value)}\n{json.dumps(value)}\n".encode(), "a.jsonl")
    with pytest.raises(ForeignFormatError, match=words):
        list(FORMATS[name].read(document))


def test_what_is_packed_or_cut_is_said_in_words() -> None:
    with pytest.raises(ForeignFormatError, match="packed with gzip"):
        parse_document(gzip.compress(b"{}"), "a.json.gz")
    with pytest.raises(ForeignFormatError, match="it has no end, so it was cut"):
        parse_document(b"PK\x03\x04" + b"x" * 200, "a.eval")
