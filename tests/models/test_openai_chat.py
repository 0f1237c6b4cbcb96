"""The live adapter through the real client: one plain request, every failure by its code, no retry."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest

from harness.errors import CassetteMiss, ConfigurationError, ModelError
from harness.models import (
    LiveModel,
    OpenAIChatModel,
    OpenAIResponsesModel,
    chat_model_from_env,
    chat_model_over,
    in_process_client,
)
from harness.models.clients import client_over
from harness.models.endpoint import place_of
from harness.types.doors import Answer
from harness.types.messages import ChatAssistant, ChatCall, ChatTool, ChatUser, JsonText
from tests.models.support import Flag, call, ignore, virtually

GOOD = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}], "model": "m-1"}


def over(handler: Callable[[httpx2.Request], Any], **options: Any) -> OpenAIChatModel:
    return chat_model_over(httpx2.MockTransport(handler), name="m", **options)


def ask(model: LiveModel, asked: Any = None) -> Answer:
    async def main(_: Any) -> Answer:
        try:
            return await model.answer(asked or call(), signal=Flag(), emit=ignore)
        finally:
            await model.aclose()

    return virtually(main)


def failure(handler: Callable[[httpx2.Request], Any], **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(over(handler, **options))
    return caught.value


def test_the_body_is_the_rendered_call_and_nothing_more() -> None:
    bodies: list[Any] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        bodies.append((request.method, request.url.path, json.loads(request.content)))
        return httpx2.Response(200, json=GOOD)

    made = ChatAssistant(tool_calls=(ChatCall("c1", "go", "{}"),))
    asked = call(ChatUser(content="é"), made, ChatTool(call_id="c1", content="ok"), parameters='{"seed":1}')
    answer = ask(over(handler, parameters=JsonText('{"seed":2,"temperature":0}')), asked)
    assert (answer.content, answer.model, answer.no_finish_expected) == ("hi", "m-1", False)
    messages = [
        {"role": "user", "content": "é"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "go", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]
    body = {"model": "m", "messages": messages, "seed": 1, "temperature": 0}
    assert bodies == [("POST", "/v1/chat/completions", body)]


def test_the_clients_typed_walk_over_messages_is_never_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from openai._utils import _transform

    walked: list[str] = []
    real = _transform._async_transform_recursive

    async def counted(data: object, **options: Any) -> object:
        walked.append(type(data).__name__)
        return await real(data, **options)

    monkeypatch.setattr(_transform, "_async_transform_recursive", counted)
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=GOOD))
    ask(chat_model_over(transport, name="m"))
    ask(chat_model_over(transport, name="m", stream=True))
    response = httpx2.MockTransport(lambda request: httpx2.Response(200, json={"status": "completed", "output": []}))
    ask(OpenAIResponsesModel(client_over(response), name="m"))
    assert walked == []

    async def typed(_: Any) -> None:
        await in_process_client(transport).chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}]
        )

    virtually(typed)
    assert walked  # the typed call is seen, so the count above means something


@pytest.mark.parametrize(
    ("status", "content", "code"),
    [
        pytest.param(429, b'{"error": {"message": "slow"}}', "RATE_LIMIT", id="rate"),
        pytest.param(401, b"no", "AUTH", id="auth"),
        pytest.param(400, b'{"error": {"code": "context_length_exceeded"}}', "CONTEXT_OVERFLOW", id="overflow"),
        pytest.param(503, b"", "SERVER", id="server"),
        pytest.param(200, b"Hello there", "DAMAGED_RESPONSE", id="plain-text-200"),
        pytest.param(200, b'{"error": {"message": "x", "type": "server_error"}}', "SERVER", id="error-in-200"),
    ],
)
def test_an_http_failure_has_its_code_and_is_not_retried(status: int, content: bytes, code: str) -> None:
    n_requests: list[int] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        n_requests.append(1)
        return httpx2.Response(status, content=content)

    assert failure(handler).code == code
    assert len(n_requests) == 1


def test_retry_after_reaches_whoever_asked() -> None:
    assert failure(lambda request: httpx2.Response(429, headers={"retry-after": "3"})).retry_after_ms == 3000


def _unreachable(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("refused by http://ann:secret@proxy:8080", request=request)


def test_an_endpoint_that_cannot_be_reached_is_named_without_secrets() -> None:
    error = failure(_unreachable, base_url="http://model.invalid:8091/v1")
    assert error.code == "TRANSPORT"
    assert str(error).startswith("cannot talk to model.invalid:8091 (ConnectError: refused by http://proxy:8080)")


def test_a_real_closed_port_is_a_transport_failure_that_names_host_and_port() -> None:
    environ = {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}

    async def main() -> str:
        model = chat_model_from_env(environ, name="m", timeout_ms=2000)
        with pytest.raises(ModelError) as caught:
            await model.answer(call(), signal=Flag(), emit=ignore)
        await model.aclose()
        assert caught.value.code == "TRANSPORT"
        return str(caught.value)

    text = asyncio.run(main())
    assert "127.0.0.1:9" in text
    assert "sk-secret" not in text


def test_a_late_answer_is_a_timeout() -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("late", request=request)

    assert failure(handler).code == "TIMEOUT"


def test_a_connection_that_breaks_in_the_body_is_a_transport_failure() -> None:
    class Broken(httpx2.AsyncByteStream):
        async def __aiter__(self) -> Any:
            yield b'{"choi'
            raise httpx2.ReadError("cut")

    assert failure(lambda request: httpx2.Response(200, stream=Broken())).code == "TRANSPORT"


def test_a_miss_of_our_own_transport_passes_through_as_it_is() -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise CassetteMiss("nothing recorded")

    with pytest.raises(CassetteMiss, match=r"^nothing recorded$"):
        ask(over(handler))


def test_cancellation_passes_through_and_closes_the_request() -> None:
    closed: list[str] = []

    class Waiting(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            try:
                await asyncio.sleep(3600)
            finally:
                closed.append("closed")
            raise AssertionError("the request was not cancelled")

    async def main(clock: Any) -> None:
        model = chat_model_over(Waiting(), name="m")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await model.answer(call(), signal=Flag(), emit=ignore)
        assert clock.now_ms() == 5000

    virtually(main)
    assert closed == ["closed"]


@pytest.mark.conformance("98")
@pytest.mark.parametrize(
    ("host", "expected"),
    [("acme.snowflakecomputing.com", True), ("snowflakecomputing.com", True), ("notsnowflakecomputing.com", False)],
)
def test_a_provider_that_never_sends_a_finish_reason_is_known(host: str, expected: bool) -> None:
    handler = lambda request: httpx2.Response(200, json=GOOD)  # noqa: E731
    assert ask(over(handler, base_url=f"https://{host}/v1")).no_finish_expected is expected


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        pytest.param({}, "OPENAI_API_KEY", id="no-key"),
        pytest.param({"OPENAI_API_KEY": "  "}, "OPENAI_BASE_URL", id="blank-key"),
        pytest.param({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "localhost:80"}, "http://host:port/v1", id="no-scheme"),
        pytest.param({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://a:b@host/v1"}, "no user name", id="user-info"),
        pytest.param({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://h:port/v1"}, "is no URL", id="no-url"),
    ],
)
def test_an_environment_without_what_a_live_model_needs_is_a_usage_error(environ: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        chat_model_from_env(environ, name="m")
    assert words in str(caught.value)
    assert caught.value.exit_code == 2


def test_proxies_of_the_environment_are_used_only_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    environ = {"OPENAI_API_KEY": "k"}
    live = chat_model_from_env(environ, name="m")
    replayed = chat_model_from_env(environ, httpx2.MockTransport(lambda request: httpx2.Response(200)), name="m")
    assert live._endpoint.client._client._mounts
    assert not replayed._endpoint.client._client._mounts
    assert (live._endpoint.client._client.trust_env, replayed._endpoint.client._client.trust_env) == (True, False)
    assert not in_process_client(httpx2.MockTransport(lambda request: httpx2.Response(200)))._client._mounts


@pytest.mark.parametrize(
    ("url", "place"),
    [("https://ann:pw@h.example/v1", "h.example:443"), ("http://h:8/v1?key=s", "h:8"), ("http://h", "h:80")],
)
def test_a_place_is_host_and_port_and_no_secret(url: str, place: str) -> None:
    assert place_of(httpx2.URL(url)) == place


def test_the_client_itself_never_retries_a_live_model_but_does_for_a_users_loop() -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200))
    assert chat_model_over(transport, name="m")._endpoint.client.max_retries == 0
    assert in_process_client(transport).max_retries == openai.DEFAULT_MAX_RETRIES > 0
