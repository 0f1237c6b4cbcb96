"""What the door looks at before anything starts: its own tools, and the arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from harness.errors import ConfigurationError, UnsupportedError
from harness.protocols import Clock, Tool
from harness.tools.replies import listed
from harness.types.codes import ClockKind, Isolation
from harness.types.jsontext import Refusal, canonical_json, canonical_parsed, parse_json
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


def offered_json(tools: Sequence[Tool]) -> JsonText:
    """Tools as ``request/header`` keeps them. Raises ConfigurationError for a schema that is no JSON."""
    return _offered(tuple((tool.name, tool.description, tool.parameters) for tool in tools))


@lru_cache(maxsize=256)
def _offered(tools: tuple[tuple[str, str, JsonText], ...]) -> JsonText:
    offered = []
    for name, description, text in tools:
        parameters = parse_json(text)
        if not isinstance(parameters, dict):
            raise ConfigurationError(f"tool {name!r}: its parameters are no JSON object")
        offered.append({"name": name, "description": description, "parameters": parameters})
    return canonical_json(offered)


def _json_type(value: Any) -> str:
    names = {list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), "null")


def check_door(
    tools: Sequence[Tool],
    by_name: Mapping[str, Tool],
    allowed: Sequence[str],
    clock: Clock,
    timeout_ms: int | None,
    grace_ms: int,
) -> None:
    if len(by_name) != len(tools):
        twice = sorted(name for name in by_name if sum(tool.name == name for tool in tools) > 1)
        raise ConfigurationError(f"offered twice: {listed(twice)}; names must differ")
    unknown = sorted(set(allowed) - set(by_name))
    if unknown:
        raise ConfigurationError(f"allowed but not offered: {listed(unknown)}; offered are: {listed(sorted(by_name))}")
    if (timeout_ms is not None and timeout_ms < 1) or grace_ms < 0:
        raise ConfigurationError(f"a tool's time-out is at least 1 ms and its grace 0, not {timeout_ms} and {grace_ms}")
    children = sorted(tool.name for tool in tools if tool.isolation is Isolation.SUBPROCESS)
    if children and clock.kind is ClockKind.VIRTUAL:
        raise UnsupportedError(f"virtual time cannot see subprocesses: {listed(children)}; use 'clock: system'")
