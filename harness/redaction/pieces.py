"""Known secrets that were cut over several pieces of a stream: taken out of all of them.

A line by itself shows nothing then; so pieces that belong together are looked at together, as far as they are still
in hand. What was handed over already cannot be taken back: there the text that may become a secret, from four
characters on, is masked in advance, and so is what follows of it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from harness.redaction.secrets import SECRET_MARK, streamed_texts
from harness.redaction.spellings import spellings, standing

_SHORTEST_BEGINNING: Final = 4
_TAIL_CHARS: Final = 4096
_MOST_STREAMS: Final = 64
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk of a stream as JSON text. ``is_open``: more of this stream may follow."""

    stream: str
    text: str
    is_open: bool


Masked: TypeAlias = Callable[[Sequence[Piece]], list[str]]


def piece_mask(secrets: Collection[str]) -> Masked | None:
    """What takes known secrets out of pieces, given in their order; None where there are no secrets.

    It gives the texts in the same order, each the same object where nothing was masked, and remembers the end of
    streams that go on.
    """
    known = tuple(sorted(filter(None, secrets), key=lambda one: (-len(one), one)))
    return _PieceMask(known) if known else None


class _PieceMask:
    def __init__(self, secrets: tuple[str, ...]) -> None:
        self._secrets = secrets
        self._tails: dict[tuple[str, str], str] = {}

    def __call__(self, pieces: Sequence[Piece]) -> list[str]:
        values = [_value(piece.text) for piece in pieces]
        places: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
        for at, (piece, value) in enumerate(zip(pieces, values, strict=True)):
            for place, text in streamed_texts(value, ""):
                places[piece.stream, place].append((at, text))
        still_open = {piece.stream: piece.is_open for piece in pieces}
        changed: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for (stream, place), found in places.items():
            texts = [text for _, text in found]
            clean = self._clean((stream, place), texts, is_open=still_open[stream])
            if clean != texts:
                for (at, _), text in zip(found, clean, strict=True):
                    changed[at][place].append(text)
        return [
            _with_texts(piece.text, value, changed[at]) if at in changed else piece.text
            for at, (piece, value) in enumerate(zip(pieces, values, strict=True))
        ]

    def _clean(self, key: tuple[str, str], texts: list[str], *, is_open: bool) -> list[str]:
        tail = self._tails.pop(key, "")
        joined = tail + "".join(texts)
        if is_open:
            self._tails[key] = joined[-_TAIL_CHARS:]
            while len(self._tails) > _MOST_STREAMS:
                del self._tails[next(iter(self._tails))]
        spans = list(self._spans(joined, is_open=is_open))
        return _cut(texts, len(tail), _merged(spans)) if spans else texts

    def _spans(self, joined: str, *, is_open: bool) -> Iterator[Span]:
        for secret in self._secrets:
            for _, spelling in standing(joined, secret):
                start = joined.find(spelling)
                while start >= 0:
                    yield start, start + len(spelling)
                    start = joined.find(spelling, start + len(spelling))
            for _, spelling in spellings(secret) if is_open else ():
                for length in range(min(len(spelling) - 1, len(joined)), _SHORTEST_BEGINNING - 1, -1):
                    if joined.endswith(spelling[:length]):
                        yield len(joined) - length, len(joined)
                        break


def _merged(spans: list[Span]) -> list[Span]:
    whole: list[Span] = []
    for start, end in sorted(spans):
        if whole and start < whole[-1][1]:
            whole[-1] = whole[-1][0], max(end, whole[-1][1])
        else:
            whole.append((start, end))
    return whole


def _cut(texts: list[str], offset: int, spans: list[Span]) -> list[str]:
    """The texts without the spans; the mark stands where one begins. ``offset`` is where the first text begins."""
    clean = []
    for text in texts:
        kept, at = "", 0
        for start, end in spans:
            first, last = max(start - offset, at), min(end - offset, len(text))
            if first < last:
                kept += text[at:first] + (SECRET_MARK if start >= offset else "")
                at = last
        clean.append(kept + text[at:])
        offset += len(text)
    return clean


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text  # a damaged chunk is a text like any other


def _with_texts(original: str, value: Any, texts: dict[str, list[str]]) -> str:
    clean = _replaced(value, "", {place: iter(many) for place, many in texts.items()})
    if isinstance(value, str) and original == value:
        return str(clean)
    text = json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
    return original if clean == value else text


def _replaced(value: Any, place: str, texts: dict[str, Iterator[str]]) -> Any:
    if isinstance(value, str):
        return next(texts[place]) if place in texts else value
    if isinstance(value, dict):
        return {key: _replaced(item, f"{place}.{key}", texts) for key, item in value.items()}
    if isinstance(value, list):
        return [
            _replaced(item, f"{place}[{item.get('index', at) if isinstance(item, dict) else at}]", texts)
            for at, item in enumerate(value)
        ]
    return value
