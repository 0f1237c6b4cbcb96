"""Other people's files as plain values: JSON, or JSON lines; strict, with the line in every refusal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from jiter import from_json

from harness.errors import ForeignFormatError
from harness.formats.archives import MAGIC, read_members
from harness.types.events import TornTail
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import Content, ImagePart, JsonText, OtherPart, TextPart
from harness.wire.shape import cleaned

LONGEST_BYTES = 256 * 2**20
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Document:
    """A file's values with the line each begins on, and what was torn off its end."""

    source: str
    values: tuple[tuple[int, Any], ...]
    torn: TornTail | None = None
    members: tuple[str, ...] = ()
    """Of an archive: the name of the member that each value was."""

    @property
    def first(self) -> Any:
        """The first value; None for a file without any."""
        return self.values[0][1] if self.values else None

    def refuse(self, why: str, line: int | None = None) -> NoReturn:
        """Raise ForeignFormatError for this file."""
        raise ForeignFormatError(f"{self.source}{f':{line}' if line else ''}: {why}")


def read_document(path: Path) -> Document:
    """A file's values. Raises ForeignFormatError for what is neither JSON nor JSON lines."""
    try:
        size = path.stat().st_size
        if size > LONGEST_BYTES:
            raise ForeignFormatError(f"{path}: {size} bytes are more than the {LONGEST_BYTES} that are read")
        data = path.read_bytes()
    except OSError as error:
        raise ForeignFormatError(f"{path}: cannot be read: {error.strerror}") from error
    return parse_document(data, str(path))


def parse_document(data: bytes, source: str) -> Document:
    """The values of a file's bytes: one JSON document, or one value a line."""
    if data.startswith(MAGIC):
        return _archive(data, source)
    if data.startswith(_GZIP):
        raise ForeignFormatError(f"{source}: the file is packed with gzip: unpack it (gunzip) first")
    data = data.removeprefix(_BOM)
    if not data.strip():
        raise ForeignFormatError(f"{source}: the file is empty")
    lines = data.split(b"\n")
    if len([line for line in lines[:3] if line.strip()]) > 1 and not isinstance(_parsed(lines[0]), Refusal):
        return _lines(lines, source)
    whole = _parsed(data)
    if isinstance(whole, Refusal):
        return _lines(lines, source) if b"\n" in data.strip() else _damaged(source, 1, whole)
    return Document(source, ((1, whole),))


def _archive(data: bytes, source: str) -> Document:
    """The JSON members of an archive; that of another kind of file in it is no fault."""
    found = read_members(data, source, lambda name: name.endswith(".json"), LONGEST_BYTES)
    values: list[tuple[int, Any]] = []
    for name, content in found:
        value = _parsed(content)
        if isinstance(value, Refusal):
            raise ForeignFormatError(f"{source}: its member {name[:100]!r} is no JSON: {value.message[:200]}")
        values.append((1, value))
    return Document(source, tuple(values), members=tuple(name for name, _ in found))


def _lines(lines: list[bytes], source: str) -> Document:
    values: list[tuple[int, Any]] = []
    offset = 0
    for number, line in enumerate(lines, start=1):
        if line.strip():
            value = _parsed(line)
            if isinstance(value, Refusal):
                if values and number == len(lines):  # no line feed behind it: it was never finished
                    return Document(source, tuple(values), TornTail(number, offset, len(line)))
                _damaged(source, number, value)
            values.append((number, value))
        offset += len(line) + 1
    return Document(source, tuple(values))


def _damaged(source: str, line: int, refusal: Refusal) -> NoReturn:
    raise ForeignFormatError(f"{source}:{line}: neither JSON nor JSON lines: {refusal.message[:300]}")


def _parsed(data: bytes) -> Any | Refusal:
    try:
        return from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        reason = str(error)
    try:
        value = parse_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        return Refusal(reason)
    # What only the second reader takes are lone surrogates; they become U+FFFD at this door.
    return value if isinstance(value, Refusal) else cleaned(value, "value")


# ---------------------------------------------------------------- small readings


def refuse_lines(document: Document, what: str, key: str) -> None:
    """Raise ForeignFormatError for a file of several, one a line, of a kind that is read one a file."""
    n = len(document.values)
    if n > 1 and all(isinstance(value, dict) and key in value for _, value in document.values):
        document.refuse(f"{n} lines, each of them {what}: write each to a file of its own, and name the folder")


def text_or_none(value: Any) -> str | None:
    """The value where it is text."""
    return value if isinstance(value, str) else None


def whole_or_none(value: Any) -> int | None:
    """The value where it is a whole number; a boolean is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def arguments_text(value: Any) -> str:
    """Arguments as text: verbatim where they are, canonical JSON of a value, empty for none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical_json(value)


def content_of_parts(value: Any) -> Content:
    """Content from text, parts, or any JSON value (which becomes its canonical JSON text)."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(part, dict) and "type" in part for part in value):
        return canonical_json(value)
    texts = [part["text"] for part in value if set(part) == {"type", "text"} and part["type"] == "text"]
    if len(texts) == len(value) == 1 and isinstance(texts[0], str):
        return texts[0]
    return tuple(_part(part) for part in value)


def _part(part: dict[str, Any]) -> TextPart | ImagePart | OtherPart:
    if part["type"] == "text" and set(part) == {"type", "text"} and isinstance(part["text"], str):
        return TextPart(text=part["text"])
    return OtherPart(json=JsonText(canonical_json(part)))


def has_substance(content: Content | None) -> bool:
    """True for text that is more than blanks, or a part that is no text."""
    if content is None or isinstance(content, str):
        return bool(content and content.strip())
    return any(not isinstance(part, TextPart) or part.text.strip() for part in content)


def objects(values: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list; nothing for what is no list."""
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict))
