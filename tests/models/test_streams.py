"""Streams over HTTP: chunks are told as they come, and what a server breaks off or sends wrong is never an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from harness.errors import CassetteMiss, ModelError
from harness.models import OpenAIChatModel, chat_model_from_env, live_model, model_over
from harness.models.endpoint import NOT_STREAMED
from harness.models.strict import damage_of
from harness.types.codes import FinishReason
from harness.types.doors import Answer
from harness.types.messages import JsonText
from harness.types.model_spec import ModelApi, ModelSpec
from harness.wire.streams import NO_END
from tests.models.bodies import Pieces, answered, ask, delta, frames, spec, streamed
from tests.models.support import Flag, call, virtually

HELLO = [delta(role="assistant", content="He"), delta(content="llo"), delta("stop")]
USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}


def refused(body: bytes, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        answered(body, **options)
    return caught.value


def test_chunks_are_told_as_they_come_and_make_the_answer() -> None:
    told: list[Any] = []

    async def main(clock: Any) -> Answer:
        async def pieces() -> AsyncIterator[bytes]:
            for chunk in (*HELLO, USAGE, "[DONE]"):
                await asyncio.sleep(1)
                yield frames(chunk)

        class Slow(httpx2.AsyncByteStream):
            def __aiter__(self) -> AsyncIterator[bytes]:
                return pieces()

        handler = lambda _: httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Slow())  # noqa: E731
        model = model_over(httpx2.MockTransport(handler), spec())
        start = clock.now_ms()
        emit = lambda chunk: told.append((clock.now_ms() - start, json.loads(chunk)["choices"]))  # noqa: E731
        return await model.answer(call(), signal=Flag(), emit=emit)

    answer = virtually(main)
    assert [at for at, _ in told] == [1000, 2000, 3000, 4000]
    assert (answer.content, answer.finish_reason, answer.usage and answer.usage.input_tokens) == ("Hello", FinishReason.STOP, 7)
    assert answer.notes == ()


def test_the_request_asks_for_a_stream_and_its_usage_and_the_header_shows_it() -> None:
    bodies: list[Any] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=frames(*HELLO, "[DONE]"))

    model = model_over(httpx2.MockTransport(handler), spec(parameters=JsonText('{"seed":1}')))
    ask(model)
    assert json.loads(model.parameters) == {"seed": 1, "stream": True}
    wanted = {"seed": 1, "stream": True, "stream_options": {"include_usage": True}}
    assert {key: bodies[0][key] for key in wanted} == wanted


NAN, TWICE = '{"choices":[{"index":0,"delta":{},"x":NaN}]}', '{"choices":[],"choices":[{"index":0,"delta":{"content":"dup"}}]}'
EVENT = '{"type":"response.in_progress","x":1%s}'


@pytest.mark.parametrize("api", list(ModelApi))
@pytest.mark.parametrize("what", ["NaN", "duplicate key"])
def test_a_chunk_that_is_no_strict_json_is_damage_and_is_not_told(what: str, api: ModelApi) -> None:
    chunk = {"NaN": NAN, "duplicate key": TWICE}[what] if api is ModelApi.CHAT else EVENT % {"NaN": ',"y":NaN', "duplicate key": ',"x":2'}[what]
    told: list[str] = []

    async def main(_: Any) -> Answer:
        return await model_over(streamed(frames(chunk, *HELLO, "[DONE]")), spec(api)).answer(call(), signal=Flag(), emit=told.append)

    with pytest.raises(ModelError, match=what if api is ModelApi.CHAT else "no JSON object") as caught:
        virtually(main)
    assert (caught.value.code, told) == ("DAMAGED_RESPONSE", [])


@pytest.mark.parametrize("body", [b"<html>no</html>", b"\xef\xbb\xbf<!doctype html>\n", b"  \n<html>\n\n", b"Bad gateway\n\n"])
@pytest.mark.parametrize("api", list(ModelApi))
def test_html_or_text_that_says_it_is_a_stream_is_damage(body: bytes, api: ModelApi) -> None:
    assert refused(body, model=spec(api)).code == "DAMAGED_RESPONSE"


@pytest.mark.parametrize("body", [b"\xef\xbb\xbf" + frames(*HELLO), b"x-own: 1\n" + frames(*HELLO), b"data\n\n" + frames(*HELLO)], ids=["mark", "unknown-field", "no-colon"])
def test_events_are_found_behind_what_a_stream_may_begin_with(body: bytes) -> None:
    assert answered(body).content == "Hello"


@pytest.mark.parametrize(("chunk", "what"), [({"choices": None}, "choices"), ({"choices": [{"index": 0, "delta": None}]}, "delta")], ids=["choices", "delta"])
def test_a_null_in_place_of_a_list_or_a_delta_is_noted(chunk: Any, what: str) -> None:
    answer = answered(frames(HELLO[0], chunk, *HELLO[1:], "[DONE]"))
    assert (answer.content, answer.notes) == ("Hello", (f"{what} of a chunk that was null was ignored",))


def test_a_delta_of_another_shape_is_damage() -> None:
    assert refused(frames({"choices": [{"index": 0, "delta": "x"}]})).code == "DAMAGED_RESPONSE"


def test_a_request_whose_own_parameters_ask_for_a_stream_is_read_as_one() -> None:
    model = model_over(streamed(frames(*HELLO, "[DONE]")), spec(stream=False))
    assert ask(model, call(parameters='{"stream":true}'))[0].content == "Hello"


@pytest.mark.public_case("PB-009")
def test_keep_alive_comments_are_nothing_whatever_id_came_before() -> None:
    first, second, third = (json.dumps(one) for one in HELLO)
    lines = [": PROCESSING", "", "id: 1", f"data: {first}", "", ": ping", "", ":", "", "id: 2", f"data: {second}", "", f"data: {third}", "", "data: [DONE]", ""]
    answer = answered("\n".join([*lines, ""]).encode())
    assert (answer.content, answer.finish_reason, answer.notes) == ("Hello", FinishReason.STOP, ())


@pytest.mark.public_case("PB-010")
@pytest.mark.conformance("145")
def test_an_error_object_inside_the_stream_fails_the_request_and_keeps_what_was_seen() -> None:
    error = {"choices": [], "error": {"message": "worker limit reached", "code": 502}}
    model = model_over(streamed(frames(delta(role="assistant", content="Let me"), error, "[DONE]")), spec())
    chunks: list[JsonText] = []

    async def main(_: Any) -> None:
        with pytest.raises(ModelError, match="worker limit reached") as caught:
            await model.answer(call(), signal=Flag(), emit=chunks.append)
        assert caught.value.code == "SERVER"

    virtually(main)
    assert "Let me" in chunks[0]
    assert len(chunks) == 2


@pytest.mark.public_case("PB-006", "PB-007", "PB-008")
@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [[{"id": "a1", "type": "function", "function": {"name": "lookup", "arguments": '{"q":'}}], [{"function": {"arguments": '"x"}'}}], [{"id": "a2", "type": "function", "function": {"name": "lookup", "arguments": '{"q":"y"}'}}]],
            [("a1", "lookup", '{"q":"x"}'), ("a2", "lookup", '{"q":"y"}')], id="no-index",
        ),
        pytest.param(
            [[{"index": 0, "id": "r1", "type": "function", "function": {"name": "read_file", "arguments": piece}}] for piece in ('{"pa', 'th":"a', '.txt"}')],
            [("r1", "read_file", '{"path":"a.txt"}')], id="everything-again",
        ),
        pytest.param(
            [[{"index": 0, "id": "n1", "type": "function", "function": {"name": "ping", "arguments": None}}, {"index": 1, "id": "n2", "type": "function", "function": {"name": "pong", "arguments": "{}"}}], [{"index": 0, "function": None}], [{"index": 0, "function": {"name": None, "arguments": "{}"}}]],
            [("n1", "ping", "{}"), ("n2", "pong", "{}")], id="null-fragments",
        ),
    ],
)  # fmt: skip
def test_pieces_of_calls_go_to_their_calls_over_http(deltas: list[Any], calls: list[tuple[str, str, str]]) -> None:
    chunks = [delta(tool_calls=one) for one in deltas]
    answer = answered(frames(*chunks, delta("tool_calls"), USAGE, "[DONE]"))
    assert [(one.wire_id, one.name, one.arguments) for one in answer.calls] == calls
    assert (answer.finish_reason, answer.usage and answer.usage.output_tokens) == (FinishReason.TOOL_CALLS, 3)


@pytest.mark.conformance("98")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(frames(*HELLO[:2]), id="no-end"),
        pytest.param(frames(*HELLO[:2], "[DONE]"), id="done-without-a-reason"),
        pytest.param(frames(*HELLO)[:-1], id="the-last-event-is-cut"),
        pytest.param(frames(*HELLO[:2], USAGE), id="usage-instead"),
        pytest.param(frames(delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "go", "arguments": "{}"}}])), id="a-whole-call"),
    ],
)  # fmt: skip
def test_a_stream_that_ends_without_a_finish_reason_is_no_answer(body: bytes) -> None:
    assert refused(body).code == "NO_FINISH_REASON"


@pytest.mark.conformance("98")
def test_a_provider_without_finish_reasons_must_send_its_end() -> None:
    host = "acme.snowflakecomputing.com"
    assert damage_of(answered(frames(*HELLO[:2], "[DONE]"), host=host)) is None
    assert refused(frames(*HELLO[:2]), host=host).code == "NO_FINISH_REASON"


def test_an_answer_with_its_reason_and_without_the_end_counts_and_is_noted() -> None:
    assert answered(frames(*HELLO)).notes == (NO_END,)


def test_nothing_behind_the_end_is_looked_at() -> None:
    assert answered(frames(*HELLO, "[DONE]", "no json", {"error": "late"})).content == "Hello"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(frames("no json"), "is not JSON", id="no-json"),
        pytest.param(frames([1]), "an array", id="an-array"),
        pytest.param(frames('{"choices": 7}'), "choices", id="choices-of-a-number"),
        pytest.param(frames("[" * 100_000), "is not JSON", id="too-deep"),
        pytest.param(b'data: {"choices"\ndata: :[]}\n\ndata: {\n\n', "is not JSON", id="half-of-it"),
        pytest.param(frames(delta(tool_calls=[7])), "tool_calls", id="a-call-of-a-number"),
    ],
)
def test_what_is_no_chunk_is_damage(body: bytes, words: str) -> None:
    error = refused(body)
    assert error.code == "DAMAGED_RESPONSE"
    assert words in str(error)


@pytest.mark.parametrize(
    ("event", "code", "words"),
    [
        pytest.param('{"error":{"message":"slow down","type":"rate_limit_error"}}', "RATE_LIMIT", "slow down", id="an-object"),
        pytest.param('{"message":"no key of an error","code":503}', "SERVER", "no key of an error", id="no-error-key"),
        pytest.param("it broke", "UNKNOWN", "it broke", id="a-text"),
    ],
)
def test_an_event_named_error_fails_the_request(event: str, code: str, words: str) -> None:
    error = refused(frames(*HELLO[:1]) + f"event: error\ndata: {event}\n\n".encode())
    assert (error.code, words in str(error)) == (code, True)


def test_a_whole_answer_where_a_stream_was_asked_is_read_and_noted() -> None:
    whole = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
    for kind in ("application/json; charset=utf-8", "application/vnd.x+json", None, "text/plain", "text/event-stream"):
        answer = answered(b"  " + json.dumps(whole).encode(), kind=kind)
        assert (answer.content, answer.notes) == ("hi", (NOT_STREAMED,))


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_an_error_object_where_a_stream_was_asked_keeps_its_code(kind: str) -> None:
    error = refused(b'{"error": {"message": "slow down", "type": "rate_limit_error"}}', kind=kind)
    assert (error.code, "slow down" in str(error)) == ("RATE_LIMIT", True)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        pytest.param("text/html", b"<html>data: a log-in page</html>", id="html"),
        pytest.param("text/html", frames(*HELLO), id="events-that-say-html"),
        pytest.param("text/plain", b"Hello there", id="plain-text"),
        pytest.param("application/json", b"<html>", id="html-that-says-json"),
        pytest.param(None, b"", id="nothing-at-all"),
    ],
)
def test_what_is_neither_a_stream_nor_an_answer_is_damage(kind: str | None, body: bytes) -> None:
    assert refused(body, kind=kind).code == "DAMAGED_RESPONSE"


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", None])
def test_a_stream_that_does_not_say_so_is_read_byte_by_byte_and_noted(kind: str | None) -> None:
    body = frames(*HELLO, "[DONE]")
    answer = answered([body[at : at + 1] for at in range(len(body))], kind=kind)
    assert answer.content == "Hello"
    assert "did not say that it is one" in answer.notes[0]


@pytest.mark.parametrize("status", [400, 429, 500])
def test_an_http_failure_of_a_streamed_request_is_read_as_of_a_whole_one(status: int) -> None:
    body = json.dumps({"error": {"message": "no"}}).encode()
    codes = []
    for stream in (True, False):
        with pytest.raises(ModelError) as caught:
            ask(model_over(streamed(body, "application/json", status), spec(stream=stream)))
        codes.append((caught.value.code, str(caught.value)))
    assert codes[0] == codes[1]


class Breaking(httpx2.AsyncByteStream):
    """A body that breaks behind its first piece."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def __aiter__(self) -> Any:
        yield frames(*HELLO[:1])
        raise self.error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(httpx2.ReadError("gone"), "TRANSPORT", id="reset"),
        pytest.param(httpx2.RemoteProtocolError("peer closed"), "TRANSPORT", id="cut"),
        pytest.param(httpx2.ReadTimeout("late"), "TIMEOUT", id="stall"),
        pytest.param(httpx2.DecodingError("no gzip"), "DAMAGED_RESPONSE", id="encoding"),
        pytest.param(ConnectionResetError("reset"), "TRANSPORT", id="from-below"),
        pytest.param(CassetteMiss("ours"), "CASSETTE_MISS", id="ours"),
    ],
)
def test_a_stream_that_breaks_is_a_failure_of_ours(error: Exception, code: str) -> None:
    handler = lambda _: httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Breaking(error))  # noqa: E731
    with pytest.raises(ModelError) as caught:
        ask(model_over(httpx2.MockTransport(handler), spec()))
    assert caught.value.code == code


def test_a_connection_that_breaks_behind_the_end_changes_nothing() -> None:
    class Late(Breaking):
        async def __aiter__(self) -> Any:
            yield frames(*HELLO, "[DONE]")
            raise self.error

    handler = lambda _: httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Late(httpx2.ReadError("x")))  # noqa: E731
    assert ask(model_over(httpx2.MockTransport(handler), spec()))[0].content == "Hello"


def test_a_server_that_never_closes_behind_the_end_holds_nothing_up() -> None:
    class Open(httpx2.AsyncByteStream):
        async def __aiter__(self) -> Any:
            yield frames(*HELLO, "[DONE]")
            await asyncio.sleep(3600)

    async def main(clock: Any) -> int:
        handler = lambda _: httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Open())  # noqa: E731
        await model_over(httpx2.MockTransport(handler), spec()).answer(call(), signal=Flag(), emit=lambda _: None)
        return int(clock.now_ms())

    assert virtually(main) <= 1000


@pytest.mark.conformance("69")
@pytest.mark.parametrize("api", list(ModelApi))
def test_a_cancel_in_mid_stream_closes_the_request_and_the_server_sees_it(api: ModelApi) -> None:
    """Over real loopback sockets: the server goes on writing, and finds out."""

    async def main() -> tuple[bool, int]:
        gone, told = asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
            first = {"type": "response.output_text.delta", "output_index": 0, "delta": "Hm"} if api is ModelApi.RESPONSES else HELLO[0]
            writer.write(frames(first))
            await writer.drain()
            while await reader.read(65536):  # what is left of the request; then the end: the client hung up
                pass
            gone.set()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}
        model = live_model(environ, ModelSpec("m", api=api, stream=True))
        n_chunks = 0

        def emit(_: JsonText) -> None:
            nonlocal n_chunks
            n_chunks += 1
            told.set()

        asked = asyncio.create_task(model.answer(call(), signal=Flag(), emit=emit))
        await asyncio.wait_for(told.wait(), 10)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await asyncio.wait_for(gone.wait(), 10)
        await model.aclose()
        server.close()
        return gone.is_set(), n_chunks

    assert asyncio.run(main()) == (True, 1)


def test_a_real_stream_cut_in_its_chunked_coding_is_a_transport_failure() -> None:
    async def main() -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            body = frames(*HELLO[:2])
            head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            writer.write(head + f"{len(body):x}\r\n".encode() + body + b"\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        model = chat_model_from_env({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}, name="m", stream=True)
        with pytest.raises(ModelError) as caught:
            await model.answer(call(), signal=Flag(), emit=lambda _: None)
        await model.aclose()
        server.close()
        return str(caught.value.code)

    assert asyncio.run(main()) == "TRANSPORT"


def test_a_listener_that_stops_a_stream_closes_it() -> None:
    class Watched(Pieces):
        closed = False

        async def aclose(self) -> None:
            self.closed = True

    stream = Watched([frames(one) for one in (*HELLO, "[DONE]")])
    handler = lambda _: httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=stream)  # noqa: E731

    def stop(_: JsonText) -> None:
        raise asyncio.CancelledError

    async def main(_: Any) -> None:
        model = model_over(httpx2.MockTransport(handler), spec())
        assert isinstance(model, OpenAIChatModel)
        with pytest.raises(asyncio.CancelledError):
            await model.answer(call(), signal=Flag(), emit=stop)

    virtually(main)
    assert stream.closed


def test_what_a_failed_stream_cost_is_told_with_the_failure() -> None:
    error = {"choices": [], "error": {"message": "limit", "code": 400}, "usage": {"prompt_tokens": 43, "completion_tokens": 10}}
    failed = {"type": "response.failed", "response": {"status": "failed", "error": {"message": "x"}, "usage": {"input_tokens": 43, "output_tokens": 10}}}
    errors = [
        refused(frames(*HELLO[:1], error)),
        refused(frames(*HELLO[:1], USAGE | {"usage": error["usage"]}, {"error": {"message": "later"}})),
        refused(frames(*HELLO[:2], {"choices": [], "usage": error["usage"]})),
        refused(frames(failed), model=spec(ModelApi.RESPONSES)),
    ]
    assert [(one.usage.input_tokens, one.usage.output_tokens) for one in errors] == [(43, 10)] * 4
    assert refused(frames(*HELLO[:1])).usage is None
