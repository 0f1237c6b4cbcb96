"""Words for tests of tool sources: take a snapshot, start the servers of this folder."""

import asyncio
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.tools.snapshot import take_snapshot
from harness.types.evaluation import SourceKind, ToolSnapshot, ToolSource

SERVERS = Path(__file__).parent / "servers"


def server(*args: str, **fields: Any) -> ToolSource:
    """A source that starts one of the servers of this folder."""
    command = shlex.join([sys.executable, str(SERVERS / args[0]), *args[1:]])
    return ToolSource(SourceKind.MCP, command, **fields)


def inline(*tools: Any, **fields: Any) -> ToolSource:
    """A source of tools that stand in the document."""
    return ToolSource(SourceKind.SCHEMAS, inline=json.dumps(tools), **fields)


def snapshot(
    *sources: ToolSource, base: Path = Path(), environ: Mapping[str, str] | None = None, limit_ms: int = 30_000
) -> ToolSnapshot:
    """The snapshot of these sources, taken now."""
    given = {**os.environ, **(environ or {})}
    return asyncio.run(take_snapshot(sources, base=base, environ=given, limit_ms=limit_ms))


def schema_of(taken: ToolSnapshot, name: str) -> Any:
    """The parameters of a tool of a snapshot, as a value."""
    return json.loads(next(tool for tool in taken.tools if tool.name == name).parameters)


def names_of(taken: ToolSnapshot) -> Sequence[str]:
    """The names of a snapshot's tools, in their order."""
    return [tool.name for tool in taken.tools]
