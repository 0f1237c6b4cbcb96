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


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Colour on a terminal, unless ``NO_COLOR`` is set to anything or ``TERM`` is dumb."""
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb" and stream.isatty()


def coloured(text: str) -> str:
    """The text with the outcome or change that begins a line in its colour."""
    return _FIRST_WORD.sub(lambda m: f"{m[1]}\x1b[{_COLOURS[m[2]]}m{m[2]}\x1b[0m", text)


def show(text: str, stream: TextIO, environ: Mapping[str, str]) -> None:
    """Print a rendered text and one line end."""
    data = coloured(text) if wants_colour(stream, environ) else text
    stream.flush()
    binary = getattr(stream, "buffer", None)
    if binary is None:  # a stream of text only, such as io.StringIO, encodes nothing
        print(as_bytes(data).decode("utf-8"), file=stream)
        return
    binary.write(as_bytes(data) + b"\n")
    binary.flush()
