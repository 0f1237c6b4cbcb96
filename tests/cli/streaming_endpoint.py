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
from harness.wire.failures import render_error
from harness.wire.responses import render_response_events


@contextmanager
def streaming(answer: Callable[[dict[str, Any]], Answer], asked: list[tuple[str, Any]]) -> Iterator[str]:
    """Stream ``answer(request body)`` word by word while the block runs; gives the base URL.

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


def frames(path: str, answer: Answer) -> list[bytes]:
    """The events of an answer, each as its bytes."""
    if path.endswith("/responses"):
        events = render_response_events(answer, id="resp_1", model="m", cut=ChunkCut.WORDS)
        return [f"event: {json.loads(one)['type']}\ndata: {one}\n\n".encode() for one in events]
    return [f"data: {one}\n\n".encode() for one in (*render_chunks(answer, cut=ChunkCut.WORDS), "[DONE]")]
