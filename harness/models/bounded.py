"""Bodies that are decoded piece by piece and never become longer than the limit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx2

from harness.wire.sizes import BodyMeter


async def bound_body(response: httpx2.Response) -> None:
    """Let nobody read more of a response than the limit: a hook of the client, called before any body is read.

    What is read afterwards is decoded already, and raises ModelError DAMAGED_RESPONSE where it is too long. So a
    small body that unpacks to gigabytes is left off at the limit, whoever reads it.
    """
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)  # an asynchronous client has no other
    packed = httpx2.Response(
        response.status_code, headers=response.headers, stream=_Came(stream), request=response.request
    )
    response.stream = _Bounded(packed)
    response.headers.pop("content-encoding", None)


class _Came(httpx2.AsyncByteStream):
    """Bytes as they came: bounded too, since a body may be endless and unpack to nothing."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        meter = BodyMeter()
        async for piece in self._stream:
            yield meter.take(piece)

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """Bytes of the body that was packed."""

    def __init__(self, packed: httpx2.Response) -> None:
        self._packed = packed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        meter = BodyMeter()
        async with aclosing(self._packed.aiter_bytes()) as pieces:
            async for piece in pieces:
                yield meter.take(piece)

    async def aclose(self) -> None:
        await self._packed.aclose()
