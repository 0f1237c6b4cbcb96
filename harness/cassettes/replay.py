"""Replay: a transport that answers from a recording and opens no socket."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import NoReturn

import httpx2

from harness.cassettes import verdicts
from harness.cassettes.bodies import differences, read_body, show_path
from harness.cassettes.differ import Miss, explain
from harness.cassettes.exchange import Cassette, Chunk, Exchange
from harness.cassettes.files import read_cassette
from harness.cassettes.index import Asked, Index, asked
from harness.cassettes.passing import passing_now
from harness.errors import CassetteError, CassetteMiss, UnsupportedError
from harness.protocols import Clock
from harness.redaction import redact_secrets
from harness.types.records import Verdict

_log = logging.getLogger(__name__)
_MOST_EXPLAINED = 20


def open_replay(
    path: Path,
    *,
    scenario: str | None = None,
    ignore: tuple[str, ...] = (),
    clock: Clock | None = None,
    secrets: Collection[str] = (),
    allow_leftovers: bool = False,
) -> ReplayTransport:
    """A transport that replays the cassette in ``path``.

    ``scenario``, where given, must be the id that stands in the cassette, unless that was imported. ``ignore``
    adds paths of the body to those that the cassette declares as volatile. With a ``clock`` the recorded delays
    between pieces of a body pass on it; without, all is there at once. ``allow_leftovers``: recordings that nobody
    asks for are no failure. Raises CassetteError.
    """
    cassette = read_cassette(path)
    about = cassette.about
    if scenario is not None and about is not None and not about.imported and about.info.scenario != scenario:
        raise CassetteError(
            f"cassette {path.as_posix()!r} was recorded for scenario {about.info.scenario!r}, "
            f"not for {scenario!r}: restore it, or record again (harness record)"
        )
    return ReplayTransport(
        cassette, path.as_posix(), ignore=ignore, clock=clock, secrets=secrets, allow_leftovers=allow_leftovers
    )


class ReplayTransport(httpx2.AsyncBaseTransport):
    """Answers each recorded request once; any other raises CassetteMiss, and is remembered.

    Remembered, because a subject may swallow the exception: ``closing_verdicts`` tells all the
    same.
    """

    def __init__(
        self,
        cassette: Cassette,
        source: str,
        *,
        ignore: tuple[str, ...] = (),
        clock: Clock | None = None,
        secrets: Collection[str] = (),
        allow_leftovers: bool = False,
    ) -> None:
        declared = cassette.about.info.ignore if cassette.about is not None else ()
        self.cassette = cassette
        self._source = source
        self._ignore = tuple(dict.fromkeys((*declared, *ignore)))
        self._index = Index(cassette, self._ignore)
        self._clock = clock
        self._secrets = tuple(secrets)
        self._allow_leftovers = allow_leftovers
        self._n_asked = 0
        self._n_followed = 0
        self._misses: list[tuple[Miss, str]] = []
        self._ignored: list[str] = []
        if self._ignore:
            _log.info("cassette %r is matched without %s", source, ", ".join(self._ignore))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The recorded response. Raises CassetteMiss, which the openai client lets through."""
        body = await request.aread()
        self._n_asked += 1
        wanted = asked(request.method, request.url, body, self._ignore)
        mine = passing_now()
        found = self._index.take(wanted, "" if mine is None else mine.label)
        if found is None:
            self._miss(wanted)
        position, exchange = found
        if mine is not None:
            mine.latest = lambda: exchange
        self._n_followed += not self._misses
        if self._ignore:
            self._tell_ignored(position, exchange, body)
        return self._response(exchange)

    def handle_request(self, request: httpx2.Request) -> NoReturn:
        """Refuses a synchronous client by name."""
        raise UnsupportedError("recordings are replayed to an asynchronous client: use openai.AsyncOpenAI")

    def closing_verdicts(self) -> tuple[Verdict, ...]:
        """One verdict of the check ``recording``; call it when the run is over."""
        unused = self._index.unused()
        if self._misses:
            return (verdicts.out_of_date(self._source, self.cassette, self._misses, self._n_followed),)
        if not self._n_asked:
            return (verdicts.untouched(self._source),)
        if unused and not self._allow_leftovers:
            return (verdicts.left_over(self._source, self.cassette, unused),)
        return (verdicts.followed(self.cassette, self._ignored, n_unused=len(unused)),)

    def _miss(self, wanted: Asked) -> NoReturn:
        if len(self._misses) >= _MOST_EXPLAINED:
            raise CassetteMiss(f"request {self._n_asked} is not in cassette {self._source!r} either")
        miss = explain(wanted, self._n_asked, self._index, lambda text: redact_secrets(text, self._secrets))
        text = redact_secrets(str(miss), self._secrets)
        self._misses.append((miss, text))
        raise CassetteMiss(
            f"request {miss.number} is not in cassette {self._source!r}: {text}. {self._n_followed} of "
            f"{len(self.cassette.exchanges)} recorded requests still followed. If the change is meant, record "
            f"again: {verdicts.how_to_record(self.cassette)}"
        )

    def _tell_ignored(self, position: int, exchange: Exchange, body: bytes) -> None:
        recorded, sent = read_body(exchange.request.body).value, read_body(body).value
        for path, _, _ in differences(recorded, sent):
            text = f"{show_path(path)} of request {position + 1}"
            self._ignored.append(text)
            _log.warning("cassette %r: ignored as declared: %s differs from the recording", self._source, text)

    def _response(self, exchange: Exchange) -> httpx2.Response:
        recorded = exchange.response
        chunks = recorded.chunks or (Chunk(len(recorded.body), 0),)
        return httpx2.Response(
            recorded.status,
            headers=list(recorded.headers),
            stream=RecordedStream(recorded.body, chunks, self._clock),
            extensions={"reason_phrase": recorded.reason.encode("ascii", "replace")} if recorded.reason else None,
        )


class RecordedStream(httpx2.AsyncByteStream):
    """A body in the pieces in which it came."""

    def __init__(self, body: bytes, chunks: tuple[Chunk, ...], clock: Clock | None) -> None:
        self._body = body
        self._chunks = chunks
        self._clock = clock

    async def __aiter__(self) -> AsyncIterator[bytes]:
        start = 0
        for chunk in self._chunks:
            if self._clock is not None and chunk.delay_ms:
                await self._clock.sleep_ms(chunk.delay_ms)
            yield self._body[start : start + chunk.size_bytes]
            start += chunk.size_bytes
