"""What is wrong with a document, in words: file, line, field, what, and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from harness.documents import Document, shortened
from harness.errors import ScenarioError

_MOST: Final = 10
_SHORT: Final = 40
_TYPES: Final = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping of fields",
}


def scenario_error(
    error: ValidationError, value: Any, *, file: str = "", document: Document | None = None
) -> ScenarioError:
    """All complaints about a value (at most ten) as one error, placed at the first of them."""
    found = []
    for detail in error.errors(include_url=False):
        path = _place(detail, value)
        line = document.line_of(path) if document else None
        found.append(ScenarioError(shortened(_words(detail)), file=file, line=line, field=shortened(dotted(path))))
    found.sort(key=lambda one: one.line or 0)
    first, rest = found[0], found[1:]
    lines = [first.message, *map(str, rest[: _MOST - 1])]
    if len(rest) >= _MOST:
        lines.append(f"and {len(rest) - _MOST + 1} more")
    return ScenarioError("\n".join(lines), file=file, line=first.line, field=first.field)


def first_complaint(error: ValidationError, value: Any) -> tuple[tuple[str | int, ...], str]:
    """The place and the words of the first complaint about a value."""
    detail = error.errors(include_url=False)[0]
    return _place(detail, value), _words(detail)


def _place(detail: Mapping[str, Any], value: Any) -> tuple[str | int, ...]:
    path = _real_path(detail["loc"], value)
    field = detail.get("ctx", {}).get("field")
    if field is None or detail["type"] != "complaint":
        return path
    return (*path, *((field,) if isinstance(field, str) else field))


def _real_path(location: tuple[str | int, ...], value: Any) -> tuple[str | int, ...]:
    """The part of a location that exists in the document: unions put their tags in between."""
    path: list[str | int] = []
    for position, step in enumerate(location):
        if isinstance(value, dict) and step in value:
            value = value[str(step)]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        elif position != len(location) - 1 or not _is_field(step):
            continue
        path.append(step)
    return tuple(path)


def _is_field(step: str | int) -> bool:
    return isinstance(step, str) and step[:1] not in ("<", "[") and "[" not in step


def dotted(path: tuple[str | int, ...]) -> str:
    """``script[1].call.calculator``: indices count from 0."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else (f".{step}" if text else step)
    return text


def _words(detail: Mapping[str, Any]) -> str:
    kind, given, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind in _TYPES:
        quotes = "; write it in quotes" if kind == "string_type" and isinstance(given, int | float) else ""
        return f"{_TYPES[kind]}, is {_shown(given)}{quotes}"
    if kind == "missing":
        return "is required and missing"
    if kind == "shape":
        return f"{detail['msg']}, is {_shown(given)}"
    if kind == "literal_error":
        return f"must be {context['expected']}, is {_shown(given)}"
    if kind == "greater_than_equal":
        return f"must be at least {context['ge']}, is {_shown(given)}"
    if kind in ("too_short", "string_too_short"):
        return "must not be empty" if context["min_length"] == 1 else f"must have {context['min_length']} entries"
    if kind == "too_long":
        return f"must have {context['max_length']} entries at most, has {context['actual_length']}"
    return str(detail["msg"])


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHORT else text[:_SHORT] + "…"
