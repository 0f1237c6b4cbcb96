"""Request bodies as they are matched: by value, not by spelling, less what is declared volatile."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from jiter import from_json

from harness.cassettes.call_ids import with_ids_renamed
from harness.types.jsontext import Refusal, parse_json

Path: TypeAlias = tuple[str | int, ...]
Key: TypeAlias = tuple[str, str, str]
"""Method, path and canonical body: what a recording is found by."""

_EXACT_FLOATS: Final = 2.0**53


class Missing:
    """Stands for a value that is not there."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = Missing()


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
        value = _without(value, parse_pattern(pattern))
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


# ---------------------------------------------------------------- paths


def parse_pattern(pattern: str) -> tuple[str, ...]:
    """``messages[*].name`` -> ("messages", "*", "name")."""
    return tuple(part for part in re.split(r"[.\[\]]", pattern) if part)


def show_path(path: Path) -> str:
    """("messages", 0, "content") -> ``messages[0].content``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _without(value: Any, pattern: tuple[str, ...]) -> Any:
    head, *rest = pattern
    if isinstance(value, dict):
        return {
            key: _without(item, tuple(rest)) if key == head or head == "*" else item
            for key, item in value.items()
            if rest or head not in (key, "*")
        }
    if isinstance(value, list):
        return [
            _without(item, tuple(rest)) if str(at) == head or head == "*" else item
            for at, item in enumerate(value)
            if rest or head not in (str(at), "*")
        ]
    return value


def differences(recorded: Any, sent: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Every place where two JSON values differ: path, recorded and sent (MISSING where nothing is)."""
    if isinstance(recorded, dict) and isinstance(sent, dict):
        for key in sorted({*recorded, *sent}):
            yield from differences(recorded.get(key, MISSING), sent.get(key, MISSING), (*path, key))
    elif isinstance(recorded, list) and isinstance(sent, list):
        for at in range(max(len(recorded), len(sent))):
            left = recorded[at] if at < len(recorded) else MISSING
            right = sent[at] if at < len(sent) else MISSING
            yield from differences(left, right, (*path, at))
    elif type(recorded) is not type(sent) or recorded != sent:
        yield path, recorded, sent
