"""Java values as BFCL reads them out of text. What cannot be read stays text; nothing is evaluated.

The benchmark's own ways are kept: texts in an array keep their quotes, texts and characters in an ``ArrayList`` lose
their first and last character whatever it is, and a ``char`` is always its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from harness.evaluate.bfcl_javascript import number_or_text

_WHOLE: Final = re.compile(r"-?\d+\n?")
_LONG: Final = re.compile(r"(-?\d+)[lL]\n?")
_EXPONENT: Final = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_DOUBLE: Final = re.compile(rf"{_EXPONENT}\n?")
_FLOAT: Final = re.compile(rf"({_EXPONENT})[fF]\n?")
_ARRAY: Final = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_LIST: Final = r"new\s+ArrayList<\w*>"
_AS_LIST: Final = re.compile(_LIST + r"\(Arrays\.asList\((.+?)\)\)")
_ADDING: Final = re.compile(_LIST + r"\(\)\s*\{\{\s*(.+?)\s*\}\}", re.DOTALL)
_EMPTY_LIST: Final = re.compile(_LIST + r"\(\)")
_ADDED: Final = re.compile(r"add\((.+?)\)")
_MAP: Final = r"new\s+HashMap<.*?>\s*\(\)"
_PUTTING: Final = re.compile(_MAP + r"\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}", re.DOTALL)
_EMPTY_MAP: Final = re.compile(_MAP)
_PUT: Final = re.compile(r'put\("(.*?)",\s*(.*?)\)')


def java_value(text: str, declared: str, items: str | None = None) -> Any:
    """The value of a text that stands for a value of the ``declared`` type, with ``items`` in it (lists)."""
    match declared:
        case "byte" | "short" | "integer":
            return number_or_text(text) if _WHOLE.fullmatch(text) else text
        case "long":
            found = _LONG.fullmatch(text)
            return number_or_text(found[1]) if found else text
        case "float":
            found = _FLOAT.fullmatch(text)
            return float(found[1]) if found else text
        case "double":
            return float(text) if _DOUBLE.fullmatch(text) else text
        case "boolean":
            return {"true": True, "false": False}.get(text, text)
        case "Array":
            return _array(text, items)
        case "ArrayList":
            return _list(text, items)
        case "HashMap":
            return _map(text)
        case _:
            return text


def _array(text: str, items: str | None) -> Any:
    found = _ARRAY.search(text)
    if not found:
        return text
    elements = (element.strip() for element in found[1].split(","))
    return [_untyped(element) if items is None else java_value(element, items) for element in elements if element]


def _list(text: str, items: str | None) -> Any:
    found = _AS_LIST.search(text)
    if found:
        return [_element(element.strip(), items) for element in found[1].split(",")]
    found = _ADDING.search(text)
    if found:
        return [_element(element.strip(), items) for element in _ADDED.findall(found[1])]
    return [] if _EMPTY_LIST.search(text) else text


def _element(text: str, items: str | None) -> Any:
    if items in ("char", "String"):
        return text[1:-1]
    return _untyped(text) if items is None else java_value(text, items)


def _map(text: str) -> Any:
    found = _PUTTING.search(text)
    if found:
        return dict(_members(found[1]))
    return {} if _EMPTY_MAP.search(text) else text


def _members(text: str) -> Iterator[tuple[str, Any]]:
    for key, value in _PUT.findall(text):
        yield key, _untyped(value.strip())


def _untyped(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if found := _LONG.fullmatch(text):
        return number_or_text(found[1])
    if found := _FLOAT.fullmatch(text):
        return float(found[1])
    return number_or_text(text)
