"""The tools of an evaluation: where they come from, and as they were listed at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.types.messages import JsonText, OnDisk


class SourceKind(StrEnum):
    """Where offered tools come from."""

    MCP = "mcp"
    OPENAPI = "openapi"
    FROM = "from"
    SCHEMAS = "schemas"
    USE = "use"


@dataclass(frozen=True, slots=True)
class ToolSource:
    """One source of tools. ``location`` is a command or URL (mcp), a path (openapi, schemas in a file), or the name
    ``package.module:registry`` (from); ``inline`` the tools written into the document: canonical JSON text of a list
    of ``{name, description, parameters}``; ``names`` the built-in tools (use). ``only`` keeps those of its tools
    (names at the source; None: all), ``prefix`` stands before every name that the model sees, ``env`` names the
    variables of the environment that an MCP server's process is given beside the usual ones.
    """

    kind: SourceKind
    location: str = ""
    inline: JsonText | None = None
    names: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    prefix: str = ""
    env: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvalTool(OnDisk):
    """A tool as a model is offered it. ``original`` is its name at the source, where that had to change.

    ``parameters`` is a JSON Schema as canonical JSON text; what the model may not see (credentials) is not in it.
    """

    name: str
    description: str
    parameters: JsonText
    original: str | None = None
    read_only: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolSnapshot(OnDisk):
    """The tools of all sources at one moment, sorted by name, and the sha256 of their canonical form.

    ``sources`` says in words where they came from; ``notes`` what was changed or left out on the way.
    """

    tools: tuple[EvalTool, ...]
    digest: str
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
