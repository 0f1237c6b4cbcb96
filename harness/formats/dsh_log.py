"""DeepSeek Harness session logs as lines of one shape: older flat ones lifted, packed chunks unpacked.

Line 1 is the session; every other line is ``{type, data, ...}``. Sequence numbers inside the log
count events after the session line, each unpacked chunk by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from harness.formats.values import Document, objects, whole_or_none

_PACKED: Final = {
    "reasoning-chunks": ("texts", "reasoning-delta", "text"),
    "text-chunks": ("texts", "text-delta", "text"),
    "tool-call-chunks": ("args", "tool-call-delta", "argumentsDelta"),
}


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line: its number in the file, its first sequence number in the log, kind, data, the rest."""

    number: int
    seq: int
    kind: str
    data: dict[str, Any]
    surface: Any = None

    @property
    def turn(self) -> int | None:
        """The turn that the line names."""
        return whole_or_none(self.data.get("turn"))

    @property
    def step(self) -> int | None:
        """The step that the line names."""
        return whole_or_none(self.data.get("step"))


def is_session(value: Any) -> bool:
    """True for the first line of a session log."""
    return isinstance(value, dict) and value.get("type") == "session" and "id" in value and "createdAt" in value


def log_lines(document: Document) -> Iterator[LogLine]:
    """The lines behind the session's. Raises ForeignFormatError for a line of another shape."""
    seq = 0
    for number, value in document.values[1:]:
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            document.refuse("a line of a session log must be an object with a type", number)
        data = value.get("data", {})
        if not isinstance(data, dict):
            document.refuse(f"the data of {value['type']!r} must be an object", number)
        line = LogLine(number, seq, value["type"], data, value.get("surfaceOp"))
        yield line
        seq += len(chunks_of(line)) if line.kind in _PACKED else 1


def chunks_of(line: LogLine) -> list[dict[str, Any]]:
    """The chunks of a chunk line, packed or not."""
    if line.kind not in _PACKED:
        chunk = line.data.get("chunk")
        return [chunk] if isinstance(chunk, dict) else []
    many, kind, one = _PACKED[line.kind]
    pieces = line.data.get(many)
    common: dict[str, Any] = {key: line.data[key] for key in ("index", "id", "name") if key in line.data}
    return [{"type": kind, **common, one: piece} for piece in pieces] if isinstance(pieces, list) else []


def message_of(line: LogLine) -> dict[str, Any]:
    """The message of an answer or a result: nested, or (older logs) the data itself."""
    message = line.data.get("message")
    return message if isinstance(message, dict) else line.data


def result_of(line: LogLine) -> tuple[Any, Any, bool]:
    """Call id, content and error flag of a ``tool/result`` line, nested or flat."""
    message = message_of(line)
    if "callId" in message:
        return message["callId"], message.get("content"), message.get("isError") is True
    for part in objects(message.get("content")):
        if part.get("type") == "tool-result":
            return part.get("toolCallId"), part.get("content"), part.get("isError") is True
    source = message.get("source")
    call_id = source.get("callId") if isinstance(source, dict) else None
    return call_id, message.get("content"), False
