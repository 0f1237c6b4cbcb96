"""A small OpenAI-compatible endpoint on the loopback interface, for what records and runs live."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def says(text: str) -> dict[str, Any]:
    """A response that answers."""
    return _response({"role": "assistant", "content": text}, "stop")


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    """A response that calls one tool."""
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return _response({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")


def _response(message: dict[str, Any], finish: str) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return {"id": "r", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


@contextmanager
def endpoint(answer: Callable[[dict[str, Any]], Any]) -> Iterator[str]:
    """Serve ``answer(request body)`` while the block runs; gives the base URL.

    An answer is a response, a status, or a status with its body.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = answer(body)
            if isinstance(found, int):
                found = found, {"error": {"message": "no"}}
            status, data = found if isinstance(found, tuple) else (200, found)
            payload = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Nothing: the test reads what the command line says."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
