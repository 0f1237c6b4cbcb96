"""The bodies behind an evaluation's tools: registries, built-in tools, and servers while they are open."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from harness import plugins
from harness.errors import ToolSourceError
from harness.protocols import Tool
from harness.tools.build import FACTORIES, registry_from
from harness.tools.faced import ServerTool
from harness.tools.fixtures import Fixtures
from harness.tools.snapshot import LISTING_LIMIT_MS, differs, snapshot_of
from harness.tools.sources import Found, RawTool, finished
from harness.types.codes import Effect
from harness.types.evaluation import EvalTool, SourceKind, ToolSource
from harness.types.scenario import ToolsSpec

CALL_LIMIT_MS: Final = 60_000
"""How long an MCP server may take for one call, at least."""


def names_without_body(sources: Iterable[ToolSource], *, base: Path) -> tuple[str, ...]:
    """The tools, by name, that are nothing but their descriptions: those of ``openapi`` and ``schemas``.

    ``base`` is the folder of relative paths. Raises as :func:`harness.tools.snapshot.take_snapshot`.
    """
    return tuple(sorted(tool.name for source in sources for tool in _described(source, base)))


def _described(source: ToolSource, base: Path) -> tuple[EvalTool, ...]:
    if source.kind is SourceKind.OPENAPI:
        from harness.tools.openapi import openapi_tools

        return openapi_tools(source, base=base).tools
    if source.kind is SourceKind.SCHEMAS:
        from harness.tools.schemas_source import schemas_tools

        return schemas_tools(source, base=base).tools
    return ()


def bodies_here(sources: Sequence[ToolSource], workspace: Path) -> dict[str, Tool]:
    """The tools of registries and the built-in ones, by the names of the evaluation; built-in ones are made anew.

    ``workspace`` is the folder of file and memory tools. Raises ConfigurationError for what is no registry.
    """
    built_in = tuple(name for source in sources if source.kind is SourceKind.USE for name in source.names)
    fixtures = Fixtures(ToolsSpec(use=built_in), workspace)
    bodies: dict[str, Tool] = {}
    for source in sources:
        if source.kind is SourceKind.USE:
            bodies |= _named({name: FACTORIES[name](fixtures) for name in source.names}, source)
        elif source.kind is SourceKind.FROM:
            registry = registry_from(plugins.resolve(source.location), where=source.location)
            bodies |= _named({tool.name: tool for tool in registry}, source)
    return bodies


def _named(tools: Mapping[str, Tool], source: ToolSource) -> dict[str, Tool]:
    """Chosen and named as the source's snapshot has them."""
    raw = [
        RawTool(tool.name, tool.description, json.loads(tool.parameters), read_only=tool.effect is Effect.READ)
        for tool in tools.values()
    ]
    found = finished(raw, source, f"{source.kind} {source.location!r}")
    return {tool.name: tools[tool.original or tool.name] for tool in found.tools}


@asynccontextmanager
async def opened_servers(
    sources: Iterable[ToolSource],
    tools: Mapping[str, ServerTool],
    expected: Iterable[EvalTool],
    *,
    known: Iterable[str] = (),
    environ: Mapping[str, str],
    call_limit_ms: int = CALL_LIMIT_MS,
) -> AsyncIterator[None]:
    """The MCP servers among the sources, started and listed; ``tools`` call them as long as this is open.

    ``expected`` is what these tools were when the evaluation began; ``known`` names others, which may be of the same
    servers and are not called there. Raises ToolSourceError where a server fails or offers other tools now, in words;
    ConfigurationError for a command that cannot be started.
    """
    from harness.tools.mcp_source import open_mcp_tools  # loads the library of the protocol

    async with AsyncExitStack() as stack:
        found: list[Found] = []
        bodies: dict[str, Tool] = {}
        for source in sources:
            if source.kind is not SourceKind.MCP:
                continue
            one, opened = await stack.enter_async_context(
                open_mcp_tools(source, environ=environ, limit_ms=LISTING_LIMIT_MS, call_limit_ms=call_limit_ms)
            )
            found.append(one)
            bodies |= {tool.name: tool for tool in opened}
        _refuse_others(found, expected, set(known))
        for name, tool in tools.items():
            tool.lend(bodies[name])
        try:
            yield
        finally:
            for tool in tools.values():
                tool.lend(None)


def _refuse_others(found: Sequence[Found], expected: Iterable[EvalTool], known: set[str]) -> None:
    offered = [tool for one in found for tool in one.tools if tool.name not in known]
    words = differs(snapshot_of(expected), snapshot_of(offered))
    if words:
        labels = ", ".join(one.label for one in found) or "registries and built-in tools"
        raise ToolSourceError(
            f"{labels}: other tools are offered now than when the evaluation began: {'; '.join(words)}. What was "
            "answered before is of other tools: keep it and name another folder (--out)"
        )
