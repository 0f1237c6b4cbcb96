"""BFCL's functions as tools that a model is offered: types as JSON Schema has them, and names that providers allow."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from harness.types.bfcl import BfclFunction, Language
from harness.types.jsontext import canonical_json

_TYPES: Final = {
    **dict.fromkeys(("string", "String", "char"), "string"),
    **dict.fromkeys(("integer", "byte", "short", "long", "Bigint"), "integer"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("boolean", "Boolean"), "boolean"),
    **dict.fromkeys(("array", "tuple", "Array", "ArrayList"), "array"),
    **dict.fromkeys(("dict", "HashMap"), "object"),
}
"""JSON Schema's types; ``any`` is none of them, and is left without a type."""

_NOT_SCHEMA: Final = frozenset({"optional"})
LONGEST_NAME: Final = 64


def json_schema(parameters: dict[str, Any], language: Language, *, as_text: bool = False) -> dict[str, Any]:
    """The parameters of a function as JSON Schema.

    With ``as_text`` as the benchmark offers them: ``any`` is text, and every Java or JavaScript value is text too,
    whose description says how it is written.
    """
    if as_text and language is not Language.PYTHON:
        named = {name: _written(schema, language) for name, schema in parameters["properties"].items()}
        return {**_mapped(parameters, any_type="string"), "properties": named}
    return _mapped(parameters, any_type="string" if as_text else None)


def _mapped(schema: dict[str, Any], any_type: str | None) -> dict[str, Any]:
    mapped = {key: value for key, value in schema.items() if key not in _NOT_SCHEMA and key != "type"}
    kind = _TYPES.get(schema["type"], any_type)
    if kind is not None:
        mapped["type"] = kind
    if "properties" in schema:
        mapped["properties"] = {name: _mapped(one, any_type) for name, one in schema["properties"].items()}
    if "items" in schema:
        mapped["items"] = _mapped(schema["items"], any_type)
    return mapped


def _written(schema: dict[str, Any], language: Language) -> dict[str, Any]:
    kind = schema["type"] if schema["type"] != "any" else "value of any type"
    of = f" of {schema['items']['type']}" if "items" in schema else ""
    inside = f" with {json.dumps(schema['properties'])}" if "properties" in schema else ""
    how = f"A {language} {kind}{of}{inside}, as text in the syntax of {language}."
    return {"type": "string", "description": f"{schema.get('description', '')} {how}".strip()}


# ---------------------------------------------------------------- names


@dataclass(frozen=True, slots=True)
class Tool:
    """A function as it is offered. ``parameters`` is canonical JSON text."""

    name: str
    description: str
    parameters: str


class Offered:
    """The tools of many items under names that are unique and that providers allow: ``a.b`` becomes ``a_b``.

    Functions that are alike are one tool. Of those that only share a name, each after the first gets a number behind
    it; ``notes`` says so, and names what no provider may take.
    """

    def __init__(self, functions: Iterable[tuple[BfclFunction, dict[str, Any]]]) -> None:
        """Takes all functions of all items, each with its JSON Schema, in their order."""
        forms = list(dict.fromkeys(_form(function, schema) for function, schema in functions))
        self._taken = {allowed(name) for name, _, _ in forms}
        self._names: dict[tuple[str, str, str], str] = {}
        n_seen: Counter[str] = Counter()
        for form in forms:
            n_seen[allowed(form[0])] += 1
            self._names[form] = self._free(allowed(form[0]), n_seen[allowed(form[0])])
        self.notes = (*_many_forms(self._names), *_too_long(self._names))

    def name_of(self, function: BfclFunction, schema: dict[str, Any]) -> str:
        """The name under which a function is offered."""
        return self._names[_form(function, schema)]

    def tools(self) -> list[Tool]:
        """All tools, in the order in which they came."""
        return [Tool(name, description, text) for (_, description, text), name in self._names.items()]

    def _free(self, name: str, number: int) -> str:
        if number == 1:
            return name
        while f"{name}_{number}" in self._taken:
            number += 1
        self._taken.add(f"{name}_{number}")
        return f"{name}_{number}"


def allowed(name: str) -> str:
    """The name without dots, which providers do not allow."""
    return name.replace(".", "_")


def _form(function: BfclFunction, schema: dict[str, Any]) -> tuple[str, str, str]:
    return function.name, function.description, canonical_json(schema)


def _many_forms(names: dict[tuple[str, str, str], str]) -> list[str]:
    by_name: dict[str, list[str]] = {}
    for (name, _, _), offered in names.items():
        by_name.setdefault(allowed(name), []).append(offered)
    return [
        f"{len(found)} different functions share the name {name!r}: offered as {found[0]} to {found[-1]}"
        for name, found in by_name.items()
        if len(found) > 1
    ]


def _too_long(names: dict[tuple[str, str, str], str]) -> list[str]:
    return [
        f"the name {name!r} has {len(name)} characters; providers take at most {LONGEST_NAME}"
        for name in names.values()
        if len(name) > LONGEST_NAME
    ]
