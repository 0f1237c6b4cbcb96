"""Tools of an MCP server as bodies: each call goes to the server (``tools/call``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp import Client, MCPError
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT, CallToolResult, Tool

from harness.errors import ToolError
from harness.protocols import ToolContext
from harness.tools.schema import ArgumentSchema
from harness.tools.sources import RawTool
from harness.types.codes import Code, Effect, Isolation, Mode
from harness.types.evaluation import EvalTool
from harness.types.jsontext import canonical_json, text_digest


def raw_tool(tool: Tool) -> RawTool:
    """A tool of a server's list as it stands there."""
    hints = tool.annotations
    read_only = None if hints is None else hints.read_only_hint
    return RawTool(tool.name, tool.description or "", tool.input_schema, read_only=read_only)


class McpTool:
    """A tool whose body asks the server; the name is as the model sees it, the call goes to the server's own name.

    An error result, an error of the protocol and a call that takes longer than ``call_limit_ms`` are ToolErrors.
    """

    def __init__(self, tool: EvalTool, client: Client, *, call_limit_ms: int) -> None:
        self.name = tool.name
        self.description = tool.description
        self.parameters = tool.parameters
        self.mode = Mode.PARALLEL
        self.effect = Effect.READ if tool.read_only else Effect.WRITE
        self.idempotent = False
        self.isolation = Isolation.INLINE
        self._client = client
        self._original = tool.original or tool.name
        self._limit_ms = call_limit_ms
        self._schema = ArgumentSchema(tool.name, tool.parameters)

    def __repr__(self) -> str:
        return f"McpTool({self.name!r})"

    def check(self, arguments: Mapping[str, Any]) -> str | None:
        """What is wrong with the arguments and what is allowed, or None."""
        return self._schema.explain(arguments)

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Call the server. Raises ToolError for all that it does not do; lets cancellation through."""
        try:
            result = await self._client.session.call_tool(
                self._original, dict(arguments), read_timeout_seconds=self._limit_ms / 1000
            )
        except MCPError as error:
            raise _tool_error(self.name, error, self._limit_ms) from error
        text = _text_of(result)
        if result.is_error:
            raise ToolError(text or f"tool {self.name!r} failed without a word")
        return text


def _tool_error(name: str, error: MCPError, limit_ms: int) -> ToolError:
    if error.code == REQUEST_TIMEOUT:
        return ToolError(f"the server did not answer {name!r} in {limit_ms} ms", code=Code.TOOL_TIMEOUT)
    if error.code == CONNECTION_CLOSED:
        return ToolError(f"the server of {name!r} has ended")
    return ToolError(f"the server refused {name!r}: {error.message} ({error.code})")


def _text_of(result: CallToolResult) -> str:
    """The content as text: texts as they are, anything else as what it is; the structured value where there is none."""
    parts = [_part(block.model_dump(mode="json", by_alias=True, exclude_none=True)) for block in result.content]
    if not parts and result.structured_content is not None:
        return canonical_json(result.structured_content)
    return "\n".join(parts)


def _part(block: Mapping[str, Any]) -> str:
    if block.get("type") == "text":
        return str(block["text"])
    if "data" in block:
        return f"[{block['type']} {block.get('mimeType', '')}, {text_digest(str(block['data']))}]"
    return canonical_json(block)
