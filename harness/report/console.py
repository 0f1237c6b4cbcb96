"""The one place of the reports that prints: UTF-8 and LF whatever the locale, colour only for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TextIO

from harness.report.text import as_bytes

_COLOURS: Final = {
    "PASS": "32",
    "better": "32",
    "FAIL": "31",
    "ERROR": "31",
    "worse": "31",
    "missing": "31",
    "INVALID": "35",
    "INCONCLUSIVE": "33",
    "changed": "33",
    "new": "36",
}
_FIRST_WORD: Final = re.compile(rf"^( *)({'|'.join(_COLOURS)})(?= )", re.MULTILINE)

_MOVING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters but tabs and line feeds. JSON has those below a space escaped, and may hold the others raw."""


def _told(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x20 else f"\\u{code:04x}"


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Colour on a terminal, unless ``NO_COLOR`` is set to anything or ``TERM`` is dumb."""
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb" and stream.isatty()


def coloured(text: str) -> str:
    """The text with the outcome or change that begins a line in its colour."""
    return _FIRST_WORD.sub(lambda m: f"{m[1]}\x1b[{_COLOURS[m[2]]}m{m[2]}\x1b[0m", text)


def show(text: str, stream: TextIO, environ: Mapping[str, str]) -> None:
    """Print a rendered text and one line end.

    Reports make foreign text visible themselves. What is left is written out here, so that no message, whoever wrote
    it, colours, moves or clears a terminal. A JSON text stays the same value.
    """
    told = _MOVING.sub(_told, text)
    data = coloured(told) if wants_colour(stream, environ) else told
    stream.flush()
    binary = getattr(stream, "buffer", None)
    if binary is None:  # a stream of text only, such as io.StringIO, encodes nothing
        print(as_bytes(data).decode("utf-8"), file=stream)
        return
    binary.write(as_bytes(data) + b"\n")
    binary.flush()
