"""What the scripted server answers, before any transport: a status, headers, and a body or a stream of pieces."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from harness.errors import HarnessError, UnsupportedError

JSON: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream; charset=utf-8"
DAMAGED_BODY: Final = b"this response is damaged on purpose: no JSON"
MALFORMED_EVENT: Final = '{"id":"this event is damaged on purpose'
NEVER_RETRY: Final = {"x-should-retry": "false"}
"""What the ``openai`` client takes as: asking again is useless."""


class How(StrEnum):
    """How a connection breaks."""

    RESET = "reset"
    """Nothing was answered, and the connection is reset."""
    HANG_UP = "hang-up"
    """Nothing was answered, and the connection is closed."""
    CUT = "cut"
    """In the middle of a body."""


class Broken(HarnessError):
    """The connection breaks here, on purpose."""

    def __init__(self, how: How, why: str) -> None:
        super().__init__(why)
        self.how = how


class NotOffered(UnsupportedError):
    """A path or an option that the server does not have; ``status`` is what HTTP says to it."""

    def __init__(self, message: str, *, status: int = 404, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.param = param


def _nothing() -> None:
    """Nothing is to be closed."""


@dataclass(slots=True)
class Reply:
    """An answer on its way. ``pieces``, where given, is the body, and may raise Broken.

    ``close`` ends what makes the pieces, and is to be called once, however the transfer ended.
    ``cut`` says after how many bytes of ``body`` the connection breaks; ``is_answer`` that the model's answer arrives.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": JSON})
    pieces: AsyncIterator[bytes] | None = None
    close: Callable[[], None] = _nothing
    cut: int | None = None
    is_answer: bool = False
