"""The tools of a scenario: built-in ones by name, the user's registry, and stubs over both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from harness.errors import ConfigurationError, UnknownNameError
from harness.protocols import Tool
from harness.tools.builtins import BUILT_IN
from harness.tools.fixtures import Factory, Fixtures, store_of
from harness.tools.probes import PROBES
from harness.tools.registry import FunctionTool, Registry
from harness.tools.replies import listed
from harness.tools.stubs import StubTool
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText
from harness.types.scenario import ToolsSpec

FACTORIES: Final[Mapping[str, Factory]] = {**BUILT_IN, **PROBES}
"""Every tool that ``tools.use`` can name."""


def build_tools(spec: ToolsSpec, *, resolve: Callable[[str], Any], workspace: Path) -> tuple[Tool, ...]:
    """The tools that a scenario offers, in canonical order (by name), fresh for one run.

    ``resolve`` turns ``package.module:name`` into an object; ``workspace`` is the folder in which
    file and memory tools live. Raises UnknownNameError for names that do not exist and
    ConfigurationError for what contradicts itself.
    """
    tools = Registry(*_built_in(spec, Fixtures(spec, workspace)))
    if spec.source is not None:
        for tool in registry_from(resolve(spec.source), where=spec.source):
            tools.put(tool)
    return _with_stubs(spec, tools)


def _built_in(spec: ToolsSpec, fixtures: Fixtures) -> list[Tool]:
    unknown = sorted(set(spec.use) - set(FACTORIES))
    if unknown:
        raise UnknownNameError(f"there is no built-in tool {listed(unknown)}; known are: {listed(sorted(FACTORIES))}")
    idle = sorted({name for name, _ in spec.options} - set(spec.use))
    if idle:
        raise ConfigurationError(f"options for {listed(idle)}, which 'use' does not name; it names {listed(spec.use)}")
    return [FACTORIES[name](fixtures) for name in spec.use]


def _with_stubs(spec: ToolsSpec, tools: Registry) -> tuple[Tool, ...]:
    stubs, schemas = dict(spec.stubs), dict(spec.schemas)
    idle = sorted(set(schemas) - set(stubs))
    if idle:
        raise ConfigurationError(
            f"schemas for {listed(idle)}, which are no stubs; stubbed are: {listed(sorted(stubs))}"
        )
    stubbed: dict[str, Tool] = {tool.name: tool for tool in tools}
    for name, stub in stubs.items():
        original = stubbed.get(name)
        if original is None and spec.source is not None and name not in schemas:
            raise UnknownNameError(
                f"stub of {name!r}: {spec.source!r} has no such tool; it has: {listed(tools.names)}. "
                "A stub of its own needs a schema."
            )
        stubbed[name] = StubTool(name, stub, original=original, parameters=schemas.get(name))
    return tuple(stubbed[name] for name in sorted(stubbed))


def registry_from(found: Any, *, where: str) -> Registry:
    """A registry from what a user wrote: a Registry, functions and tools in a list or by name in a
    dictionary, or pairs of (schema, function) whose schema is as a provider takes it.

    Raises ConfigurationError for anything else, naming ``where``.
    """
    if isinstance(found, Registry):
        return found
    if isinstance(found, Mapping):
        return Registry(*(_named(name, value) for name, value in found.items()))
    if isinstance(found, list | tuple):
        return Registry(*(_tool_from(item, where) for item in found))
    raise ConfigurationError(
        f"{where!r} is {type(found).__name__}; allowed: a Registry, a list of functions, tools or "
        "(schema, function) pairs, or a dictionary of functions by name"
    )


def _named(name: str, value: Any) -> Tool:
    if _is_tool(value):
        if value.name != name:
            raise ConfigurationError(f"the tool {value.name!r} stands under the name {name!r}; give it one name")
        tool: Tool = value
        return tool
    return FunctionTool(value, name=name)


def _tool_from(item: Any, where: str) -> Tool:
    if _is_tool(item):
        tool: Tool = item
        return tool
    if callable(item):
        return FunctionTool(item)
    if isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], Mapping):
        return _from_provider_schema(item[0], item[1], where)
    raise ConfigurationError(f"{where!r} holds {item!r:.80}; allowed: functions, tools, (schema, function) pairs")


def _from_provider_schema(schema: Mapping[str, Any], function: Any, where: str) -> Tool:
    inner = schema.get("function", schema)
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise ConfigurationError(f"{where!r}: a schema without a name: {schema!r:.80}")
    return FunctionTool(
        function,
        name=inner["name"],
        description=inner.get("description", ""),
        parameters=inner.get("parameters", {"type": "object", "properties": {}}),
    )


def _is_tool(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("name", "parameters", "check", "call", "isolation"))


def memory_of(spec: ToolsSpec, workspace: Path) -> JsonText:
    """The memory as it stands now, as canonical JSON text of an object."""
    return canonical_json(store_of(Fixtures(spec, workspace)))
