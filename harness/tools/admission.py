"""What the door looks at before anything starts: its own tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from harness.errors import ConfigurationError, UnsupportedError
from harness.protocols import Clock, Tool
from harness.tools.replies import listed
from harness.types.codes import ClockKind, Isolation
from harness.types.jsontext import canonical_json, parse_json
from harness.types.messages import JsonText


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


def in_order(tools: Iterable[Tool]) -> list[Tool]:
    """By name, whatever the order of registration (CONFORMANCE 24); tools that say a ``place`` stand in that order."""
    return sorted(tools, key=lambda tool: (getattr(tool, "place", 0), tool.name))


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
