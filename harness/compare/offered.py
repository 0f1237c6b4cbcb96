"""Two lists of offered tools, told by the names of the tools."""

from __future__ import annotations

from typing import Any

from harness.compare.described import Described, of_content, of_values
from harness.compare.plain import first_difference
from harness.types.codes import DivergenceKind


def tools_difference(base: Any, candidate: Any) -> Described | None:
    """The first tool that differs, is missing or is new; then the order. None for equal lists."""
    if first_difference(base, candidate) is None:
        return None
    kind = DivergenceKind.INPUT
    left, right = _by_name(base), _by_name(candidate)
    if left is None or right is None:
        return of_values(kind, "tools offered", base, candidate)
    for name in sorted({*left, *right}):
        if name not in left or name not in right:
            return Described(kind, f"tool {name}", *("offered" if name in side else None for side in (left, right)))
        found = first_difference(left[name], right[name])
        if found and found.path == ("description",):
            return of_content(kind, f"tool {name} description", found.base, found.candidate)
        if found:
            return of_values(kind, f"tool {name} ", left[name], right[name])
    return Described(kind, "order of the tools", ", ".join(left), ", ".join(right))


def _by_name(tools: Any) -> dict[str, Any] | None:
    if not isinstance(tools, list) or not all(isinstance(tool, dict) and "name" in tool for tool in tools):
        return None
    named = {str(tool["name"]): tool for tool in tools}
    return named if len(named) == len(tools) else None
