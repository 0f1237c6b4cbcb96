"""Chat Completions in process: a transport for a user's own client, without sockets or tasks.

A request is handled inside the client's own await, so a cancelled client cancels the handler at
once, and the client's read time-out holds on the event loop's clock (virtual time included).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NoReturn, Protocol, TypeAlias

import httpx2

from harness.errors import ModelError, UnsupportedError
from harness.server.patience import Patience
from harness.server.validation import HistoryRefusal, refusal_of
from harness.types.codes import Code
from harness.types.doors import Answer
from harness.types.jsontext import Refusal, canonical_json, clean_text, parse_json
from harness.types.messages import JsonText
from harness.wire.completions import render_completion
from harness.wire.failures import error_body, render_error
from harness.wire.requests import ChatRequest, parse_request

Ask: TypeAlias = Callable[[ChatRequest, int], Awaitable[Answer]]
"""Answers a valid request; the number counts requests of this transport from 1, retries too."""

PATH: Final = "/chat/completions"
DAMAGED_BODY: Final = b"this response is damaged on purpose: no JSON"
_UNREADABLE: Final = HistoryRefusal("the body of your request has no known shape", "")


class Failed(Protocol):
    """Told of a request that the server itself failed: refused with 400, or timed out."""

    def __call__(self, request: ChatRequest | None, number: int, error: ModelError) -> None: ...


class ChatTransport(httpx2.AsyncBaseTransport, httpx2.BaseTransport):
    """Answers ``POST …/chat/completions`` of an async client from ``ask``.

    ``ask`` may raise ModelError: those that a server can say become its HTTP answer (429 with
    Retry-After, 500, 401, …), TRANSPORT and PROVIDER_ABORTED become broken connections, a damaged
    response a 200 that is no JSON (a scripted raw one comes verbatim); all others are ours (a dry
    script, a cassette miss, no model) and pass through the client as they are, so that no loop takes
    them for an answer of its model.

    Whatever is not offered raises UnsupportedError through the client, and is kept in ``refusals``:
    ``stream=True``, ``n`` above 1, other paths, a synchronous client. ``bodies`` keeps every request body as
    canonical JSON text where it is JSON, else as it came; never a header. ``patience`` ends a loop that
    asks for ever.
    """

    def __init__(self, ask: Ask, *, failed: Failed | None = None, patience: Patience | None = None) -> None:
        self._ask = ask
        self._failed = failed
        self._patience = patience or Patience(lambda: 0, lambda _: None)
        self.bodies: list[JsonText] = []
        self.refusals: list[str] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Refuse a synchronous client by name. Raises UnsupportedError; CancelledError where it asks for ever."""
        self._patience.count()
        if self._patience.is_over:
            raise asyncio.CancelledError
        self._refuse("a synchronous client cannot share the run's event loop; use AsyncOpenAI (httpx2.AsyncClient)")

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request. Raises UnsupportedError, httpx2.ReadTimeout, and see the class."""
        await self._patience.admit()
        self._offered_path(request)
        content = await request.aread()
        self.bodies.append(_kept(content))
        number = len(self.bodies)
        chat, refusal = self._read(content)
        if chat is None or refusal is not None:
            return self._bad_request(chat, refusal or _UNREADABLE, number)
        try:
            async with asyncio.timeout(_read_timeout_s(request)) as time:
                return await self._answered(chat, number, request)
        except TimeoutError as error:
            if not time.expired():
                raise
            late = ModelError(f"request {number} was not answered in the client's time", code=Code.TIMEOUT)
            self._tell(chat, number, late)
            raise httpx2.ReadTimeout(str(late), request=request) from error

    async def _answered(self, chat: ChatRequest, number: int, request: httpx2.Request) -> httpx2.Response:
        try:
            answer = await self._ask(chat, number)
        except ModelError as error:
            self._patience.failed(error.code)
            return _failure(error, request)
        self._patience.answered()
        return _success(answer, number, chat.model)

    def _read(self, content: bytes) -> tuple[ChatRequest | None, HistoryRefusal | None]:
        """The request as far as it can be read, and why it is refused."""
        value = parse_json(content.decode("utf-8", "replace"))
        if isinstance(value, Refusal):
            return None, HistoryRefusal(f"we could not parse the JSON body of your request: {value.message}", "")
        if not isinstance(value, dict):
            return None, HistoryRefusal("the body of your request is no JSON object", "")
        self._offered_options(value)
        refusal = refusal_of(value)
        try:
            return parse_request(value), refusal
        except ModelError as error:
            return None, refusal or HistoryRefusal(str(error), "")

    def _bad_request(self, chat: ChatRequest | None, refusal: HistoryRefusal, number: int) -> httpx2.Response:
        place = f"Invalid {refusal.param!r}: " if refusal.param else ""
        message = f"{place}{refusal.message}."
        self._tell(chat, number, ModelError(f"HTTP 400: {message}", code=Code.INVALID_REQUEST))
        body = error_body(message, kind="invalid_request_error", param=refusal.param or None)
        return _json_response(400, body)

    def _tell(self, chat: ChatRequest | None, number: int, error: ModelError) -> None:
        if self._failed is not None:
            self._failed(chat, number, error)

    def _offered_path(self, request: httpx2.Request) -> None:
        if request.method != "POST" or not request.url.path.endswith(PATH):
            self._refuse(
                f"{request.method} {request.url.path} is not offered; offered is POST {PATH} "
                "(client.chat.completions.create)"
            )

    def _offered_options(self, body: Mapping[str, Any]) -> None:
        if body.get("stream"):
            self._refuse("stream=True is not offered; ask for the whole answer (leave stream out)")
        if body.get("n") not in (None, 1):
            self._refuse(f"n={body['n']!r} is not offered; ask for one choice at a time")

    def _refuse(self, what: str) -> NoReturn:
        message = f"in-process model server: {what}"
        self.refusals.append(message)
        raise UnsupportedError(message)


def _kept(content: bytes) -> JsonText:
    text = clean_text(content.decode("utf-8", "replace"))
    value = parse_json(text)
    return JsonText(text) if isinstance(value, Refusal) else canonical_json(value)


def _read_timeout_s(request: httpx2.Request) -> float | None:
    timeouts = request.extensions.get("timeout")
    read = timeouts.get("read") if isinstance(timeouts, Mapping) else None
    return read if isinstance(read, int | float) else None


def _failure(error: ModelError, request: httpx2.Request) -> httpx2.Response:
    if error.body is not None:
        return _json_response(200, clean_text(error.body).encode("utf-8"))
    if error.code == Code.DAMAGED_RESPONSE:
        return httpx2.Response(200, content=DAMAGED_BODY, headers={"content-type": "text/plain"})
    if error.code == Code.TRANSPORT:
        raise httpx2.ConnectError(str(error), request=request) from error
    if error.code in (Code.PROVIDER_ABORTED, Code.NO_FINISH_REASON):  # a stream behind us that was cut
        raise httpx2.RemoteProtocolError(str(error), request=request) from error
    rendered = render_error(error)
    if rendered is None:
        raise error
    status, headers, body = rendered
    return httpx2.Response(status, headers=headers, content=body)


def _success(answer: Answer, number: int, model: str) -> httpx2.Response:
    if answer.raw is not None:
        return _json_response(200, clean_text(answer.raw).encode("utf-8"))
    body = render_completion(answer, id=f"chatcmpl-{number}", model=model)
    return _json_response(200, canonical_json(body).encode("utf-8"))


def _json_response(status: int, body: bytes) -> httpx2.Response:
    return httpx2.Response(status, headers={"content-type": "application/json"}, content=body)
