"""Names of tools: which ones providers refuse, and what takes the place of a name that cannot stay."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

LONGEST_NAME: Final = 64
"""Characters of a name that every provider takes, at most."""
_PORTABLE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]+")
_HASH_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class NameRule:
    """What a provider takes as the name of a tool, as a pattern of the whole name and in words."""

    provider: str
    pattern: re.Pattern[str]
    words: str


NAME_RULES: Final = (
    NameRule("anthropic", re.compile(r"[A-Za-z0-9_-]{1,128}"), "1 to 128 letters, digits, '_' and '-'"),
    NameRule("bedrock", re.compile(r"[A-Za-z0-9_-]{1,64}"), "1 to 64 letters, digits, '_' and '-'"),
    NameRule(
        "gemini",
        re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"),
        "1 to 64 letters, digits, '_', '.' and '-', the first a letter or '_'",
    ),
    NameRule("openai", _PORTABLE, "1 to 64 letters, digits, '_' and '-'"),
)
"""The rules of the providers, by their names. Compatible endpoints mostly follow the one of ``openai``."""


def refused_by(name: str) -> tuple[NameRule, ...]:
    """The rules that a name breaks."""
    return tuple(rule for rule in NAME_RULES if not rule.pattern.fullmatch(name))


def is_portable(name: str) -> bool:
    """Whether every endpoint that speaks the Chat dialect takes the name."""
    return _PORTABLE.fullmatch(name) is not None


def portable_name(name: str) -> str:
    """The name itself where it is portable, else one made of it, always the same.

    Runs of other characters become ``_``; what is longer than LONGEST_NAME is cut and ends in six digits of its
    hash; a name without any usable character is ``tool_`` and those digits.
    """
    if is_portable(name):
        return name
    made = _REFUSED.sub("_", name).strip("_-") or f"tool_{name_hash(name)}"
    if len(made) <= LONGEST_NAME:
        return made
    return with_suffix(made, name_hash(name))


def name_hash(name: str) -> str:
    """Six hexadecimal digits by which two names are told apart."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]


def with_suffix(name: str, suffix: str) -> str:
    """``name_suffix``, the name cut so that the whole stays portable."""
    return f"{name[: LONGEST_NAME - len(suffix) - 1]}_{suffix}"


def told_apart(wanted: Collection[tuple[str, str]]) -> dict[str, str]:
    """A portable name for each ``(original, name to be)``, by original; no two are equal.

    Where several originals come to one name, the one that is written so already keeps it; the others end in a hash
    of their original, so that the order of a list does not decide who is called what.
    """
    made = {original: portable_name(name) for original, name in wanted}
    by_name: dict[str, list[str]] = {}
    for original, name in made.items():
        by_name.setdefault(name, []).append(original)
    for name, originals in by_name.items():
        if len(originals) > 1:
            moved = [original for original in originals if original != name]
            made.update({original: with_suffix(name, name_hash(original)) for original in moved})
    return made
