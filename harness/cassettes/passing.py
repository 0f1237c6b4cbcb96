"""For whom a request is, among many that share a client: told by the context of who asks.

An evaluation asks for many cases at once through one client. Whoever asks opens ``passing(label)``; the transports
of this room then know for whom a request is, and whoever asked can see what passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from harness.cassettes.exchange import Exchange


def _nothing() -> Exchange | None:
    return None


@dataclass(slots=True)
class Passing:
    """The requests made for ``label``; ``latest`` gives the last exchange, where its answer was read to the end."""

    label: str
    latest: Callable[[], Exchange | None] = field(default=_nothing)

    @property
    def server(self) -> str | None:
        """What the server that answered last calls itself."""
        last = self.latest()
        headers = () if last is None else last.response.headers
        return next((text for name, text in headers if name == "server"), None)


_NOW: Final[ContextVar[Passing | None]] = ContextVar("harness_passing", default=None)


@contextmanager
def passing(label: str) -> Iterator[Passing]:
    """Requests of this task are for ``label`` while the block lasts."""
    mine = Passing(label)
    token = _NOW.set(mine)
    try:
        yield mine
    finally:
        _NOW.reset(token)


def passing_now() -> Passing | None:
    """For whom the running task asks."""
    return _NOW.get()
