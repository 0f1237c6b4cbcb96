"""Data inside a page: strict JSON in which nothing can end the element around it, and nothing is lost.

No text of a run is ever markup: it stands in ``<script type="application/json">`` alone, and there ``<``, ``>``, ``&``
and all that is not seen are escaped (RELIABILITY P6).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from harness.errors import InvalidValueError
from harness.report.text import UNSEEN
from harness.types.jsontext import clean_text

EXACT: Final = 2**53 - 1
"""The largest whole number that JavaScript tells from the next one; larger ones are embedded as text."""
_MARKUP: Final = (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"))
_UNSEEN: Final = re.compile(f"[{UNSEEN}]")
_NOT_PLAIN: Final = re.compile("[^ -~\u00ae-\u034e\u0350-\u0600\u3000-\u3163\u3165-\ud7ff\U0001f000-\U0001fa00]+")
"""Where something unseen may be: not in ASCII, Latin, CJK and emoji. This is looked for much faster than that."""
_NAME: Final = re.compile(r"[a-z]+(?:-[0-9]+)?")


def json_block(name: str, value: Any) -> bytes:
    """``<script type="application/json" id=name>`` with the value; ``name`` is ours (``overview``, ``detail-17``).

    Raises InvalidValueError for NaN, infinities and keys that are no text.
    """
    if not _NAME.fullmatch(name):
        raise InvalidValueError(f"{name!r} is no name of a block: lower-case letters, then perhaps a dash and a number")
    return f'<script type="application/json" id="{name}">'.encode() + json_bytes(value) + b"</script>\n"


def json_bytes(value: Any) -> bytes:
    """UTF-8 of the JSON text: lone surrogates are U+FFFD, whole numbers beyond 2^53 - 1 are text, both exact there."""
    try:
        text = json.dumps(_exact(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise InvalidValueError(f"a report cannot hold this value: {error}") from None
    for char, escape in _MARKUP:
        text = text.replace(char, escape)
    return _NOT_PLAIN.sub(_escape_unseen, clean_text(text)).encode()


def _escape_unseen(match: re.Match[str]) -> str:
    return _UNSEEN.sub(_escape, match.group())


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _exact(value: Any) -> Any:
    if isinstance(value, str) or value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if -EXACT <= value <= EXACT else str(value)
    if isinstance(value, Mapping):
        return {_key(key): _exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(item) for item in value]
    raise InvalidValueError(f"a report cannot hold a {type(value).__name__}")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise InvalidValueError(f"{key!r} is no name of a field: keys in a report are text")
    return key
