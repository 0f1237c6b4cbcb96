"""What answers over HTTP and is no MCP server is told as what it is, within the limit and within bounds of memory."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harness.errors import ToolSourceError
from harness.types.evaluation import SourceKind, ToolSource
from tests.tools.sourcing import snapshot

SOON_MS = 1_500


class Odd(BaseHTTPRequestHandler):
    """Answers every request by its path."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Nothing is written to the terminal."""

    def do_POST(self) -> None:
        """Read the request, and answer it wrongly."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        ANSWERS[self.path.strip("/")](self)

    def answer(self, code: int, kind: str, data: bytes, *headers: tuple[str, str]) -> None:
        """A whole response."""
        self.send_response(code)
        for name, value in (("content-type", kind), ("content-length", str(len(data))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def for_ever(self, kind: str, data: bytes) -> None:
        """A body without end, until nobody reads it any more."""
        self.send_response(200)
        self.send_header("content-type", kind)
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(data)
        except OSError:
            return


def silent(request: Odd) -> None:
    RELEASED.wait(30)
    request.close_connection = True


RELEASED = threading.Event()
ANSWERS: dict[str, Callable[[Odd], None]] = {
    "html": lambda one: one.answer(200, "text/html", b"<h1>A page</h1>"),
    "broken": lambda one: one.answer(500, "text/plain", b"boom"),
    "locked": lambda one: one.answer(401, "text/plain", b"who are you"),
    "nothing-here": lambda one: one.answer(404, "text/plain", b""),
    "no-json": lambda one: one.answer(200, "application/json", b"{nope"),
    "array": lambda one: one.answer(200, "application/json", b"[]"),
    "elsewhere": lambda one: one.answer(302, "text/plain", b"", ("location", "http://example.invalid/")),
    "junk-events": lambda one: one.for_ever("text/event-stream", b"data: junk\n\n"),
    "one-event": lambda one: one.for_ever("text/event-stream", b"data: " + b"x" * 99_999),
    "one-message": lambda one: one.for_ever("application/json", b" " * 99_999),
    "silent": silent,
}


@pytest.fixture
def odd() -> Iterator[str]:
    """The address of the odd server."""
    RELEASED.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as http:
        serving = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        yield f"http://127.0.0.1:{http.server_port}"
        RELEASED.set()
        http.shutdown()
        serving.join()


@pytest.mark.parametrize(
    ("path", "says"),
    [
        pytest.param("html", "text/html", id="a-page"),
        pytest.param("broken", "HTTP status 500", id="it-failed"),
        pytest.param("locked", "HTTP status 401", id="it-wants-a-key"),
        pytest.param("nothing-here", "HTTP status 404", id="another-path"),
        pytest.param("no-json", "Failed to parse JSON", id="no-json"),
        pytest.param("array", "Failed to parse JSON", id="a-list"),
        pytest.param("elsewhere", "http://example.invalid/", id="a-redirect-is-not-followed"),
        pytest.param("junk-events", "Failed to parse SSE", id="junk-events"),
        pytest.param("one-event", "1048576 byte limit", id="an-event-without-end"),
        pytest.param("one-message", "16,777,216 bytes", id="a-message-without-end"),
        pytest.param("silent", f"after {SOON_MS} ms", id="no-answer"),
    ],
)
def test_what_is_no_server_of_tools_is_told_with_its_address(odd: str, path: str, says: str) -> None:
    with pytest.raises(ToolSourceError) as caught:
        snapshot(ToolSource(SourceKind.MCP, f"{odd}/{path}"), limit_ms=SOON_MS)
    assert says in str(caught.value)
    assert f"{odd}/{path}" in str(caught.value)
    assert "\n" not in str(caught.value)
