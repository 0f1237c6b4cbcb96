"""Server-sent events out of bytes that come in any pieces: lines, fields, events. Pure; knows no network.

Lines end with LF, CR or CRLF; a byte order mark before the first is skipped; a line that begins with a colon is a
comment (what servers send to keep a connection alive); several ``data`` lines are joined by LF; an event is whole
behind its blank line only, so what stands unfinished at the end of a stream is no event. U+0085, U+2028 and U+2029
end no line. Bytes that are no UTF-8 become U+FFFD, and ``replaced`` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harness.errors import ModelError
from harness.types.codes import Code

MOST_EVENT_BYTES: Final = 16 * 2**20
"""How long one event may become before the stream counts as damaged."""
MOST_LINES: Final = 2**20
"""How many lines one stream may have before it counts as damaged; the longest answers come in a third of it."""
_END_OF_LINE: Final = re.compile(rb"\r\n|\n|\r")
_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: its data, its name (``message`` where it has none), and the last id that the stream gave."""

    data: str
    event: str = "message"
    id: str = ""


class SseDecoder:
    """Takes the bytes of one stream as they come.

    ``retry_ms`` is what the server last asked for; ``replaced`` is true once bytes were no UTF-8.
    """

    def __init__(self, *, most_event_bytes: int = MOST_EVENT_BYTES, most_lines: int = MOST_LINES) -> None:
        self._most = most_event_bytes
        self._n_lines_left = most_lines
        self._line = bytearray()
        self._skip_lf = False
        self._is_first = True
        self._data: list[str] = []
        self._n_bytes = 0
        self._event = ""
        self._id = ""
        self.retry_ms: int | None = None
        self.replaced = False

    @property
    def is_between_events(self) -> bool:
        """True where nothing stands unfinished; at the end of a stream, anything else is lost."""
        return not self._line and not self._data

    def feed(self, data: bytes) -> Iterator[SseEvent]:
        """The events that these bytes complete. Raises ModelError DAMAGED_RESPONSE for one that is too long,
        and for a stream of too many lines.

        Each event is given as soon as it is whole, before later bytes are looked at.
        """
        start = 0
        if self._skip_lf and data:
            self._skip_lf = False
            start = 1 if data[:1] == b"\n" else 0  # the second half of a CRLF that was split
        for found in _END_OF_LINE.finditer(data, start):
            self._more(data[start : found.start()])
            start = found.end()
            self._skip_lf = found[0] == b"\r" and start == len(data)
            event = self._end_line()
            if event is not None:
                yield event
        self._more(data[start:])

    def _more(self, piece: bytes) -> None:
        self._line += piece
        if len(self._line) + self._n_bytes > self._most:
            raise ModelError(
                f"an event of the stream is longer than {self._most} bytes: nothing of it is used",
                code=Code.DAMAGED_RESPONSE,
            )

    def _end_line(self) -> SseEvent | None:
        self._n_lines_left -= 1
        if self._n_lines_left < 0:
            raise ModelError("the stream has too many lines: nothing of it is used", code=Code.DAMAGED_RESPONSE)
        line = bytes(self._line)
        self._line.clear()
        if self._is_first:
            line = line.removeprefix(_MARK)
            self._is_first = False
        if not line:
            return self._dispatched()
        if not line.startswith(b":"):
            self._n_bytes += len(line)
            name, _, value = line.partition(b":")
            self._field(name, self._text(value.removeprefix(b" ")))
        return None

    def _text(self, raw: bytes) -> str:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self.replaced = True
            return raw.decode("utf-8", "replace")

    def _field(self, name: bytes, value: str) -> None:
        """A line without a colon is a field without a value; unknown fields are ignored."""
        match name:
            case b"data":
                self._data.append(value)
            case b"event":
                self._event = value
            case b"id" if "\0" not in value:
                self._id = value
            case b"retry" if value.isascii() and value.isdigit() and len(value) < 10:
                self.retry_ms = int(value)
            case _:
                pass

    def _dispatched(self) -> SseEvent | None:
        data, event = self._data, self._event
        self._data, self._event, self._n_bytes = [], "", 0
        return SseEvent("\n".join(data), event or "message", self._id) if data else None
