"""JSON values compared by value: every place where two differ, and patterns of places that do not count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]


_PATTERN: Final = re.compile(r"[^.\[\]]+(?:\.[^.\[\]]+|\[(?:\*|\d+)\])*")


class Missing:
    """Stands for a value that is not there."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = Missing()


def parse_pattern(pattern: str) -> tuple[str, ...]:
    """``messages[*].name`` -> ("messages", "*", "name")."""
    return tuple(part for part in re.split(r"[.\[\]]", pattern) if part)


def is_pattern(text: str) -> bool:
    """True for what names places as ``messages[*].name`` does: keys behind points, items in brackets."""
    return _PATTERN.fullmatch(text) is not None


def show_path(path: Path) -> str:
    """("messages", 0, "content") -> ``messages[0].content``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def without(value: Any, pattern: tuple[str, ...]) -> Any:
    """The value less the places that a pattern names."""
    head, *rest = pattern
    if isinstance(value, dict):
        return {
            key: without(item, tuple(rest)) if key == head or head == "*" else item
            for key, item in value.items()
            if rest or head not in (key, "*")
        }
    if isinstance(value, list):
        return [
            without(item, tuple(rest)) if str(at) == head or head == "*" else item
            for at, item in enumerate(value)
            if rest or head not in (str(at), "*")
        ]
    return value


def differences(recorded: Any, sent: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Every place where two JSON values differ: path, recorded and sent (MISSING where nothing is)."""
    if isinstance(recorded, dict) and isinstance(sent, dict):
        for key in sorted({*recorded, *sent}):
            yield from differences(recorded.get(key, MISSING), sent.get(key, MISSING), (*path, key))
    elif isinstance(recorded, list) and isinstance(sent, list):
        for at in range(max(len(recorded), len(sent))):
            left = recorded[at] if at < len(recorded) else MISSING
            right = sent[at] if at < len(sent) else MISSING
            yield from differences(left, right, (*path, at))
    elif type(recorded) is not type(sent) or recorded != sent:
        yield path, recorded, sent
