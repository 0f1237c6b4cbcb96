"""Request bodies as they are matched: by value, not by spelling, less what is declared volatile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.wire.differences import MISSING, Missing, Path, differences, parse_pattern, show_path, without

Key: TypeAlias = tuple[str, str, str]
"""Method, path and canonical body: what a recording is found by."""

_EXACT_FLOATS: Final = 2.0**53

__all__ = ["MISSING", "Body", "Key", "Missing", "Path", "differences", "parse_pattern", "read_body", "show_path"]


@dataclass(frozen=True, slots=True)
class Body:
    """A request body: its JSON value (None where it is no JSON), and its text for matching."""

    value: Any
    canonical: str


def read_body(data: bytes, ignore: tuple[str, ...] = ()) -> Body:
    """The body of a request as it is matched, without the paths in ``ignore``.

    Two JSON bodies are the same when their values are: key order and spacing do not count, 1 is
    1.0, and true is not 1. What is not strict JSON is matched byte by byte.
    """
    try:
        value = parse_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        value = Refusal("not UTF-8")
    if isinstance(value, Refusal):
        return Body(None, f"bytes:{data.hex()}")
    value = _by_value(value)
    for pattern in ignore:
        value = without(value, parse_pattern(pattern))
    return Body(value, canonical_json(value))


def _by_value(value: Any) -> Any:
    match value:
        case dict():
            return {key: _by_value(item) for key, item in value.items()}
        case list():
            return [_by_value(item) for item in value]
        case float() if value.is_integer() and abs(value) <= _EXACT_FLOATS:
            return int(value)
        case _:
            return value
