"""Plain values side by side: JSON's notion of same, and the first place where two differ."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

from harness.types.jsontext import Refusal, parse_json

Path: TypeAlias = tuple[str | int, ...]
_WORD: Final = re.compile(r"[^\W\d][\w-]*")


class Absent(Enum):
    """Nothing is there; not even null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two values differ first, and what stands there on both sides (ABSENT: nothing)."""

    path: Path
    base: Any
    candidate: Any


def first_difference(base: Any, candidate: Any, path: Path = ()) -> Difference | None:
    """The first difference, keys in sorted order; None for equal values.

    1 and 1.0 are one number; true is none; integers are exact (INVARIANTS 18, 20).
    """
    if isinstance(base, Mapping) and isinstance(candidate, Mapping):
        places: list[Any] = sorted({*base, *candidate})
        pairs = [(key, base.get(key, ABSENT), candidate.get(key, ABSENT)) for key in places]
    elif isinstance(base, list) and isinstance(candidate, list):
        length = max(len(base), len(candidate))
        pairs = [(i, _item(base, i), _item(candidate, i)) for i in range(length)]
    else:
        return None if _same_leaf(base, candidate) else Difference(path, base, candidate)
    found = (first_difference(one, other, (*path, key)) for key, one, other in pairs)
    return next((difference for difference in found if difference), None)


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else ABSENT


def _same_leaf(base: Any, candidate: Any) -> bool:
    if isinstance(base, bool) or isinstance(candidate, bool):
        return base is candidate
    return bool(base == candidate)


def parsed(text: Any) -> Any:
    """The value of a JSON text; the text itself where it is none (or already a value)."""
    if not isinstance(text, str):
        return text
    value = parse_json(text)
    return text if isinstance(value, Refusal) else value


def dotted(path: Path) -> str:
    """``("items", 2, "odd key")`` as ``items[2]["odd key"]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _WORD.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += '["' + part.replace("\\", "\\\\").replace('"', '\\"') + '"]'
    return text
