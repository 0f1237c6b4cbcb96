"""A transport that passes requests on and lets whoever asks see the whole exchange."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NoReturn

import httpx2

from harness.cassettes.exchange import Exchange
from harness.cassettes.keep import SERVER_NAME
from harness.cassettes.passing import passing_now
from harness.cassettes.record import RESPONSE_HEADERS, Pending, Tee, exchange_of
from harness.errors import UnsupportedError
from harness.protocols import Clock

_SERVER: Final = "server"
_KEPT: Final = RESPONSE_HEADERS | {_SERVER}


class WatchTransport(httpx2.AsyncBaseTransport):
    """Passes requests on unchanged but for one header: bodies are asked for uncompressed."""

    def __init__(self, upstream: httpx2.AsyncBaseTransport, clock: Clock) -> None:
        self._upstream = upstream
        self._clock = clock

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The upstream's response, seen as it passes. Raises what the upstream raises."""
        pending = Pending(request, await request.aread())
        mine = passing_now()
        if mine is not None:
            mine.latest = _seen(pending, mine.label)
        request.headers["accept-encoding"] = "identity"
        asked_at_ms = self._clock.now_ms()
        try:
            pending.response = await self._upstream.handle_async_request(request)
        except Exception as error:
            pending.failure = type(error).__name__
            raise
        response, stream = pending.response, pending.response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)  # an asynchronous transport gives no other
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=Tee(stream, pending, self._clock, asked_at_ms),
            extensions=response.extensions,
        )

    def handle_request(self, request: httpx2.Request) -> NoReturn:
        """Refuses a synchronous client by name."""
        raise UnsupportedError("requests are watched with an asynchronous client: use openai.AsyncOpenAI")

    async def aclose(self) -> None:
        """Close the upstream."""
        await self._upstream.aclose()


def _seen(pending: Pending, label: str) -> Callable[[], Exchange | None]:
    def latest() -> Exchange | None:
        if pending.unfinished:
            return None
        found = exchange_of(pending, _KEPT)
        kept = tuple(one for one in found.response.headers if one[0] != _SERVER or SERVER_NAME.fullmatch(one[1]))
        return replace(found, label=label, response=replace(found.response, headers=kept))

    return latest
