"""SWE-agent and mini-swe-agent: the history as the model saw it, and the end as the run's own word tells it."""

import json
from typing import Any

import pytest

from harness.errors import ForeignFormatError
from harness.folds import calls_of, end_of, history_of, status_of
from harness.formats import format_of, parse_document
from harness.types.codes import Code, FinishReason, LimitKind, Status
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.lifecycle import Note
from harness.types.reasons import Failed, LimitHit, Usage
from tests.formats.lab import again


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main", **more}


CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"a":1}'}}
OTHER = {"id": "c2", "type": "function", "function": {"name": "open", "arguments": "{}"}}
HISTORY = [
    said("system", "be brief", message_type="system_prompt"),
    said("user", "fix it", message_type="observation"),
    said("assistant", "I look", thought="I look", action="find", tool_calls=[CALL], message_type="action"),
    said("tool", "found", tool_call_ids=["c1"], message_type="observation"),
    said("assistant", "done", thought="done", action="submit", message_type="action"),
]


def test_a_result_names_its_calls_in_a_list() -> None:
    trajectory = again("swe", {"history": HISTORY, "info": {"exit_status": "submitted"}, "trajectory": [{"action": "find"}]})
    (trace,) = calls_of(trajectory)
    assert trace.result is not None
    assert (trace.call.id, trace.call.name, trace.result.fact.content) == ("c1", "find", "found")  # type: ignore[union-attr]
    assert [message.role for message in history_of(trajectory)] == ["user", "assistant", "tool", "assistant"]
    assert status_of(trajectory) is Status.COMPLETED


def test_the_observation_of_two_calls_answers_both() -> None:
    history = [said("assistant", "", tool_calls=[CALL, OTHER]), said("tool", "seen", tool_call_ids=["c1", "c2"])]
    results = [event.fact for event in again("swe", {"history": history}) if isinstance(event.fact, ToolResult)]
    assert [(result.call_id, result.content) for result in results] == [("c1", "seen"), ("c2", "seen")]


def test_what_a_message_says_beside_its_content_is_kept() -> None:
    notes = [event.fact for event in again("swe", {"history": HISTORY}) if isinstance(event.fact, Note)]
    assert [note.name for note in notes] == ["swe/extra"] * 5
    assert '"action":"find"' in (notes[2].data or "")


SWE_ENDS = [
    ("submitted", Status.COMPLETED, "concluded", None),
    ("submitted (exit_cost)", Status.LIMIT_REACHED, "limit", LimitKind.COST),
    ("exit_cost", Status.LIMIT_REACHED, "limit", LimitKind.COST),
    ("exit_total_execution_time", Status.LIMIT_REACHED, "limit", LimitKind.WALL_TIME),
    ("exit_context", Status.FAILED, "error", Code.CONTEXT_OVERFLOW),
    ("exit_format", Status.FAILED, "error", Code.DAMAGED_RESPONSE),
    ("exit_something_new", Status.FAILED, "error", Code.UNKNOWN),
    ("exit_forfeit", Status.CANCELLED, "cancelled", None),
    (None, None, None, None),
]
MINI_ENDS = [
    ("Submitted", Status.COMPLETED, "concluded", None),
    ("LimitsExceeded", Status.LIMIT_REACHED, "limit", LimitKind.COST),
    ("TimeExceeded", Status.LIMIT_REACHED, "limit", LimitKind.WALL_TIME),
    ("ContextWindowExceededError", Status.FAILED, "error", Code.CONTEXT_OVERFLOW),
    ("ValueError", Status.FAILED, "error", Code.UNKNOWN),
    ("UserInterruption", Status.CANCELLED, "cancelled", None),
    (None, None, None, None),
]


@pytest.mark.parametrize(("word", "status", "kind", "detail"), SWE_ENDS, ids=[str(row[0]) for row in SWE_ENDS])
def test_the_end_of_a_run_of_swe_agent_is_its_exit_status(word: Any, status: Any, kind: Any, detail: Any) -> None:
    check_end(again("swe", {"history": HISTORY, "info": {"exit_status": word}}), status, kind, detail)


@pytest.mark.parametrize(("word", "status", "kind", "detail"), MINI_ENDS, ids=[str(row[0]) for row in MINI_ENDS])
def test_the_end_of_a_run_of_mini_swe_agent_is_its_exit_status(word: Any, status: Any, kind: Any, detail: Any) -> None:
    root = {"trajectory_format": "mini-swe-agent-1.1", "messages": [{"role": "user", "content": "go"}], "info": {"exit_status": word}}
    check_end(again("mini", root), status, kind, detail)


def check_end(trajectory: Any, status: Any, kind: Any, detail: Any) -> None:
    end = end_of(trajectory)
    assert status_of(trajectory) is status
    assert (end.reason.kind if end else None) == kind
    reason = end.reason if end else None
    found = reason.which if isinstance(reason, LimitHit) else reason.code if isinstance(reason, Failed) else None
    assert found == detail


def test_a_limit_of_steps_is_told_from_one_of_money() -> None:
    info = {"exit_status": "LimitsExceeded", "model_stats": {"api_calls": 5}, "config": {"agent": {"step_limit": 5}}}
    end = end_of(again("mini", {"messages": [], "info": info}))
    assert end is not None
    assert isinstance(end.reason, LimitHit)
    assert end.reason.which is LimitKind.STEPS


RESPONSE = {"model": "m", "choices": [{"finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
MINI_2 = {
    "trajectory_format": "mini-swe-agent-1.1",
    "info": {"mini_version": "2.0.0"},
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "go", "extra": {}},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "extra": {"actions": [{"command": "ls"}], "response": RESPONSE}},
        {"role": "tool", "tool_call_id": "c1", "content": "<returncode>0</returncode>", "extra": {"raw_output": "", "returncode": 0}},
        {"role": "exit", "content": "done", "extra": {"exit_status": "Submitted", "submission": "done"}},
    ],
}  # fmt: skip


def test_a_run_of_the_second_generation_keeps_usage_and_ends_with_its_last_message() -> None:
    trajectory = again("mini", MINI_2)
    (answer,) = [event.fact for event in trajectory if isinstance(event.fact, AssistantMessage)]
    assert (answer.usage, answer.finish_reason, answer.model) == (Usage(7, 2), FinishReason.TOOL_CALLS, "m")
    assert [message.role for message in history_of(trajectory)] == ["user", "assistant", "tool"]
    assert status_of(trajectory) is Status.COMPLETED
    assert trajectory.header.models == (("main", "m"),)


def test_a_bare_list_of_the_first_generation_is_read_when_asked_for() -> None:
    trajectory = again("mini", [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}, {"role": "assistant", "content": "ls"}])
    assert (len(history_of(trajectory)), status_of(trajectory)) == (2, None)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        pytest.param("swe", {"messages": []}, "no run of SWE-agent", id="swe-of-none"),
        pytest.param("mini", {"history": []}, "no run of mini-swe-agent", id="mini-of-none"),
        pytest.param("mini", {"messages": [{"role": "oracle"}]}, r"messages\[0\]: a message is an object with one of the roles", id="unknown-role"),
        pytest.param("swe", {"history": [said("user", 5)]}, r"history\[0\].content: is a number", id="content-number"),
    ],
)
def test_what_is_no_such_run_is_refused_with_the_place(name: str, value: Any, words: str) -> None:
    with pytest.raises(ForeignFormatError, match=words):
        again(name, value)


@pytest.mark.parametrize(
    ("value", "name"),
    [({"history": HISTORY}, "swe"), (MINI_2, "mini"), ({"messages": [{"role": "user", "content": "x"}]}, "chat"), ({"history": []}, None)],
    ids=["swe", "mini", "chat", "none"],
)
def test_each_is_recognised_by_what_is_in_it(value: Any, name: str | None) -> None:


    assert format_of(parse_document(json.dumps(value).encode(), "x")) == name
