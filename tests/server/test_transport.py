"""The in-process server under the real client: answers, failures, time-outs, cancels, refusals."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest

from harness.errors import ModelError, ScriptExhausted, UnsupportedError
from harness.models import in_process_client
from harness.server import Ask, Asked, ModelTransport
from harness.types.codes import FinishReason
from harness.types.doors import Answer, AnsweredCall
from harness.types.messages import JsonText
from harness.wire.chat import ChatRequest
from tests.models.support import virtually

HI: list[Any] = [{"role": "user", "content": "hi"}]
FINE = Answer("fine", finish_reason=FinishReason.STOP, raw_finish_reason="stop")


def replying(*replies: Answer | Exception) -> Ask:
    """An ask that gives these one after the other."""
    left = list(replies)

    async def ask(asked: Asked) -> Answer:
        reply = left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return ask


def create(
    ask: Ask, messages: list[Any] = HI, *, max_retries: int = 0, **options: Any
) -> tuple[Any, ModelTransport, int]:
    """What `chat.completions.create` gives or raises, the transport, and how long it took (ms)."""

    async def main(clock: Any) -> tuple[Any, ModelTransport, int]:
        transport = ModelTransport(ask)
        client = in_process_client(transport).with_options(max_retries=max_retries)
        try:
            result: Any = await client.chat.completions.create(model="m", messages=messages, **options)
        except Exception as error:
            result = error
        return result, transport, clock.now_ms()

    return virtually(main)


def test_an_answer_reaches_the_client_as_a_completion() -> None:
    answer = Answer(
        calls=(AnsweredCall("go", '{"a":1}', "c1"),),
        finish_reason=FinishReason.TOOL_CALLS,
        raw_finish_reason="tool_calls",
    )
    completion, transport, _ = create(replying(answer))
    (choice,) = completion.choices
    (made,) = choice.message.tool_calls
    assert (made.id, made.function.name, made.function.arguments) == ("c1", "go", '{"a":1}')
    assert (choice.message.content, choice.finish_reason, completion.model) == (None, "tool_calls", "m")
    assert transport.bodies == ['{"messages":[{"content":"hi","role":"user"}],"model":"m"}']


def test_a_raw_response_reaches_the_client_verbatim() -> None:
    raw = JsonText('{"choices": [{"message": {"content": [{"type": "text", "text": "x"}]}}], "odd": 1}')
    completion, _, _ = create(replying(Answer("x", raw=raw)))
    assert completion.odd == 1
    assert completion.choices[0].message.content == [{"type": "text", "text": "x"}]


@pytest.mark.conformance("149")
@pytest.mark.parametrize(
    ("code", "raised", "status"),
    [
        pytest.param("RATE_LIMIT", openai.RateLimitError, 429, id="rate"),
        pytest.param("QUOTA", openai.RateLimitError, 429, id="quota"),
        pytest.param("AUTH", openai.AuthenticationError, 401, id="auth"),
        pytest.param("CONTEXT_OVERFLOW", openai.BadRequestError, 400, id="overflow"),
        pytest.param("INVALID_REQUEST", openai.BadRequestError, 400, id="invalid"),
        pytest.param("SERVER", openai.InternalServerError, 500, id="server"),
        pytest.param("TIMEOUT", openai.InternalServerError, 504, id="timeout"),
    ],
)
def test_a_failure_that_a_server_can_say_is_an_http_answer(code: str, raised: type[Exception], status: int) -> None:
    error, _, _ = create(replying(ModelError("as scripted", code=code)))
    assert isinstance(error, openai.APIStatusError)
    assert type(error) is raised
    assert error.status_code == status
    assert "as scripted" in str(error)


@pytest.mark.parametrize("code", ["TRANSPORT", "PROVIDER_ABORTED"])
def test_a_broken_connection_is_one_to_the_client(code: str) -> None:
    error, _, _ = create(replying(ModelError("gone", code=code)))
    assert type(error) is openai.APIConnectionError


def test_a_damaged_response_is_a_200_that_the_client_cannot_read_as_a_completion() -> None:
    result, _, _ = create(replying(ModelError("damaged", code="DAMAGED_RESPONSE")))
    assert not hasattr(result, "choices")


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ScriptExhausted("dry"), id="script"),
        pytest.param(ModelError("none", code="NO_MODEL"), id="no-model"),
        pytest.param(ValueError("a bug"), id="foreign"),
        pytest.param(TimeoutError("not the client's time"), id="somebody-elses-timeout"),
    ],
)
def test_a_failure_of_ours_passes_through_the_client_as_it_is_and_is_not_retried(error: Exception) -> None:
    raised, transport, _ = create(replying(error), max_retries=2)
    assert raised is error
    assert len(transport.bodies) == 1


def test_the_clients_own_retries_are_seen_and_wait_in_virtual_time_as_told() -> None:
    slow = ModelError("slow", code="RATE_LIMIT", retry_after_ms=100_000)
    completion, transport, took_ms = create(
        replying(slow, ModelError("x", code="SERVER", retry_after_ms=7_000), FINE), max_retries=2
    )
    assert completion.choices[0].message.content == "fine"
    assert len(transport.bodies) == 3
    assert took_ms == 107_000


def test_the_clients_read_timeout_holds_in_virtual_time_and_cancels_the_handler() -> None:
    seen: list[Any] = []

    async def ask(asked: Asked) -> Answer:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        raise AssertionError("not reached")

    async def main(clock: Any) -> int:
        def failed(request: ChatRequest | None, number: int, error: ModelError) -> None:
            seen.append((request is not None, number, error.code))

        client = in_process_client(ModelTransport(ask, failed=failed)).with_options(max_retries=0, timeout=30)
        with pytest.raises(openai.APITimeoutError):
            await client.chat.completions.create(model="m", messages=HI)
        return int(clock.now_ms())

    assert virtually(main) == 30_000
    assert seen == ["cancelled", (True, 1, "TIMEOUT")]


def test_a_client_that_goes_away_cancels_the_handler_and_is_no_timeout() -> None:
    seen: list[str] = []

    async def ask(asked: Asked) -> Answer:
        try:
            await asyncio.sleep(3600)
        finally:
            seen.append("cancelled")
        raise AssertionError("not reached")

    async def main(clock: Any) -> None:
        transport = ModelTransport(ask, failed=lambda *_: seen.append("failed"))
        work = asyncio.ensure_future(in_process_client(transport).chat.completions.create(model="m", messages=HI))
        await asyncio.sleep(5)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert clock.now_ms() == 5000

    virtually(main)
    assert seen == ["cancelled"]


def test_an_invalid_history_is_answered_400_and_uses_up_no_reply() -> None:
    orphan = [*HI, {"role": "tool", "tool_call_id": "x", "content": "ok"}]
    error, transport, _ = create(replying(FINE), orphan)
    assert isinstance(error, openai.BadRequestError)
    assert error.param == "messages[1].tool_call_id"
    assert error.type == "invalid_request_error"
    assert "no open call has the id 'x'" in str(error)
    assert len(transport.bodies) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"{", "could not parse", id="cut"),
        pytest.param(b"[]", "no JSON object", id="no-object"),
        pytest.param(b'{"model":"m","messages":[{"role":"user","content":"x"}],"top_p":NaN}', "NaN", id="nan"),
        pytest.param(b"\xff", "could not parse", id="no-text"),
        pytest.param(b'{"model":"m","messages":[{"role":"user","content":"x"}],"tools":"x"}', "tools", id="tools-text"),
    ],
)
def test_a_body_that_cannot_be_read_is_answered_400_and_told(content: bytes, words: str) -> None:
    told: list[Any] = []

    async def main(_: Any) -> httpx2.Response:
        transport = ModelTransport(
            replying(), failed=lambda request, number, error: told.append((request, number, error.code))
        )
        async with httpx2.AsyncClient(transport=transport) as client:
            return await client.post("http://x.invalid/v1/chat/completions", content=content)

    response = virtually(main)
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]
    assert told == [(None, 1, "INVALID_REQUEST")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"n": 2}, "n=2 is not offered", id="several-choices"),
    ],
)
def test_what_is_not_offered_is_refused_by_name_and_kept(options: dict[str, Any], words: str) -> None:
    error, transport, _ = create(replying(FINE), max_retries=2, **options)
    assert isinstance(error, UnsupportedError)
    assert error.exit_code == 2
    assert words in str(error)
    assert transport.refusals == [str(error)]


@pytest.mark.parametrize(
    ("use", "path"),
    [
        pytest.param(
            lambda client: client.embeddings.create(model="m", input="x"), "POST /v1/embeddings", id="embeddings"
        ),
        pytest.param(lambda client: client.models.retrieve("m"), "GET /v1/models/m", id="models"),
    ],
)
def test_other_paths_are_refused_by_name(use: Callable[[Any], Any], path: str) -> None:
    async def main(_: Any) -> ModelTransport:
        transport = ModelTransport(replying(FINE))
        with pytest.raises(UnsupportedError, match=r"chat\.completions\.create"):
            await use(in_process_client(transport))
        return transport

    transport = virtually(main)
    assert path in transport.refusals[0]
    assert transport.bodies == []


def test_a_synchronous_client_is_refused_by_name_with_what_to_use() -> None:
    transport = ModelTransport(replying(FINE))
    client = openai.OpenAI(api_key="x", base_url="http://x.invalid/v1", http_client=httpx2.Client(transport=transport))
    with pytest.raises(UnsupportedError, match="use AsyncOpenAI"):
        client.chat.completions.create(model="m", messages=HI)
    assert len(transport.refusals) == 1


def test_bodies_are_kept_and_headers_are_not() -> None:
    _, transport, _ = create(replying(FINE), extra_headers={"x-secret": "sk-123"})
    assert json.loads(transport.bodies[0])["model"] == "m"
    assert "sk-123" not in str(vars(transport))


def test_parallel_requests_are_numbered_in_the_order_they_came() -> None:
    async def ask(asked: Asked) -> Answer:
        await asyncio.sleep(10 - asked.number)
        return Answer(f"{asked.number}", finish_reason=FinishReason.STOP)

    async def main(_: Any) -> list[str]:
        client = in_process_client(ModelTransport(ask))
        jobs = [
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": f"{i}"}]) for i in (1, 2, 3)
        ]
        return [completion.choices[0].message.content or "" for completion in await asyncio.gather(*jobs)]

    assert virtually(main) == ["1", "2", "3"]
