"""Ids of tool calls as they are matched: by which call they name, not by how they are spelt.

A loop may make ids of its own (a provider may send none), and random ones differ from run to run. So the n-th call
of a request counts as call n, whatever its id is, and a result as the answer of the oldest open call
under its id. An id that names no open call stays as it is, so that a result that went to another call, or to none,
is a difference. Chat: ``messages[*].tool_calls[*].id`` and ``messages[*].tool_call_id``; Responses:
``input[*].call_id``.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any, Final

Path = tuple[str | int, ...]
_OUTPUT_ENDS: Final = ("_output",)


def with_ids_renamed(value: Any) -> Any:
    """A request's body with its call ids renamed; the same object where it has none."""
    if not isinstance(value, dict):
        return value
    for field in ("messages", "input"):
        items = value.get(field)
        if isinstance(items, list):
            names = _Names()
            renamed = [names.renamed(item) for item in items]
            if names.has_renamed:
                value = {**value, field: renamed}
    return value


class _Names:
    """Gives each call its number as it comes, and each result that of the oldest open call under its id."""

    def __init__(self) -> None:
        self._n_calls = 0
        self._open: dict[str, deque[int]] = defaultdict(deque)

    @property
    def has_renamed(self) -> bool:
        """True once there was a call; without one, no result has anything to answer."""
        return self._n_calls > 0

    def renamed(self, item: Any) -> Any:
        if not isinstance(item, dict):
            return item
        if "tool_call_id" in item:
            return self._result(item, "tool_call_id") if self._n_calls else item
        calls = item.get("tool_calls")
        if isinstance(calls, list):
            return {**item, "tool_calls": [self._call(call, "id") for call in calls]}
        if "call_id" in item:
            kind = item.get("type")
            is_result = isinstance(kind, str) and kind.endswith(_OUTPUT_ENDS)
            return self._result(item, "call_id") if is_result else self._call(item, "call_id")
        return item

    def _call(self, call: Any, field: str) -> Any:
        name = call.get(field) if isinstance(call, dict) else None
        if not isinstance(name, str):
            return call
        self._n_calls += 1
        self._open[name].append(self._n_calls)
        return {**call, field: _number(self._n_calls)}

    def _result(self, item: dict[str, Any], field: str) -> dict[str, Any]:
        name = item[field]
        waiting = self._open.get(name) if isinstance(name, str) else None
        return {**item, field: _number(waiting.popleft())} if waiting else item


def _number(call: int) -> dict[str, int]:
    """No text, so that no id of anybody's can be the same."""
    return {"": call}


# ---------------------------------------------------------------- for the explanation


def is_call_id(path: Path) -> bool:
    """True for a place at which the id of a call stands."""
    match path:
        case ("messages", int(), "tool_calls", int(), "id") | ("messages", int(), "tool_call_id"):
            return True
        case ("input", int(), "call_id"):
            return True
        case _:
            return False


def id_structure(value: Any) -> list[Any]:
    """All renamed ids of a body in their order: the same for two bodies whose ids differ in spelling alone."""
    return list(_ids(with_ids_renamed(value)))


def _ids(value: Any) -> Iterator[Any]:
    for field in ("messages", "input"):
        items = value.get(field) if isinstance(value, dict) else None
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict):
                calls = item.get("tool_calls")
                yield from (
                    call.get("id") for call in (calls if isinstance(calls, list) else ()) if isinstance(call, dict)
                )
                yield from (item[key] for key in ("tool_call_id", "call_id") if key in item)
