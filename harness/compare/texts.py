"""Short texts of what differs: the line and the place where two texts part, a call as one writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.compare.plain import ABSENT, parsed
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText

_LONGEST: Final = 100
_BEFORE: Final = 30


@dataclass(frozen=True, slots=True)
class Texts:
    """Both sides in short; ``place`` says where inside (``line 4``), empty for a single line."""

    base: str | None
    candidate: str | None
    place: str = ""


def text_difference(base: str, candidate: str) -> Texts:
    """The first line that differs (lines end at LF only), cut around the first character that does."""
    lines, others = base.split("\n"), candidate.split("\n")
    n = next((i for i, (a, b) in enumerate(zip(lines, others, strict=False)) if a != b), min(len(lines), len(others)))
    one, other = _line(lines, n), _line(others, n)
    place = f"line {n + 1}" if len(lines) > 1 or len(others) > 1 else ""
    return Texts(*_windows(one, other), place)


def _line(lines: list[str], n: int) -> str | None:
    return lines[n] if n < len(lines) else None


def _windows(base: str | None, candidate: str | None) -> tuple[str | None, str | None]:
    if base is None or candidate is None:
        return _cut(base, 0), _cut(candidate, 0)
    if max(len(base), len(candidate)) <= _LONGEST:
        return base, candidate
    shorter = min(len(base), len(candidate))
    differs_at = next((i for i in range(shorter) if base[i] != candidate[i]), shorter)
    begin = max(0, differs_at - _BEFORE)
    return _cut(base, begin), _cut(candidate, begin)


def _cut(text: str | None, begin: int) -> str | None:
    if text is None:
        return None
    piece = text[begin : begin + _LONGEST]
    return ("…" if begin else "") + piece + ("…" if begin + _LONGEST < len(text) else "")


def text_or_nothing(base: str | None, candidate: str | None) -> Texts:
    """A text beside nothing: its first line, and of an empty text the empty text."""
    return Texts(None if base is None else in_short(base), None if candidate is None else in_short(candidate))


def value_difference(base: Any, candidate: Any) -> Texts:
    """Both values as JSON in short; ABSENT is None."""
    if base is ABSENT or candidate is ABSENT:
        return Texts(value_text(base), value_text(candidate))
    texts = canonical_json(base), canonical_json(candidate)
    if texts[0] == texts[1]:  # half characters, which no text that is written out can hold
        texts = JsonText(json.dumps(base, sort_keys=True)), JsonText(json.dumps(candidate, sort_keys=True))
    return text_difference(*texts)


def value_text(value: Any) -> str | None:
    """A value as JSON, cut; None for ABSENT."""
    return None if value is ABSENT else _cut(canonical_json(value), 0)


def call_text(call: Mapping[str, Any]) -> str:
    """``refund(7)``, ``search(limit=3, query="x")``: one argument stands for itself."""
    arguments = parsed(call["arguments"])
    if not isinstance(arguments, dict):
        inner = str(call["arguments"])
    elif len(arguments) == 1:
        inner = canonical_json(next(iter(arguments.values())))
    else:
        inner = ", ".join(f"{key}={canonical_json(arguments[key])}" for key in sorted(arguments))
    return f"{call['name']}({_cut(inner, 0)})"


def in_short(text: str) -> str:
    """The first line of a text, cut."""
    line, *more = text.split("\n", 1)
    short = _cut(line, 0) or ""
    return f"{short}…" if more and not short.endswith("…") else short


def end_text(fields: Mapping[str, Any]) -> str:
    """Status and reason of an end: ``limit_reached (limit steps 3)``."""
    reason = fields["reason"]
    words = [reason["kind"], *(str(value) for name, value in reason.items() if name != "kind" and value is not None)]
    return f"{fields['status']} ({' '.join(words)})"
