"""The difference of two plain JSON values, so that what a reader has no place for is kept as a difference.

A patch is ``{}`` for equal values, ``{"set": value}``, or ``{"fields": {name: patch}, "gone": [name, ...]}`` for
objects, ``{"items": {index: patch}}`` for lists of one length.
"""

from __future__ import annotations

from typing import Any

from harness.types.jsontext import canonical_json


def difference(old: Any, new: Any) -> dict[str, Any]:
    """What turns ``old`` into ``new``; both are plain JSON values."""
    if isinstance(old, dict) and isinstance(new, dict):
        fields = {key: {"set": value} for key, value in new.items() if key not in old}
        fields |= {key: change for key in old if key in new and (change := difference(old[key], new[key]))}
        gone = sorted(set(old) - set(new))
        return ({"fields": fields} if fields else {}) | ({"gone": gone} if gone else {})
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        items = {str(at): change for at, (one, other) in pairs if (change := difference(one, other))}
        return {"items": items} if items else {}
    return {} if canonical_json(old) == canonical_json(new) else {"set": new}


def patched(old: Any, patch: Any) -> Any:
    """The value that a patch was made for; a patch that does not fit changes what it fits."""
    if not isinstance(patch, dict):
        return old
    if "set" in patch:
        return patch["set"]
    if isinstance(old, dict):
        return _patched_object(old, patch)
    items = patch.get("items")
    if isinstance(old, list) and isinstance(items, dict):
        return [patched(value, items.get(str(at))) for at, value in enumerate(old)]
    return old


def _patched_object(old: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    fields, gone = patch.get("fields"), patch.get("gone")
    named = fields if isinstance(fields, dict) else {}
    left_out = [name for name in gone if isinstance(name, str)] if isinstance(gone, list) else []
    kept = {key: patched(value, named.get(key)) for key, value in old.items() if key not in left_out}
    return kept | {key: patched(None, change) for key, change in named.items() if key not in old}
