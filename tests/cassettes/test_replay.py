"""Replay is a function of the request: a change is a miss that says what changed."""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import socket
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from harness.cassettes import Cassette, Cause, Chunk, ReplayTransport, dump_cassette, index, open_replay
from harness.errors import CassetteMiss, UnsupportedError
from harness.loop import StopSignal
from harness.models import chat_model_over
from harness.types.codes import Outcome
from harness.types.doors import ModelCall
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatUser, Messages
from harness.wire.requests import render_request
from tests.cassettes.lab import StepClock, cassette, client, completion, exchange, outcome_of, two_steps

HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
ELSE = {"model": "m", "messages": [{"role": "user", "content": "something else"}]}


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt to reach a network fails the test."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a socket was opened in replay")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return


@pytest.mark.public_case("PB-033")
@pytest.mark.usefixtures("no_sockets")
class TestAChangedPromptIsNotAnsweredByAnOldRecording:
    @pytest.mark.asyncio
    async def test_the_same_body_with_other_key_order_is_answered(self) -> None:
        transport = ReplayTransport(cassette(HELLO), "c.yaml")
        turned = dict(reversed(HELLO.items()))
        assert await outcome_of(transport, turned) == ["answer 1"]
        (verdict,) = transport.closing_verdicts()
        assert verdict.outcome is Outcome.PASS

    @pytest.mark.asyncio
    async def test_another_prompt_is_a_miss_that_names_it(self) -> None:
        transport = ReplayTransport(cassette(HELLO), "c.yaml")
        (text,) = await outcome_of(transport, ELSE)
        assert 'message 1 (user) (messages[0].content): "hello" was recorded, "something else" was sent' in text
        (verdict,) = transport.closing_verdicts()
        assert (verdict.outcome, verdict.why) == (Outcome.FAIL, "recording out of date: task")

    @pytest.mark.asyncio
    async def test_another_parameter_is_a_miss_that_names_it(self) -> None:
        (text,) = await outcome_of(ReplayTransport(cassette(HELLO), "c.yaml"), {**HELLO, "temperature": 0.9})
        assert "parameter 'temperature' (temperature): nothing was recorded, 0.9 was sent" in text

    @pytest.mark.asyncio
    async def test_a_declared_volatile_field_may_differ_and_is_told(self, caplog: pytest.LogCaptureFixture) -> None:
        transport = ReplayTransport(cassette(HELLO), "c.yaml", ignore=("temperature",))
        with caplog.at_level(logging.WARNING):
            assert await outcome_of(transport, {**HELLO, "temperature": 0.9}) == ["answer 1"]
        (verdict,) = transport.closing_verdicts()
        assert verdict.outcome is Outcome.PASS
        assert "ignored as declared: temperature of request 1" in verdict.why
        assert "temperature of request 1 differs" in caplog.text

    @pytest.mark.asyncio
    async def test_the_client_neither_wraps_nor_retries_a_miss(self) -> None:
        transport = ReplayTransport(cassette(HELLO), "c.yaml")
        async with client(transport, max_retries=5) as asking:
            with pytest.raises(CassetteMiss):
                await asking.chat.completions.create(model="m", messages=[{"role": "user", "content": "no"}])
        (verdict,) = transport.closing_verdicts()
        assert sum(one.message.startswith("request ") for one in verdict.findings) == 1


@pytest.mark.asyncio
async def test_equal_requests_are_answered_in_the_order_they_were_recorded() -> None:
    transport = ReplayTransport(cassette(HELLO, ELSE, HELLO, HELLO), "c.yaml")
    assert await outcome_of(transport, HELLO, HELLO, ELSE, HELLO) == ["answer 1", "answer 3", "answer 2", "answer 4"]
    assert transport.closing_verdicts()[0].outcome is Outcome.PASS


@pytest.mark.asyncio
async def test_a_request_asked_more_often_than_recorded_has_its_own_cause() -> None:
    transport = ReplayTransport(cassette(HELLO, ELSE), "c.yaml")
    said = await outcome_of(transport, HELLO, HELLO)
    assert "asked more often than recorded (recorded request 1)" in said[1]
    (verdict,) = transport.closing_verdicts()
    assert verdict.why == f"recording out of date: {Cause.ASKED_MORE_OFTEN}"


@pytest.mark.public_case("PB-035")
@pytest.mark.asyncio
async def test_recordings_that_nobody_asked_for_are_a_failure() -> None:
    transport = ReplayTransport(cassette(HELLO, ELSE, two_steps()[0]), "c.yaml")
    await outcome_of(transport, HELLO, ELSE)
    (verdict,) = transport.closing_verdicts()
    assert verdict.outcome is Outcome.FAIL
    assert "1 recorded request unused" in verdict.findings[0].message
    assert verdict.findings[0].rule == "recording-left-over"


@pytest.mark.asyncio
async def test_a_recording_that_no_request_reached_is_no_pass() -> None:
    transport = ReplayTransport(cassette(HELLO), "c.yaml")
    (verdict,) = transport.closing_verdicts()
    assert (verdict.check, verdict.outcome) == ("recording", Outcome.INVALID)


@pytest.mark.usefixtures("no_sockets")
@pytest.mark.asyncio
async def test_a_swallowed_miss_is_told_when_the_run_is_over() -> None:
    first, second = two_steps()
    changed = copy.deepcopy(second)
    changed["messages"][3]["content"] = '{"temperature_c": 5}'
    transport = ReplayTransport(cassette(first, second), "c.yaml")
    await outcome_of(transport, first, changed)
    (verdict,) = transport.closing_verdicts()
    assert (verdict.check, verdict.outcome) == ("recording", Outcome.FAIL)
    assert verdict.why == "recording out of date: tool result of get_weather"
    assert "message 4 (tool result of get_weather) (messages[3].content)" in verdict.findings[0].message
    assert "1 of 2 recorded requests still followed" in verdict.findings[-1].message
    assert "harness record" in verdict.findings[-1].message
    assert "20 input and 10 output tokens" in verdict.findings[-1].message
    assert {finding.rule for finding in verdict.findings} == {"recording-out-of-date"}


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """The second request of the run, with one place changed."""
    body = copy.deepcopy(two_steps()[1])
    at: Any = body
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return body


CHANGES = [
    pytest.param(("messages", 0, "content"), "You are a weather desk.\nBe brief.\nUse tools.\nGuess.", Cause.SYSTEM_PROMPT, 'system prompt (messages[0].content), line 4: "Never guess." was recorded, "Guess." was sent', "system prompt, line 4", id="system-prompt"),
    pytest.param(("messages", 1, "content"), "Weather in Bergen?", Cause.TASK, 'message 2 (user) (messages[1].content): "Weather in Oslo?" was recorded', "task", id="task"),
    pytest.param(("messages", 2, "tool_calls", 0, "function", "arguments"), '{"city": "Oslo"}', Cause.HISTORY, "message 3 (assistant) (messages[2].tool_calls[0].function.arguments)", "model's history", id="history"),
    pytest.param(("messages", 3, "content"), "4", Cause.TOOL_RESULT, "message 4 (tool result of get_weather) (messages[3].content)", "tool result of get_weather", id="tool-result"),
    pytest.param(("tools", 0, "function", "description"), "Weather.", Cause.TOOLS, "tool 'get_weather' (tools[0].function.description)", "tool 'get_weather' description", id="tool-description"),
    pytest.param(("tools",), [], Cause.TOOLS, "tool 'get_weather' (tools[0])", "tool 'get_weather'", id="tool-removed"),
    pytest.param(("tool_choice",), "required", Cause.TOOLS, "tool_choice: nothing was recorded", "tool_choice", id="tool-choice"),
    pytest.param(("model",), "other-model", Cause.MODEL, 'model: "lab-model" was recorded, "other-model" was sent', "model \"lab-model\" became \"other-model\"", id="model"),
    pytest.param(("seed",), 2, Cause.PARAMETERS, "parameter 'seed' (seed): 1 was recorded, 2 was sent", "parameter 'seed'", id="parameter"),
    pytest.param(("seed",), True, Cause.PARAMETERS, "1 was recorded, true was sent", "parameter 'seed'", id="true-is-not-1"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "cause", "says", "change"), CHANGES)
@pytest.mark.asyncio
async def test_a_miss_names_the_change_in_the_models_terms(
    path: tuple[str | int, ...], value: Any, cause: Cause, says: str, change: str
) -> None:
    transport = ReplayTransport(cassette(*two_steps()), "c.yaml")
    (text,) = await outcome_of(transport, changed(path, value))
    assert says in text
    assert "nearest is recorded request 2" in text
    (verdict,) = transport.closing_verdicts()
    assert verdict.why == f"recording out of date: {change}"
    assert verdict.findings[0].message.startswith(f"request 1, {cause}: ")


@pytest.mark.asyncio
async def test_many_changes_are_told_by_their_first_cause_with_the_other_places() -> None:
    first, _ = two_steps()
    body = {**copy.deepcopy(first), "seed": 9, "tools": []}
    body["messages"][0]["content"] = "Guess."
    (text,) = await outcome_of(ReplayTransport(cassette(*two_steps()), "c.yaml"), body)
    assert "system prompt (messages[0].content), line 1" in text
    assert "also differs in tools[0], seed" in text


@pytest.mark.asyncio
async def test_one_changed_prompt_gives_every_miss_the_same_cause() -> None:
    bodies = [copy.deepcopy(one) for one in two_steps()]
    for body in bodies:
        body["messages"][0]["content"] += " Ever."
    transport = ReplayTransport(cassette(*two_steps()), "c.yaml")
    await outcome_of(transport, *bodies)
    (verdict,) = transport.closing_verdicts()
    causes = [one.message.split(":")[0] for one in verdict.findings[:-1]]
    assert causes == ["request 1, system prompt", "request 2, system prompt"]


@pytest.mark.asyncio
async def test_a_secret_in_the_sent_text_is_not_shown_in_a_miss() -> None:
    transport = ReplayTransport(cassette(HELLO), "c.yaml", secrets=("canary-value-1",))
    (text,) = await outcome_of(transport, changed(("messages", 1, "content"), "use canary-value-1"))
    assert "canary-value-1" not in text + str(transport.closing_verdicts())


# ---------------------------------------------------------------- cost and shape of a replay


@pytest.mark.asyncio
async def test_a_look_up_does_not_grow_with_the_cassette(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each request is read once, and no recorded body is read again.
    bodies = [{**HELLO, "seed": n} for n in range(300)]
    transport = ReplayTransport(cassette(*bodies), "c.yaml")
    read: list[bytes] = []
    real = index.read_body
    monkeypatch.setattr(index, "read_body", lambda data, ignore=(): (read.append(data), real(data, ignore))[1])
    await outcome_of(transport, *bodies[:50])
    assert len(read) == 50


@pytest.mark.asyncio
async def test_a_body_is_replayed_in_the_pieces_and_with_the_delays_of_its_recording() -> None:
    answer = completion("done")
    size = len(json.dumps(answer))
    chunks = (Chunk(10, 5), Chunk(0, 2), Chunk(size - 10, 300))
    clock = StepClock()
    transport = ReplayTransport(Cassette((exchange(HELLO, answer, chunks=chunks),)), "c.yaml", clock=clock)
    request = httpx2.Request("POST", "http://nowhere.invalid/v1/chat/completions", json=HELLO)
    response = await transport.handle_async_request(request)
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    pieces = [piece async for piece in response.stream]
    assert [len(piece) for piece in pieces] == [10, 0, size - 10]
    assert clock.slept_ms == [5, 2, 300]


def test_a_synchronous_client_is_refused_by_name() -> None:
    asking = openai.OpenAI(
        base_url="http://nowhere.invalid/v1",
        api_key="unused",
        max_retries=0,
        http_client=httpx2.Client(transport=ReplayTransport(cassette(HELLO), "c.yaml")),  # type: ignore[arg-type]
    )
    with pytest.raises(UnsupportedError, match="AsyncOpenAI"):
        asking.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])


@pytest.mark.asyncio
async def test_a_recording_that_was_followed_says_how_long_it_is() -> None:
    body = {"model": "m", "messages": []}
    for n, why in ((1, "1 recorded request followed"), (2, "2 recorded requests followed")):
        transport = ReplayTransport(cassette(*[body] * n), "c.yaml")
        await outcome_of(transport, *[body] * n)
        (verdict,) = transport.closing_verdicts()
        assert verdict.why == why


BASES = ["", "/v1", "/openai/v1", "/api/v1", "/openai/deployments/some-model"]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.asyncio
async def test_a_recording_of_any_base_url_answers_the_model_of_a_run(tmp_path: Path, base: str) -> None:
    # Providers begin their API at different paths; a run in replay knows only its own.
    body = render_request(ModelCall((), Messages.of([ChatUser("Hello")]), canonical_json([]), canonical_json({})), "m")
    one = exchange(body, completion("recorded"))
    there = dataclasses.replace(one.request, uri=f"https://api.example.test{base}/chat/completions")
    path = tmp_path / "c.yaml"
    path.write_bytes(dump_cassette(Cassette((dataclasses.replace(one, request=there),))))
    model = chat_model_over(open_replay(path), name="m")
    call = ModelCall((), Messages.of([ChatUser("Hello")]), canonical_json([]), canonical_json({}))
    answer = await model.answer(call, signal=StopSignal(), emit=lambda _: None)
    assert answer.content == "recorded"
    await model.aclose()
