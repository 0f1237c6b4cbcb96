"""Markdown in which no foreign text can be anything but text, and pages that end before their limit in bytes."""

from __future__ import annotations

import re
from typing import Final

from harness.report.text import in_place, piece, visible

ID_CHARS: Final = 200
_BACKTICKS: Final = re.compile("`+")


def code(text: str) -> str:
    """Foreign text as a code span: no HTML, link, mention, table cell or emphasis can come of it."""
    shown = visible(text) or "(empty)"
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(shown)), default=0) + 1)
    # A span may not begin or end with a backtick, and loses one space on each side unless it is all spaces.
    padding = " " if shown.strip(" ") and (shown[0] in "` " or shown[-1] in "` ") else ""
    return in_place(f"{fence}{padding}{shown}{padding}{fence}")


def short(text: str, n_chars: int = ID_CHARS) -> str:
    """A code span of the beginning of a text."""
    return code(piece(text, n_chars))


def cell(text: str, n_chars: int = ID_CHARS) -> str:
    """A code span whose bars do not end the cell of a table."""
    return short(text, n_chars).replace("|", "\\|")


def n_bytes(text: str) -> int:
    """Length in UTF-8, which is what services count."""
    return len(text.encode("utf-8", "replace"))


class Page:
    """Pieces of a page that together stay below a limit in UTF-8 bytes."""

    def __init__(self, limit_bytes: int) -> None:
        self._pieces: list[str] = []
        self._limit = limit_bytes
        self.used = 0

    def add(self, text: str, *, keep: int = 0) -> bool:
        """Add a piece whole, or not at all where ``keep`` bytes would not be left behind it."""
        size = n_bytes(text)
        if self.used + size + keep >= self._limit:
            return False
        self._pieces.append(text)
        self.used += size
        return True

    def text(self) -> str:
        """The whole page."""
        return "".join(self._pieces)
