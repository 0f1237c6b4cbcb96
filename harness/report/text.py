"""Foreign text made safe to show: one line, nothing invisible, cut to a length, UTF-8 whatever it is."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from harness.types.events import TornTail

UNSEEN: Final = (
    "\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(chr(plane + low) for plane in range(0x10000, 0x110000, 0x10000) for low in (0xFFFE, 0xFFFF))
)
"""Characters that nobody sees or that turn what is around them, as the inside of a class of a regular expression.

All that Unicode lets a font ignore, but for the joiner and the two selectors that emoji are made with; and what is no
character. The HTML report has the same list (``app/text.js``).
"""
_UNSEEN: Final = re.compile(f"[{UNSEEN}]")
_AMBIGUOUS: Final = re.compile(rf"\\(?=[nrtxuU\\{UNSEEN}])|[{UNSEEN}]")
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
PIECE_CHARS: Final = 120


class Verbosity(Enum):
    """How much of a run is shown: its shape, or all of it."""

    NORMAL = "normal"
    VERBOSE = "verbose"


def visible(text: str) -> str:
    """One line: control characters, line ends, direction marks, lone surrogates as escapes.

    What emoji are made with stays: the zero-width joiner, the selectors U+FE0E and U+FE0F. Version of Unicode does not
    matter.
    """
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_escaped, text)


def distinct(text: str) -> str:
    """As :func:`visible`, for what goes by this text: no two texts come out alike.

    A backslash of the text is doubled where it would read as the begin of an escape.
    """
    return text if text.isascii() and text.isprintable() and "\\" not in text else _AMBIGUOUS.sub(_told_apart, text)


def _told_apart(match: re.Match[str]) -> str:
    return "\\\\" if match.group() == "\\" else _escaped(match)


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def piece(text: str, n_chars: int = PIECE_CHARS) -> str:
    """The beginning of a text on one line, ``…`` where it was cut."""
    shown = visible(text[: n_chars + 1])
    return shown if len(text) <= n_chars and len(shown) <= n_chars else shown[: n_chars - 1] + "…"


def block(text: str) -> list[str]:
    """A whole text, line by line (at LF), each made visible."""
    return [visible(line) for line in text.split("\n")]


def counted(n: int, noun: str) -> str:
    """``1 step``, ``2 steps``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def torn_text(torn: TornTail) -> str:
    """``line 7 is unfinished, 12 bytes from byte 80 on are no event``."""
    return f"line {torn.line} is unfinished, {counted(torn.n_bytes, 'byte')} from byte {torn.offset} on are no event"


def as_bytes(text: str) -> bytes:
    """UTF-8 with LF line ends, whatever the locale; lone surrogates become U+FFFD."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return lines.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")
