"""The tools of all sources at one moment: a snapshot with its hash, and in which words two snapshots differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, assert_never

from harness import plugins
from harness.errors import ConfigurationError, HarnessError, UnknownNameError
from harness.tools.build import FACTORIES, registry_from
from harness.tools.fixtures import Fixtures
from harness.tools.names import is_portable
from harness.tools.replies import listed
from harness.tools.sources import Found, RawTool, finished
from harness.types.codes import Effect
from harness.types.evaluation import EvalTool, SourceKind, ToolSnapshot, ToolSource
from harness.types.jsontext import canonical_json, described
from harness.types.messages import JsonText
from harness.types.scenario import ToolsSpec

LISTING_LIMIT_MS: Final = 30_000
"""How long an MCP server may take from its start to the last page of its list."""


async def take_snapshot(
    sources: Sequence[ToolSource],
    *,
    base: Path,
    environ: Mapping[str, str],
    limit_ms: int = LISTING_LIMIT_MS,
) -> ToolSnapshot:
    """Ask every source for its tools; nothing is called. The tools are sorted by name.

    ``base`` is the folder of relative paths, ``environ`` what an MCP server's process may inherit from. Raises
    ConfigurationError, ScenarioError and UnknownNameError (exit code 2) for what the document got wrong, also two
    sources that offer one name; ToolSourceError (5) for a server that failed.
    """
    found = [await tools_of(source, base=base, environ=environ, limit_ms=limit_ms) for source in sources]
    _refuse_clashes(found)
    return snapshot_of(
        (tool for one in found for tool in one.tools),
        sources=[one.label for one in found],
        notes=[note for one in found for note in one.notes],
    )


def snapshot_of(tools: Iterable[EvalTool], *, sources: Sequence[str] = (), notes: Sequence[str] = ()) -> ToolSnapshot:
    """The snapshot of these tools: sorted, with the sha256 of what a model sees of them."""
    ordered = tuple(sorted(tools, key=lambda tool: tool.name))
    return ToolSnapshot(ordered, tools_digest(ordered), tuple(sources), tuple(notes))


def tools_digest(tools: Iterable[EvalTool]) -> str:
    """``sha256:`` and the hash of the canonical JSON of ``[{name, description, parameters}, …]``, sorted by name.

    Only what a model sees counts: two snapshots have one digest exactly if :func:`differs` finds nothing.
    """
    seen = [
        {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters)}
        for tool in sorted(tools, key=lambda tool: tool.name)
    ]
    return "sha256:" + hashlib.sha256(canonical_json(seen).encode("utf-8")).hexdigest()


async def tools_of(source: ToolSource, *, base: Path, environ: Mapping[str, str], limit_ms: int) -> Found:
    """The tools of one source. Raises as :func:`take_snapshot`."""
    _check(source)
    match source.kind:
        case SourceKind.MCP:
            from harness.tools.mcp_source import list_mcp_tools  # loads the library of the protocol

            return await list_mcp_tools(source, environ=environ, limit_ms=limit_ms)
        case SourceKind.OPENAPI:
            from harness.tools.openapi import openapi_tools

            return openapi_tools(source, base=base)
        case SourceKind.SCHEMAS:
            from harness.tools.schemas_source import schemas_tools

            return schemas_tools(source, base=base)
        case SourceKind.FROM:
            return _from_registry(source)
        case SourceKind.USE:
            return _built_in(source)
        case _:
            assert_never(source.kind)


def _check(source: ToolSource) -> None:
    if source.prefix and not is_portable(source.prefix):
        raise ConfigurationError(
            f"tools.{source.kind}: prefix {source.prefix!r}: providers take letters, digits, '_' and '-', at most 64"
        )
    needs = {SourceKind.USE: source.names, SourceKind.SCHEMAS: source.location or source.inline}
    if not needs.get(source.kind, source.location):
        raise ConfigurationError(f"tools.{source.kind} is empty; say where the tools come from")


def _from_registry(source: ToolSource) -> Found:
    label = f"registry {source.location!r}"
    found = plugins.resolve(source.location)
    try:
        raw = [_raw(tool) for tool in registry_from(found, where=source.location)]
    except HarnessError:
        raise
    except Exception as error:  # a user's tools are any objects, and looking at them may raise anything
        raise ConfigurationError(f"{label} gives no tools: {described(error)}") from error
    return finished(raw, source, label)


def _built_in(source: ToolSource) -> Found:
    unknown = [name for name in source.names if name not in FACTORIES]
    if unknown:
        hint = plugins.suggestion(unknown[0], FACTORIES)
        raise UnknownNameError(f"there is no built-in tool {unknown[0]!r}{hint}")
    label = f"built-in tools {listed(sorted(source.names))}"
    return finished(_built_in_tools(source.names), source, label)


def _built_in_tools(names: Sequence[str]) -> list[RawTool]:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="harness-tools-") as folder:  # some make their files when they are made
        fixtures = Fixtures(ToolsSpec(use=tuple(names)), Path(folder))
        return [_raw(FACTORIES[name](fixtures)) for name in names]


def _raw(tool: Any) -> RawTool:
    return RawTool(
        name=tool.name,
        description=tool.description,
        parameters=json.loads(tool.parameters),
        read_only=tool.effect is Effect.READ,
    )


def _refuse_clashes(found: Sequence[Found]) -> None:
    first: dict[str, Found] = {}
    for one in found:
        for tool in one.tools:
            other = first.setdefault(tool.name, one)
            if other is not one:
                raise ConfigurationError(
                    f"two sources offer a tool {tool.name!r}: {other.label} and {one.label}; give one of them a "
                    "'prefix', or leave the tool out there with 'only'"
                )


def differs(old: ToolSnapshot, new: ToolSnapshot) -> list[str]:
    """In words, what a model would see otherwise in ``new``; empty where the digests are equal."""
    before, after = ({tool.name: tool for tool in one.tools} for one in (old, new))
    words = [f"tool {name!r} was removed" for name in sorted(before.keys() - after.keys())]
    words += [f"tool {name!r} was added" for name in sorted(after.keys() - before.keys())]
    for name in sorted(before.keys() & after.keys()):
        words += _changes(before[name], after[name])
    return words


def _changes(old: EvalTool, new: EvalTool) -> Iterator[str]:
    if old.description != new.description:
        yield f"description of tool {old.name!r} changed"
    if old.parameters == new.parameters:
        return
    before, after = _properties(old.parameters), _properties(new.parameters)
    yield from (f"parameter '{old.name}.{name}' was removed" for name in sorted(before.keys() - after.keys()))
    yield from (f"parameter '{old.name}.{name}' was added" for name in sorted(after.keys() - before.keys()))
    same = sorted(before.keys() & after.keys())
    yield from (f"parameter '{old.name}.{name}' changed" for name in same if before[name] != after[name])
    if _rest(old.parameters) != _rest(new.parameters):
        yield f"the schema of tool {old.name!r} changed outside its parameters"


def _properties(parameters: JsonText) -> dict[str, str]:
    """Canonical text of each parameter, with whether it is required."""
    schema = json.loads(parameters)
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return {}
    needed = required if isinstance(required, list) else []
    return {name: canonical_json([value, name in needed]) for name, value in properties.items()}


def _rest(parameters: JsonText) -> str:
    """What :func:`_properties` does not tell: all other keys, and names required that are no properties."""
    schema = json.loads(parameters)
    properties, required = schema.pop("properties", None), schema.pop("required", None)
    shown = properties if isinstance(properties, dict) else {}
    named = [name for name in required if name not in shown] if isinstance(required, list) else required
    odd = None if isinstance(properties, dict) else properties
    return canonical_json([schema, sorted(named, key=str) if named else named or [], odd])
