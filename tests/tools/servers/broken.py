"""MCP servers that do one thing wrong, written without the library; the first argument says which."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TOOL = {"name": "ping", "description": "Answers.", "inputSchema": {"type": "object"}}
INFO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "0"}}
BAD = {"code": -32603, "message": "the database is down"}


def say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def page(kind: str, cursor: str | None) -> dict[str, Any]:
    number = int(cursor or 0)
    pages: dict[str, dict[str, Any]] = {
        "endless": {"tools": [{**TOOL, "name": f"ping{number}"}], "nextCursor": str(number + 1)},
        "same-cursor": {"tools": [{**TOOL, "name": f"ping{number}"}], "nextCursor": "7"},
        "many": {"tools": [{**TOOL, "name": f"t{number}_{n}"} for n in range(3_000)]},
        "two-pages": {"tools": [{**TOOL, "name": f"ping{number}"}], **({} if number else {"nextCursor": "1"})},
        "empty-cursor": {"tools": [TOOL], "nextCursor": ""},
        "doubles": {"tools": [TOOL, TOOL]},
        "no-tools": {"tools": []},
        "bad-schema": {"tools": [{**TOOL, "inputSchema": {"type": "object", "properties": {"a": {"type": "strnig"}}}}]},
        "remote-ref": {"tools": [{**TOOL, "inputSchema": {"type": "object", "$ref": "http://127.0.0.1:1/x.json"}}]},
        "schema-no-object": {"tools": [{**TOOL, "inputSchema": [1]}]},
        "no-schema": {"tools": [{"name": "ping"}]},
        "no-name": {"tools": [{"inputSchema": {"type": "object"}}]},
        "tools-no-list": {"tools": "ping"},
        "no-result": {},
        "too-large": {"tools": [{**TOOL, "description": "x" * 200_000}]},
        "long-line": {"tools": [{**TOOL, "description": "x" * 17_000_000}]},
    }
    return pages.get(kind, {"tools": [TOOL]})


def answer(kind: str, request: dict[str, Any]) -> None:
    method, number = request.get("method"), request.get("id")
    if number is None:
        return
    if method == "initialize":
        say({"jsonrpc": "2.0", "id": number, "result": INFO})
    elif method == "tools/list" and kind == "error":
        say({"jsonrpc": "2.0", "id": number, "error": BAD})
    elif method == "tools/list" and kind == "hangs-later":
        time.sleep(600)
    elif method == "tools/list" and kind == "dies-later":
        sys.exit("no more memory")
    elif method == "tools/list":
        cursor = (request.get("params") or {}).get("cursor")
        say({"jsonrpc": "2.0", "id": number, "result": page(kind, cursor)})
    elif method == "tools/call":
        called(request, number)
    else:
        say({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": f"no {method}"}})


def called(request: dict[str, Any], number: int) -> None:
    arguments = request["params"].get("arguments", {})
    if arguments.get("how") == "die":
        sys.exit(3)
    if arguments.get("how") == "hang":
        return
    if arguments.get("how") == "refuse":
        say({"jsonrpc": "2.0", "id": number, "error": BAD})
        return
    if arguments.get("how") == "picture":
        picture = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
        link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
        say({"jsonrpc": "2.0", "id": number, "result": {"content": [picture, link]}})
        return
    if arguments.get("how") == "structure":
        say({"jsonrpc": "2.0", "id": number, "result": {"content": [], "structuredContent": {"b": 1, "a": 2}}})
        return
    content = [{"type": "text", "text": f"{request['params']['name']} {json.dumps(arguments)}"}]
    say({"jsonrpc": "2.0", "id": number, "result": {"content": content, "isError": arguments.get("how") == "fail"}})


def before(kind: str) -> None:
    if kind == "dies":
        sys.exit("ModuleNotFoundError: no module named 'acme'")
    if kind == "hangs":
        time.sleep(600)
    if kind == "floods":
        while True:
            sys.stdout.write("this is a log line, not a message\n")
    if kind == "notifies":
        while True:
            say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 999}})
    if kind == "one-line":
        while True:
            sys.stdout.write("x" * 99_999)
    if kind == "asks":
        for number in range(100_000):
            say({"jsonrpc": "2.0", "id": number, "method": "sampling/createMessage", "params": {}})
    if kind == "binary":
        sys.stdout.buffer.write(bytes(range(256)) * 10 + b"\n")
        sys.stdout.flush()
    if kind == "chatty":
        sys.stdout.write("Starting up…\n")
        sys.stdout.flush()
    if kind == "deep":
        sys.stdout.write("[" * 100_000 + "\n")
        sys.stdout.flush()
    if kind == "grandchild":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(os.environ["PIDS"]).write_text(f"{os.getpid()} {child.pid}", "utf-8")
        time.sleep(600)
    if kind == "secret":
        sys.exit(f"cannot log in with {os.environ['SHOP_TOKEN']}")


def main() -> None:
    kind = sys.argv[1]
    before(kind)
    for index, line in enumerate(sys.stdin):
        request = json.loads(line)
        if kind == "strict-greeting" and index == 0 and request.get("method") != "initialize":
            sys.exit("expected initialize")
        answer(kind, request)
    if kind == "will-not-go":
        time.sleep(600)


if __name__ == "__main__":
    main()
