"""A difference in words: who is behind it, the field, and both sides in short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.compare.plain import ABSENT, dotted, first_difference, parsed
from harness.compare.texts import Texts, text_difference, text_or_nothing, value_difference
from harness.types.codes import DivergenceKind


@dataclass(frozen=True, slots=True)
class Described:
    """Kind, path in the model's terms, short texts (None: nothing there)."""

    kind: DivergenceKind
    path: str
    base: str | None
    candidate: str | None


def of_texts(kind: DivergenceKind, name: str, texts: Texts) -> Described:
    """Two texts under one name, with the line where they part."""
    return Described(kind, f"{name.strip()} {texts.place}".strip(), texts.base, texts.candidate)


def of_values(kind: DivergenceKind, name: str, base: Any, candidate: Any) -> Described | None:
    """The first difference of two values, as ``name.path`` (or ``name path``); None where they are the same."""
    found = first_difference(base, candidate)
    if found is None:
        return None
    inner = dotted(found.path)
    path = name + (f".{inner}" if inner and not inner.startswith("[") and not name.endswith(" ") else inner)
    return of_texts(kind, path, value_difference(found.base, found.candidate))


def of_content(kind: DivergenceKind, name: str, base: Any, candidate: Any) -> Described:
    """Two contents (text, parts, or None): JSON by its path, text by its line, parts by their number."""
    if isinstance(base, str) and isinstance(candidate, str):
        left, right = parsed(base), parsed(candidate)
        if isinstance(left, dict | list) and type(left) is type(right):
            described = of_values(kind, name, left, right)
            if described:
                return described
        return of_texts(kind, name, text_difference(base, candidate))
    if isinstance(base, list) and isinstance(candidate, list):
        return of_values(kind, f"{name} parts", base, candidate) or Described(kind, name, None, None)
    if None in (base, candidate) and isinstance(base or candidate or "", str):
        return of_texts(kind, name, text_or_nothing(base, candidate))
    return of_texts(kind, name, value_difference(_there(base), _there(candidate)))


def _there(value: Any) -> Any:
    return ABSENT if value is None else value
