"""An endpoint on the loopback interface that streams scripted answers in both dialects, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.errors import ModelError
from harness.types.chunking import ChunkCut
from harness.types.doors import Answer
from harness.wire.chat import render_chunks
from harness.wire.completions import render_completion
from harness.wire.failures import render_error
from harness.wire.responses import render_response, render_response_events


@contextmanager
def streaming(answer: Callable[[dict[str, Any]], Answer], asked: list[tuple[str, Any]]) -> Iterator[str]:
    """Give ``answer(request body)`` while the block runs, word by word where a stream was asked for; gives the base URL.

    A ModelError that it raises becomes the HTTP answer that stands for it.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, body))
            try:
                found = answer(body)
            except ModelError as error:
                rendered = render_error(error)
                assert rendered is not None
                status, _, payload = rendered
                self.send_response(status)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)
                return
            self.send_response(200)
            if body.get("stream") is not True:
                payload = whole(self.path, found)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)
                return
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for frame in (*frames(self.path, found), b""):
                self.wfile.write(f"{len(frame):x}\r\n".encode() + frame + b"\r\n")

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


def whole(path: str, answer: Answer) -> bytes:
    """The body of an answer."""
    render = render_response if path.endswith("/responses") else render_completion
    return json.dumps(render(answer, id="r_1", model="m")).encode()


def frames(path: str, answer: Answer) -> list[bytes]:
    """The events of an answer, each as its bytes."""
    if path.endswith("/responses"):
        events = render_response_events(answer, id="resp_1", model="m", cut=ChunkCut.WORDS)
        return [f"event: {json.loads(one)['type']}\ndata: {one}\n\n".encode() for one in events]
    return [f"data: {one}\n\n".encode() for one in (*render_chunks(answer, cut=ChunkCut.WORDS), "[DONE]")]
