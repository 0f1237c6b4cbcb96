"""An MCP server that counts its calls, written without the library, so that it starts quickly.

Each start adds its process id to the file ``STARTED``. From start number ``CHANGES_AT`` on it describes a tool in other
words and offers one more; from number ``DIES_AT`` on it dies.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

INFO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "3"}}
ID = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


def tools(number: int) -> list[dict[str, Any]]:
    changed = number >= int(os.environ.get("CHANGES_AT", "1000"))
    known = [
        {"name": "get.order", "description": "Tells." if changed else "Finds an order.", "inputSchema": ID, "annotations": {"readOnlyHint": True}},
        {"name": "refund_order", "description": "Gives back.", "inputSchema": ID},
    ]
    return [*known, {"name": "new", "description": "New.", "inputSchema": ID}] if changed else known


def main() -> None:
    started = Path(os.environ["STARTED"])
    with started.open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    number, n_calls = len(started.read_text("utf-8").splitlines()), 0
    if number >= int(os.environ.get("DIES_AT", "1000")):
        sys.exit("no more memory")
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("id") is None:
            continue
        said: dict[str, Any] = {"error": {"code": -32601, "message": "no such method"}}
        if request["method"] == "initialize":
            said = {"result": INFO}
        elif request["method"] == "tools/list":
            said = {"result": {"tools": tools(number)}}
        elif request["method"] == "tools/call":
            n_calls += 1
            asked = request["params"]
            text = f"{asked['name']} {asked['arguments']['id']}, call {n_calls}"
            said = {"result": {"content": [{"type": "text", "text": text}]}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **said}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
