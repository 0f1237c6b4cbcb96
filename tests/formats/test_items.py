"""Responses items, alone and in rollouts of NeMo Gym."""

import json
from typing import Any

import pytest

from harness.errors import ForeignFormatError
from harness.folds import calls_of, end_of, history_of, status_of
from harness.formats import FORMATS, format_of, parse_document
from harness.types.codes import LimitKind, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, RequestHeader
from harness.types.messages import ChatDeveloper, ChatSystem
from harness.types.reasons import LimitHit
from tests.formats.lab import again

USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}
THINKS = {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"}


def call(identity: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": identity, "name": "find", "arguments": '{"q": 1}', **more}


def tells(identity: str, output: Any = "one") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": identity, "output": output}


def says(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}], "status": "completed"}


ITEMS = [USER, THINKS, says("I look"), call("a"), call("b"), tells("b", "two"), tells("a"), says("done")]


def answers(trajectory: Trajectory) -> list[AssistantMessage]:
    return [event.fact for event in trajectory if isinstance(event.fact, AssistantMessage)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(ITEMS), id="list"),
        pytest.param("\n".join(json.dumps(item) for item in ITEMS), id="lines"),
        pytest.param(json.dumps({"object": "response", "model": "m", "input": ITEMS[:1], "output": ITEMS[1:]}), id="response"),
        pytest.param(json.dumps({"input": "go", "output": ITEMS[1:]}), id="input-as-text"),
    ],
)
def test_an_answer_is_the_run_of_items_of_the_model(text: str) -> None:
    document = parse_document(text.encode(), "a.json")
    assert format_of(document) == "responses"
    (trajectory,) = FORMATS["responses"].read(document)
    first, last = answers(trajectory)
    assert (first.content, first.reasoning, [one.arguments for one in first.tool_calls]) == ("I look", "hm", ['{"q": 1}'] * 2)
    assert json.loads(first.extra or "{}")["response_items"][0] == THINKS, "what only the provider understands goes back to it"
    assert (last.content, last.tool_calls) == ("done", ())
    assert [(trace.call.id, trace.result.fact.content if trace.result else None) for trace in calls_of(trajectory)] == [("a", "one"), ("b", "two")]  # type: ignore[union-attr]
    assert [message.role for message in history_of(trajectory)] == ["user", "assistant", "tool", "tool", "assistant"]


@pytest.mark.parametrize(
    ("items", "words"),
    [
        pytest.param([], "no Responses items", id="none"),
        pytest.param([call("a"), 5], r"items\[1\]: is a number", id="number"),
        pytest.param([call("a"), {"role": "oracle"}], r"items\[1\].role: is 'oracle'", id="unknown-role"),
        pytest.param([{"type": "reasoning", "summary": "x"}], r"items\[0\].summary: is no list of parts", id="summary-text"),
        pytest.param([{"type": 5}], r"items\[0\].type", id="type-number"),
    ],
)
def test_what_is_no_item_is_refused_with_the_place(items: Any, words: str) -> None:
    with pytest.raises(ForeignFormatError, match=words):
        again("responses", items)


def test_the_items_of_the_articles_are_not_taken_for_these() -> None:
    items = [{"type": "tool_call", "callId": "c1", "name": "calc", "input": {}}, {"type": "tool_result", "callId": "c1", "output": "x"}]
    assert format_of(parse_document(json.dumps(items).encode(), "x")) == "article"


# ---------------------------------------------------------------- rollouts


def rollout(output: list[Any], *, given: Any = None, response: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    params = {"input": [USER] if given is None else given, "temperature": 0.5, "tools": [{"type": "function", "name": "find", "parameters": {}}], "user": None}
    return {"responses_create_params": params, "response": {"output": output, "model": "m", **(response or {})}, "reward": 1.0, **more}


def test_a_rollout_comes_in_with_its_header_trial_and_record() -> None:
    given = [{"role": "system", "content": "brief"}, {"role": "developer", "content": "kind"}, USER]
    trajectory = again("nemo", rollout(ITEMS[1:], given=given, _ng_task_index=7, _ng_rollout_index=2))
    header = next(event.fact for event in trajectory if isinstance(event.fact, RequestHeader))
    assert header.system == (ChatSystem(content="brief"), ChatDeveloper(content="kind"))
    assert json.loads(header.tools) == [{"name": "find", "parameters": {}}]
    assert json.loads(header.parameters) == {"temperature": 0.5}
    assert (trajectory.header.run_id, trajectory.header.trial) == ("again/task-7@default#3", 3)
    assert len(history_of(trajectory)) == 5


def test_a_history_that_is_given_counts_as_the_run_and_joins_the_answer() -> None:
    trajectory = again("nemo", rollout([says("done")], given=[USER, call("a"), tells("a"), THINKS]))
    assert len(answers(trajectory)) == 2
    assert answers(trajectory)[1].reasoning == "hm"


ENDS = [
    pytest.param(rollout([says("done")], response={"status": "completed"}), Status.COMPLETED, "final-answer", id="completed"),
    pytest.param(rollout([call("a")], response={"status": "completed"}), None, None, id="completed-on-a-call"),
    pytest.param(rollout([says("done")]), None, None, id="no-status"),
    pytest.param(rollout([says("done")], finished_naturally=True), Status.COMPLETED, "final-answer", id="finished-naturally"),
    pytest.param(rollout([says("d")], response={"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}), Status.INCOMPLETE, "max-tokens", id="cut"),
    pytest.param(rollout([], response={"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}), Status.INCOMPLETE, "content-filter", id="filtered"),
    pytest.param(rollout([], response={"status": "failed", "error": {"message": "down"}}), Status.FAILED, "error", id="failed"),
    pytest.param(rollout([], response={"status": "cancelled"}), Status.CANCELLED, "cancelled", id="cancelled"),
    pytest.param(rollout([says("done")], response={"status": "completed"}, agent_timed_out=True), Status.LIMIT_REACHED, "limit", id="timed-out"),
    pytest.param(rollout([says("done")], response={"status": "completed"}, context_length_exceeded_error=True), Status.FAILED, "error", id="overflow"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "status", "kind"), ENDS)
def test_the_end_of_a_rollout_is_what_response_or_environment_say(value: Any, status: Any, kind: Any) -> None:
    trajectory = again("nemo", value)
    end = end_of(trajectory)
    assert (status_of(trajectory), end.reason.kind if end else None) == (status, kind)
    if end is not None and isinstance(end.reason, LimitHit):
        assert end.reason.which is LimitKind.WALL_TIME


@pytest.mark.parametrize(
    ("value", "words"),
    [
        pytest.param({"response": {}}, "no rollouts of NeMo Gym", id="of-none"),
        pytest.param(rollout([]) | {"response": {}}, ":1: rollout 1: response: has no list of output items", id="no-output"),
        pytest.param(rollout([5]), r"rollout 1: response.output\[0\]: is a number", id="item-number"),
        pytest.param(rollout([], given=5), "input: is a number", id="input-number"),
    ],
)
def test_what_is_no_rollout_is_refused_with_line_and_place(value: Any, words: str) -> None:
    with pytest.raises(ForeignFormatError, match=words):
        again("nemo", value)
