"""Descriptions of tools and of their parameters, replaced."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.errors import ConfigurationError
from harness.types.evaluation import EvalTool
from harness.types.jsontext import canonical_json


def described(tool: EvalTool, of_tools: Mapping[str, str], of_parameters: Iterable[tuple[str, str]]) -> EvalTool:
    """The tool with these descriptions, of itself by name and of its parameters by ``tool.parameter``.

    Raises ConfigurationError for a parameter that it does not have.
    """
    if tool.name in of_tools:
        tool = replace(tool, description=of_tools[tool.name])
    mine = [(name.split(".")[1:], text) for name, text in of_parameters if name.split(".")[0] == tool.name]
    if not mine:
        return tool
    schema = json.loads(tool.parameters)
    for path, text in mine:
        found = property_at(schema, path)
        if found is None:
            raise ConfigurationError(f"tool {tool.name!r} has no parameter {'.'.join(path)!r} to describe")
        found["description"] = text
    return replace(tool, parameters=canonical_json(schema))


def property_at(schema: Any, path: Sequence[str]) -> dict[str, Any] | None:
    """The part of a schema that a path of property names leads to, through lists and references into the schema."""
    found: Any = schema
    for name in path:
        found = _holder(found, schema).get(name)
        if not isinstance(found, dict):
            return None
    return found if isinstance(found, dict) else None


def _holder(found: Any, root: Any) -> dict[str, Any]:
    """The properties that are there at this place."""
    for _ in range(_MOST_STEPS):
        if not isinstance(found, dict):
            return {}
        if isinstance(found.get("properties"), dict):
            properties: dict[str, Any] = found["properties"]
            return properties
        found = referred(found, root) if "$ref" in found else found.get("items")
    return {}


_MOST_STEPS = 50


def referred(found: Mapping[str, Any], root: Any) -> Any:
    """What a reference ``#/…`` into the schema itself stands for; None for any other."""
    reference = found["$ref"]
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    place = root
    for step in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
        step = step.replace("~1", "/").replace("~0", "~")
        place = place.get(step) if isinstance(place, dict) else None
    return place
