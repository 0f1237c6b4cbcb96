"""Record: a transport that passes requests on, keeps what was said, and writes it only whole.

Nothing touches the disk before ``commit``; then secrets are searched for first, and the file is
replaced in one step. So a recording that fails, is cancelled or holds a secret leaves the old
file as it was (INVARIANTS 23, 24).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Final, NoReturn

import httpx2

from harness.cassettes.exchange import Cassette, Chunk, Exchange, RecordedRequest, RecordedResponse, RecordingInfo
from harness.cassettes.files import dump_cassette
from harness.cassettes.keep import about, kept_headers, kept_uri, refuse_secrets
from harness.cassettes.packed import unpacked
from harness.cassettes.refresh import RefreshTransport, kept_exchange
from harness.cassettes.replace import replace_file
from harness.errors import CassetteError, UnsupportedError, UsageError
from harness.protocols import Clock
from harness.wire.sizes import BodyMeter

REQUEST_HEADERS: Final = frozenset({"content-type"})
RESPONSE_HEADERS: Final = frozenset({"content-type", "retry-after", "retry-after-ms"})
_END_OF_STREAM: Final = b"data: [DONE]"


class _State(StrEnum):
    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(slots=True)
class Pending:
    """An exchange that is being recorded; ``failure`` is the class of what the upstream raised."""

    request: httpx2.Request
    body: bytes
    response: httpx2.Response | None = None
    pieces: list[bytes] = field(default_factory=list)
    delays_ms: list[int] = field(default_factory=list)
    read_to_end: bool = False
    failure: str = ""

    @property
    def unfinished(self) -> str:
        """Why no exchange can be made of it; "" where one can."""
        if self.response is None or self.failure:
            return f"failed ({self.failure or 'it was cancelled'})"
        if not self.read_to_end and not b"".join(self.pieces).rstrip().endswith(_END_OF_STREAM):
            return "was not read to its end"
        return ""


def open_recording(
    path: Path,
    *,
    upstream: httpx2.AsyncBaseTransport,
    secrets: Collection[str],
    info: RecordingInfo,
    clock: Clock,
    keep_headers: Collection[str] = (),
) -> RecordTransport:
    """A transport that records what passes to ``upstream``, for a cassette in ``path``.

    ``secrets`` are the values that must not be written; ``keep_headers`` names response headers to
    keep beside content-type and retry-after. Call ``commit`` when the run is over, or ``abort``.
    """
    return RecordTransport(path, upstream, tuple(secrets), info, clock, frozenset(map(str.lower, keep_headers)))


class RecordTransport(httpx2.AsyncBaseTransport):
    """Passes requests on unchanged but for one header: bodies are asked for uncompressed."""

    def __init__(
        self,
        path: Path,
        upstream: httpx2.AsyncBaseTransport,
        secrets: tuple[str, ...],
        info: RecordingInfo,
        clock: Clock,
        keep_headers: frozenset[str],
    ) -> None:
        self._path = path
        self._upstream = upstream
        self._secrets = secrets
        self._info = info
        self._clock = clock
        self._response_headers = RESPONSE_HEADERS | keep_headers
        self._pending: list[Pending] = []
        self._state = _State.OPEN

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The upstream's response, seen as it passes. Raises what the upstream raises."""
        if self._state is not _State.OPEN:
            raise UsageError(f"this recording is {self._state}: open a new one for further requests")
        body = await request.aread()
        # Pieces and delays of a body mean something only where the server's own bytes arrive.
        request.headers["accept-encoding"] = "identity"
        pending = Pending(request, body)
        self._pending.append(pending)
        asked_at_ms = self._clock.now_ms()
        try:
            pending.response = await self._upstream.handle_async_request(request)
        except Exception as error:
            pending.failure = type(error).__name__
            raise
        stream = pending.response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)  # an asynchronous transport gives no other
        return httpx2.Response(
            pending.response.status_code,
            headers=pending.response.headers,
            stream=Tee(stream, pending, self._clock, asked_at_ms),
            extensions=pending.response.extensions,
        )

    def handle_request(self, request: httpx2.Request) -> NoReturn:
        """Refuses a synchronous client by name."""
        raise UnsupportedError("recordings are made with an asynchronous client: use openai.AsyncOpenAI")

    async def aclose(self) -> None:
        """Close the upstream; what was recorded stays to be committed."""
        await self._upstream.aclose()

    def abort(self) -> None:
        """Forget what was recorded; the file stays as it was. After a commit this does nothing."""
        if self._state is _State.OPEN:
            self._state = _State.ABORTED
            self._pending.clear()

    def commit(self) -> Cassette:
        """Write the cassette in one step and give it.

        Raises CassetteError when nothing was asked or an answer was not read to its end,
        SecretFoundError when a secret would be written, RecordingFailed when the disk refuses. In
        each case the old file stays as it was and the recording is aborted.
        """
        if self._state is not _State.OPEN:
            raise UsageError(f"this recording is {self._state} already")
        try:
            cassette = self._cassette()
            data = dump_cassette(cassette)
            refuse_secrets(cassette, data, self._secrets)
            replace_file(self._path, data)
        except BaseException:
            self.abort()
            raise
        self._state = _State.COMMITTED
        return cassette

    def _cassette(self) -> Cassette:
        if not self._pending:
            raise CassetteError(f"nothing to record for {self._path.as_posix()!r}: the run asked for nothing")
        exchanges = tuple(self._exchange(number, one) for number, one in enumerate(self._pending, 1))
        raw = [one.response for one in self._pending if one.response is not None]
        fresh = [response for response in raw if kept_exchange(response) is None]
        older = self._upstream.about if isinstance(self._upstream, RefreshTransport) else None
        if older is not None and not fresh:  # nothing was asked: who answered and when stays what it was
            return Cassette(exchanges, replace(older, info=replace(older.info, digest=self._info.digest)))
        info = self._info
        if older is not None and len(fresh) < len(raw):
            info = replace(info, n_kept=len(raw) - len(fresh), kept_from=older.info.kept_from or older.info.recorded_at)
        return Cassette(exchanges, about(info, exchanges, (fresh or raw)[-1], self._pending[-1].request.url))

    def _exchange(self, number: int, pending: Pending) -> Exchange:
        why = pending.unfinished
        if why:
            raise CassetteError(
                f"recording for {self._path.as_posix()!r} is not whole: request {number} {why}. "
                "The old file stays as it was; record again."
            )
        return exchange_of(pending, self._response_headers)


def exchange_of(pending: Pending, response_headers: Collection[str]) -> Exchange:
    """What was recorded, as far as it may be kept: these headers of the response, and no others."""
    response = pending.response
    assert response is not None  # who asks for it has seen that it is finished
    body = b"".join(pending.pieces)
    chunks = tuple(Chunk(len(piece), ms) for piece, ms in zip(pending.pieces, pending.delays_ms, strict=True))
    if "content-encoding" in response.headers:
        body = unpacked(body, response.headers["content-encoding"])
        chunks = (Chunk(len(body), sum(pending.delays_ms)),)
    request = pending.request
    headers = kept_headers(request.headers, REQUEST_HEADERS)
    recorded = RecordedRequest(request.method, kept_uri(request.url), headers, pending.body)
    kept = kept_exchange(response)
    if kept is not None:
        return Exchange(recorded, kept.response, kept.label, kept.at)
    headers = kept_headers(response.headers, response_headers)
    return Exchange(recorded, RecordedResponse(response.status_code, response.reason_phrase, headers, body, chunks))


class Tee(httpx2.AsyncByteStream):
    """Hands each piece on as it comes, and keeps it. Raises ModelError where the body is too long to be an answer."""

    def __init__(self, stream: httpx2.AsyncByteStream, pending: Pending, clock: Clock, asked_at_ms: int) -> None:
        self._stream = stream
        self._pending = pending
        self._clock = clock
        self._last_ms = asked_at_ms
        self._meter = BodyMeter()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._stream:
                now_ms = self._clock.now_ms()
                self._pending.pieces.append(self._meter.take(piece))
                self._pending.delays_ms.append(now_ms - self._last_ms)
                self._last_ms = now_ms
                yield piece
        except Exception as error:
            self._pending.failure = type(error).__name__
            raise
        self._pending.read_to_end = True

    async def aclose(self) -> None:
        await self._stream.aclose()
