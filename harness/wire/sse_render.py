"""Server-sent events as a provider writes them. Pure bytes; nothing here knows a socket."""

from __future__ import annotations

from typing import Final

DONE: Final = b"data: [DONE]\n\n"
"""The last event of a Chat Completions stream."""


def sse_event(data: str, name: str | None = None) -> bytes:
    """One event. Each line of ``data`` gets a field of its own, so that a reader gives it back as it was."""
    head = f"event: {name}\n" if name else ""
    lines = "".join(f"data: {line}\n" for line in data.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return f"{head}{lines}\n".encode()
