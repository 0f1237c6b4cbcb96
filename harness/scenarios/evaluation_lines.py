"""A file of cases, one JSON object a line, read one at a time: the file stays on disk, offsets in memory."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter, ValidationError

from harness.documents import Document, line_document
from harness.errors import ScenarioError
from harness.plugins import suggestion
from harness.scenarios.complaints import scenario_error
from harness.scenarios.evaluation_case_fields import CaseFields, CaseForm, TemplateFields
from harness.types.evaluation import CASES_FORMAT
from harness.types.jsontext import Refusal, clean_text, parse_json

MAX_LINE: Final = 1_048_576
"""A longer line is refused (bytes)."""

Found: TypeAlias = tuple[CaseFields, int]
"""A case's fields and the line that they stand in."""


@dataclass(slots=True)
class CaseLines:
    """Where each case of a file stands: byte offset, line, and row of its template.

    ``size`` and ``changed_ns`` tell whether the file is still the one that was looked through.
    """

    path: str
    name: str
    size: int = 0
    changed_ns: int = 0
    _offsets: array[int] = field(default_factory=lambda: array("Q"))
    _lines: array[int] = field(default_factory=lambda: array("I"))
    _rows: array[int] = field(default_factory=lambda: array("I"))
    _last: tuple[int, list[CaseFields]] = (-1, [])

    def __len__(self) -> int:
        return len(self._offsets)

    def scan(self) -> Iterator[Found]:
        """Look through the file once; each case as it is found. Raises ScenarioError (file, line, field)."""
        with self._opened() as stream:
            told = os.fstat(stream.fileno())
            self.size, self.changed_ns = told.st_size, told.st_mtime_ns
            number = offset = 0
            while data := stream.readline(MAX_LINE + 1):
                number += 1
                if not (number == 1 and _is_header(data, self.name)):
                    for row, fields in enumerate(self._fields(data, number)):
                        self._offsets.append(offset)
                        self._lines.append(number)
                        self._rows.append(row)
                        yield fields, number
                offset += len(data)

    def __iter__(self) -> Iterator[Found]:
        """All cases in order, with one opening of the file."""
        with self._opened() as stream:
            for at in range(len(self)):
                yield self._read(stream, at)

    def read(self, at: int) -> Found:
        """One case. Raises ScenarioError where the file has changed since it was looked through."""
        with self._opened() as stream:
            return self._read(stream, at)

    def _read(self, stream: Any, at: int) -> Found:
        offset, line = self._offsets[at], self._lines[at]
        if self._last[0] != offset:
            told = os.fstat(stream.fileno())
            if (told.st_size, told.st_mtime_ns) != (self.size, self.changed_ns):
                raise ScenarioError("has changed since the evaluation was loaded; load it again", file=self.name)
            stream.seek(offset)
            self._last = (offset, self._fields(stream.readline(MAX_LINE + 1), line))
        return self._last[1][self._rows[at]], line

    def _opened(self) -> Any:
        try:
            return open(self.path, "rb")
        except OSError as error:
            reason = error.strerror or type(error).__name__
            what = f"cannot be read ({reason}); check the name and who may read it"
            raise ScenarioError(what, file=self.name) from None

    def _fields(self, data: bytes, line: int) -> list[CaseFields]:
        if len(data) > MAX_LINE:
            raise ScenarioError(f"a line of more than {MAX_LINE:,} bytes is no case", file=self.name, line=line)
        value = _value(data, self.name, line)
        if value is None:
            return []
        document = line_document(value, self.name, line)
        return case_rows(value, document)

    def __getstate__(self) -> tuple[Any, ...]:
        return (self.path, self.name, self.size, self.changed_ns, self._offsets, self._lines, self._rows)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.path, self.name, self.size, self.changed_ns, self._offsets, self._lines, self._rows = state
        self._last = (-1, [])


def case_rows(value: Any, document: Document) -> list[CaseFields]:
    """The cases that a value is: one, or one for each row. Raises ScenarioError."""
    try:
        form = _adapter().validate_python(value)
        return form.rows() if isinstance(form, TemplateFields) else [form]
    except ValidationError as error:
        raise scenario_error(error, value, file=document.file, document=document) from None


@cache
def _adapter() -> TypeAdapter[CaseFields | TemplateFields]:
    return TypeAdapter(CaseForm)


def _value(data: bytes, file: str, line: int) -> Any:
    try:
        text = data.decode("utf-8").removeprefix("\ufeff" if line == 1 else "").strip()
    except UnicodeDecodeError:
        raise ScenarioError("is not UTF-8; save the file as UTF-8", file=file, line=line) from None
    if not text:
        return None
    value = parse_json(text)
    if isinstance(value, Refusal):
        what = f"is no JSON object on one line: {value.message}"
        raise ScenarioError(what, file=file, line=line)
    if not isinstance(value, dict):
        raise ScenarioError('must be one case a line: {"ask": …, "expect": …}', file=file, line=line)
    if "\\ud" in text.lower():
        _refuse_half_pairs(value, file, line)
    return value


def _refuse_half_pairs(value: dict[str, Any], file: str, line: int) -> None:
    """An escape can hold half a surrogate pair, which no request can carry; in a document it is refused too."""
    for name, part in value.items():
        written = json.dumps(part, ensure_ascii=False)
        half = next((char for char in name + written if "\ud800" <= char <= "\udfff"), None)
        if half is not None:
            what = f"half a surrogate pair (\\u{ord(half):04x}) is no character; write the whole character"
            raise ScenarioError(what, file=file, line=line, field=clean_text(name))


def _is_header(data: bytes, file: str) -> bool:
    value = _value(data, file, 1)
    if value is None or "format" not in value:
        return False
    if value != {"format": CASES_FORMAT}:
        more = suggestion(str(value["format"]), (CASES_FORMAT,)) if len(value) == 1 else "; a case has no format"
        raise ScenarioError(f"is no header of a file of cases{more}", file=file, line=1, field="format")
    return True
