"""Whole runs over HTTP bodies: what streams break, repeat or hold back reaches neither history nor tools."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from harness.folds import answer_of
from harness.models import model_over
from harness.runner import RunOptions, RunResult, RunSpec, execute
from harness.runner.specs import ModelSource
from harness.scenarios import parse_scenario
from harness.types.codes import Code, Status
from harness.types.exchange import AssistantChunk, AssistantMessage, ModelFailed, ToolCall, ToolStart
from harness.types.lifecycle import RunEnd
from harness.types.model_spec import ModelApi, ModelSpec
from tests.models.bodies import Pieces, delta, frames, recorded

HEAD = "format: harness-scenario/1\ntask: go\n"
RUN = HEAD + """\
tools:
  stub: {run: {returns: "1"}, clock: {returns: "10:30"}}
  schemas:
    run: {type: object, properties: {code: {type: string}}, required: [code]}
    clock: {type: object, properties: {}}
"""


class Played(httpx2.AsyncBaseTransport):
    """Answers each request with the next body; an exception at its end breaks the connection."""

    def __init__(self, *bodies: tuple[str, list[Any]]) -> None:
        self.bodies = list(bodies)
        self.asked: list[Any] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(json.loads(await request.aread()))
        kind, pieces = self.bodies.pop(0)
        return httpx2.Response(200, headers={"content-type": kind}, stream=Broken(pieces))


class Broken(Pieces):
    async def __aiter__(self) -> Any:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece


playing: list[tuple[Played, ModelSpec]] = []


def model(scenario: Any, clock: Any) -> Any:
    """The model that the test in hand plays."""
    transport, asked = playing[-1]
    return model_over(transport, asked)


model.clock = "virtual"  # type: ignore[attr-defined]


def run(transport: Played, asked: ModelSpec, text: str = RUN) -> RunResult:
    playing.append((transport, asked))
    try:
        options = RunOptions(source=ModelSource.OWN, model=f"{__name__}:model")
        return execute(RunSpec(parse_scenario(text, "http.yaml"), options))
    finally:
        playing.pop()


def facts(result: RunResult, kind: type[Any]) -> list[Any]:
    return [event.fact for event in result.trajectory if isinstance(event.fact, kind)]


def events(*data: Any) -> tuple[str, list[Any]]:
    return "text/event-stream", [frames(*data)]


def whole(message: dict[str, Any], finish: str) -> tuple[str, list[Any]]:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}]}
    return "application/json", [json.dumps(body).encode()]


def call(id_: str, name: str, arguments: str) -> dict[str, Any]:
    return {"index": 0, "id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


STREAM = ModelSpec("m", stream=True)


@pytest.mark.public_case("PB-010")
@pytest.mark.conformance("70", "145")
def test_an_error_in_the_stream_fails_the_run_and_keeps_what_was_seen() -> None:
    error = {"choices": [], "error": {"message": "worker limit reached", "code": 502}}
    result = run(Played(events(delta(role="assistant", content="Let me"), error, "[DONE]")), STREAM)
    (end,), (failed,) = facts(result, RunEnd), facts(result, ModelFailed)
    assert (end.status, failed.code, "worker limit reached" in failed.message) == (Status.FAILED, Code.SERVER, True)
    (kept,) = facts(result, AssistantMessage)
    assert (kept.content, kept.interrupted, facts(result, ToolStart)) == ("Let me", True, [])


@pytest.mark.public_case("PB-028")
@pytest.mark.conformance("129", "144")
def test_nothing_of_a_stream_that_broke_reaches_the_next_attempt() -> None:
    broken = [frames(delta(content="The answer"), delta(tool_calls=[call("z1", "run", '{"code":"pri')])), httpx2.ReadError("reset")]
    again = events(
        delta(role="assistant", content="The answer needs code."),
        delta(tool_calls=[call("z2", "run", '{"code":"print(1)"}')]),
        delta("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 6, "total_tokens": 15}},
        "[DONE]",
    )
    transport = Played(("text/event-stream", broken), again, events(delta(content="1"), delta("stop"), "[DONE]"))
    result = run(transport, STREAM, RUN + "retry: {attempts: 2}\n")
    (end,) = facts(result, RunEnd)
    assert (end.status, len(transport.asked)) == (Status.COMPLETED, 3)
    first, second = facts(result, AssistantMessage)
    assert (first.content, first.attempt, second.content) == ("The answer needs code.", 2, "1")
    assert [(one.call_id, one.arguments) for one in facts(result, ToolCall)] == [("z2", '{"code":"print(1)"}')]
    assert [one.arguments for one in facts(result, ToolStart)] == ['{"code":"print(1)"}']
    assert sum(one.usage.input_tokens for one in facts(result, AssistantMessage) if one.usage) == 9
    (failed,) = facts(result, ModelFailed)
    assert (failed.attempt, failed.usage) == (1, None)


@pytest.mark.public_case("PB-016")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("profile", ["deepseek", "groq", "openrouter"])
def test_reasoning_of_a_turn_with_tools_goes_back_where_the_profile_says_so(profile: str, stream: bool) -> None:
    tool = call("c1", "clock", "{}")
    if stream:
        bodies = [
            events(delta(content="", reasoning_content="I need "), delta(reasoning_content="the time."), delta(tool_calls=[tool]), delta("tool_calls"), "[DONE]"),
            events(delta(reasoning_content="Now answer."), delta(content="It is 10:30."), delta("stop"), "[DONE]"),
        ]
    else:
        bodies = [
            whole({"content": "", "tool_calls": [tool], "reasoning_content": "I need the time."}, "tool_calls"),
            whole({"content": "It is 10:30.", "reasoning_content": "Now answer."}, "stop"),
        ]
    transport = Played(*bodies)
    result = run(transport, ModelSpec("m", stream=stream, profile=profile))
    assert answer_of(result.trajectory) == "It is 10:30."
    assert [one.reasoning for one in facts(result, AssistantMessage)] == ["I need the time.", "Now answer."]
    sent = transport.asked[1]["messages"][1]
    field = {"deepseek": "reasoning_content", "openrouter": "reasoning"}.get(profile)
    assert {key: sent[key] for key in sent if "reasoning" in key} == ({field: "I need the time."} if field else {})


@pytest.fixture
def cassettes(shared: Any) -> Any:
    return shared / "data" / "cassettes"


def test_a_recorded_conversation_with_reasoning_runs_again_over_responses(cassettes: Any) -> None:
    """What a real service streamed, answered by today's loop: the tool runs once, and its reasoning goes back whole."""
    name = "pydantic-ai/test_deepseek_responses/test_deepseek_responses[function_tool_stream]"
    bodies = [("text/event-stream", [recorded(cassettes, name, number)[0]]) for number in (0, 1)]
    transport = Played(*bodies)
    text = HEAD + "tools:\n  stub: {get_temperature: {returns: '21.0'}}\n  schemas:\n    get_temperature: {type: object, properties: {city: {type: string}}, required: [city]}\n"
    result = run(transport, ModelSpec("deepseek-v4-flash", api=ModelApi.RESPONSES, stream=True, profile="deepseek"), text)
    assert "21.0°C" in str(answer_of(result.trajectory))
    assert [one.arguments for one in facts(result, ToolStart)] == ['{"city":"Tokyo"}']
    reasoning, called, output = transport.asked[1]["input"][1:]
    assert (reasoning["type"], reasoning["id"]) == ("reasoning", "fa6f3a83-5d25-46e8-9d03-1a89ce5cf2ba")
    assert reasoning["content"][0]["text"].startswith("The user asks about temperature in Tokyo.")
    assert (called["call_id"], called["call_id"] == output["call_id"]) == ("call_00_xjY8Z2BvSlzgEmmw0DtH0464", True)


async def my_loop(env: Any) -> str:
    """A loop of a user's own, which asks for whole answers and knows nothing of streams."""
    client = env.openai().with_options(max_retries=0)
    answer = await client.chat.completions.create(model="mine", messages=[{"role": "user", "content": env.task}])
    return str(answer.choices[0].finish_reason) + ": " + str(answer.choices[0].message.content)


@pytest.mark.parametrize("api", list(ModelApi))
def test_a_loop_of_a_users_own_is_answered_whole_by_a_model_that_streams(api: ModelApi) -> None:
    body = events(delta(content="It is "), delta(content="42."), delta("stop"), "[DONE]")
    if api is ModelApi.RESPONSES:
        message = {"type": "message", "content": [{"type": "output_text", "text": "It is 42."}]}
        pieces = [{"type": "response.output_text.delta", "output_index": 0, "delta": one} for one in ("It is ", "42.")]
        body = events(*pieces, {"type": "response.completed", "response": {"status": "completed", "output": [message]}})
    result = foreign(Played(body), ModelSpec("m", api=api, stream=True))
    (message,) = facts(result, AssistantMessage)
    assert (message.content, message.raw_finish_reason) == ("It is 42.", "stop")
    assert len(facts(result, AssistantChunk)) >= 3
    assert facts(result, RunEnd)[0].status is Status.COMPLETED


@pytest.mark.conformance("6", "98")
def test_a_stream_that_was_cut_is_a_broken_connection_for_a_loop_of_a_users_own() -> None:
    result = foreign(Played(events(delta(content="It is "))), STREAM)
    (end,), (failed,) = facts(result, RunEnd), facts(result, ModelFailed)
    assert (end.status, failed.code, facts(result, AssistantMessage)) == (Status.FAILED, Code.NO_FINISH_REASON, [])
    assert "APIConnectionError" in end.reason.message


def foreign(transport: Played, asked: ModelSpec) -> RunResult:
    playing.append((transport, asked))
    try:
        options = RunOptions(source=ModelSource.OWN, model=f"{__name__}:model", subject=f"{__name__}:my_loop")
        return execute(RunSpec(parse_scenario(RUN, "http.yaml"), options))
    finally:
        playing.pop()
