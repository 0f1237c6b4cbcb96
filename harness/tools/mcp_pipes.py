"""An MCP server as a process of ours: messages over its pipes, its words kept, its end made sure of.

The two streams have the shape that the protocol's library asks for (``receive``, ``send``, async iteration), and no
task of their own: a read happens where somebody reads.
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import IO, Any, Final

import anyio
import httpx2
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from harness.errors import ConfigurationError

LONGEST_LINE: Final = 16_777_216
"""Bytes of one message of a server, at most (16 MiB)."""
MOST_MESSAGES: Final = 5_000
"""Messages of a server before its list is complete, at most."""
MOST_JUNK: Final = 1_000
"""Lines that are no messages, before a server is given up."""
_GRACE_MS: Final = 1_000
_REAP_MS: Final = 5_000
_POLL_MS: Final = 10
_LONGEST_WORDS: Final = 2_000
_LONGEST_JUNK: Final = 120


class Server:
    """A running server: its process, what it wrote on stderr, and what was wrong with its stdout."""

    def __init__(self, process: asyncio.subprocess.Process, words: IO[bytes]) -> None:
        self.process = process
        self._words = words
        self.n_messages = 0
        self.is_listing = True
        self.n_junk = 0
        self.first_junk = ""
        self.fault = ""
        self.ended = False
        self.is_given_up = False

    def words(self) -> str:
        """The end of what it wrote on stderr."""
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - _LONGEST_WORDS))
        return self._words.read().decode("utf-8", "replace").strip()

    def counted(self) -> None:
        """Count a line; one that talks without end before it has listed its tools is not listened to."""
        self.n_messages += 1
        if self.is_listing and self.n_messages > MOST_MESSAGES:
            self.fault = f"sent {self.n_messages:,} messages before it had listed its tools"

    def junk(self, line: bytes) -> None:
        """Count a line that is no message; too many of them end the connection."""
        self.n_junk += 1
        if self.n_junk == 1:
            self.first_junk = line[:_LONGEST_JUNK].decode("utf-8", "replace").strip()
        if self.n_junk >= MOST_JUNK:
            self.fault = f"printed {self.n_junk:,} lines that are no messages of the protocol"


class _Closing:
    """What both streams share: entering gives the stream, leaving closes it."""

    async def aclose(self) -> None:
        """Nothing to give back here: the pipes end with the process."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class FromServer(_Closing):
    """Messages of the server, one a line. What is no message comes as the exception that says so."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __aenter__(self) -> FromServer:
        return self

    def __aiter__(self) -> FromServer:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        await asyncio.sleep(
            0
        )  # what is buffered already is read without waiting, and others have to come to their turn
        line = await self._line()
        self._server.counted()
        if not line or self._server.fault:
            self._server.ended = True
            raise StopAsyncIteration
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except (ValueError, RecursionError) as error:
            self._server.junk(line)
            return error

    async def receive(self) -> SessionMessage | Exception:
        """The next message; raises anyio.EndOfStream behind the last."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def _line(self) -> bytes:
        stdout = self._server.process.stdout
        assert stdout is not None  # the process was started with pipes
        line = b"\n"
        while line and not line.strip() and not self._server.fault:
            try:
                line = await stdout.readline()
            except ValueError:  # the limit of the reader
                self._server.fault = f"sent one message of more than {LONGEST_LINE:,} bytes"
        return b"" if self._server.fault else line


class ToServer(_Closing):
    """Messages to the server, one a line."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __aenter__(self) -> ToServer:
        return self

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message. Raises anyio.BrokenResourceError where nobody reads any more."""
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        stdin = self._server.process.stdin
        assert stdin is not None  # the process was started with pipes
        try:
            stdin.write(text.encode("utf-8") + b"\n")
            await stdin.drain()
        except (OSError, RuntimeError) as error:  # RuntimeError: the pipe is closed already
            raise anyio.BrokenResourceError from error


class CappedStream(httpx2.AsyncByteStream):
    """The body of a response, which ends in an error where it is longer than a message may be."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        n_bytes = 0
        async for chunk in self._stream:
            n_bytes += len(chunk)
            if n_bytes > LONGEST_LINE:
                raise httpx2.ReadError(f"one message of more than {LONGEST_LINE:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        """Close the connection's own stream."""
        await self._stream.aclose()


@asynccontextmanager
async def streams_of(server: Server) -> AsyncIterator[tuple[FromServer, ToServer]]:
    """Both streams, as the library takes a transport."""
    yield FromServer(server), ToServer(server)


@asynccontextmanager
async def running_server(argv: Sequence[str], environ: Mapping[str, str]) -> AsyncIterator[Server]:
    """Start a server in a session of its own; when this is left nobody of its process group is left.

    Raises ConfigurationError where it cannot be started. It may end by itself for a second once its stdin is closed.
    """
    with tempfile.TemporaryFile(prefix="harness-mcp-") as words:
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=words,
                env=dict(environ),
                start_new_session=os.name == "posix",
                limit=LONGEST_LINE,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ConfigurationError(
                f"tools.mcp: {argv[0]!r} cannot be started ({reason}); check the command"
            ) from None
        server = Server(process, words)
        try:
            yield server
            await _let_go(server)
        finally:
            _kill(process)
            await exited(process, _REAP_MS)


async def _let_go(server: Server) -> None:
    if server.process.stdin is not None and not server.is_given_up:
        server.process.stdin.close()
        await exited(server.process, _GRACE_MS)


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill the whole group, at once and without waiting, so that no cancel can come between."""
    with suppress(ProcessLookupError, PermissionError):  # all have ended by themselves; a group of zombies only
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    transport = getattr(process, "_transport", None)
    if transport is not None:  # a grandchild that left the group could hold a pipe open for ever
        transport.close()


async def exited(process: asyncio.subprocess.Process, limit_ms: int) -> None:
    """Wait until the process has ended, not until its pipes are closed: others may hold them."""
    for _ in range(limit_ms // _POLL_MS):
        if process.returncode is not None:
            return
        await asyncio.sleep(_POLL_MS / 1000)
