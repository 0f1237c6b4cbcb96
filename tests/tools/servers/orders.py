"""An MCP server whose every tool raises, and writes a file beside that says so, if it is ever called.

Without arguments it speaks over its pipes; with ``--port`` over HTTP on the loopback interface.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

server = MCPServer("orders", version="2.1")


def called(name: str) -> None:
    with Path(os.environ["CALLED"]).open("a", encoding="utf-8") as file:
        file.write(f"{name}\n")
    raise RuntimeError(f"{name} was called")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def get_order(id: Annotated[int, Field(description="The number of the order.")]) -> str:  # noqa: A002
    """Look up one order. Use this when a customer asks where an order is."""
    called("get_order")
    return ""


@server.tool()
def refund_order(id: int, reason: str = "") -> str:  # noqa: A002
    """Pay an order back. Use this only after the customer confirmed."""
    called("refund_order")
    return ""


@server.tool(name="orders.list/all")
def list_orders() -> str:
    """List all orders of the customer."""
    called("orders.list/all")
    return ""


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
