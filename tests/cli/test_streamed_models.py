"""Streams of both dialects from end to end: recorded from a live endpoint, replayed, and broken off in the middle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import ModelError
from harness.folds import answer_of
from harness.store import read_trajectory
from harness.types.codes import FinishReason
from harness.types.doors import Answer, AnsweredCall
from harness.types.events import Trajectory
from harness.types.exchange import AssistantChunk, AssistantMessage, RequestHeader
from harness.types.lifecycle import Note
from harness.types.messages import JsonText
from harness.types.reasons import Usage
from harness.wire.chat import assembled
from tests.cli.lab import Cli
from tests.cli.streaming_endpoint import streaming

ASKS = """\
format: harness-scenario/1
system: Use the tools.
task: What is 6 * 7?
tools: [calculator]
model: {{name: local-model, api: {api}, stream: true, parameters: {{max_tokens: 90}}}}
{more}
"""
GOOD = 'expect: {status: completed, steps: 2, calls: [calculator], answer: {contains: "42"}}'
CALL = AnsweredCall("calculator", '{"expression":"6 * 7"}', "c1")
KEPT = JsonText('{"response_items":[{"encrypted_content":"gA","id":"rs_1","summary":[{"text":"I compute.","type":"summary_text"}],"type":"reasoning"},{"type":"function_call"}]}')


def answer(body: dict[str, Any]) -> Answer:
    shown = body.get("messages") or body["input"]
    last = shown[-1]
    if last.get("role") == "tool" or last.get("type") == "function_call_output":
        result = last.get("content") or last.get("output")
        return Answer(f"It is {result}, which is all.", finish_reason=FinishReason.STOP, usage=Usage(9, 4))
    kept = KEPT if "input" in body else None
    return Answer(calls=(CALL,), reasoning="I compute.", finish_reason=FinishReason.TOOL_CALLS, usage=Usage(7, 3), extra=kept)


def trajectory(folder: Path) -> Trajectory:
    (file,) = (folder / "trajectories").rglob("*.jsonl")
    return read_trajectory(file)


@pytest.mark.conformance("141")
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_streamed_run_is_recorded_and_replayed_with_its_chunks(api: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Any]] = []
    cli.write("scenarios/ask.yaml", ASKS.format(api=api, more=GOOD))
    with streaming(answer, asked) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "any-key-of-a-test")
        said = cli("record", "--out", "recorded")
        assert said.code == 0, said.all
    monkeypatch.delenv("OPENAI_API_KEY")
    again = cli("run", "--out", "replayed")
    assert again.code == 0, again.all
    recorded, replayed = trajectory(cli.folder / "recorded"), trajectory(cli.folder / "replayed")
    for run in (recorded, replayed):
        chunks = [event.fact.chunk for event in run.events if isinstance(event.fact, AssistantChunk)]
        whole = [event.fact for event in run.events if isinstance(event.fact, AssistantMessage)]
        assert len(chunks) > 8
        assert answer_of(run) == "It is 42, which is all."
        assert (whole[0].reasoning, "rs_1" in (whole[0].extra or "")) == ("I compute.", api == "responses")
        assert assembled(chunks[-9:]).finish_reason is not None
        (header,) = [event.fact for event in run.events if isinstance(event.fact, RequestHeader)]
        assert '"stream":true' in header.parameters
    assert [event.fact for event in recorded.events if isinstance(event.fact, AssistantChunk)] == [
        event.fact for event in replayed.events if isinstance(event.fact, AssistantChunk)
    ]
    _of_the_wire(api, asked)


def _of_the_wire(api: str, asked: list[tuple[str, Any]]) -> None:
    """What the endpoint was shown: one dialect only, reasoning as it came, the tool's result behind its call."""
    (path, _), (_, second) = asked
    if api == "chat":
        assert (path, second["stream_options"], "input" in second) == ("/v1/chat/completions", {"include_usage": True}, False)
        assert second["messages"][2]["reasoning_content"] == "I compute."
        assert "response_items" not in second["messages"][2]
        return
    assert (path, second["instructions"], "messages" in second, second["max_output_tokens"]) == ("/v1/responses", "Use the tools.", False, 90)
    assert [item.get("type") for item in second["input"]] == [None, "reasoning", "function_call", "function_call_output"]
    assert second["input"][1]["encrypted_content"] == "gA"


@pytest.mark.conformance("70")
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_recorded_stream_that_is_cancelled_in_the_middle_keeps_what_was_seen(api: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Any]] = []
    path = "scenarios/ask.yaml"
    cli.write(path, ASKS.format(api=api, more=GOOD))
    with streaming(answer, asked) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "any-key-of-a-test")
        assert cli("record", "--out", "recorded").code == 0
    run = trajectory(cli.folder / "recorded")
    chunks = [event.fact.chunk for event in run.events if isinstance(event.fact, AssistantChunk)]
    nth = next(at for at, chunk in enumerate(chunks, 1) if "which" in chunk)
    cli.write(path, ASKS.format(api=api, more=f"inject: [{{at: {{kind: assistant/chunk, nth: {nth}}}, do: {{cancel: {{}}}}}}]\nexpect: {{status: cancelled}}"))
    said = cli("run", "--out", "cancelled")
    assert said.code == 0, said.all
    (kept,) = [event.fact for event in trajectory(cli.folder / "cancelled").events if isinstance(event.fact, AssistantMessage) and event.fact.interrupted]
    assert str(kept.content).startswith("It is 42, which")
    assert kept.content != "It is 42, which is all."


def test_an_option_of_the_command_line_asks_for_whole_answers(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Any]] = []
    cli.write("scenarios/ask.yaml", ASKS.format(api="chat", more="expect: {status: failed}"))
    with streaming(answer, asked) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "any-key-of-a-test")
        cli("run", "--model", "live", "--no-stream")
        cli("run", "--model", "live", "--api", "responses", "--profile", "openai")
    assert ["stream" in body for _, body in asked[:1]] == [False]
    assert asked[-1][0] == "/v1/responses"


TWO = """\
format: harness-scenario/1
task: What is 6 * 7?
model: {name: first, api: responses, stream: true}
models: {fallback: {model: {name: second, stream: true, profile: groq, parameters: {max_tokens: 9}}}}
retry: {fallback: true}
expect: {status: completed, answer: {contains: "42"}}
"""


@pytest.mark.article("21")
def test_models_of_two_roles_are_asked_each_through_its_own_api(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(body: dict[str, Any]) -> Answer:
        if "input" in body:
            raise ModelError("overloaded", code="SERVER")
        return Answer("It is 42.", finish_reason=FinishReason.STOP)

    asked: list[tuple[str, Any]] = []
    cli.write("scenarios/two.yaml", TWO)
    with streaming(busy, asked) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "any-key-of-a-test")
        said = cli("run", "--model", "live", "--out", "live")
    assert said.code == 0, said.all
    (first, responses), (second, chat) = asked
    assert (first, responses["model"], second, chat["model"]) == ("/v1/responses", "first", "/v1/chat/completions", "second")
    assert (chat["max_completion_tokens"], "max_tokens" in chat) == (9, False)
    notes = [event.fact.data for event in trajectory(cli.folder / "live").events if isinstance(event.fact, Note)]
    assert '"max_tokens was sent as max_completion_tokens"' in notes
