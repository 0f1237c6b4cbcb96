"""``mcp:``: the tools of an MCP server, over its pipes or over HTTP. Listing them never calls one."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from harness.errors import ConfigurationError
from harness.redaction import known_secrets, redact_secrets
from harness.tools.sources import Found
from harness.types.evaluation import ToolSource

if TYPE_CHECKING:
    from types import ModuleType

    from harness.tools.mcp_tools import McpTool

_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_INHERITED: Final = (
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "PATHEXT", "PYTHONPATH", "PYTHONHOME", "SHELL",
    "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TERM", "TMP", "TMPDIR", "TZ", "USER", "USERPROFILE", "VIRTUAL_ENV",
)  # fmt: skip
"""What a server's process is given of the environment in any case: no keys, no tokens."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is: a URL, or the command that starts it with its environment. ``shown`` is fit for messages."""

    shown: str
    url: str | None = None
    argv: tuple[str, ...] = ()
    environ: tuple[tuple[str, str], ...] = ()


async def list_mcp_tools(source: ToolSource, *, environ: Mapping[str, str], limit_ms: int) -> Found:
    """All pages of the server's ``tools/list``; a server that was started for it is ended.

    Raises ConfigurationError for a command that cannot be started, a variable that is not set, an address that is
    none, and where the library is not installed; ToolSourceError (exit code 5) for all that the server does wrong.
    """
    address = address_of(source, environ)
    found: Found = await _sessions().listed_tools(source, address, limit_ms=limit_ms)
    return found


@asynccontextmanager
async def open_mcp_tools(
    source: ToolSource, *, environ: Mapping[str, str], limit_ms: int, call_limit_ms: int
) -> AsyncIterator[tuple[Found, tuple[McpTool, ...]]]:
    """The server's tools as bodies that call it (``tools/call``), as long as this is open: for ``execute: true`` only.

    ``limit_ms`` bounds the listing, ``call_limit_ms`` each call. Raises as :func:`list_mcp_tools`.
    """
    address = address_of(source, environ)
    async with _sessions().opened_tools(source, address, limit_ms=limit_ms, call_limit_ms=call_limit_ms) as opened:
        yield opened


def _sessions() -> ModuleType:
    try:
        from harness.tools import mcp_session  # loads the library and all that it needs
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "mcp":
            raise
        raise ConfigurationError(
            "tools.mcp needs the package 'mcp', which is not installed; pip install 'agent-loop-harness[evaluate]'"
        ) from None
    return mcp_session


def address_of(source: ToolSource, environ: Mapping[str, str]) -> Address:
    """The server's address. Raises ConfigurationError for one that is none, and for a variable that is not set."""
    text = source.location.strip()
    shown = redact_secrets(text, known_secrets(environ))
    if _URL.match(text):
        return Address(shown, url=_url(text, shown, source))
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise ConfigurationError(f"tools.mcp: {shown!r} is no command ({error}); check its quotes") from None
    if not argv or "\0" in text:
        raise ConfigurationError(f"tools.mcp: {shown!r} is no command and no URL; write 'python -m …' or 'http://…'")
    given = _environment(source, environ)
    return Address(shown, argv=(_program(argv[0], given), *argv[1:]), environ=tuple(sorted(given.items())))


def _url(text: str, shown: str, source: ToolSource) -> str:
    if source.env:
        raise ConfigurationError(f"tools.mcp: 'env' is for a command; {shown!r} is a server that runs already")
    try:
        parts = urlsplit(text)
        usable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or any(char.isspace() for char in text):
        raise ConfigurationError(f"tools.mcp: {shown!r} is no URL of a server; write http://host:port/path")
    return text


def _environment(source: ToolSource, environ: Mapping[str, str]) -> dict[str, str]:
    missing = [name for name in source.env if name not in environ]
    if missing:
        raise ConfigurationError(f"tools.mcp: 'env' names {missing[0]!r}, which is not set; set it, or take it out")
    return {name: environ[name] for name in (*_INHERITED, *source.env) if name in environ}


def _program(name: str, environ: Mapping[str, str]) -> str:
    """The program to start. ``python`` is the interpreter of the harness where PATH has none of that name."""
    if shutil.which(name, path=environ.get("PATH", os.defpath)) is None and name in ("python", "python3"):
        return sys.executable
    return shutil.which(name, path=environ.get("PATH", os.defpath)) or name
