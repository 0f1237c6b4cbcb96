"""Expected arguments against a tool's schema: could any call that meets them be a valid one?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

import jsonschema_rs

from harness.evaluate.arms_tools import referred
from harness.evaluate.dataset_values import Place, inner_matchers, is_literal, optional_though_required
from harness.plugins import suggestion
from harness.types.evaluation import EvalTool, ToolSnapshot

_MOST_FAULTS: Final = 3
_SHOWN: Final = 80


class ToolSchemas:
    """The schemas of a snapshot's tools, each compiled once; ``broken`` says which are none, and why."""

    def __init__(self, snapshot: ToolSnapshot) -> None:
        self._schemas: dict[str, dict[str, Any]] = {}
        self.broken: dict[str, str] = {}
        self._validators: dict[str, Any] = {}
        for tool in snapshot.tools:
            self._read(tool)

    def _read(self, tool: EvalTool) -> None:
        schema = json.loads(tool.parameters)
        try:
            self._validators[tool.name] = jsonschema_rs.validator_for(schema)
        except ValueError as error:
            self.broken[tool.name] = str(error).splitlines()[0][:_SHOWN]
            return
        self._schemas[tool.name] = schema

    def parameters(self, tool: str) -> tuple[str, ...]:
        """The names of a tool's parameters."""
        return tuple(_properties(self._schemas.get(tool, {}), self._schemas.get(tool, {})) or ())

    def faults(self, tool: str, expected: Mapping[str, Any]) -> Iterator[str]:
        """Where the expected arguments (names with matchers) and what a valid call of this tool can have fall apart."""
        schema = self._schemas.get(tool)
        if schema is None:
            return
        yield from _names(tool, expected, schema)
        for path in optional_though_required(expected, schema, schema):
            yield f"{path}: {tool!r} requires it, so that no valid call leaves it out; write it without $optional"
        if is_literal(expected):
            if not self._validators[tool].is_valid(expected):
                yield from islice(self._told(tool, expected), _MOST_FAULTS)
            return
        for place in inner_matchers(expected, schema, schema):
            yield from _value_faults(place, schema)

    def _told(self, tool: str, expected: Mapping[str, Any]) -> Iterator[str]:
        for error in self._validators[tool].iter_errors(expected):
            path = list(error.instance_path)
            if path:  # what is missing or too much at the top was told by name
                yield f"{'.'.join(map(str, path))}: {error.message}; no valid call has it"


def _names(tool: str, expected: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    known = _properties(schema, schema)
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in expected:
            yield f"leaves out {name!r}, which {tool!r} requires; give a value, or {{$any: true}}"
    if known is None or _is_open(schema):
        return
    for name in expected:
        if name not in known:
            yield f"{tool!r} has no argument {name!r}{suggestion(name, tuple(known))}"


def _properties(schema: Any, root: Any) -> Mapping[str, Any] | None:
    if isinstance(schema, dict) and "$ref" in schema:
        schema = referred(schema, root)
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else None


def _is_open(schema: Mapping[str, Any]) -> bool:
    """Whether arguments without a property of their own are allowed in so many words."""
    combined = any(word in schema for word in ("patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref"))
    return combined or schema.get("additionalProperties", False) not in (False, None)


def _value_faults(place: Place, root: Mapping[str, Any]) -> Iterator[str]:
    shared = {name: root[name] for name in ("$defs", "definitions") if name in root}
    validator = jsonschema_rs.validator_for({**shared, **place.schema})
    if not any(map(validator.is_valid, place.values)):
        for error in islice(validator.iter_errors(place.values[0]), 1):
            yield f"{place.path}: {error.message}; no valid call has it"
