"""JSON as text: the one canonical writer and the one strict reader of free JSON.

Canonical: keys sorted, no spaces, non-ASCII as it is, whole numbers exact. Text that cannot be
encoded (lone surrogates) becomes U+FFFD, here and at every other door (INVARIANTS 19).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from harness.errors import InvalidValueError
from harness.types.messages import JsonText

MAX_DEPTH = 200
"""Deeper nesting is refused: by us with a reason, before some reader downstream does without."""


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_IN_C = getattr(json.encoder, "c_make_encoder", None)
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a text is not the JSON we take; ``message`` is fit for a model to read."""

    message: str


def clean_text(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD; the same object where it has none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_LONGEST_DESCRIPTION = 2_000


def text_digest(text: str) -> str:
    """A short digest by which texts are told apart: ``blake2b:`` and 16 hexadecimal digits (64 bits, of UTF-8)."""
    return "blake2b:" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def described(error: BaseException) -> str:
    """``Class: text`` of an exception, or its class alone where it has no text or fails to give it.

    Cut behind 2,000 characters; lone surrogates become U+FFFD (CONFORMANCE 150).
    """
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # an exception whose own text fails still has a class
        return name
    return clean_text(f"{name}: {text[:_LONGEST_DESCRIPTION]}") if text else name


def _encoder_in_c() -> Callable[[Any], str]:
    """What ``_ENCODER.encode`` makes anew for each value, made once (cycles are refused before)."""
    if _IN_C is None:
        return _ENCODER.encode
    write = _IN_C(None, _ENCODER.default, json.encoder.encode_basestring, None, ":", ",", True, False, False)
    return lambda value: "".join(write(value, 0))


_written = _encoder_in_c()


def canonical_json(value: Any) -> JsonText:
    """The one canonical JSON text of a plain value (dict, list, tuple, str, int, float, bool, None).

    Raises InvalidValueError for NaN, infinities, cycles, non-text keys, other types, and nesting
    deeper than MAX_DEPTH.
    """
    try:
        text = _written(_checked(value, 0))
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(f"not lossless JSON: {error}") from None
    return JsonText(clean_text(text))


def canonical_parsed(value: Any) -> JsonText:
    """The canonical text of what :func:`parse_json` gave, which needs no second look at keys, types and depth."""
    return JsonText(clean_text(_written(value)))


def _checked(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise InvalidValueError(f"not lossless JSON: nested deeper than {MAX_DEPTH} levels, or a cycle")
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (dict, Mapping)):  # the plain type first: an abstract class takes its time
        for key in value:
            if not isinstance(key, str):
                raise InvalidValueError(f"not lossless JSON: key {key!r} is not text")
        return {key: _checked(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_checked(item, depth + 1) for item in value]
    raise InvalidValueError(f"not lossless JSON: a value of type {type(value).__name__}")


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _finite(word: str) -> float:
    number = float(word)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{word} is out of range")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"duplicate key {key!r}")
            seen.add(key)
    return result


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique)


def loads_strict(text: str | bytes) -> Any:
    """The value of a JSON text from the wire. Raises ValueError, also for NaN, infinities and duplicate keys, and
    RecursionError. Lone surrogates stay: a character may be split over two chunks.
    """
    return json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique)


def loads_finite(text: str | bytes) -> Any:
    """The value of a JSON text from the wire; as :func:`loads_strict`, but of a key given twice the last one counts."""
    return json.loads(text, parse_constant=_no_constant, parse_float=_finite)


def parse_json(text: str) -> Any | Refusal:
    """The value of a strict JSON text, or a Refusal (a value, so that no caller forgets it).

    Refused are NaN and infinities (also ``1e400``), duplicate keys, integers of more digits than
    Python converts, nesting deeper than MAX_DEPTH (CONFORMANCE 35, INVARIANTS 17).
    """
    if _deep(text):
        return Refusal(f"nested deeper than {MAX_DEPTH} levels")
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        return Refusal(str(error) or type(error).__name__)


def _deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    inside = escaped = False
    for char in text:
        if inside:
            inside = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            inside = True
        elif char in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif char in "]}":
            depth -= 1
    return False
