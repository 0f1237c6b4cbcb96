"""The arguments of a call as a tool takes them: an object, or why it is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.types.jsontext import Refusal, canonical_parsed, parse_json
from harness.types.messages import JsonText


def read_arguments(arguments: str) -> tuple[Mapping[str, Any], JsonText] | Refusal:
    """The values of a call's raw arguments and their canonical text, or why they are none.

    Nothing but white space is ``{}`` (CONFORMANCE 37). Lone surrogates become U+FFFD in both.
    """
    values = parse_json(arguments) if arguments.strip() else {}
    if isinstance(values, Refusal):
        return Refusal(f"the arguments are not valid JSON: {values.message}")
    if not isinstance(values, dict):
        return Refusal(f"the arguments are JSON of type {_json_type(values)}, not an object")
    text = canonical_parsed(values)
    if "\N{REPLACEMENT CHARACTER}" in text:
        values = parse_json(text)
    return values if isinstance(values, Refusal) else (values, text)


def _json_type(value: Any) -> str:
    names = {list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), "null")
