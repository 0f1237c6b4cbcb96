"""Replay is a function of the request: a change is a miss that says what changed."""

from __future__ import annotations

import copy
import json
import logging
import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes import Cassette, Cause, Chunk, ReplayTransport, index
from harness.cassettes.bodies import read_body, show_path
from harness.errors import CassetteMiss, UnsupportedError
from harness.types.codes import Outcome
from tests.cassettes.lab import StepClock, cassette, client, completion, exchange, post, two_steps

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


async def outcome_of(transport: ReplayTransport, *bodies: dict[str, Any]) -> list[str]:
    """What each request gave: the answer's text, or the class of the error."""
    said = []
    async with client(transport) as asking:
        for body in bodies:
            try:
                answer = await post(asking, body)
            except CassetteMiss as miss:
                said.append(str(miss))
            else:
                said.append(answer["choices"][0]["message"]["content"])
    return said


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
    assert verdict.why == "recording out of date: tool result"
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
    pytest.param(("messages", 0, "content"), "You are a weather desk.\nBe brief.\nUse tools.\nGuess.", Cause.SYSTEM_PROMPT, 'system prompt (messages[0].content), line 4: "Never guess." was recorded, "Guess." was sent', id="system-prompt"),
    pytest.param(("messages", 1, "content"), "Weather in Bergen?", Cause.TASK, 'message 2 (user) (messages[1].content): "Weather in Oslo?" was recorded', id="task"),
    pytest.param(("messages", 2, "tool_calls", 0, "function", "arguments"), '{"city": "Oslo"}', Cause.HISTORY, "message 3 (assistant) (messages[2].tool_calls[0].function.arguments)", id="history"),
    pytest.param(("messages", 3, "content"), "4", Cause.TOOL_RESULT, "message 4 (tool result of get_weather) (messages[3].content)", id="tool-result"),
    pytest.param(("tools", 0, "function", "description"), "Weather.", Cause.TOOLS, "tool 'get_weather' (tools[0].function.description)", id="tool-description"),
    pytest.param(("tools",), [], Cause.TOOLS, "tool 'get_weather' (tools[0])", id="tool-removed"),
    pytest.param(("tool_choice",), "required", Cause.TOOLS, "tool_choice: nothing was recorded", id="tool-choice"),
    pytest.param(("model",), "other-model", Cause.MODEL, 'model: "lab-model" was recorded, "other-model" was sent', id="model"),
    pytest.param(("seed",), 2, Cause.PARAMETERS, "parameter 'seed' (seed): 1 was recorded, 2 was sent", id="parameter"),
    pytest.param(("seed",), True, Cause.PARAMETERS, "1 was recorded, true was sent", id="true-is-not-1"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "cause", "says"), CHANGES)
@pytest.mark.asyncio
async def test_a_miss_names_the_change_in_the_models_terms(
    path: tuple[str | int, ...], value: Any, cause: Cause, says: str
) -> None:
    transport = ReplayTransport(cassette(*two_steps()), "c.yaml")
    (text,) = await outcome_of(transport, changed(path, value))
    assert says in text
    assert "nearest is recorded request 2" in text
    assert transport.closing_verdicts()[0].why == f"recording out of date: {cause}"


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


# ---------------------------------------------------------------- the mutation law


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every place of a JSON value, containers too."""
    if path:
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from leaves(item, (*path, key))


GONE = object()
"""Stands for taking a place away."""


def mutants(value: Any) -> list[Any]:
    """Other values for a place: each differs from it."""
    match value:
        case bool():
            return [not value, None, int(value)]
        case int() | float():
            return [value + 1, str(value), None, GONE]
        case str():
            return [value + " ", value.upper() + "x", None, [value], GONE]
        case list():
            return [[*value, "x"], value[:-1], None]
        case dict():
            return [{**value, "x": 1}, None]
        case _:
            return [0, ""]


def all_mutations(bodies: tuple[dict[str, Any], ...]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(number of the request, path that must be named, changed body) for each place and mutant."""
    for number, body in enumerate(bodies, 1):
        for path, value in leaves(body):
            for mutant in mutants(value):
                other = copy.deepcopy(body)
                at: Any = other
                for part in path[:-1]:
                    at = at[part]
                at[path[-1]] = mutant
                if mutant is GONE:
                    del at[path[-1]]
                yield number, show_path(path), other


MUTATIONS = list(all_mutations(two_steps()))


@pytest.mark.public_case("PB-033")
@pytest.mark.parametrize(
    ("number", "path", "body"), MUTATIONS, ids=[f"{n}-{path}-{at}" for at, (n, path, _) in enumerate(MUTATIONS)]
)
@pytest.mark.asyncio
async def test_any_change_of_a_recorded_request_is_a_miss_that_names_the_path(
    number: int, path: str, body: dict[str, Any]
) -> None:
    # INVARIANTS 21
    (text,) = await outcome_of(ReplayTransport(cassette(*two_steps()), "c.yaml"), body)
    assert path in text
    if path != "messages":  # without its last message, or without any, the second request is as near to the first
        assert f"nearest is recorded request {number}" in text


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def same(one: Any, other: Any) -> bool:
    """JSON's own notion of same, told apart from the code under test."""
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) in (int, float, str) and not isinstance(one, str) ^ isinstance(other, str) and one == other


@given(JSON, JSON)
def test_two_bodies_match_exactly_when_their_values_are_the_same(one: Any, other: Any) -> None:
    left, right = (read_body(json.dumps(value).encode()).canonical for value in (one, other))
    if abs_floats_fit(one) and abs_floats_fit(other):
        assert (left == right) == same(one, other)


def abs_floats_fit(value: Any) -> bool:
    """No number beyond 2**53, where one float stands for many integers."""
    if isinstance(value, dict):
        return all(map(abs_floats_fit, value.values()))
    if isinstance(value, list):
        return all(map(abs_floats_fit, value))
    return not isinstance(value, int | float) or abs(value) <= 2**53


@pytest.mark.parametrize("body", [b"not json", b"\xff\xfe", b'{"a":1,"a":2}', b"[" * 1000, b""])
@pytest.mark.asyncio
async def test_a_body_that_is_no_strict_json_is_matched_byte_by_byte(body: bytes) -> None:
    transport = ReplayTransport(Cassette((exchange(body),)), "c.yaml")
    url = "http://nowhere.invalid/v1/chat/completions"
    async with httpx2.AsyncClient(transport=transport) as asking:
        with pytest.raises(CassetteMiss):
            await asking.post(url, content=body + b" ")
        assert (await asking.post(url, content=body)).status_code == 200


# ---------------------------------------------------------------- cost and shape of a replay


@pytest.mark.asyncio
async def test_a_look_up_does_not_grow_with_the_cassette(monkeypatch: pytest.MonkeyPatch) -> None:
    # PERFORMANCE, second fact: each request is read once, and no recorded body is read again.
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
