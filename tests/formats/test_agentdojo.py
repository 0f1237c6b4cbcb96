"""A run of AgentDojo: parts, ids that may be null, errors of tools, and the judge's word on the end."""

from typing import Any

import pytest

from harness.errors import ForeignFormatError
from harness.folds import calls_of, end_of, history_of, status_of
from harness.types.codes import Code, Status
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.lifecycle import Note
from tests.formats.lab import again

CALL = {"function": "balance", "args": {"n": 5}, "id": "c1", "placeholder_args": None}


def text(value: str) -> list[dict[str, str]]:
    return [{"type": "text", "content": value}]


def run(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"suite_name": "banking", "pipeline_name": "m", "user_task_id": "user_task_3", "messages": list(messages), "error": None, **more}


ASKS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
TELLS = {"role": "tool", "content": text("1810"), "tool_call_id": "c1", "tool_call": CALL, "error": None}
DONE = {"role": "assistant", "content": text("done"), "tool_calls": None}
USER = {"role": "user", "content": text("go")}


def test_a_run_comes_in_with_its_calls_and_results() -> None:
    trajectory = again("agentdojo", run({"role": "system", "content": text("brief")}, USER, ASKS, TELLS, DONE, utility=True))
    (trace,) = calls_of(trajectory)
    assert trace.result is not None
    assert (trace.call.name, trace.call.arguments, trace.result.fact.content) == ("balance", '{"n":5}', "1810")  # type: ignore[union-attr]
    assert [message.role for message in history_of(trajectory)] == ["user", "assistant", "tool", "assistant"]
    assert (status_of(trajectory), trajectory.header.models) == (Status.COMPLETED, (("main", "m"),))
    assert trajectory.header.run_id == "again/banking/user_task_3"


def test_ids_may_be_null_and_then_order_and_name_pair() -> None:
    call = {**CALL, "id": None}
    trajectory = again("agentdojo", run(USER, {**ASKS, "tool_calls": [call]}, {**TELLS, "tool_call_id": None, "tool_call": call}))
    (trace,) = calls_of(trajectory)
    assert (trace.call.id, trace.call.wire_id, trace.result is not None) == ("1.1.0", None, True)


def test_the_error_of_a_tool_stands_beside_its_result() -> None:
    (fact,) = [event.fact for event in again("agentdojo", run(USER, ASKS, {**TELLS, "content": text(""), "error": "ValueError: no"})) if isinstance(event.fact, ToolResult)]
    assert (fact.is_error, fact.code, fact.message) == (True, Code.TOOL_FAILED, "ValueError: no")


def test_thinking_is_reasoning_and_other_parts_are_kept() -> None:
    parts = [{"type": "thinking", "content": "hm"}, {"type": "redacted_thinking", "content": "xx"}, *text("a"), *text("b")]
    trajectory = again("agentdojo", run(USER, {"role": "assistant", "content": parts, "tool_calls": None}))
    (answer,) = [event.fact for event in trajectory if isinstance(event.fact, AssistantMessage)]
    assert answer.reasoning == "hm"
    assert [part.text for part in answer.content or () if not isinstance(part, str)] == ["a", "b"]  # type: ignore[union-attr]
    assert any(isinstance(event.fact, Note) and event.fact.name == "agentdojo/parts" for event in trajectory)


@pytest.mark.parametrize(
    ("value", "status", "kind"),
    [
        pytest.param(run(USER, DONE, utility=True), Status.COMPLETED, "final-answer", id="useful"),
        pytest.param(run(USER, DONE, utility=False), Status.INCOMPLETE, "final-answer", id="of-no-use"),
        pytest.param(run(USER, DONE, error="timeout"), Status.FAILED, "error", id="failed"),
        pytest.param(run(USER, ASKS, TELLS, utility=False), None, None, id="stopped-on-a-result"),
        pytest.param(run(utility=True), None, None, id="empty"),
    ],
)
def test_the_end_is_the_last_answer_and_what_the_judge_says_of_it(value: Any, status: Any, kind: Any) -> None:
    trajectory = again("agentdojo", value)
    end = end_of(trajectory)
    assert (status_of(trajectory), end.reason.kind if end else None) == (status, kind)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        pytest.param({"suite_name": "x"}, "no run of AgentDojo", id="of-none"),
        pytest.param(run("x"), r"messages\[0\]: a message is an object", id="message-text"),  # type: ignore[arg-type]
        pytest.param(run({"role": "oracle"}), "role is 'oracle'", id="unknown-role"),
        pytest.param(run({"role": "user", "content": 5}), r"messages\[0\].content", id="content-number"),
        pytest.param(run({**ASKS, "tool_calls": ["x"]}), r"messages\[0\].tool_calls", id="call-text"),
    ],
)
def test_what_is_no_such_run_is_refused_with_the_place(value: Any, words: str) -> None:
    with pytest.raises(ForeignFormatError, match=words):
        again("agentdojo", value)
