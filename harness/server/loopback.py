"""The scripted server on loopback, for programs in any language: real sockets, real time.

It runs in a thread of its own with an event loop of its own, so that a subject that blocks its thread
cannot block its model.
"""

from __future__ import annotations

import asyncio
import errno
import threading
from concurrent.futures import Future
from contextlib import suppress
from socket import gaierror
from types import TracebackType
from typing import Final

from harness.errors import ConfigurationError
from harness.server.connection import Connection
from harness.server.desk import Desk

LOOPBACK: Final = "127.0.0.1"
API_KEY: Final = "harness"
"""Any key will do; it is never read and never written down."""
_PATIENCE_S: Final = 10.0


class LoopbackServer:
    """Serves a desk while it is entered. ``base_url`` is what clients take, ``http://127.0.0.1:port/v1``.

    Nothing but loopback is listened on unless ``host`` says otherwise; port 0 takes a free one. Raises
    ConfigurationError where the address cannot be had.
    """

    def __init__(self, desk: Desk, *, host: str = LOOPBACK, port: int = 0) -> None:
        self._desk = desk
        self._host = host
        self._port = port
        self._ready: Future[int] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="scripted server", daemon=True)

    @property
    def base_url(self) -> str:
        """The address with the path under which the API lies."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._ready.result(_PATIENCE_S)}/v1"

    @property
    def desk(self) -> Desk:
        """What answers."""
        return self._desk

    def __enter__(self) -> LoopbackServer:
        """Listen; it answers when this returns."""
        self._thread.start()
        self._ready.result(_PATIENCE_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening, end every request, wait for the thread."""
        loop, stop = self._loop, self._stop
        if loop is not None and stop is not None:
            with suppress(RuntimeError):  # it has ended already
                loop.call_soon_threadsafe(stop.set)
        self._thread.join(_PATIENCE_S)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as failure:
            if self._ready.done():
                raise
            why = (getattr(failure, "strerror", None) or str(failure)).removesuffix(".")
            no_address = isinstance(failure, gaierror) or getattr(failure, "errno", None) == errno.EADDRNOTAVAIL
            option = "--host" if no_address else "--port"
            self._ready.set_exception(
                ConfigurationError(f"cannot listen on {self._host} port {self._port}: {why}. Give another {option}.")
            )

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, self._host, self._port)
        self._ready.set_result(server.sockets[0].getsockname()[1])
        try:
            await self._stop.wait()
        finally:
            server.close()
            self._desk.stop()
            for task in tuple(self._connections):
                task.cancel()
            if self._connections:
                await asyncio.wait(self._connections, timeout=_PATIENCE_S)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await Connection(self._desk, reader, writer).serve()
        except asyncio.CancelledError:  # only the server itself cancels a connection, when it stops
            if not self._desk.stopped:
                raise
        finally:
            self._connections.discard(task)
