"""The scripted server on loopback under the real `openai` client: every API and way of asking, every fault, who goes away."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

from harness.errors import ConfigurationError
from harness.server import Asked, Desk, ModelTransport, Went
from harness.server.loopback import LoopbackServer
from harness.testing import scenario, served
from harness.types.codes import Outcome
from harness.types.doors import Answer
from tests.models.support import virtually
from tests.server.clients import HI, WAYS, Got, ask_async, ask_sync, asked, chat, in_process_client, responses

SCRIPT = [
    {"say": "Working on it, and this is a text of some length.", "calls": [{"go": {"a": 1}}, {"go": {"a": 22}}]},
    {"say": "Done."},
]
CALLS = (("call_1_0", "go", {"a": 1}), ("call_1_1", "go", {"a": 22}))
FINAL = {"chat": "stop", "responses": "completed"}
FIRST = {"chat": "tool_calls", "responses": "completed"}


def history_of(way: str, first: Got) -> list[Any]:
    """The second request's messages, in the dialect of that way."""
    if way.startswith("chat"):
        calls = [
            {"id": one, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for one, name, arguments in first.calls
        ]
        results = [{"role": "tool", "tool_call_id": one, "content": "ok"} for one, _, _ in first.calls]
        return [*HI, {"role": "assistant", "content": first.text, "tool_calls": calls}, *results]
    items = [
        {"type": "function_call", "call_id": one, "name": name, "arguments": json.dumps(arguments)}
        for one, name, arguments in first.calls
    ]
    outputs = [{"type": "function_call_output", "call_id": one, "output": "ok"} for one, _, _ in first.calls]
    return [*HI, {"role": "assistant", "content": first.text}, *items, *outputs]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ask", [pytest.param(ask_sync, id="sync"), pytest.param(ask_async, id="async")])
def test_the_openai_package_runs_unchanged_over_a_socket(ask: Any, way: str) -> None:
    with served(scenario(task="hi", script=SCRIPT)) as server:
        first = ask(server, way)
        second = ask(server, way, history_of(way, first))
    api = way.split("-")[0]
    assert first == Got(SCRIPT[0]["say"], CALLS, FIRST[api])
    assert second == Got("Done.", (), FINAL[api])
    assert [one.went for one in server.requests] == [Went.ANSWERED, Went.ANSWERED]
    assert server.outcome is Outcome.PASS, server.verdicts()


@pytest.mark.parametrize("way", WAYS)
def test_in_process_it_is_the_same_under_virtual_time(way: str) -> None:
    from harness.runner.answers import ScriptedModel
    from harness.server import asking

    bound = scenario(task="hi", script=SCRIPT).scenario

    async def main(clock: Any) -> tuple[Got, Got, int]:
        assert bound.script is not None
        model = ScriptedModel(bound.script, scenario="s", clock=clock, resolve=lambda _: None)
        client = in_process_client(ModelTransport(asking(model)))
        first = await asked(client, way)
        return first, await asked(client, way, history_of(way, first)), clock.now_ms()

    first, second, took_ms = virtually(main)
    api = way.split("-")[0]
    assert (first, second) == (Got(SCRIPT[0]["say"], CALLS, FIRST[api]), Got("Done.", (), FINAL[api]))
    assert took_ms == 0


@pytest.mark.parametrize("chunks", ["whole", "words", {"every": 2}])
@pytest.mark.parametrize("way", ["chat-streamed", "responses-streamed"])
def test_a_chunk_schedule_is_streamed_as_it_says(way: str, chunks: Any) -> None:
    script = [{"say": "a b c", "reasoning": "so it is", "chunks": chunks, "usage": {"input": 3, "output": 5}}]
    with served(scenario(task="hi", script=script)) as server:
        assert ask_sync(server, way).text == "a b c"
    (one,) = server.requests
    assert one.n_pieces > 3


def test_previous_responses_are_remembered_and_unknown_ones_refused() -> None:
    with served(scenario(task="hi", script=SCRIPT)) as server, _client(server) as client:
        first = responses(client)
        outputs = [
            {"type": "function_call_output", "call_id": call.call_id, "output": "ok"}
            for call in first.output
            if call.type == "function_call"
        ]
        assert responses(client, outputs, previous_response_id=first.id).output_text == "Done."
        with pytest.raises(openai.BadRequestError, match="not found") as refused:
            responses(client, outputs, previous_response_id="resp_77")
    assert refused.value.code == "previous_response_not_found"
    assert [one.n_answers for one in server.requests] == [0, 1, 0]


def test_usage_is_streamed_only_to_whom_asks() -> None:
    script = [{"say": "a", "usage": {"input": 3, "output": 5}}]
    with served(scenario(task="hi", script=script)) as server, _client(server) as client:
        plain = list(chat(client, stream=True))
        asked_for = list(chat(client, stream=True, stream_options={"include_usage": True}))
    assert [chunk.usage for chunk in plain if chunk.usage] == []
    assert [chunk.usage.total_tokens for chunk in asked_for if chunk.usage] == [8]


def test_models_and_health_are_told() -> None:
    with served(scenario(task="hi", script=SCRIPT, model="gpt-9", id="shop/refund")) as server, _client(server) as client:
        assert [model.id for model in client.models.list()] == ["gpt-9", "scripted"]
        health = httpx2.get(server.base_url.removesuffix("/v1") + "/health")
    assert health.json() == {"scenario": "shop/refund", "status": "ok"}


def _client(server: Any, **options: Any) -> openai.OpenAI:
    settings = {"max_retries": 0, "timeout": 10, **options}
    return openai.OpenAI(base_url=server.base_url, api_key=server.api_key, **settings)


# ---------------------------------------------------------------- faults

RAISED = [
    pytest.param({"status": 401}, openai.AuthenticationError, 401, "invalid_api_key", id="401"),
    pytest.param({"status": 403}, openai.PermissionDeniedError, 403, "permission_denied", id="403"),
    pytest.param({"status": 404}, openai.NotFoundError, 404, "model_not_found", id="404"),
    pytest.param({"status": 409}, openai.ConflictError, 409, None, id="409"),
    pytest.param({"status": 422}, openai.UnprocessableEntityError, 422, None, id="422"),
    pytest.param({"status": 429}, openai.RateLimitError, 429, "rate_limit_exceeded", id="429"),
    pytest.param({"status": 500}, openai.InternalServerError, 500, None, id="500"),
    pytest.param({"status": 502}, openai.InternalServerError, 502, None, id="502-a-page"),
    pytest.param({"status": 503}, openai.InternalServerError, 503, "service_unavailable", id="503"),
    pytest.param({"fail": "CONTEXT_OVERFLOW"}, openai.BadRequestError, 400, "context_length_exceeded", id="overflow"),
    pytest.param({"fail": "QUOTA"}, openai.RateLimitError, 429, "insufficient_quota", id="quota"),
]


@pytest.mark.conformance("149")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("fault", "raised", "status", "code"), RAISED)
def test_a_status_comes_with_the_error_body_of_the_real_api(
    fault: Any, raised: type[Exception], status: int, code: str | None, way: str
) -> None:
    with served(scenario(task="hi", script=SCRIPT, faults=[{"request": 1, **fault}])) as server:
        with pytest.raises(openai.APIStatusError) as error:
            ask_sync(server, way)
        assert ask_sync(server, way).calls == CALLS  # the reply was not used up
    assert type(error.value) is raised
    assert (error.value.status_code, error.value.code) == (status, code)
    assert [one.went for one in server.requests] == [Went.FAULT, Went.ANSWERED]
    assert server.requests[1].retry_of == 1


@pytest.mark.parametrize("way", WAYS)
def test_a_rate_limit_says_when_to_ask_again_and_the_client_does(way: str) -> None:
    faults = [{"request": 1, "status": 429, "retry_after_ms": 30}, {"request": 2, "fail": "SERVER", "delay_ms": 5}]
    with served(scenario(task="hi", script=SCRIPT, faults=faults)) as server:
        assert ask_sync(server, way, max_retries=2).calls == CALLS
    assert [(one.retry_of, one.status) for one in server.requests] == [(None, 429), (1, 500), (1, 200)]
    assert server.requests[2].headers["x-stainless-retry-count"] == "2"
    assert server.requests[1].at_ms - server.requests[0].at_ms >= 30


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ask", [pytest.param(ask_sync, id="sync"), pytest.param(ask_async, id="async")])
@pytest.mark.parametrize("fault", [{"reset": True}, {"fail": "TRANSPORT"}, {"fail": "PROVIDER_ABORTED"}], ids=str)
def test_a_connection_that_breaks_is_one_to_the_client(fault: Any, way: str, ask: Any) -> None:
    with served(scenario(task="hi", script=SCRIPT, faults=[{"request": 1, **fault}])) as server:
        with pytest.raises(openai.APIConnectionError) as error:
            ask(server, way)
        assert not isinstance(error.value, openai.APITimeoutError)
        assert ask(server, way).calls == CALLS


def test_a_reset_is_a_reset_and_no_quiet_end() -> None:
    with served(scenario(task="hi", script=SCRIPT, faults=[{"request": 1, "reset": True}])) as server:
        port = int(server.base_url.split(":")[2].split("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            body = b'{"model":"m","messages":[{"role":"user","content":"x"}]}'
            head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body)
            raw.sendall(head + body)
            with pytest.raises(ConnectionResetError):
                raw.recv(100)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("after", [0, 3, 1000])
def test_a_cut_body_is_a_broken_connection_and_the_answer_is_given_to_whoever_asks_again(way: str, after: int) -> None:
    with served(scenario(task="hi", script=SCRIPT, faults=[{"request": 1, "cut_after": after}])) as server:
        with pytest.raises(openai.APIConnectionError):
            ask_sync(server, way)
        assert ask_sync(server, way).calls == CALLS
    assert [one.went for one in server.requests] == [Went.FAULT, Went.ANSWERED]
    if way.endswith("streamed") and after == 3:
        assert server.requests[0].n_pieces == 3


@pytest.mark.parametrize("way", WAYS)
def test_a_malformed_piece_is_no_answer(way: str) -> None:
    faults = [{"request": 1, "malformed_after": 1}]
    broken = pytest.raises((json.JSONDecodeError, openai.APIError))
    with served(scenario(task="hi", script=SCRIPT, faults=faults)) as server, broken:
        ask_sync(server, way)
    assert server.requests[0].fault == "malformed_after 1"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ask", [pytest.param(ask_sync, id="sync"), pytest.param(ask_async, id="async")])
def test_a_stall_ends_by_the_clients_own_time_limit_and_the_server_sees_it_go(way: str, ask: Any) -> None:
    with served(scenario(task="hi", script=SCRIPT, faults=[{"request": 1, "stall_after": 2}])) as server:
        with pytest.raises(openai.APITimeoutError):
            ask(server, way, timeout=0.15)
        assert ask(server, way).calls == CALLS
    assert server.requests[0].went in (Went.FAULT, Went.DISCONNECTED)
    assert server.requests[0].fault == "stall_after 2"
    assert server.requests[1].retry_of == 1


@pytest.mark.parametrize("way", ["chat-whole", "responses-whole"])
def test_an_empty_body_is_no_answer(way: str) -> None:
    faults = [{"request": 1, "empty": True}]
    broken = pytest.raises((json.JSONDecodeError, openai.APIError))
    with served(scenario(task="hi", script=SCRIPT, faults=faults)) as server, broken:
        ask_sync(server, way)
    assert server.requests[0].fault == "empty"


@pytest.mark.parametrize("way", ["chat-streamed", "responses-streamed"])
def test_an_empty_stream_has_no_events(way: str) -> None:
    with served(scenario(task="hi", script=SCRIPT, faults=[{"request": 1, "empty": True}])) as server:
        ask = WAYS[way][0]
        with _client(server) as client:
            assert list(ask(client, stream=True)) == []


@pytest.mark.parametrize("ask", [chat, responses])
def test_another_content_type_is_no_answer_to_the_client(ask: Any) -> None:
    faults = [{"request": 1, "content_type": "text/html"}]
    with served(scenario(task="hi", script=SCRIPT, faults=faults)) as server, _client(server) as client:
        assert isinstance(ask(client), str)  # the client gives the text as it came
        assert not isinstance(ask(client), str)
    assert [one.went for one in server.requests] == [Went.FAULT, Went.ANSWERED]


def test_a_fault_that_never_happened_is_told_and_fails_unless_leftovers_are_allowed() -> None:
    faults = [{"request": 9, "status": 500}]
    with served(scenario(task="hi", script=[{"say": "x"}], faults=faults)) as server:
        ask_sync(server, "chat-whole")
    assert server.outcome is Outcome.FAIL
    assert "request 9 never came: status 500 did not happen" in str(server.verdicts())
    with served(scenario(task="hi", script=[{"say": "x"}], faults=faults), allow_leftovers=True) as server:
        ask_sync(server, "chat-whole")
    assert server.outcome is Outcome.PASS


@pytest.mark.conformance("144")
@pytest.mark.parametrize("way", WAYS)
def test_in_process_the_same_faults_pass_in_virtual_time(way: str) -> None:
    faults = [
        {"request": 1, "status": 429, "retry_after_ms": 20_000},
        {"request": 2, "reset": True, "delay_ms": 7_000},
        {"request": 3, "cut_after": 1},
        {"request": 4, "stall_after": 0},
    ]
    bound = scenario(task="hi", script=SCRIPT, faults=faults).scenario
    answers = [Answer("fine", raw_finish_reason="stop")]

    async def ask(asked_for: Asked) -> Answer:
        return asked_for.given or answers.pop()

    async def main(clock: Any) -> tuple[list[str], Got, int]:
        transport = ModelTransport(ask, faults=bound.faults)
        client = in_process_client(transport).with_options(max_retries=0, timeout=30)
        raised = []
        for _ in faults:
            try:
                await asked(client, way)
            except openai.APIError as error:
                raised.append(type(error).__name__)
        return raised, await asked(client, way), clock.now_ms()

    raised, last, took_ms = virtually(main)
    assert raised == ["RateLimitError", "APIConnectionError", "APIConnectionError", "APITimeoutError"]
    assert last.text == "fine"
    assert took_ms == 37_000


@pytest.mark.conformance("145")
@pytest.mark.parametrize("way", ["chat-streamed", "responses-streamed"])
@pytest.mark.parametrize(
    ("broken", "raised", "went"),
    [
        pytest.param({"fail_after": {"chunks": 3, "code": "TRANSPORT"}}, openai.APIConnectionError, Went.FAILED, id="transport"),
        pytest.param({"fail_after": {"chunks": 3, "code": "PROVIDER_ABORTED"}}, openai.APIConnectionError, Went.FAILED, id="aborted"),
        pytest.param({"fail_after": {"chunks": 3, "code": "SERVER", "message": "overloaded"}}, openai.APIError, Went.FAILED, id="server"),
        pytest.param({"cut_after": 3}, None, Went.FAILED, id="quiet"),
    ],
)  # fmt: skip
def test_a_scripted_stream_that_fails_in_its_middle_fails_there(way: str, broken: Any, raised: Any, went: Went) -> None:
    script = [{"say": "a b c d e f", "chunks": "words", **broken}]
    events: list[Any] = []
    with served(scenario(task="hi", script=script)) as server, _client(server) as client:
        stream = WAYS[way][0](client, stream=True)
        if raised is None or (way == "responses-streamed" and raised is openai.APIError):
            events += stream  # the client hands the error event on, and a quiet end is one
        else:
            with pytest.raises(raised):
                events += stream
    assert "response.completed" not in [getattr(event, "type", "") for event in events]
    assert not any(getattr(c, "finish_reason", None) for event in events for c in getattr(event, "choices", ()))
    if way == "responses-streamed" and raised is openai.APIError:
        assert (events[-1].type, events[-1].message) == ("error", "overloaded")
    assert server.requests[0].went is went


# ---------------------------------------------------------------- who is refused, who goes away


def test_a_dry_script_is_told_once_and_never_taken_for_an_answer() -> None:
    with served(scenario(task="hi", script=[{"say": "x"}])) as server, _client(server, max_retries=2) as client:
        chat(client)
        with pytest.raises(openai.APIStatusError, match="a request shows 1 answer, and its script has 1 reply") as error:
            chat(client, [*HI, {"role": "assistant", "content": "x"}, *HI])
    assert (error.value.status_code, error.value.code) == (410, "script_exhausted")
    assert len(server.requests) == 2
    assert server.requests[1].went is Went.UNANSWERABLE
    assert server.outcome is Outcome.FAIL


@pytest.mark.parametrize("way", ["chat-whole", "responses-whole"])
def test_an_invalid_history_is_refused_as_the_real_api_does_unless_lenient(way: str) -> None:
    orphan: dict[str, list[Any]] = {
        "chat-whole": [*HI, {"role": "tool", "tool_call_id": "c", "content": "ok"}],
        "responses-whole": [*HI, {"type": "function_call_output", "call_id": "c", "output": "ok"}],
    }
    bound = scenario(task="hi", script=[{"say": "x"}])
    with served(bound) as server:
        with pytest.raises(openai.BadRequestError):
            ask_sync(server, way, orphan[way])
        ask_sync(server, way)
    assert server.outcome is Outcome.FAIL
    with served(bound, history="lenient") as server:
        assert ask_sync(server, way, orphan[way]).text == "x"
    assert server.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("POST", "/embeddings", 404), ("GET", "/chat/completions", 405), ("GET", "/nowhere", 404)],
)
def test_what_is_not_offered_is_said_and_kept(method: str, path: str, status: int) -> None:
    with served(scenario(task="hi", script=SCRIPT)) as server:
        response = httpx2.request(method, server.base_url + path)
    assert response.status_code == status
    assert "is not offered" in response.json()["error"]["message"]
    assert len(server.refusals) == 1
    assert server.requests == ()
    assert server.outcome is Outcome.INVALID


@pytest.mark.parametrize("more", [{"background": True}, {"conversation": "conv_1"}, {"prompt": {"id": "pmpt_1"}}])
def test_what_responses_would_keep_or_do_elsewhere_is_refused_and_never_passed_over(more: dict[str, Any]) -> None:
    refused = pytest.raises(openai.BadRequestError, match="is not offered")
    with served(scenario(task="hi", script=SCRIPT)) as server, _client(server) as client, refused as error:
        client.responses.create(model="m", input="hi", **more)
    assert [error.value.param] == list(more)


def test_a_client_that_goes_away_cancels_the_answer_and_stands_in_the_record() -> None:
    began, cancelled = threading.Event(), threading.Event()

    async def ask(asked_for: Asked) -> Answer:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError("not reached")

    with LoopbackServer(Desk(ask)) as server:
        with socket.create_connection(("127.0.0.1", int(server.base_url.split(":")[2].split("/")[0]))) as raw:
            body = b'{"model":"m","messages":[{"role":"user","content":"x"}]}'
            raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            assert began.wait(10)
        assert cancelled.wait(10)
    (exchange,) = server.desk.exchanges
    assert exchange.went is Went.DISCONNECTED
    assert "went away" in exchange.why


def test_a_stream_that_its_client_leaves_ends_there() -> None:
    script = [{"say": "a b c d e f", "chunks": "words", "chunk_delay_ms": 5}, {"say": "more"}]
    ended = threading.Event()
    with served(scenario(task="hi", script=script, allow_leftovers=True)) as server, _client(server) as client:
        for chunk in chat(client, stream=True):
            if chunk.choices and chunk.choices[0].delta.content:
                break
        client.close()
    ended.set()
    (one,) = server.requests
    assert one.went is Went.DISCONNECTED
    assert 0 < one.n_pieces < 8


@pytest.fixture
def raw_server() -> Iterator[LoopbackServer]:
    async def ask(asked_for: Asked) -> Answer:
        return Answer("fine", raw_finish_reason="stop")

    with LoopbackServer(Desk(ask)) as server:
        yield server


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400", id="tls-on-a-plain-port"),
        pytest.param(b"GET / HTTP/1.1\r\nhost: x\r\n" + b"a: b\r\n" * 20_000 + b"\r\n", b"431", id="endless-headers"),
        pytest.param(b"POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n", b"", id="cut-body"),
        pytest.param(b"", b"", id="nothing"),
    ],
)
def test_what_is_no_http_request_ends_its_own_connection_only(raw_server: LoopbackServer, sent: bytes, words: bytes) -> None:
    port = int(raw_server.base_url.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(sent)
        raw.shutdown(socket.SHUT_WR)
        assert words in raw.recv(4000)
    assert httpx2.get(raw_server.base_url + "/models").status_code == 200


def test_an_address_that_is_taken_is_an_error_with_what_to_do(raw_server: LoopbackServer) -> None:
    port = int(raw_server.base_url.split(":")[2].split("/")[0])
    with pytest.raises(ConfigurationError, match="another --port"), served(scenario(task="x", script=[{"say": "x"}]), port=port):
        raise AssertionError("not reached")


def test_only_loopback_is_listened_on(raw_server: LoopbackServer) -> None:
    assert raw_server.base_url.startswith("http://127.0.0.1:")


def test_a_blocked_subject_does_not_block_its_model() -> None:
    async def main() -> str:  # a synchronous client inside an event loop stops the loop until it has its answer
        return ask_sync(server, "chat-whole").text

    with served(scenario(task="hi", script=[{"say": "x"}])) as server:
        assert asyncio.run(main()) == "x"
