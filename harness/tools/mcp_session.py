"""A session with an MCP server: connected, listed page by page within a limit, every failure in our words.

Loads the protocol's library: import it only inside functions (:mod:`harness.tools.mcp_source` does).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import METHOD_NOT_FOUND, Implementation, PaginatedRequestParams, Tool
from pydantic import ValidationError

from harness.errors import HarnessError, ToolSourceError
from harness.redaction import known_secrets, redact_secrets
from harness.tools.mcp_pipes import CappedStream, Server, exited, running_server, streams_of
from harness.tools.mcp_source import Address
from harness.tools.mcp_tools import McpTool, raw_tool
from harness.tools.replies import shortened
from harness.tools.sources import MOST_TOOLS, Found, finished
from harness.types.evaluation import ToolSource
from harness.types.jsontext import described

MOST_PAGES: Final = 400
"""Pages of a list, at most; a server that gives one cursor twice is stopped before."""
_LONGEST_REASON: Final = 600
_LAST_WORDS_MS: Final = 500
_CLIENT: Final = Implementation(name="agent-loop-harness", version="1")


@dataclass(slots=True)
class _Talk:
    """One connection and what is known of the server; ``fault`` where its tools could not be listed."""

    address: Address
    server: Server | None = None
    client: Client | None = None
    http_status: int | None = None
    tools: list[Tool] = field(default_factory=list)
    fault: HarnessError | None = None

    @property
    def label(self) -> str:
        info = None if self.client is None else self.client.server_info
        named = "" if info is None else f" {info.name!r}{f' {info.version}' if info.version else ''}"
        return f"MCP server{named} ({self.address.shown})"

    @property
    def hung_up(self) -> bool:
        """Whether the server closed its stdout instead of greeting back."""
        return self.client is None and self.server is not None and self.server.ended and not self.server.fault


async def listed_tools(source: ToolSource, address: Address, *, limit_ms: int) -> Found:
    """The server's whole list. Raises as :func:`harness.tools.mcp_source.list_mcp_tools`."""
    async with _listed(source, address, limit_ms) as (found, _):
        return found


@asynccontextmanager
async def opened_tools(
    source: ToolSource, address: Address, *, limit_ms: int, call_limit_ms: int
) -> AsyncIterator[tuple[Found, tuple[McpTool, ...]]]:
    """The server's list and bodies that call it, while this is open."""
    async with _listed(source, address, limit_ms) as (found, client):
        yield found, tuple(McpTool(tool, client, call_limit_ms=call_limit_ms) for tool in found.tools)


@asynccontextmanager
async def _listed(source: ToolSource, address: Address, limit_ms: int) -> AsyncIterator[tuple[Found, Client]]:
    """The list, with the connection still open.

    A server over pipes that hangs up at the newest form of greeting is started once more and greeted in the old one.
    """
    with _logged() as told:
        async with _connection(address, limit_ms, "auto") as talk:
            if not talk.hung_up:
                yield _found(talk, source, told), _client_of(talk)
                return
        async with _connection(address, limit_ms, "legacy") as talk:
            yield _found(talk, source, told), _client_of(talk)


def _found(talk: _Talk, source: ToolSource, told: list[str]) -> Found:
    if talk.fault is not None:
        raise talk.fault
    notes = [f"the protocol's library: {text}" for text in told if text.startswith("dropping tool")]
    if talk.server is not None and talk.server.n_junk:
        n_junk = talk.server.n_junk
        junk = "1 line on its stdout is no message" if n_junk == 1 else f"{n_junk} lines on its stdout are no messages"
        notes.append(f"{junk} ({talk.server.first_junk!r})")
    return finished([raw_tool(tool) for tool in talk.tools], source, talk.label, notes=notes, fault=ToolSourceError)


def _client_of(talk: _Talk) -> Client:
    assert talk.client is not None  # without a fault it was listed
    return talk.client


@asynccontextmanager
async def _connection(address: Address, limit_ms: int, mode: str) -> AsyncIterator[_Talk]:
    """Connect and list within the limit; what fails stands in ``fault``.

    Nothing is raised through the library's task groups, which would give it back in groups of exceptions.
    """
    talk, raised = _Talk(address), None
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(limit_ms / 1000):
                await _connect(stack, talk, mode)
                await _read_list(talk)
                if talk.server is not None:
                    talk.server.is_listing = False
        except Exception as error:  # the library's own, pydantic's, the transport's, and groups of them
            talk.fault = await _fault(talk, error, limit_ms)
        try:
            yield talk
        except Exception as error:  # the caller's own
            raised = error
    if raised is not None:
        raise raised


async def _connect(stack: AsyncExitStack, talk: _Talk, mode: str) -> None:
    address = talk.address
    if address.url is not None:
        http = await stack.enter_async_context(_http_client(talk, address.url))
        transport = streamable_http_client(address.url, http_client=http)
    else:
        talk.server = await stack.enter_async_context(running_server(address.argv, dict(address.environ)))
        transport = streams_of(talk.server)
    talk.client = await stack.enter_async_context(Client(transport, client_info=_CLIENT, mode=mode, cache=None))


def _http_client(talk: _Talk, url: str) -> httpx2.AsyncClient:
    """A client that notes what was refused, and reads no answer without end."""

    async def look(response: httpx2.Response) -> None:
        if response.status_code >= httpx2.codes.BAD_REQUEST:
            talk.http_status = response.status_code
        if "json" in response.headers.get("content-type", ""):  # of a stream the library bounds each event
            response.stream = CappedStream(response.stream)

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(30, read=300),
        trust_env=not _is_loopback(url),
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [look]},
    )


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


async def _read_list(talk: _Talk) -> None:
    session, cursor, seen = _client_of(talk).session, None, set()
    for _ in range(MOST_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        talk.tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            return
        if cursor in seen or len(talk.tools) > MOST_TOOLS:
            break
        seen.add(cursor)
    raise ToolSourceError(
        f"{talk.label}: its list has no end ({len(talk.tools):,} tools on {len(seen) + 1:,} pages so far); at most "
        f"{MOST_TOOLS:,} tools on {MOST_PAGES:,} pages are taken, and no cursor may come twice"
    )


# ---------------------------------------------------------------- failures


async def _fault(talk: _Talk, error: BaseException, limit_ms: int) -> HarnessError:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if talk.server is not None:
        talk.server.is_given_up = True
        await exited(talk.server.process, _LAST_WORDS_MS if talk.server.ended else 0)
    if isinstance(error, HarnessError):
        return error
    return ToolSourceError(f"{talk.label}: {_what(talk, error, limit_ms)}{_words(talk)}")


def _what(talk: _Talk, error: BaseException, limit_ms: int) -> str:
    server = talk.server
    if server is not None and server.fault:
        return server.fault
    if isinstance(error, TimeoutError):
        return f"it had not listed its tools after {limit_ms} ms; see what keeps it, or give it more time"
    if server is not None and server.ended:
        code = server.process.returncode
        how = "closed its stdout" if code is None else f"ended with exit code {code}"
        return f"it {how} before it had listed its tools; run the command by hand to see why"
    return _said(talk, error)


def _first_line(error: MCPError) -> str:
    return shortened(next(iter(error.message.splitlines()), ""), _LONGEST_REASON)


def _said(talk: _Talk, error: BaseException) -> str:
    if isinstance(error, MCPError):
        if talk.http_status is not None and talk.client is None:
            status = f"HTTP status {talk.http_status} ({_first_line(error)})"
            return f"it answered with {status}; check the URL, and whether it asks for a key"
        if error.code == METHOD_NOT_FOUND:
            return f"it offers no tools ({error.message})"
        return f"it answered with error {error.code}: {_first_line(error)}"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return f"it sent what is no list of tools ({error.error_count()} faults, the first at {place}: {first['msg']})"
    if isinstance(error, httpx2.TransportError):
        return f"the connection failed ({described(error)}); start it, or check the URL"
    return shortened(described(error), _LONGEST_REASON)


def _words(talk: _Talk) -> str:
    if talk.server is None:
        return ""
    junk = f"; its stdout is no protocol: {talk.server.first_junk!r}" if talk.server.n_junk else ""
    words = redact_secrets(talk.server.words(), known_secrets(dict(talk.address.environ)))
    return f"{junk}; it wrote: {words}" if words else junk


class _Kept(logging.Handler):
    """Keeps what the library logs; it is shown nowhere unless the caller logs himself."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record.getMessage())


@contextmanager
def _logged() -> Iterator[list[str]]:
    """What the library warns of, as long as this is open."""
    handler, loggers = _Kept(), [logging.getLogger(name) for name in ("mcp", "client")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield handler.told
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
