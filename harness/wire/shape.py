"""The door of the wire: bodies to plain values, cleaned text, and one way to say that a shape is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from harness.errors import InvalidValueError, ModelError
from harness.types.codes import Code
from harness.types.jsontext import MAX_DEPTH, canonical_json, clean_text, loads_finite
from harness.types.messages import JsonText


def bad_shape(where: str, what: str) -> NoReturn:
    """Raise the one error for a value of the wrong shape: a ModelError INVALID_REQUEST."""
    raise ModelError(f"{where}: {what}", code=Code.INVALID_REQUEST)


def read_object(body: bytes | str | Mapping[str, Any], where: str) -> dict[str, Any]:
    """A JSON object with every lone surrogate replaced. Raises ModelError INVALID_REQUEST, also for NaN and numbers out
    of range, which are no JSON.
    """
    if isinstance(body, Mapping):
        return {clean_text(key): cleaned(item, where) for key, item in body.items()}
    try:
        value = loads_finite(body)
    except (ValueError, RecursionError) as error:
        bad_shape(where, f"is not JSON ({type(error).__name__}: {error})")
    if not isinstance(value, dict):
        bad_shape(where, f"is no JSON object but {kind_of(value)}")
    return cleaned(value, where) if _may_hold_surrogates(body) else value


def _may_hold_surrogates(body: bytes | str) -> bool:
    if isinstance(body, str):
        return "\\ud" in body or "\\uD" in body or clean_text(body) is not body
    return b"\\ud" in body or b"\\uD" in body or b"\xed" in body


def cleaned(value: Any, where: str, depth: int = 0) -> Any:
    """A copy of a plain value with clean text all through. Raises ModelError for absurd nesting."""
    if isinstance(value, str):
        return clean_text(value)
    if depth > MAX_DEPTH:
        bad_shape(where, f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return {clean_text(str(key)): cleaned(item, where, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item, where, depth + 1) for item in value]
    return value


def json_text(value: Any, where: str) -> JsonText:
    """Canonical JSON text of a part of a body. Raises ModelError INVALID_REQUEST (NaN, too deep)."""
    try:
        return canonical_json(value)
    except InvalidValueError as error:
        bad_shape(where, str(error))


def kind_of(value: Any) -> str:
    """What JSON calls a value: for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = ((str, "a string"), (int | float, "a number"), (Mapping, "an object"), (list | tuple, "an array"))
    return next((name for kind, name in names if isinstance(value, kind)), type(value).__name__)
