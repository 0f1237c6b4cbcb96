"""Reading: bytes or text to a located value, from the parser's events, with caps on everything."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeAlias

import yaml

from harness.documents.core import plain_scalar
from harness.errors import ScenarioError

MAX_BYTES: Final = 1_048_576
"""Larger documents are refused before they are read (1 MiB)."""
MAX_DEPTH: Final = 100
"""Deeper nesting is refused (levels of mappings and lists)."""
MAX_NODES: Final = 50_000
"""More values than this in one document are refused."""
LONGEST_MESSAGE: Final = 400
"""Characters of a message that quotes a document, at most."""

Path: TypeAlias = Sequence[str | int]

LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The C parser where the library was built with it; both give the same values (tested)."""

# What YAML allows in a stream, less the line ends that 1.1 knew and 1.2 does not (libraries differ).
_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(slots=True)
class _Place:
    """Where a value stands, and where what it holds stands."""

    line: int
    inner: dict[str | int, _Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A document's value (plain JSON values) and where each part of it stands."""

    value: Any
    file: str
    _place: _Place

    def line_of(self, path: Path) -> int:
        """The line (from 1) of the value at ``path`` (keys and indices; a key's own line).

        A path that leads nowhere gets the line of the nearest value on the way.
        """
        place = self._place
        for step in path:
            inner = place.inner.get(step)
            if inner is None:
                break
            place = inner
        return place.line


def line_document(value: Any, file: str, line: int) -> Document:
    """A value that stands on one line of a file, with all that it holds."""
    return Document(value, file, _Place(line))


def read_document(
    path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES, max_nodes: int = MAX_NODES, any_keys: bool = False
) -> Document:
    """The document in a file. Raises ScenarioError for everything that is wrong with it."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ScenarioError(f"cannot be read ({reason}); check the name and who may read it", file=name) from None
    return load_document(data, name, max_bytes=max_bytes, max_nodes=max_nodes, any_keys=any_keys)


def load_document(
    text_or_bytes: str | bytes,
    file: str,
    *,
    max_bytes: int = MAX_BYTES,
    max_nodes: int = MAX_NODES,
    any_keys: bool = False,
) -> Document:
    """The document in a text or in UTF-8 bytes; ``file`` names it in messages.

    YAML 1.2 core schema, one document, text keys (``any_keys``: a key such as ``200`` or ``null`` counts as the
    text that it is written with). Raises ScenarioError (file, line, what, what to
    do) for more than ``max_bytes``, nesting beyond MAX_DEPTH, more than ``max_nodes`` values, binary
    data, other encodings, duplicate keys, anchors, aliases, merge keys, tags, NaN and infinities.
    """
    text = _decoded(text_or_bytes, file, max_bytes)
    bad = _UNPRINTABLE.search(text)
    if bad:
        _refuse_character(text, bad.start(), file)
    try:
        return _Builder(file, yaml.parse(text, Loader=LOADER), max_nodes=max_nodes, any_keys=any_keys).document()
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, file) from None
    except yaml.YAMLError as error:
        raise ScenarioError(f"not YAML: {error}", file=file) from None


def _syntax_error(error: yaml.MarkedYAMLError, file: str) -> ScenarioError:
    mark = error.problem_mark or error.context_mark
    what = error.problem or error.context or "it cannot be parsed"
    message = f"not YAML: {what}; check quotes, colons and indentation"
    if "nesting depth" in what:  # the C parser has a cap of its own while it looks ahead
        message = f"nested deeper than {MAX_DEPTH} levels"
    return ScenarioError(message, file=file, line=mark.line + 1 if mark else None)


def _decoded(text_or_bytes: str | bytes, file: str, max_bytes: int) -> str:
    if len(text_or_bytes) > max_bytes:
        raise ScenarioError(f"larger than {max_bytes:,} bytes; split it into several files", file=file)
    if isinstance(text_or_bytes, str):
        return text_or_bytes.removeprefix("\ufeff")
    if text_or_bytes[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ScenarioError("is UTF-16; save it as UTF-8", file=file)
    if b"\0" in text_or_bytes:
        line = text_or_bytes.count(b"\n", 0, text_or_bytes.index(b"\0")) + 1
        raise ScenarioError("is binary (it holds a NUL byte); name a text file", file=file, line=line)
    try:
        return text_or_bytes.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = text_or_bytes.count(b"\n", 0, error.start) + 1
        raise ScenarioError("is not UTF-8 (or is binary); save it as UTF-8", file=file, line=line) from None


def _refuse_character(text: str, position: int, file: str) -> NoReturn:
    code = ord(text[position])
    escape = f"\\u{code:04x}"
    if code == 0:
        message = "is binary (it holds a NUL character); name a text file"
    elif 0xD800 <= code <= 0xDFFF:
        message = f"half a surrogate pair ({escape}) is no character; write the whole character"
    else:
        message = f'the character U+{code:04X} may not stand here; write "{escape}" in double quotes'
    raise ScenarioError(message, file=file, line=text.count("\n", 0, position) + 1)


class _Builder:
    """Values from the parser's events. The parser keeps no tree, so no input can make it recurse."""

    def __init__(self, file: str, events: Iterator[Any], *, max_nodes: int, any_keys: bool) -> None:
        self._file = file
        self._events = events
        self._max_nodes = max_nodes
        self._any_keys = any_keys
        self._n_nodes = 0

    def document(self) -> Document:
        next(self._events)  # the stream's start
        start = next(self._events)
        if isinstance(start, yaml.StreamEndEvent):
            raise ScenarioError("is empty; a document was expected", file=self._file)
        self._refuse_directives(start)
        value, place = self._value(next(self._events), 0)
        next(self._events)  # the document's end
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._refuse("a second document begins here; keep one in a file", after)
        return Document(value, self._file, place)

    def _refuse_directives(self, start: Any) -> None:
        if start.tags:
            self._refuse("%TAG is not taken, as tags are not", start)
        if start.version and tuple(start.version) != (1, 2):
            self._refuse("only YAML 1.2 is read; remove the %YAML line", start)

    def _value(self, event: Any, depth: int) -> tuple[Any, _Place]:
        self._n_nodes += 1
        if self._n_nodes > self._max_nodes:
            self._refuse(f"more than {self._max_nodes:,} values in one document; split it", event)
        if isinstance(event, yaml.AliasEvent):
            self._refuse(f"alias *{event.anchor}: aliases are refused; write the value out", event)
        if event.anchor is not None:
            self._refuse(f"anchor &{event.anchor}: anchors are refused; write the value out", event)
        if event.tag is not None:
            self._refuse(f"tag {event.tag!r}: tags are refused; write a plain value", event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event), _Place(_line(event))
        if depth >= MAX_DEPTH:
            self._refuse(f"nested deeper than {MAX_DEPTH} levels", event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(event, depth + 1)
        return self._mapping(event, depth + 1)

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if not event.implicit[0]:
            if any("\ud800" <= char <= "\udfff" for char in text):  # only the pure parser lets escapes give these
                self._refuse("half a surrogate pair is no character; write the whole character", event)
            return text
        try:
            return plain_scalar(text)
        except ValueError as error:
            self._refuse(str(error), event)

    def _list(self, start: Any, depth: int) -> tuple[list[Any], _Place]:
        place = _Place(_line(start))
        items: list[Any] = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            item, place.inner[len(items)] = self._value(event, depth)
            items.append(item)
        return items, place

    def _mapping(self, start: Any, depth: int) -> tuple[dict[str, Any], _Place]:
        place = _Place(_line(start))
        fields: dict[str, Any] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event, depth)
            if key in fields:
                first = place.inner[key].line
                self._refuse(f"key {key!r} stands twice (first in line {first}); keep one", event)
            fields[key], inner = self._value(next(self._events), depth)
            inner.line = _line(event)
            place.inner[key] = inner
        return fields, place

    def _key(self, event: Any, depth: int) -> str:
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
            self._refuse("merge keys (<<) are refused; write the fields out", event)
        key, _ = self._value(event, depth)
        if self._any_keys and isinstance(event, yaml.ScalarEvent):
            return str(event.value)
        if not isinstance(key, str):
            self._refuse(f"key {_shown(key)} is not text; write it in quotes", event)
        return key

    def _refuse(self, message: str, event: Any) -> NoReturn:
        raise ScenarioError(shortened(message), file=self._file, line=_line(event))


def shortened(text: str) -> str:
    """A text for a message: cut where it is long, so that no message repeats a hostile file."""
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}… (cut)"


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "of several values"
    return json.dumps(value)
