"""Cases to fill in: one for each tool, and two that need none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from harness.types.evaluation import ASK_USER, NO_CALL, EvalTool, ToolSnapshot

TO_FILL_IN: Final = "FILL IN"
"""What every text of a skeleton begins with that somebody has to write."""
_DEEPEST: Final = 6
_OF_FORMAT: Final = {
    "date": "2025-01-31",
    "date-time": "2025-01-31T12:00:00Z",
    "time": "12:00:00",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
    "hostname": "example.com",
}


def skeleton(snapshot: ToolSnapshot) -> list[dict[str, Any]]:
    """One case for each tool, with the arguments that it must have as its schema shows them, then one that needs no
    tool and one that asks back. Texts to be written begin with TO_FILL_IN.
    """
    names = {tool.name for tool in snapshot.tools}
    none = {"ask": f"{TO_FILL_IN}: something that needs no tool, such as 'Thanks, bye'", "expect": NO_CALL}
    back = {"ask": f"{TO_FILL_IN}: a request that lacks what a tool must be given", "expect": ASK_USER}
    return [
        *map(_case, snapshot.tools),
        {"id": _other_than(names, "no-tool"), **none},
        {"id": _other_than(names, "ask-back"), **back},
    ]


def _other_than(names: set[str], wanted: str) -> str:
    return wanted if wanted not in names else _other_than(names, f"{wanted}-case")


def _case(tool: EvalTool) -> dict[str, Any]:
    arguments = _without_empty(example_arguments(json.loads(tool.parameters)))
    said = " ".join(tool.description.split())[:120]
    hint = f" ({said})" if said else ""
    expect: Any = {tool.name: arguments} if arguments else tool.name
    return {"id": tool.name, "ask": f"{TO_FILL_IN}: what a user says who needs {tool.name}{hint}", "expect": expect}


def _without_empty(value: Any, depth: int = 0) -> Any:
    """Expected arguments in which an object without any field is any object: as it stands it would have to be empty."""
    if isinstance(value, dict):
        return {name: _without_empty(one, depth + 1) for name, one in value.items()} or (
            {"$any": True} if depth else {}
        )
    return [_without_empty(one, depth + 1) for one in value] if isinstance(value, list) else value


def example_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with every required parameter, each as its schema shows it: example, default, first of ``enum``, …"""
    found = _example(schema, schema, 0)
    return found if isinstance(found, dict) else {}


def _example(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return TO_FILL_IN
    examples, enum = schema.get("examples"), schema.get("enum")
    if isinstance(examples, list) and examples:
        return examples[0]
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if isinstance(enum, list) and enum:
        return enum[0]
    inner = _inner(schema, root)
    return _of_type(schema, root, depth) if inner is None else _example(inner, root, depth + 1)


def _inner(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """The schema that stands for this one: what it refers to, all its parts in one, or the first of its branches."""
    ref = schema.get("$ref")
    if isinstance(ref, str):
        defs = root.get("$defs")
        return defs.get(ref.removeprefix("#/$defs/"), True) if isinstance(defs, Mapping) else True
    wholes = schema.get("allOf")
    if isinstance(wholes, list) and wholes:
        parts = [_resolved(part, root) for part in (*wholes, _without(schema, "allOf"))]
        return _united([part for part in parts if isinstance(part, Mapping)])
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and branches and "properties" not in schema:
            return next((one for one in branches if not _is_null(one)), branches[0])
    return None


def _resolved(part: Any, root: Mapping[str, Any]) -> Any:
    for _ in range(_DEEPEST):
        if not isinstance(part, Mapping) or not isinstance(part.get("$ref"), str):
            break
        part = _inner(part, root)
    return part


def _without(schema: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def _united(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    united: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: list[Any] = []
    for part in parts:
        united.update(part)
        properties.update(part["properties"] if isinstance(part.get("properties"), Mapping) else {})
        required += part["required"] if isinstance(part.get("required"), list) else []
    more = {"properties": properties, "required": required} if properties else {}
    return {**_without(united, "allOf"), **more}


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _of_type(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if kind == "object" or (kind is None and isinstance(schema.get("properties"), Mapping)):
        return _object(schema, root, depth)
    if kind == "array":
        n_items = _number(schema.get("minItems"), 1)
        return [_example(schema.get("items", True), root, depth + 1)] * max(1, min(3, n_items))
    if kind in ("integer", "number"):
        return _bounded(schema, kind)
    plain: dict[str, Any] = {"boolean": True, "null": None}
    return plain.get(str(kind), _OF_FORMAT.get(str(schema.get("format")), TO_FILL_IN))


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    properties, required = schema.get("properties"), schema.get("required")
    shown = properties if isinstance(properties, Mapping) else {}
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return {name: _example(shown.get(name, True), root, depth + 1) for name in names}


def _number(value: Any, otherwise: int) -> int:
    return (
        int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15
        else otherwise
    )


def _bounded(schema: Mapping[str, Any], kind: str) -> int | float:
    least, most = _number(schema.get("minimum"), 1), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        least = max(least, _number(schema["exclusiveMinimum"], 0) + 1)
    if isinstance(most, int | float) and least > most:
        return _number(most, 0) if kind == "integer" else float(most)
    return least
