"""How much of a run goes into the page: long texts are cut, and it is told how many characters are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from harness.types.messages import Content, ImagePart, TextPart

Plain: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Room:
    """At most so many characters of each text, and so many pairs of blocks around the first difference."""

    text_chars: int
    n_pairs: int


ROOMS: Final = (Room(20_000, 4_000), Room(2_000, 1_000), Room(400, 250), Room(120, 60))
"""From a run in full to one that had to be cut; the first that fits is taken."""


@dataclass(slots=True)
class Cutter:
    """Cuts the texts of one detail and counts the characters that were left out.

    ``starts`` has those texts of which not the beginning is kept, and where the kept part begins.
    """

    room: Room
    starts: Mapping[str, int] = field(default_factory=dict)
    n_cut: int = field(default=0)
    _begun: dict[str, tuple[int, int]] = field(default_factory=dict)
    _cut: dict[str, int] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """The part that is kept of a text that is too long, else the text."""
        if len(text) <= self.room.text_chars:
            return text
        start = self.starts.get(text, 0)
        kept = text[start : start + self.room.text_chars]
        self.n_cut += len(text) - len(kept)
        self._cut[text] = len(text) - len(kept)
        if start:
            self._begun[kept] = (start, text.count("\n", 0, start))
        return kept

    def before(self, kept: str) -> int:
        """How many characters stood before a text that :meth:`text` gave."""
        return self._begun.get(kept, (0, 0))[0]

    def lines_before(self, kept: str) -> int:
        """How many lines stood before a text that :meth:`text` gave."""
        return self._begun.get(kept, (0, 0))[1]

    @property
    def n_left_out(self) -> int:
        """Characters left out of the detail: of a text that stands in several places once, as runs hold it."""
        return sum(self._cut.values())

    def some(self, text: str | None) -> str | None:
        """As :meth:`text`; None for None."""
        return None if text is None else self.text(text)

    def content(self, content: Content | None) -> str | list[Plain] | None:
        """Text, or parts: ``{type, text}``, ``{type, digest, mediaType?}``, ``{type, json}``."""
        if content is None or isinstance(content, str):
            return self.some(content)
        return [self._part(part) for part in content]

    def _part(self, part: Any) -> Plain:
        match part:
            case TextPart(text=text):
                return {"type": "text", "text": self.text(text)}
            case ImagePart(digest=digest, media_type=media_type):
                return slim({"type": "image", "digest": self.text(digest), "mediaType": self.some(media_type)})
            case _:
                return {"type": "other", "json": self.text(part.json)}

    def counted(self, made: Plain, before: int) -> Plain:
        """The object, with ``cut`` for what was left out since ``before`` was read from ``n_cut``.

        ``cutBefore`` says how much of that stood before the parts of its texts that are kept, ``linesBefore`` how many
        lines before the part of its text.
        """
        if self.n_cut == before:
            return made
        n_before = sum(self.before(text) for text in made.values() if isinstance(text, str))
        told = {"cutBefore": n_before, "linesBefore": self._lines_before_first(made)}
        return {**made, "cut": self.n_cut - before, **{key: n for key, n in told.items() if n}}

    def _lines_before_first(self, made: Plain) -> int:
        """Lines before the text whose lines are numbered: that of a message, or the description of a tool."""
        text = made.get("content", made.get("description"))
        return self.lines_before(text) if isinstance(text, str) else 0


def slim(values: Plain) -> Plain:
    """Without what says nothing: None, False, empty lists. Empty text stays: it is not the same as none."""
    return {key: value for key, value in values.items() if value is not None and value is not False and value != []}


def windows(n: int, middles: Sequence[int], most: int) -> list[int]:
    """At most so many of ``n`` places in order: around each of the middles, which share the room evenly."""
    apart = sorted(set(middles))
    if n <= most or len(apart) < 2 or apart[-1] - apart[0] < most // 3:
        return list(window(n, apart[0] if apart else None, most))
    share = most // len(apart)
    return sorted({place for middle in apart for place in window(n, middle, share)})


def window(n: int, middle: int | None, most: int) -> range:
    """At most so many of ``n`` places, with ``middle`` (None: the beginning) near their middle."""
    if n <= most:
        return range(n)
    low = min(max(0, (middle or 0) - most // 3), n - most)
    return range(low, low + most)
