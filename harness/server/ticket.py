"""A request on its way over the desk of the scripted server, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from harness.errors import ModelError
from harness.server.dialects import Dialect, Read
from harness.server.exchanges import Exchange
from harness.types.faults import WireFault
from harness.types.jsontext import Refusal, canonical_json, clean_text, parse_json
from harness.types.messages import JsonText
from harness.wire.requests import ChatRequest


class Failed(Protocol):
    """Told of a request that the server itself failed: refused with 400, disturbed, or timed out."""

    def __call__(self, request: ChatRequest | None, number: int, error: ModelError) -> None: ...


class ClientTimeout(TimeoutError):
    """The client's own read time-out passed."""


@dataclass(slots=True)
class Ticket:
    """One request that was found valid."""

    number: int
    exchange: Exchange
    dialect: Dialect
    read: Read
    fault: WireFault | None

    @property
    def request(self) -> ChatRequest:
        """The request itself."""
        assert self.read.request is not None
        return self.read.request


def models_listed(names: Iterable[str]) -> dict[str, Any]:
    """What ``GET /models`` lists."""
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "harness"} for name in names]
    return {"object": "list", "data": data}


def kept_body(content: bytes) -> JsonText:
    """A request body as it is kept: canonical JSON text where it is JSON, else as it came."""
    text = clean_text(content.decode("utf-8", "replace"))
    value = parse_json(text)
    return JsonText(text) if isinstance(value, Refusal) else canonical_json(value)
