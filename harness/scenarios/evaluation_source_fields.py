"""Fields of where an evaluation's tools come from; read, and written back."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, TypeAlias

from pydantic import ConfigDict, Field, Tag, model_validator

from harness.scenarios.base import FIELDS, LIST, TEXT, UNIQUE, Fields, Filled, ObjectName, by_shape, complaint
from harness.scenarios.writing import filled
from harness.types.evaluation import SourceKind, ToolSource
from harness.types.jsontext import canonical_json

_URL: Final = ("http://", "https://")
_SHOWN: Final = 5

Names: TypeAlias = Annotated[list[Filled], *UNIQUE]


class _Chosen(Fields):
    """Which tools of a source are taken, and under which names."""

    only: Annotated[Names, Field(min_length=1)] | None = None
    prefix: str = ""

    def source(self, kind: SourceKind, location: str, env: tuple[str, ...] = ()) -> ToolSource:
        only = None if self.only is None else tuple(self.only)
        return ToolSource(kind, location, only=only, prefix=self.prefix, env=env)


class McpFields(_Chosen):
    """An MCP server: a command that starts it, or the URL of one that runs."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["command"]}, {"required": ["url"]}]})
    command: Filled | None = None
    url: Filled | None = None
    env: Names = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_place(self) -> McpFields:
        given = self.given("command", "url")
        if len(given) != 1:
            raise complaint(f"needs 'command' or 'url', has {' and '.join(given) or 'neither'}")
        if self.url is not None and not self.url.startswith(_URL):
            raise complaint(f"{self.url!r} is no URL of a server; it begins with http:// or https://", field="url")
        if self.command is not None and self.command.startswith(_URL):
            raise complaint("is a URL; write it as 'url'", field="command")
        if self.env and self.url is not None:
            raise complaint("names what a process is given, and nothing is started for a URL", field="env")
        return self

    def made(self) -> ToolSource:
        return self.source(SourceKind.MCP, self.command or self.url or "", tuple(self.env))


class OpenApiFields(_Chosen):
    """An OpenAPI document; ``only`` names its operations."""

    path: Filled

    def made(self) -> ToolSource:
        return self.source(SourceKind.OPENAPI, self.path)


class ToolFields(Fields):
    """A tool written into the document."""

    name: Filled
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})


class SourceFields(Fields):
    """One source of tools, or several of different kinds."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    mcp: (
        Annotated[
            Annotated[Filled, Tag(TEXT)] | Annotated[McpFields, Tag(FIELDS)],
            by_shape("a command or a URL, or {command, env, only, prefix} or {url, only, prefix}"),
        ]
        | None
    ) = None
    openapi: (
        Annotated[
            Annotated[Filled, Tag(TEXT)] | Annotated[OpenApiFields, Tag(FIELDS)],
            by_shape("the path of an OpenAPI document, or {path, only, prefix}"),
        ]
        | None
    ) = None
    registry: ObjectName | None = Field(default=None, alias="from")
    schemas: (
        Annotated[
            Annotated[Filled, Tag(TEXT)] | Annotated[Annotated[list[ToolFields], Field(min_length=1)], Tag(LIST)],
            by_shape("the path of a file of tools, or a list of {name, description, parameters}"),
        ]
        | None
    ) = None
    use: Annotated[Names, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _something(self) -> SourceFields:
        if not self.model_fields_set:
            raise complaint(f"names no tools; give one of {', '.join(self.known())}")
        names = [tool.name for tool in self.schemas] if isinstance(self.schemas, list) else []
        double = sorted({name for name in names if names.count(name) > 1})
        if double:
            raise complaint(f"has {', '.join(map(repr, double[:_SHOWN]))} twice; a name is one tool", field="schemas")
        return self

    def made(self) -> tuple[ToolSource, ...]:
        """The sources in the order of the format's page, whatever the order of the fields."""
        found: list[ToolSource] = []
        if self.mcp is not None:
            found.append(ToolSource(SourceKind.MCP, self.mcp) if isinstance(self.mcp, str) else self.mcp.made())
        if self.openapi is not None:
            api = OpenApiFields(path=self.openapi) if isinstance(self.openapi, str) else self.openapi
            found.append(api.made())
        if self.registry is not None:
            found.append(ToolSource(SourceKind.FROM, self.registry))
        if isinstance(self.schemas, str):
            found.append(ToolSource(SourceKind.SCHEMAS, self.schemas))
        elif self.schemas is not None:
            inline = canonical_json([tool.model_dump() for tool in self.schemas])
            found.append(ToolSource(SourceKind.SCHEMAS, inline=inline))
        if self.use is not None:
            found.append(ToolSource(SourceKind.USE, names=tuple(self.use)))
        return tuple(found)


SourcesForm: TypeAlias = Annotated[
    Annotated[SourceFields, Tag(FIELDS)] | Annotated[Annotated[list[SourceFields], Field(min_length=1)], Tag(LIST)],
    by_shape("a source such as {mcp: …}, or a list of sources"),
]


def made_sources(form: SourceFields | list[SourceFields] | None) -> tuple[ToolSource, ...]:
    """The sources of either form, in order."""
    if form is None:
        return ()
    return form.made() if isinstance(form, SourceFields) else tuple(one for part in form for one in part.made())


def sources_document(sources: tuple[ToolSource, ...]) -> Any:
    """One mapping where that says the same, else a list."""
    written = [_source(one) for one in sources]
    merged = {name: part for one in written for name, part in one.items()}
    order = [kind.value for kind in SourceKind]
    kinds = [order.index(one.kind) for one in sources]
    return merged if len(merged) == len(written) and kinds == sorted(kinds) else written


def _source(source: ToolSource) -> dict[str, Any]:
    chosen = filled(only=list(source.only or ()), prefix=source.prefix)
    match source.kind:
        case SourceKind.MCP:
            is_url = source.location.startswith(_URL)
            more = filled(env=list(source.env)) | chosen
            place = {"url" if is_url else "command": source.location}
            return {"mcp": {**place, **more} if more else source.location}
        case SourceKind.OPENAPI:
            return {"openapi": {"path": source.location, **chosen} if chosen else source.location}
        case SourceKind.FROM:
            return {"from": source.location}
        case SourceKind.SCHEMAS:
            return {"schemas": source.location if source.inline is None else json.loads(source.inline)}
        case SourceKind.USE:
            return {"use": list(source.names)}
