"""What messages have in common that differ in their numbers alone."""

from __future__ import annotations

import re
from typing import Final

_CHARS: Final = 200
_NUMBERS: Final = re.compile(r"\b[0-9a-f]*\d[0-9a-f]*\b|\d+")


def message_class(message: str) -> str:
    """The words of a message without its numbers: ids and times differ from trial to trial, the cause does not."""
    return _NUMBERS.sub("#", message[: 2 * _CHARS])[:_CHARS]
