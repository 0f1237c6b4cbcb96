"""Refresh: what an older recording still answers is answered by it, and only the rest is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NoReturn

import httpx2

from harness.cassettes.exchange import About, Cassette, Chunk, Exchange
from harness.cassettes.files import read_cassette
from harness.cassettes.index import Index, asked
from harness.cassettes.replay import RecordedStream
from harness.errors import CassetteError, UnsupportedError

_KEPT: Final = "harness.kept"


def older_recording(path: Path) -> Cassette | None:
    """The cassette in ``path``; None where none can be read, so that all is asked anew."""
    try:
        return read_cassette(path)
    except CassetteError:
        return None


class RefreshTransport(httpx2.AsyncBaseTransport):
    """Each request of ``older`` is answered once from there, any other by ``upstream``.

    A request shows the whole conversation, so an answer is kept only where all before it was the same.
    """

    def __init__(self, older: Cassette, upstream: httpx2.AsyncBaseTransport) -> None:
        self.about: About | None = older.about
        self._ignore = older.about.info.ignore if older.about is not None else ()
        self._index = Index(older, self._ignore)
        self._upstream = upstream

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The recorded response, else the upstream's. Raises what that raises."""
        body = await request.aread()
        found = self._index.take(asked(request.method, request.url, body, self._ignore))
        if found is None:
            return await self._upstream.handle_async_request(request)
        recorded = found[1].response
        return httpx2.Response(
            recorded.status,
            headers=list(recorded.headers),
            stream=RecordedStream(recorded.body, recorded.chunks or (Chunk(len(recorded.body), 0),), None),
            extensions={_KEPT: found[1]},
        )

    def handle_request(self, request: httpx2.Request) -> NoReturn:
        """Refuses a synchronous client by name."""
        raise UnsupportedError("recordings are made with an asynchronous client: use openai.AsyncOpenAI")

    async def aclose(self) -> None:
        """Close the upstream."""
        await self._upstream.aclose()


def kept_exchange(response: httpx2.Response) -> Exchange | None:
    """The older exchange that a response comes from; None for one that was asked now."""
    found = response.extensions.get(_KEPT)
    return found if isinstance(found, Exchange) else None
