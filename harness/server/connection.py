"""One HTTP/1.1 connection of the loopback server, over h11: requests in, replies out, and faults on the socket.

A server framework hides what is needed here: to see that a client went away in the middle of an answer,
to cut a body, and to reset a connection.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final

import h11

from harness.server.desk import Desk
from harness.server.failing import headers_of, unanswerable
from harness.server.reply import JSON, NEVER_RETRY, Broken, How, NotOffered, Reply
from harness.wire.failures import error_body

MOST_BODY_BYTES: Final = 64 * 2**20
MOST_HEAD_BYTES: Final = 32 * 2**10
_READ_BYTES: Final = 64 * 2**10
_LINGER_NOT: Final = struct.pack("ii", 1, 0)


class _Gone(Exception):
    """The client went away, or the connection was broken on purpose: nothing more to be said."""


class Connection:
    """Serves one connection until either side ends it."""

    def __init__(self, desk: Desk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._desk = desk
        self._reader = reader
        self._writer = writer
        self._wire = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD_BYTES)

    async def serve(self) -> None:
        """Answer request after request. Raises nothing but cancellation."""
        try:
            while await self._next_request():
                self._wire.start_next_cycle()
        except (
            _Gone,
            ConnectionError,
        ):  # it is over, by the client or by a fault, and nobody is there to tell
            pass
        finally:
            self._writer.close()
            with suppress(ConnectionError):
                await self._writer.wait_closed()

    async def _next_request(self) -> bool:
        """One request and its answer; False where the connection is not to be used again."""
        try:
            found = await self._read_request()
        except h11.RemoteProtocolError as error:
            await self._refuse_unreadable(error)
            return False
        if found is None:
            return False
        await self._watched(*found)
        return self._wire.our_state is h11.DONE and self._wire.their_state is h11.DONE

    # ------------------------------------------------------------ reading

    async def _read_request(self) -> tuple[h11.Request, bytes] | None:
        request = await self._event()
        if not isinstance(request, h11.Request):
            return None
        if self._wire.they_are_waiting_for_100_continue:
            await self._write(h11.InformationalResponse(status_code=100, headers=[]))
        pieces: list[bytes] = []
        n_bytes = 0
        while not isinstance(event := await self._event(), h11.EndOfMessage):
            if not isinstance(event, h11.Data):
                raise _Gone
            n_bytes += len(event.data)
            if n_bytes > MOST_BODY_BYTES:
                raise h11.RemoteProtocolError(f"the body is larger than {MOST_BODY_BYTES} bytes", 413)
            pieces.append(bytes(event.data))
        return request, b"".join(pieces)

    async def _event(self) -> object:
        while (event := self._wire.next_event()) is h11.NEED_DATA:
            self._wire.receive_data(await self._reader.read(_READ_BYTES))
        return event

    async def _refuse_unreadable(self, error: h11.RemoteProtocolError) -> None:
        if self._wire.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            status = error.error_status_hint
            body = error_body(f"this is no request that can be read: {error}", kind="invalid_request_error")
            await self._send(Reply(status, body, {"content-type": JSON, "connection": "close"}))

    # ------------------------------------------------------------ answering

    async def _watched(self, request: h11.Request, body: bytes) -> None:
        """Answer, unless the client goes away before that is done: then whatever makes the answer is cancelled."""
        answering = asyncio.create_task(self._answer(request, body), name="answering a request")
        watching = asyncio.create_task(self._until_gone(), name="watching a client")
        try:
            await asyncio.wait({answering, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                answering.cancel()
                await asyncio.wait({answering})
                raise _Gone
            answering.result()
        finally:
            for task in (answering, watching):
                task.cancel()
            await asyncio.wait({answering, watching})

    async def _until_gone(self) -> None:
        while data := await self._read_ahead():
            self._wire.receive_data(data)

    async def _read_ahead(self) -> bytes:
        try:
            return await self._reader.read(_READ_BYTES)
        except ConnectionError:  # a reset is as good a way to go as any
            return b""

    async def _answer(self, request: h11.Request, body: bytes) -> None:
        method, path = request.method.decode("ascii"), request.target.decode("ascii", "replace").partition("?")[0]
        try:
            reply = await self._desk.answer(method, path, body, headers=_headers(request))
        except NotOffered as error:
            reply = Reply(error.status, error_body(str(error), kind="invalid_request_error", param=error.param))
        except Broken as error:
            self._break(error.how)
        except Exception as error:  # ours: told to the client, which is to end its run
            status, said = unanswerable(error)
            reply = Reply(status, said, {"content-type": JSON, **NEVER_RETRY})
        await self._send(reply)

    async def _send(self, reply: Reply) -> None:
        try:
            headers = [(name, value) for name, value in headers_of(reply).items()]
            await self._write(h11.Response(status_code=reply.status, headers=headers, reason=_phrase(reply.status)))
            if reply.pieces is None:
                await self._write(h11.Data(data=reply.body[: reply.cut]))
                if reply.cut is not None:
                    self._break(How.CUT)
            else:
                await self._stream(reply)
            await self._write(h11.EndOfMessage())
        finally:
            reply.close()

    async def _stream(self, reply: Reply) -> None:
        pieces = reply.pieces
        assert pieces is not None
        try:
            async for piece in pieces:
                await self._write(h11.Data(data=piece))
        except Broken as error:
            self._break(error.how)
        finally:
            await pieces.aclose()  # type: ignore[attr-defined]  # it is an async generator

    async def _write(self, event: h11.Event) -> None:
        data = self._wire.send(event)
        if data:
            self._writer.write(data)
            await self._writer.drain()

    def _break(self, how: How) -> None:
        """Break the connection. Raises _Gone."""
        if how is How.RESET:
            found = self._writer.get_extra_info("socket")
            if found is not None:
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
            self._writer.transport.abort()
        raise _Gone


def _phrase(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode("ascii")
    except ValueError:  # a number without words
        return b""


def _headers(request: h11.Request) -> Mapping[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers}
