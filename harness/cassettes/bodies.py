"""Request bodies as they are matched: by value, not by spelling, less what is declared volatile."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from jiter import from_json

from harness.cassettes.call_ids import with_ids_renamed
from harness.types.jsontext import Refusal, parse_json
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
    1.0, and true is not 1; of the ids of calls counts which call they name. What is not strict JSON is matched
    byte by byte.
    """
    value = _parsed(data)
    if isinstance(value, Refusal):
        return Body(None, f"bytes:{data.hex()}")
    if _FRACTION.search(data):
        value = _by_value(value)
    for pattern in ignore:
        value = without(value, parse_pattern(pattern))
    try:
        return Body(value, _written(with_ids_renamed(value)))
    except (ValueError, RecursionError):  # a number beyond all floats, which the quick reader lets pass
        return Body(None, f"bytes:{data.hex()}")


_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
"""ASCII, so that two texts that cannot be encoded do not become one."""
_IN_C: Final = getattr(json.encoder, "c_make_encoder", None)


def _encoder_in_c() -> Callable[[Any], str]:
    """What ``_ENCODER.encode`` makes anew for each value, made once."""
    if _IN_C is None:
        return _ENCODER.encode
    write = _IN_C(None, _ENCODER.default, json.encoder.encode_basestring_ascii, None, ":", ",", True, False, False)
    return lambda value: "".join(write(value, 0))


_written: Final = _encoder_in_c()
_FRACTION: Final = re.compile(rb"\d[.eE][\d+-]")
"""Finds a number with a fraction or an exponent; it may find one inside a text too, which costs time only."""


def _parsed(data: bytes) -> Any | Refusal:
    try:
        return from_json(data, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="all")
    except ValueError:  # what the quick reader refuses, the strict one may take: half of a surrogate pair
        pass
    try:
        return parse_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        return Refusal("not UTF-8")


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
