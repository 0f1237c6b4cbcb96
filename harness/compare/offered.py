"""Two lists of offered tools, told by the names of the tools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.compare.described import Described, of_content, of_values
from harness.compare.plain import first_difference
from harness.types.codes import Cause, DivergenceKind


@dataclass(frozen=True, slots=True)
class Offered:
    """A difference of what is offered: what of it, of which tool, in words."""

    cause: Cause
    tool: str
    told: Described


def tools_difference(base: Any, candidate: Any) -> Described | None:
    """The first tool that differs, is missing or is new; then the order. None for equal lists."""
    return next((offered.told for offered in offered_differences(base, candidate)), None)


def offered_differences(base: Any, candidate: Any) -> Iterator[Offered]:
    """Every tool that differs, is missing or is new, by name; the order where that is all. Nothing for equal lists."""
    if first_difference(base, candidate) is None:
        return
    left, right = _by_name(base), _by_name(candidate)
    if left is None or right is None:
        told = of_values(DivergenceKind.INPUT, "tools offered", base, candidate)
        if told:
            yield Offered(Cause.TOOLS_OFFERED, "", told)
        return
    found = [one for name in sorted({*left, *right}) for one in _tool_differences(name, left, right)]
    yield from found or (_otherwise_the_same(left, right),)


def _otherwise_the_same(left: dict[str, Any], right: dict[str, Any]) -> Offered:
    """The order; in the same order a schema that no longer repeats (or now repeats) the description of its tool."""
    if list(left) != list(right):
        order = Described(DivergenceKind.INPUT, "order of the tools", ", ".join(left), ", ".join(right))
        return Offered(Cause.TOOLS_OFFERED, "order", order)
    raw = ((name, of_values(DivergenceKind.INPUT, f"tool {name} ", left[name], right[name])) for name in left)
    return next(Offered(Cause.TOOL_SCHEMA, name, told) for name, told in raw if told)


def _tool_differences(name: str, left: dict[str, Any], right: dict[str, Any]) -> Iterator[Offered]:
    kind = DivergenceKind.INPUT
    if name not in left or name not in right:
        sides = ("offered" if name in side else None for side in (left, right))
        yield Offered(Cause.TOOLS_OFFERED, name, Described(kind, f"tool {name}", *sides))
        return
    one, other = left[name], right[name]
    if first_difference(one.get("description"), other.get("description")):
        told = of_content(kind, f"tool {name} description", one.get("description"), other.get("description"))
        yield Offered(Cause.TOOL_DESCRIPTION, name, told)
    schema = of_values(kind, f"tool {name} ", _undescribed(one), _undescribed(other))
    if schema:
        yield Offered(Cause.TOOL_SCHEMA, name, schema)


def _undescribed(tool: dict[str, Any]) -> dict[str, Any]:
    """The tool without its description, also where its schema only repeats it."""
    rest = {key: value for key, value in tool.items() if key != "description"}
    schema = rest.get("parameters")
    if isinstance(schema, dict) and "description" in schema and schema["description"] == tool.get("description"):
        rest["parameters"] = {key: value for key, value in schema.items() if key != "description"}
    return rest


def _by_name(tools: Any) -> dict[str, Any] | None:
    if not isinstance(tools, list) or not all(isinstance(tool, dict) and "name" in tool for tool in tools):
        return None
    named = {str(tool["name"]): tool for tool in tools}
    return named if len(named) == len(tools) else None
