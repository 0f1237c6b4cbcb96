"""The core schema of YAML 1.2 (section 10.3): what a plain scalar means.

``on``, ``no``, ``12:30``, ``2024-01-01`` and ``0b1`` are text; ``0o17`` and ``0x1f`` are numbers.
"""

from __future__ import annotations

import re
from typing import Final

_NULL: Final = frozenset(["", "~", "null", "Null", "NULL"])
_TRUE: Final = frozenset(["true", "True", "TRUE"])
_FALSE: Final = frozenset(["false", "False", "FALSE"])
_INT: Final = re.compile(r"[-+]?[0-9]+")
_OCTAL: Final = re.compile(r"0o[0-7]+")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MAX_DIGITS: Final = 4_300
_NUMERIC: Final = frozenset("0123456789+-.")

Scalar = str | int | float | bool | None


def plain_scalar(text: str) -> Scalar:
    """The value of an unquoted scalar.

    Raises ValueError for numbers that JSON cannot keep: infinities, NaN, floats out of range, and
    integers of more than 4,300 digits.
    """
    if text[:1] in _NUMERIC and text:
        return _number_or_text(text)
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    return False if text in _FALSE else text


def _number_or_text(text: str) -> Scalar:
    if _INT.fullmatch(text):
        if len(text) > _MAX_DIGITS:
            raise ValueError(f"a whole number of more than {_MAX_DIGITS} digits; write it in quotes")
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEX.fullmatch(text):
        return int(text[2:], 16)
    if _SPECIAL.fullmatch(text):
        raise ValueError(f"{text} is not JSON; write it in quotes or leave it out")
    if _FLOAT.fullmatch(text):
        return _finite(text)
    return text


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is out of the range of a float; write it in quotes")
    return number
