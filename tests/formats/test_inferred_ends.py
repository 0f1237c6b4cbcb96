"""No reader makes an end out of an answer that says nothing, or accuses a limit that the file does not tell whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.checks import judge
from harness.folds import end_of
from harness.types.codes import LimitKind, Outcome
from harness.types.reasons import LimitHit, OutOfTokens
from tests.formats.lab import again

USER = {"role": "user", "content": "go"}


def dojo(content: Any) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": [{"type": "text", "content": "go"}]},
        {"role": "assistant", "content": content, "tool_calls": None},
    ]
    return {"suite_name": "s", "user_task_id": "t", "messages": messages, "error": None, "utility": True}


def inspect(*messages: Any, **more: Any) -> dict[str, Any]:
    sample = {"id": 1, "epoch": 1, "messages": list(messages), "scores": {"s": {"value": "C"}}, **more}
    return {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample]}


def said(content: Any) -> dict[str, Any]:
    return inspect(USER, {"role": "assistant", "content": content})


def spans(content: str) -> dict[str, Any]:
    parts = [{"role": "assistant", "parts": [{"type": "text", "content": content}], "finish_reason": "stop"}]
    values = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.output.messages": json.dumps(parts)}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]
    span = {
        "traceId": "t",
        "spanId": "s",
        "name": "chat",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": attributes,
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


EMPTY = [
    pytest.param("agentdojo", dojo([{"type": "text", "content": ""}]), id="agentdojo-empty-part"),
    pytest.param("agentdojo", dojo([{"type": "text", "content": " \n"}]), id="agentdojo-blanks"),
    pytest.param("agentdojo", dojo([{"type": "thinking", "content": "hm"}]), id="agentdojo-thinking-alone"),
    pytest.param("agentdojo", dojo(None), id="agentdojo-null"),
    pytest.param("inspect", said([{"type": "text", "text": ""}]), id="inspect-empty-part"),
    pytest.param("inspect", said("  "), id="inspect-blanks"),
    pytest.param("inspect", said(""), id="inspect-empty"),
    pytest.param("inspect", said([{"type": "reasoning", "reasoning": "hm"}]), id="inspect-thinking-alone"),
    pytest.param("otel", spans(" "), id="otel-blanks"),
]


@pytest.mark.parametrize(("name", "value"), EMPTY)
def test_an_answer_that_says_nothing_ends_no_run(name: str, value: Any) -> None:
    trajectory = again(name, value)
    assert end_of(trajectory) is None
    assert [one.check for one in judge(trajectory) if one.outcome is Outcome.FAIL] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("agentdojo", dojo([{"type": "text", "content": "x"}])), ("inspect", said("x")), ("otel", spans("x"))],
)
def test_an_answer_that_says_something_still_does(name: str, value: Any) -> None:
    end = end_of(again(name, value))
    assert end is not None
    assert end.reason.kind == "final-answer"


def test_the_output_of_a_sample_tells_why_its_last_answer_stopped_where_there_are_no_events() -> None:
    answer = {"id": "9", "role": "assistant", "content": "half"}
    output = {"model": "m-1", "choices": [{"message": answer, "stop_reason": "max_tokens"}]}
    end = end_of(again("inspect", inspect(USER, answer, output=output, events=[])))
    assert end is not None
    assert end.reason == OutOfTokens()
    other = {**output, "choices": [{"message": {"id": "8"}, "stop_reason": "max_tokens"}]}
    end = end_of(again("inspect", inspect(USER, answer, output=other)))
    assert end is not None
    assert end.reason.kind == "final-answer", "the output of another message"


def mini(limit: int | None, n_calls: int, *, tools: bool) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [USER]
    for n in range(n_calls):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": "x", **({"tool_calls": [call]} if tools else {})})
        messages.append(
            {"role": "tool", "tool_call_id": f"c{n}", "content": "ok"} if tools else {"role": "user", "content": "ok"}
        )
    config = {"agent": {"step_limit": limit, "cost_limit": 3.0}}
    info = {
        "exit_status": "LimitsExceeded",
        "model_stats": {"api_calls": n_calls},
        "mini_version": "2.0.0",
        "config": config,
    }
    return {"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}


@pytest.mark.parametrize("tools", [True, False], ids=["function-calling", "text-protocol"])
def test_a_limit_of_steps_of_mini_swe_agent_is_its_number_and_no_fault(*, tools: bool) -> None:
    trajectory = again("mini", mini(3, 3, tools=tools))
    end = end_of(trajectory)
    assert end is not None
    assert isinstance(end.reason, LimitHit)
    assert (end.reason.which, end.reason.value) == (LimitKind.STEPS, 3)
    assert [one.check for one in judge(trajectory) if one.outcome is Outcome.FAIL] == []


@pytest.mark.parametrize("kind", ["message", "turn"])
def test_a_limit_of_an_inspect_sample_is_never_counted_in_steps_of_ours(kind: str) -> None:
    again_please = {"role": "user", "content": "please proceed"}
    answer = {"role": "assistant", "content": "x"}
    trajectory = again("inspect", inspect(USER, answer, again_please, answer, limit={"type": kind, "limit": 2}))
    end = end_of(trajectory)
    assert end is not None
    assert isinstance(end.reason, LimitHit)
    assert end.reason.which is {"message": LimitKind.MESSAGES, "turn": LimitKind.STEPS}[kind]
    assert [one.check for one in judge(trajectory) if one.outcome is Outcome.FAIL] == []
