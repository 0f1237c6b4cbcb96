"""The recordings of one cassette, found by request in constant time, each given out once."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import httpx2

from harness.cassettes.bodies import Body, Key, read_body
from harness.cassettes.exchange import Cassette, Exchange

_ENDPOINTS: Final = ("/chat/completions", "/responses")
"""What stands before them belongs to the base URL (``/v1``, ``/openai/v1``, ``/api/v1``, nothing), as the host does."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it is matched."""

    method: str
    path: str
    body: Body

    @property
    def key(self) -> Key:
        """What equal requests share."""
        return self.method, self.path, self.body.canonical


def asked(method: str, uri: str | httpx2.URL, body: bytes, ignore: tuple[str, ...]) -> Asked:
    """A request as it is matched: neither host, nor query, nor headers count, nor where the host's API begins."""
    path = _path(uri) if isinstance(uri, str) else uri.path
    path = next((end for end in _ENDPOINTS if path.endswith(end)), path)
    return Asked(method.upper(), path, read_body(body, ignore))


@lru_cache(maxsize=64)  # all requests of a recording go to one address or two
def _path(uri: str) -> str:
    return httpx2.URL(uri).path


class Index:
    """Recordings by (method, path, canonical body); first in, first out among equals."""

    def __init__(self, cassette: Cassette, ignore: tuple[str, ...]) -> None:
        self.exchanges = cassette.exchanges
        self.asked = tuple(
            asked(one.request.method, one.request.uri, one.request.body, ignore) for one in cassette.exchanges
        )
        self._waiting: dict[Key, deque[int]] = defaultdict(deque)
        self._used: set[int] = set()
        for position, one in enumerate(self.asked):
            self._waiting[one.key].append(position)

    def take(self, request: Asked, label: str = "") -> tuple[int, Exchange] | None:
        """The oldest unused recording of that request, with its position, or None; one look-up.

        Among equals one of this ``label`` goes first.
        """
        waiting = self._waiting.get(request.key)
        if not waiting:
            return None
        position = waiting[0]
        if label and len(waiting) > 1:
            position = next((one for one in waiting if self.exchanges[one].label == label), position)
        waiting.remove(position)
        self._used.add(position)
        return position, self.exchanges[position]

    def was_recorded(self, request: Asked) -> bool:
        """True when that request stands in the cassette, used or not."""
        return request.key in self._waiting

    def unused(self) -> tuple[int, ...]:
        """Positions of the recordings that nobody asked for, in order."""
        return tuple(position for position in range(len(self.exchanges)) if position not in self._used)
