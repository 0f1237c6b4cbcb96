"""Two versions of a document: which fields changed, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.documents import load_document
from harness.errors import InvalidValueError, ScenarioError
from harness.types.jsontext import canonical_json, parse_json

MOST: Final = 8
"""Of one field that was changed in many places so many are told."""
_CHARS: Final = 60
_NOTHING: Final = "nothing"


def document_of(data: bytes) -> Mapping[str, Any]:
    """The fields of a YAML document; none where it cannot be read, or is no mapping."""
    if not data:
        return {}
    try:
        value = load_document(data, "").value
    except ScenarioError:
        return {}  # it is told as what it was on the side that can be read
    return value if isinstance(value, dict) else {}


def changes_at(before: Any, now: Any, path: str, name: str = "") -> Iterator[str]:
    """:func:`changes_of` of what stands at a path (``agents.*.limits``); ``*`` is every name that both sides have."""
    first, _, rest = path.partition(".")
    old, new = (one if isinstance(one, dict) else {} for one in (before, now))
    for key in [key for key in old if key in new] if first == "*" else [first]:
        place = f"{name}.{key}" if name else str(key)
        if rest:
            yield from changes_at(old.get(key), new.get(key), rest, place)
        else:
            yield from changes_of(old.get(key), new.get(key), place)


def changes_of(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """``limits.max_steps: 10 → 40``, for each field that differs; at most so many, then how many more.

    Values may be of any type: what is no JSON (a date or NaN in TOML) is shown as Python does it. ``1``, ``1.0`` and
    ``true`` differ.
    """
    try:
        found = list(_changes(before, now, name))
    except RecursionError:
        found = [f"{name or 'it'}: edited, and nested too deep to tell where"]
    yield from found[:MOST]
    if len(found) > MOST:
        yield f"{name or 'it'}: and {len(found) - MOST} more"


def _changes(before: Any, now: Any, name: str) -> Iterator[str]:
    both = (before, now)
    if all(isinstance(one, dict) or one is None for one in both):
        old, new = before or {}, now or {}
        for key in dict.fromkeys((*old, *new)):
            yield from _changes(old.get(key), new.get(key), f"{name}.{key}" if name else str(key))
    elif all(isinstance(one, list) for one in both) and len(before) == len(now):
        for at, (old, new) in enumerate(zip(before, now, strict=True)):
            yield from _changes(old, new, f"{name}[{at}]")
    elif not _same(before, now):
        yield f"{name}: {_shown(before)} → {_shown(now)}"


def _same(before: Any, now: Any) -> bool:
    """Equal and of one type, in all that is inside, too; NaN is the same as NaN."""
    if type(before) is not type(now):
        return False
    if isinstance(before, dict):
        return before.keys() == now.keys() and all(_same(before[key], now[key]) for key in before)
    if isinstance(before, list):
        return len(before) == len(now) and all(map(_same, before, now))
    return bool(before == now) or bool(before != before and now != now)


def _shown(value: Any) -> str:
    if value is None:
        return _NOTHING
    try:
        text = value if isinstance(value, str) else canonical_json(value)
    except InvalidValueError:
        text = _no_json(value)
    return text if len(text) <= _CHARS else f"{text[:_CHARS]}…"


def _no_json(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # a number of more digits than Python writes
        return "a number too large to tell"


# ---------------------------------------------------------------- cases of evaluations


def case_lines(data: bytes) -> list[Any]:
    """The cases in a file of lines; none where it is no such file."""
    found: list[Any] = []
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        case = parse_json(line.decode("utf-8", "replace"))
        if not (isinstance(case, dict) and "expect" in case and {"ask", "history", "id"} & case.keys()):
            return []  # a Refusal is no case either
        found.append(case)
    return found


def case_changes(before: Any, now: Any) -> str:
    """``cases: 2 changed, 1 removed``; empty where nothing did but that cases were added, or nothing at all."""
    if not (isinstance(before, list) and isinstance(now, list)):
        return next(changes_of(before, now, "cases"), "")
    old, new = _by_name(before), _by_name(now)
    n_changed = sum(old[name] != new[name] for name in old.keys() & new.keys())
    n_removed = len(old.keys() - new.keys())
    parts = [f"{n} {what}" for n, what in ((n_changed, "changed"), (n_removed, "removed")) if n]
    return f"cases: {', '.join(parts)}" if parts else ""


def _by_name(cases: list[Any]) -> dict[str, str]:
    """Cases by id, else by what is asked, as canonical text."""
    named: dict[str, str] = {}
    for at, case in enumerate(cases):
        fields = case if isinstance(case, dict) else {}
        name = str(fields.get("id") or fields.get("ask") or at)
        named[name if name not in named else f"{name} {at}"] = canonical_json(case)
    return named
