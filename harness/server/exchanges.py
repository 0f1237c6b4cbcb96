"""The record of what was asked of the scripted server, and how each request went."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from harness.types.messages import ChatAssistant, JsonText
from harness.wire.requests import ChatRequest

KEPT_HEADERS: Final = (
    "accept",
    "content-length",
    "content-type",
    "user-agent",
    "x-stainless-async",
    "x-stainless-lang",
    "x-stainless-package-version",
    "x-stainless-retry-count",
    "x-stainless-runtime",
)
"""The headers of a request that are written down; no other ever is (keys, cookies, organisations)."""


_NO_BODY: Final = JsonText("")


class Went(StrEnum):
    """How a request went."""

    OPEN = "open"
    ANSWERED = "answered"
    FAILED = "failed"
    """The script's own failure."""
    FAULT = "fault"
    """A fault of the scenario."""
    REFUSED = "refused"
    """With 400, as the real API would; or a path or an option that is not offered."""
    UNANSWERABLE = "unanswerable"
    """The script is dry, or something of ours failed."""
    DISCONNECTED = "disconnected"
    """The client went away before it had its answer."""


@dataclass(slots=True)
class Exchange:
    """One request and how it went. ``number`` is 0 for what never reached the model (a path that is none)."""

    number: int
    method: str
    path: str
    at_ms: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: JsonText = _NO_BODY
    dialect: str = ""
    stream: bool = False
    model: str = ""
    n_answers: int = 0
    retry_of: int | None = None
    status: int | None = None
    went: Went = Went.OPEN
    fault: str = ""
    why: str = ""
    n_pieces: int = 0
    took_ms: int = 0

    def shows(self, request: ChatRequest) -> None:
        """What the request says."""
        self.model = request.model
        self.n_answers = sum(isinstance(message, ChatAssistant) for message in request.messages)

    def plain(self) -> dict[str, Any]:
        """As a line of the request log; what says nothing is left out."""
        line: dict[str, Any] = {
            "request": self.number,
            "atMs": self.at_ms,
            "method": self.method,
            "path": self.path,
            "dialect": self.dialect,
            "stream": self.stream,
            "model": self.model,
            "answersShown": self.n_answers,
            "retryOf": self.retry_of,
            "went": str(self.went),
            "status": self.status,
            "fault": self.fault,
            "why": self.why,
            "pieces": self.n_pieces,
            "tookMs": self.took_ms,
            "headers": dict(self.headers),
            "body": _body(self.body),
        }
        kept = ("request", "went", "status", "tookMs", "atMs")
        return {key: value for key, value in line.items() if key in kept or value not in ("", None, 0, False, {})}


def _body(text: JsonText) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return str(text)


def retry_of(earlier: Exchange | None) -> int | None:
    """Which request is made again, where the newest one of the same body was never answered; None for none."""
    if earlier is None or earlier.went in (Went.ANSWERED, Went.OPEN):
        return None
    return earlier.retry_of or earlier.number


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Those that may be written down, in a fixed order, names in lower case."""
    lower = {key.lower(): value for key, value in headers.items()}
    return {key: lower[key] for key in KEPT_HEADERS if key in lower}
