"""ATIF comes in with all that it says, and goes out so that it comes in again."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from harness.checks import judge
from harness.errors import ForeignFormatError
from harness.folds import calls_of, status_of
from harness.formats import parse_document, read_foreign, sniff
from harness.formats.atif import read_atif
from harness.formats.atif_write import OBSERVATION_NOTE, atif_document
from harness.types.codes import Code, Outcome, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, RequestHeader, ToolResult, UserMessage
from harness.types.lifecycle import Note
from harness.types.messages import ChatSystem, TextPart
from harness.types.reasons import Usage
from tests.formats.lab import again, conversations, in_steps, told

AGENT = {"name": "bot", "version": "1"}
USER = {"step_id": 1, "source": "user", "message": "go"}


def call(identity: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": identity, "function_name": "search", "arguments": arguments}


def said(step: int, *calls: dict[str, Any], results: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    asked = {"tool_calls": list(calls)} if calls else {}
    seen = {"observation": {"results": results}} if results is not None else {}
    return {"step_id": step, "source": "agent", "message": "", **asked, **seen, **more}


def document(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"schema_version": "ATIF-v1.8", "agent": AGENT, "steps": [USER, *steps], **more}


def pairs(trajectory: Trajectory) -> list[tuple[str, Any]]:
    return [(trace.call.id, trace.result.fact.content if trace.result else None) for trace in calls_of(trajectory)]  # type: ignore[union-attr]


def pairing(trajectory: Trajectory) -> Outcome:
    return next(verdict.outcome for verdict in judge(trajectory) if verdict.check == "pairing")


# ---------------------------------------------------------------- reading


def test_every_field_of_a_step_comes_in() -> None:
    metrics = {"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 2, "cost_usd": 0.00135}
    step = said(2, call("c1", q=1), results=[{"source_call_id": "c1", "content": "one"}], model_name="m", reasoning_content="why", metrics=metrics)
    trajectory = again("atif", document(step))
    answer = next(event.fact for event in trajectory if isinstance(event.fact, AssistantMessage))
    assert (answer.content, answer.reasoning, answer.model) == (None, "why", "m")
    assert answer.usage == Usage(9, 4, 2, cost_micro_usd=1350)
    assert [(one.name, one.arguments) for one in answer.tool_calls] == [("search", '{"q":1}')]
    assert pairs(trajectory) == [("c1", "one")]
    assert (trajectory.header.subject, status_of(trajectory)) == ("bot", None), "the format tells of no end"


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_every_version_is_read_and_the_newest_is_written(version: str) -> None:
    trajectory = again("atif", document() | {"schema_version": version})
    assert atif_document(trajectory)["schema_version"] == "ATIF-v1.8"


@pytest.mark.parametrize(
    ("results", "expected", "outcome"),
    [
        pytest.param([{"source_call_id": "b", "content": "of b"}, {"source_call_id": "a", "content": "of a"}], [("a", "of a"), ("b", "of b")], Outcome.PASS, id="by-name"),
        pytest.param([{"content": "one"}, {"source_call_id": None, "content": "two"}], [("a", "one"), ("b", "two")], Outcome.PASS, id="without-names-in-order"),
        pytest.param([{"content": "one"}], [("a", "one"), ("b", None)], Outcome.FAIL, id="one-for-two"),
        pytest.param([{"source_call_id": "x", "content": "stray"}], [("a", None), ("b", None)], Outcome.FAIL, id="of-a-call-that-is-not-there"),
        pytest.param([{"source_call_id": "a", "content": None}, {"source_call_id": "b", "content": "two"}], [("a", ""), ("b", "two")], Outcome.PASS, id="empty-content"),
    ],
)
def test_results_answer_the_calls_of_their_own_step(results: list[Any], expected: Any, outcome: Outcome) -> None:
    trajectory = again("atif", document(said(2, call("a"), call("b"), results=results), said(3, message="done")))
    assert (pairs(trajectory), pairing(trajectory)) == (expected, outcome)


def test_a_result_without_a_name_never_answers_a_call_of_an_earlier_step() -> None:
    trajectory = again("atif", document(said(2, call("a")), said(3, results=[{"content": "screen"}])))
    assert pairs(trajectory) == [("a", None)]
    assert [event.fact.message.content for event in trajectory if isinstance(event.fact, UserMessage)] == ["go", "screen"]
    assert OBSERVATION_NOTE in [event.fact.name for event in trajectory if isinstance(event.fact, Note)]


def test_known_tools_make_a_request_header_of_the_leading_system_steps() -> None:
    tools = [{"type": "function", "function": {"name": "search", "description": "", "parameters": {}}}]
    steps = [{"step_id": 1, "source": "system", "message": "be brief"}, {**USER, "step_id": 2}]
    trajectory = again("atif", {"schema_version": "ATIF-v1.5", "agent": {**AGENT, "tool_definitions": tools}, "steps": steps})
    header = next(event.fact for event in trajectory if isinstance(event.fact, RequestHeader))
    assert header.system == (ChatSystem(content="be brief"),)
    assert json.loads(header.tools) == [{"name": "search", "description": "", "parameters": {}}]
    assert again("atif", atif_document(trajectory)).events == trajectory.events


def test_embedded_trajectories_come_in_behind_their_parent() -> None:
    child = {**document(trajectory_id="child"), "subagent_trajectories": [document(trajectory_id="grandchild")]}
    value = json.dumps(document(subagent_trajectories=[child], trajectory_id="root")).encode()
    found = list(read_atif(parse_document(value, "runs/a.json")))
    assert [one.header.run_id for one in found] == ["a/root", "a/child", "a/grandchild"]


def test_parts_come_in_as_parts_and_what_is_no_text_is_kept() -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}}
    trajectory = again("atif", document({"step_id": 2, "source": "user", "message": [{"type": "text", "text": "look"}, image]}))
    content = [event.fact.message.content for event in trajectory if isinstance(event.fact, UserMessage)][1]
    assert content[0] == TextPart(text="look")
    assert json.loads(content[1].json) == image  # type: ignore[union-attr]


STRICT = [
    pytest.param({"schema_version": "ATIF-v1.9"}, "version 'ATIF-v1.9'", id="unknown-version"),
    pytest.param({"steps": []}, "at least one step", id="no-steps"),
    pytest.param({"colour": 1}, "a trajectory has no field 'colour'", id="unknown-field"),
    pytest.param({"agent": {"name": "x"}}, "a agent needs 'version'", id="agent-without-version"),
    pytest.param({"agent": 5}, "trajectory.agent: is a number", id="agent-of-another-kind"),
    pytest.param({"steps": [{**USER, "step_id": 2}]}, r"steps\[0\]: step_id is 2, it must be 1", id="gap"),
    pytest.param({"steps": [{**USER, "step_id": True}]}, "step_id: is a boolean", id="boolean-number"),
    pytest.param({"steps": [{**USER, "source": "tool"}]}, "source is 'tool'", id="unknown-source"),
    pytest.param({"steps": [{**USER, "tool_calls": []}]}, "'tool_calls' stands only in steps of the agent", id="user-with-calls"),
    pytest.param({"steps": [{**USER, "message": None}]}, "needs 'message'", id="no-message"),
    pytest.param({"steps": [{**USER, "message": ["x"]}]}, r"message\[0\]: a part", id="bad-part"),
    pytest.param({"steps": [said(1, {"tool_call_id": "a", "function_name": "f", "arguments": "{}"})]}, r"tool_calls\[0\].arguments: is a string", id="arguments-as-text"),
    pytest.param({"steps": [said(1, results=[{"content": 5}])]}, r"results\[0\].content: is a number", id="content-number"),
    pytest.param({"steps": [said(1, results=["x"])]}, r"results\[0\]: a observation result is an object", id="result-text"),
    pytest.param({"steps": [said(1, metrics={"tokens": 1})]}, "a metrics has no field 'tokens'", id="unknown-metric"),
    pytest.param({"extra": {"harness": {"end": {"status": "great"}}}}, "a kept end has a status and a reason", id="kept-end-damaged"),
    pytest.param({"extra": {"harness": {"end": {"status": "failed", "reason": {"kind": "x"}}}}}, "unknown reason 'x'", id="kept-reason-damaged"),
    pytest.param({"steps": [said(1, extra={"harness": {"answer": {"colour": 1}}})]}, "has no field 'colour'", id="kept-answer-damaged"),
    pytest.param({"steps": [said(1, extra={"harness": {"answer": {"content": [5]}}})]}, "a kept part", id="kept-content-damaged"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), STRICT)
def test_what_is_no_atif_is_refused_with_the_place(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ForeignFormatError, match=words) as caught:
        again("atif", document() | change)
    assert str(caught.value).startswith("again.json: trajectory")


def test_trajectories_embedded_without_end_are_refused() -> None:
    value = document()
    for _ in range(30):
        value = document(subagent_trajectories=[value])
    with pytest.raises(ForeignFormatError, match="embedded deeper than 20 levels"):
        list(read_atif(parse_document(json.dumps(value).encode(), "deep.json")))


# ---------------------------------------------------------------- writing


@given(conversations())
def test_a_conversation_written_as_atif_comes_back_whole(trajectory: Trajectory) -> None:
    value = atif_document(trajectory)
    if value["steps"]:
        read = again("atif", value)
        assert told(read) == in_steps(told(trajectory)), "a late result stands in the step of its call"
        assert (read.header.run_id, read.header.trial, read.header.models) == (trajectory.header.run_id, trajectory.header.trial, trajectory.header.models)
        assert atif_document(read) == value, "and the same document is written again"


def test_what_atif_has_no_field_for_stands_under_a_key_of_ours() -> None:
    trajectory = again("chat", {"messages": [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "", "type": "function", "function": {"name": "f", "arguments": "{bad"}}]},
        {"role": "tool", "tool_call_id": "", "content": "x"},
    ]})  # fmt: skip
    (step,) = atif_document(trajectory)["steps"]
    assert step["tool_calls"] == [{"tool_call_id": "1.1.0", "function_name": "f", "arguments": {}, "extra": {"harness": {"arguments": "{bad", "wireId": ""}}}]
    assert step["observation"] == {"results": [{"source_call_id": "1.1.0", "content": "x"}]}


def test_an_error_result_keeps_its_code_in_a_document(tmp_path: Path) -> None:
    result = {"source_call_id": "a", "content": "no", "extra": {"harness": {"isError": True, "code": "TOOL_FAILED", "message": "it broke"}}}
    (fact,) = [event.fact for event in again("atif", document(said(2, call("a"), results=[result]))) if isinstance(event.fact, ToolResult)]
    assert (fact.is_error, fact.code, fact.message) == (True, Code.TOOL_FAILED, "it broke")


def test_the_end_of_a_run_is_kept_in_a_document() -> None:
    value = document(extra={"harness": {"end": {"status": "limit_reached", "reason": {"kind": "limit", "which": "steps", "value": 3}}}})
    assert status_of(again("atif", value)) is Status.LIMIT_REACHED


# ---------------------------------------------------------------- real files


def real(shared: Path) -> list[Path]:
    return [path for path in sorted((shared / "data" / "atif").rglob("*.json")) if sniff(path) == "atif"]


def test_every_real_document_is_written_again_as_it_was_but_for_its_version(shared: Path) -> None:
    files = real(shared)
    assert len(files) == 12
    for path in files:
        (trajectory,) = read_foreign(path)
        value = atif_document(trajectory)
        assert value == json.loads(path.read_text("utf-8")) | {"schema_version": "ATIF-v1.8"}
        assert again("atif", value, str(path)) == trajectory


@pytest.mark.parametrize("source", ["tau-bench/gpt-4o-airline.json", "deepseek-harness"])
def test_real_runs_of_other_formats_come_back_from_atif(shared: Path, source: str) -> None:
    place = shared / "data" / source
    files = [place] if place.is_file() else [path for path in sorted(place.rglob("*.jsonl")) if sniff(path) == "dsh"]
    n_compared = 0
    for trajectory in (one for path in files for one in read_foreign(path)):
        value = atif_document(trajectory)
        if value["steps"]:
            assert told(again("atif", value)) == told(trajectory), trajectory.source
            n_compared += 1
    assert n_compared > 80
