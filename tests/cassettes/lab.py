"""A loopback endpoint on a real socket, and small ways to talk through our transports."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import openai

from harness.cassettes import (
    Cassette,
    Chunk,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    RecordingInfo,
    RecordTransport,
    ReplayTransport,
    open_recording,
)
from harness.cassettes.bodies import show_path
from harness.errors import CassetteMiss

CHAT = "/chat/completions"
INFO = RecordingInfo(
    scenario="weather/oslo", digest="sha256:0", recorded_at="2026-01-31T10:00:00Z", harness_version="0.1.0"
)


@dataclass
class StepClock:
    """A clock that moves on by 7 ms whenever it is asked; sleeps are noted and cost nothing."""

    kind: Any = None
    at_ms: int = 0
    slept_ms: list[int] = field(default_factory=list)

    def now_ms(self) -> int:
        self.at_ms += 7
        return self.at_ms

    async def sleep_ms(self, duration_ms: int) -> None:
        self.slept_ms.append(duration_ms)


@dataclass
class Reply:
    """What the endpoint answers; pieces are sent one by one as HTTP chunks."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    pieces: tuple[bytes, ...] = (b"{}",)
    break_off: bool = False


@dataclass
class Endpoint:
    """What the server saw, and where it listens."""

    base_url: str
    seen: list[tuple[str, dict[str, str], bytes]]


def completion(content: str | None = "done", **message: Any) -> dict[str, Any]:
    """A whole answer as an endpoint gives it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "lab-model",
        "system_fingerprint": "lab-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls" if message else "stop",
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """A reply with a JSON body in one piece."""
    named = tuple((name.replace("_", "-"), text) for name, text in headers.items())
    return Reply(status, (("Content-Type", "application/json"), *named), (json.dumps(value).encode(),))


@contextmanager
def endpoint(answer: Callable[[int, bytes], Reply]) -> Iterator[Endpoint]:
    """A server on a free loopback port; ``answer`` gets the number of the request (from 0) and its body."""
    seen: list[tuple[str, dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "lab/1.0"
        sys_version = ""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            seen.append((self.path, {name.lower(): text for name, text in self.headers.items()}, body))
            reply = answer(len(seen) - 1, body)
            self.send_response(reply.status)
            for name, text in reply.headers:
                self.send_header(name, text)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in reply.pieces:
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                self.wfile.flush()
            if reply.break_off:
                self.close_connection = True
                self.connection.close()
                return
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Endpoint(f"http://127.0.0.1:{server.server_port}/v1", seen)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def client(
    transport: httpx2.AsyncBaseTransport, base_url: str = "http://nowhere.invalid/v1", **options: Any
) -> openai.AsyncOpenAI:
    """The real client on one of our transports."""
    options = {"api_key": "unused", "max_retries": 0, **options}
    return openai.AsyncOpenAI(base_url=base_url, http_client=httpx2.AsyncClient(transport=transport), **options)


async def post(asking: openai.AsyncOpenAI, body: dict[str, Any]) -> dict[str, Any]:
    """One request through the real client; gives the parsed answer."""
    response = await asking.post(CHAT, body=body, cast_to=httpx2.Response)
    answer: dict[str, Any] = json.loads(response.content)
    return answer


async def outcome_of(transport: ReplayTransport, *bodies: dict[str, Any]) -> list[str]:
    """What each request gave: the answer's text, or the class of the error."""
    said = []
    async with client(transport) as asking:
        for body in bodies:
            try:
                answer = await post(asking, body)
            except CassetteMiss as miss:
                said.append(str(miss))
            else:
                said.append(answer["choices"][0]["message"]["content"])
    return said


def exchange(body: Any, answer: Any = None, *, chunks: tuple[Chunk, ...] = ()) -> Exchange:
    """An exchange in memory, for tests of matching that need no server."""
    said = json.dumps(completion() if answer is None else answer).encode()
    kind = (("content-type", "application/json"),)
    asked = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Exchange(
        RecordedRequest("POST", "http://nowhere.invalid/v1/chat/completions", kind, asked),
        RecordedResponse(200, "OK", kind, said, chunks),
    )


def cassette(*bodies: Any) -> Cassette:
    """Requests in memory, each answered by "answer <number>"."""
    return Cassette(tuple(exchange(body, completion(f"answer {n}")) for n, body in enumerate(bodies, 1)))


WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CALL: dict[str, Any] = {
    "id": "c1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city":"Oslo"}'},
}


def two_steps() -> tuple[dict[str, Any], dict[str, Any]]:
    """The requests of a run with one tool call."""
    system = "You are a weather desk.\nBe brief.\nUse tools.\nNever guess."
    first = [{"role": "system", "content": system}, {"role": "user", "content": "Weather in Oslo?"}]
    second = [
        *first,
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"temperature_c": 4}'},
    ]
    common = {"model": "lab-model", "temperature": 0, "seed": 1, "tools": [WEATHER]}
    return {**common, "messages": first}, {**common, "messages": second}


def recording(path: Path, secrets: tuple[str, ...] = (), **options: Any) -> RecordTransport:
    upstream = httpx2.AsyncHTTPTransport(trust_env=False)
    return open_recording(path, upstream=upstream, secrets=secrets, info=INFO, clock=StepClock(), **options)


def weather(number: int, body: bytes) -> Reply:
    """First a tool call, then an answer."""
    if json.loads(body)["messages"][-1]["role"] == "tool":
        return json_reply(completion("4 degrees"), set_cookie="sid=cookie-canary", x_request_id="abc")
    return json_reply(completion(None, tool_calls=[CALL]), openai_organization="org-canary")


def frames(*texts: str) -> tuple[bytes, ...]:
    """A streamed answer in Server-Sent Events, one a piece."""
    said = [
        {"id": "s", "object": "chat.completion.chunk", "created": 1, "model": "lab-model", "choices": [{"index": 0, "delta": {"content": text}}]}
        for text in texts
    ]  # fmt: skip
    return (*(f"data: {json.dumps(one)}\n\n".encode() for one in said), b"data: [DONE]\n\n")


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every place of a JSON value, containers too."""
    if path:
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from leaves(item, (*path, key))


GONE = object()
"""Stands for taking a place away."""


def mutants(value: Any) -> list[Any]:
    """Other values for a place: each differs from it."""
    match value:
        case bool():
            return [not value, None, int(value)]
        case int() | float():
            return [value + 1, str(value), None, GONE]
        case str():
            return [value + " ", value.upper() + "x", None, [value], GONE]
        case list():
            return [[*value, "x"], value[:-1], None]
        case dict():
            return [{**value, "x": 1}, None]
        case _:
            return [0, ""]


def all_mutations(bodies: tuple[dict[str, Any], ...]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(number of the request, path that must be named, changed body) for each place and mutant."""
    for number, body in enumerate(bodies, 1):
        for path, value in leaves(body):
            for mutant in mutants(value):
                other = copy.deepcopy(body)
                at: Any = other
                for part in path[:-1]:
                    at = at[part]
                at[path[-1]] = mutant
                if mutant is GONE:
                    del at[path[-1]]
                yield number, show_path(path), other
