"""The scripted server in process: a transport for a user's own client, without sockets.

A whole answer is made inside the client's own await, so a cancelled client cancels it at once; a
streamed one is made in a task that ends when the client closes the stream. The client's read time-out
holds on the event loop's clock (virtual time included), before the answer and between its pieces.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final, NoReturn

import httpx2

from harness.errors import UnsupportedError
from harness.server.asking import Ask
from harness.server.desk import Desk
from harness.server.patience import Patience
from harness.server.reply import Broken, How, Reply
from harness.server.ticket import ClientTimeout, Failed
from harness.types.faults import WireFault
from harness.types.messages import JsonText

_CALLED: Final = "in-process model server"


class ModelTransport(httpx2.AsyncBaseTransport, httpx2.BaseTransport):
    """Answers the requests of an async client from ``ask``, in Chat Completions and Responses.

    ``ask`` may raise ModelError: those that a server can say become its HTTP answer (429 with
    Retry-After, 500, 401, …), TRANSPORT and PROVIDER_ABORTED become broken connections, a damaged
    response a 200 that is no JSON (a scripted raw one comes verbatim); all others are ours (a dry
    script, a cassette miss, no model) and pass through the client as they are, so that no loop takes
    them for an answer of its model.

    Whatever is not offered raises UnsupportedError through the client, and is kept in ``refusals``:
    ``n`` above 1, other paths, a synchronous client. ``bodies`` keeps every request body; never a header.
    ``patience`` ends a loop that asks for ever.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        failed: Failed | None = None,
        patience: Patience | None = None,
        faults: Sequence[WireFault] = (),
    ) -> None:
        self._desk = Desk(ask, failed=failed, faults=faults, called=_CALLED)
        self._patience = patience or Patience(lambda: 0, lambda _: None)
        self._open: set[_Pieces] = set()

    @property
    def bodies(self) -> list[JsonText]:
        """Every request body, in order."""
        return self._desk.bodies

    @property
    def refusals(self) -> list[str]:
        """What was asked for and is not offered."""
        return self._desk.refusals

    @property
    def desk(self) -> Desk:
        """The server itself: how each request went, which faults fired."""
        return self._desk

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Refuse a synchronous client by name. Raises UnsupportedError; CancelledError where it asks for ever."""
        self._patience.count()
        if self._patience.is_over:
            raise asyncio.CancelledError
        self._refuse("a synchronous client cannot share the run's event loop; use AsyncOpenAI (httpx2.AsyncClient)")

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request. Raises UnsupportedError, httpx2.ReadTimeout, and see the class."""
        await self._patience.admit()
        content = await request.aread()
        limit_s = _read_timeout_s(request)
        try:
            reply = await self._desk.answer(
                request.method, request.url.path, content, headers=request.headers, read_timeout_s=limit_s
            )
        except ClientTimeout as error:
            raise httpx2.ReadTimeout(str(error), request=request) from error
        except Broken as error:
            self._patience.failed("")
            raise _as_client_sees(error, request) from error
        except Exception as error:
            self._patience.failed(str(getattr(error, "code", "")))
            raise
        if reply.is_answer:
            self._patience.answered()
        return self._response(reply, request, limit_s)

    async def aclose(self) -> None:
        """End what makes answers that nobody takes any more."""
        for pieces in tuple(self._open):
            await pieces.aclose()

    def _response(self, reply: Reply, request: httpx2.Request, limit_s: float | None) -> httpx2.Response:
        if reply.pieces is None and reply.cut is None:
            reply.close()
            return httpx2.Response(reply.status, headers=dict(reply.headers), content=reply.body)
        pieces = _Pieces(reply, request, limit_s, self._open)
        return httpx2.Response(reply.status, headers=dict(reply.headers), stream=pieces)

    def _refuse(self, what: str) -> NoReturn:
        message = f"{_CALLED}: {what}"
        self._desk.refusals.append(message)
        raise UnsupportedError(message)


class _Pieces(httpx2.AsyncByteStream):
    """The body of a streamed or cut answer, as the client takes it."""

    def __init__(self, reply: Reply, request: httpx2.Request, limit_s: float | None, among: set[_Pieces]) -> None:
        self._reply, self._request, self._limit_s, self._among = reply, request, limit_s, among
        self._source = _cut_body(reply) if reply.pieces is None else reply.pieces
        among.add(self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            try:
                async with asyncio.timeout(self._limit_s) as time:
                    piece = await anext(self._source)
            except StopAsyncIteration:
                return
            except Broken as error:
                raise _as_client_sees(error, self._request) from error
            except TimeoutError as error:
                if not time.expired():
                    raise
                raise httpx2.ReadTimeout("no piece came in the client's time", request=self._request) from error
            yield piece

    async def aclose(self) -> None:
        if self in self._among:
            self._among.discard(self)
            await self._source.aclose()  # type: ignore[attr-defined]  # both are async generators
            self._reply.close()


async def _cut_body(reply: Reply) -> AsyncIterator[bytes]:
    yield reply.body[: reply.cut]
    raise Broken(How.CUT, "the connection was cut in the middle of the body")


def _as_client_sees(broken: Broken, request: httpx2.Request) -> httpx2.TransportError:
    if broken.how is How.RESET:
        return httpx2.ConnectError(str(broken), request=request)
    return httpx2.RemoteProtocolError(str(broken), request=request)


def _read_timeout_s(request: httpx2.Request) -> float | None:
    timeouts = request.extensions.get("timeout")
    read = timeouts.get("read") if isinstance(timeouts, Mapping) else None
    return read if isinstance(read, int | float) else None
