"""JavaScript values as BFCL reads them out of text. What cannot be read stays text; nothing is evaluated.

The benchmark reads with patterns, not with a grammar. What follows from that is kept: elements are split at every
comma, an object ends at its first ``}``, and what stands behind the end is not looked at.
"""

from __future__ import annotations

import re
from typing import Any, Final

_WHOLE: Final = re.compile(r"-?\d+\n?")
_DECIMAL: Final = re.compile(r"-?\d+(?:\.\d+)?\n?")
_ROW: Final = r"\[.*?\]\s*"
_TABLE: Final = re.compile(rf"\[\s*{_ROW}(?:,\s*{_ROW})*\]|new\s+Array\(\s*{_ROW}(?:,\s*{_ROW})*\)")
_ELEMENTS: Final = re.compile(r"\[(?P<literal>.*?)\]|new\s+Array\((?P<made>.*?)\)")
_CELLS: Final = re.compile(r"\[(.*?)\]")
_MEMBERS: Final = re.compile(r"\{(.*?)\}")
_MEMBER: Final = re.compile(r"(?P<key>[^:]+):\s*(?P<value>.*?)(?:,\s*(?=[^,]+:)|$)")
_QUOTES: Final = "'\""


def javascript_value(text: str, declared: str, items: str | None = None) -> Any:
    """The value of a text that stands for a value of the ``declared`` type, with ``items`` in it (arrays)."""
    match declared:
        case "String":
            return text[1:-1] if _quoted(text) else text
        case "integer":
            return _whole(text) if _WHOLE.fullmatch(text) else text
        case "Bigint":
            digits = text.removesuffix("\n")
            return _whole(digits[:-1]) if digits.endswith("n") and _WHOLE.fullmatch(digits[:-1]) else text
        case "float":
            return float(text) if _DECIMAL.fullmatch(text) else text
        case "Boolean":
            return {"true": True, "false": False}.get(text, text)
        case "array":
            return _array(text.strip(), items)
        case "dict":
            return _object(text.strip())
        case _:
            return text


def _quoted(text: str) -> bool:
    return text[:1] in ("'", '"') and text[-1:] == text[:1]


def _whole(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:  # more digits than Python reads
        return text


def _array(code: str, items: str | None) -> Any:
    table = _TABLE.match(code)
    if table:
        return [_cells(row, first=i == 0) for i, row in enumerate(_CELLS.findall(table.group()))]
    found = _ELEMENTS.match(code)
    if not found:
        return code
    inside = (found["literal"] if found["literal"] is not None else found["made"]).strip()
    elements = [element.strip() for element in inside.split(",")] if inside else []
    if items is None:
        return [_untyped(element) for element in elements]
    # Quotes around an element make its own elements, if it has any, texts.
    return [javascript_value(element, items, "String" if element[:1] in ("'", '"') else None) for element in elements]


def _cells(row: str, *, first: bool) -> list[Any]:
    row = row.strip()
    cells = row.removeprefix("[") if first else row
    return [_untyped(cell) for cell in cells.split(",")]


def _object(code: str) -> Any:
    if code == "{}":
        return {}
    found = _MEMBERS.match(code)
    if not found:
        return code
    members = _MEMBER.finditer(found.group(1))
    return {member["key"].strip().strip(_QUOTES): _member(member["value"].strip()) for member in members}


def _member(value: str) -> Any:
    if value.startswith("[") and value.endswith("]"):
        return _array(value, None)
    if value.startswith("{") and value.endswith("}"):
        return _object(value)
    return _untyped(value.strip(_QUOTES))


def _untyped(text: str) -> Any:
    """A value by its looks: true, false, quoted text, a number, else the text itself."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if _quoted(text) else number_or_text(text)


def number_or_text(text: str) -> int | float | str:
    """The number that Python reads in a text, whole if it can be, else the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
