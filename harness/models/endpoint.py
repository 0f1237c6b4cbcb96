"""One HTTP endpoint behind an ``openai`` client: a body goes out once, an answer comes back whole or as a stream.

Requests go through ``client.post`` with a body that is rendered already: the typed ``create`` walks
all messages by type annotation, which makes a turn quadratic (performance page). The
client never retries; who asks owns the retry policy. Streams are read by our own rules (the client's reader ends a
cut stream quietly, and fails on comments).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any, Final, NoReturn, cast

import httpx2
import openai

from harness.errors import ModelError
from harness.protocols import Emit
from harness.types.codes import Code
from harness.types.doors import Answer
from harness.types.jsontext import clean_text
from harness.wire.failures import parse_error
from harness.wire.streams import AnswerStream

EVENTS: Final = "text/event-stream"
NOT_STREAMED: Final = "a whole answer came where a stream was asked for"
NOT_NAMED: Final = "the stream did not say that it is one ({0})"
DRAIN_MS: Final = 1_000
"""How long the end of a connection is waited for once the answer is whole, so that it can be used again."""
_USER_INFO: Final = re.compile(r"//[^/@\s]*@")
_LIKE_EVENTS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
_MARK: Final = b"\xef\xbb\xbf"
_ENOUGH_BYTES: Final = 9
_MOST_BLANK_BYTES: Final = 2**16
Parse = Callable[[bytes], Answer]


class Endpoint:
    """Where requests go. All methods raise ModelError; what a transport of ours raises passes through, and so does
    cancellation, which closes the request.
    """

    def __init__(self, client: openai.AsyncOpenAI) -> None:
        self.client = client

    @property
    def host(self) -> str:
        """The host that requests go to."""
        return self.client.base_url.host

    @property
    def place(self) -> str:
        """Host and port that requests go to."""
        return place_of(self.client.base_url)

    async def whole(self, path: str, body: dict[str, Any]) -> bytes:
        """The body of the answer, read to its end."""
        return (await self._post(path, body, stream=False)).content

    async def streamed(
        self, path: str, body: dict[str, Any], reader: AnswerStream, parse: Parse, emit: Emit
    ) -> tuple[Answer, bool]:
        """The answer that a stream makes, and whether it came to its marked end; each chunk is emitted as it comes.

        A whole answer in place of a stream is read by ``parse``, and a note says so; any other body is damage.
        """
        response = await self._post(path, body, stream=True)
        try:
            async with aclosing(self._pieces(response)) as pieces:
                return await self._read(response, pieces, reader, parse, emit)
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self.client.close()

    # ------------------------------------------------------------ streams

    async def _read(
        self, response: httpx2.Response, pieces: AsyncIterator[bytes], reader: AnswerStream, parse: Parse, emit: Emit
    ) -> tuple[Answer, bool]:
        kind, begun = _media_type(response), await _beginning(pieces)
        if _is_json(kind, begun):
            rest = b"".join([piece async for piece in pieces])
            answer = parse(begun + rest)
            return replace(answer, notes=(NOT_STREAMED, *answer.notes)), True
        notes: tuple[str, ...] = ()
        like_events = begun.removeprefix(_MARK).lstrip().startswith(_LIKE_EVENTS)
        if kind != EVENTS:
            if kind == "text/html" or not like_events:
                raise _no_stream(kind)
            notes = (NOT_NAMED.format(kind or "no content type"),)
        n_chunks = _take(begun, reader, emit)
        while not reader.is_over and (piece := await anext(pieces, None)) is not None:
            n_chunks += _take(piece, reader, emit)
        if begun.strip() and not like_events and not n_chunks and not reader.is_over:
            raise _no_stream("text that holds no events")
        if reader.is_over:
            await _drain(pieces)
        answer = reader.answer()
        return replace(answer, notes=(*notes, *answer.notes)), reader.is_over

    async def _pieces(self, response: httpx2.Response) -> AsyncGenerator[bytes, None]:
        try:
            async for piece in response.aiter_bytes():
                yield piece
        except (httpx2.HTTPError, OSError) as error:
            self._broken(error)

    # ------------------------------------------------------------ requests

    async def _post(self, path: str, body: dict[str, Any], *, stream: bool) -> httpx2.Response:
        post = cast(Callable[..., Any], self.client.post)
        options = {"max_retries": 0}
        try:
            found = await post(
                path,
                cast_to=httpx2.Response,
                body=body,
                options=options,
                stream=stream,
                stream_cls=openai.AsyncStream[object] if stream else None,
            )
        except openai.APIStatusError as error:
            answer = error.response
            raise parse_error(answer.status_code, answer.headers, answer.content) from None
        except openai.APIConnectionError as error:  # APITimeoutError is one of these
            if isinstance(error, openai.APITimeoutError) and not isinstance(error.__cause__, httpx2.TimeoutException):
                self._late("time-out", error)
            self._broken(error.__cause__ or error)
        except httpx2.HTTPError as error:
            self._broken(error)
        return cast(httpx2.Response, found)

    def _late(self, why: str, error: BaseException) -> NoReturn:
        raise ModelError(f"no answer from {self.place} in time ({why})", code=Code.TIMEOUT) from error

    def _broken(self, error: BaseException) -> NoReturn:
        name, place = type(error).__name__, self.place
        if isinstance(error, httpx2.TimeoutException):
            self._late(name, error)
        if isinstance(error, httpx2.DecodingError):
            raise ModelError(
                f"the answer of {place} is not encoded as its header says ({name})", code=Code.DAMAGED_RESPONSE
            ) from error
        text = _USER_INFO.sub("//", clean_text(str(error))) or "no details"
        raise ModelError(
            f"cannot talk to {place} ({name}: {text}). Is the endpoint up, and OPENAI_BASE_URL right?",
            code=Code.TRANSPORT,
        ) from error


def place_of(url: httpx2.URL) -> str:
    """Host and port of a URL, and nothing that could be secret."""
    port = url.port or {"https": 443, "http": 80}.get(url.scheme)
    return f"{url.host}:{port}" if port else url.host


def _no_stream(what: str) -> ModelError:
    return ModelError(
        f"neither a stream nor an answer came, but {what or 'a body without a type'}: "
        "does the address lead to the API?",
        code=Code.DAMAGED_RESPONSE,
    )


def _take(piece: bytes, reader: AnswerStream, emit: Emit) -> int:
    """How many chunks there were, each emitted."""
    n_chunks = 0
    for chunk in reader.feed(piece):
        emit(chunk)
        n_chunks += 1
    return n_chunks


async def _beginning(pieces: AsyncIterator[bytes]) -> bytes:
    """As much of a body as tells what it is."""
    begun = b""
    async for piece in pieces:
        begun += piece
        if len(begun.lstrip()) >= _ENOUGH_BYTES or len(begun) > _MOST_BLANK_BYTES:
            break
    return begun


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read on to the end of the connection for a moment; what is whole already cannot fail any more."""
    with suppress(TimeoutError, ModelError):
        async with asyncio.timeout(DRAIN_MS / 1000):
            async for _ in pieces:
                pass


def _media_type(response: httpx2.Response) -> str:
    kind: str = response.headers.get("content-type", "")
    return clean_text(kind.partition(";")[0].strip().lower())[:100]


def _is_json(kind: str, begun: bytes) -> bool:
    return kind == "application/json" or kind.endswith("+json") or begun.lstrip().startswith(b"{")
