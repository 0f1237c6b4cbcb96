"""A loopback service with the few endpoints that the comment needs, and artifacts that are made by hand."""

from __future__ import annotations

import importlib.util
import io
import json
import re
import sys
import threading
import urllib.parse
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any

from tests.house.source import REPO

REPOSITORY = "shop/agent"
FORK = "somebody/agent"
HEAD = "a" * 40
BOT = "github-actions[bot]"
FOLDER = REPO / "docs" / "ci" / "comment"


def load() -> ModuleType:
    """The script as the action runs it: with its own folder on the path."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("harness_ci_comment", FOLDER / "comment.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def artifact(
    members: Mapping[str, str | bytes] | list[tuple[str, bytes]], compression: int = zipfile.ZIP_DEFLATED
) -> bytes:
    """A zip file with these members; a list may hold a name twice."""
    pairs = members if isinstance(members, list) else list(members.items())
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in pairs:
            archive.writestr(name, data)
    return stream.getvalue()


def pull(number: int = 7, **changes: Any) -> dict[str, Any]:
    """A pull request from a fork, as the service tells it."""
    made: dict[str, Any] = {
        "number": number, "state": "open", "base": {"repo": {"full_name": REPOSITORY}},
        "head": {"sha": HEAD, "ref": "topic", "repo": {"full_name": FORK}},
    }  # fmt: skip
    for name, value in changes.items():
        if name in ("sha", "ref", "repo"):
            made["head"][name] = {"full_name": value} if name == "repo" and value else value
        else:
            made[name] = value
    return made


@dataclass
class FakeService:
    """What the service holds, and what it was asked. ``failing`` gives the status of the next requests."""

    zip: bytes = b""
    pulls: dict[int, dict[str, Any]] = field(default_factory=lambda: {7: pull()})
    comments: list[dict[str, Any]] = field(default_factory=list)
    artifacts: list[dict[str, Any]] | None = None
    failing: list[int] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: dict[str, str | None] = field(default_factory=dict)
    elsewhere: str = ""
    raw: bytes | None = None

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """The status and the JSON of an answer; a path that is not known is 404."""
        routes: list[tuple[str, str, Callable[..., Any]]] = [
            ("GET", r"/repos/shop/agent/actions/runs/42/artifacts", self._listed),
            ("GET", r"/repos/shop/agent/pulls/(\d+)", lambda number: self.pulls.get(int(number))),
            ("GET", r"/repos/shop/agent/pulls", lambda: self._of_head(query)),
            ("GET", r"/repos/shop/agent/issues/(\d+)/comments", lambda number: self._page(int(number), query)),
            ("POST", r"/repos/shop/agent/issues/(\d+)/comments", lambda number: self.say(body["body"], number=int(number))),
            ("PATCH", r"/repos/shop/agent/issues/comments/(\d+)", lambda number: self._edit(int(number), body)),
        ]
        for wanted, pattern, route in routes:
            found = re.fullmatch(pattern, path)
            if found and wanted == method:
                said = route(*found.groups())
                return (404, {"message": "Not Found"}) if said is None else (200, said)
        return 404, {"message": "Not Found"}

    def say(self, body: str, *, author: str = BOT, number: int = 7) -> dict[str, Any]:
        """A comment that somebody writes."""
        made = {"id": len(self.comments) + 1, "body": body, "user": {"login": author}, "number": number}
        self.comments.append(made)
        return made

    def _listed(self) -> Any:
        made = {"id": 5, "name": "harness-report-comment", "size_in_bytes": len(self.zip), "expired": False}
        return {"artifacts": [made] if self.artifacts is None else self.artifacts}

    def _of_head(self, query: dict[str, str]) -> list[dict[str, Any]]:
        owner, _, ref = query["head"].partition(":")
        return [
            one
            for one in self.pulls.values()
            if one["state"] == query["state"] and one["head"]["ref"] == ref
            and (one["head"]["repo"] or {"full_name": "gone/"})["full_name"].startswith(f"{owner}/")
        ]  # fmt: skip

    def _page(self, number: int, query: dict[str, str]) -> list[dict[str, Any]]:
        per, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        mine = [one for one in self.comments if one["number"] == number]
        return mine[(page - 1) * per : page * per]

    def _edit(self, number: int, body: Any) -> dict[str, Any]:
        comment = self.comments[number - 1]
        comment["body"] = body["body"]
        return comment


@contextmanager
def serving(service: FakeService) -> Iterator[str]:
    """Serve it on the loopback interface; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            where = urllib.parse.urlsplit(self.path)
            service.asked.append((self.command, self.path))
            service.tokens[where.path] = self.headers.get("Authorization")
            if service.failing:
                return self._send(service.failing.pop(0), b"{}")
            if service.raw is not None:
                return self._send(200, service.raw)
            if where.path == "/repos/shop/agent/actions/artifacts/5/zip":
                host = service.elsewhere or f"http://127.0.0.1:{self.server.server_address[1]}"
                return self._send(302, b"", location=f"{host}/storage/5")
            if where.path == "/storage/5":
                return self._send(200, service.zip)
            status, said = service.answer(self.command, where.path, dict(urllib.parse.parse_qsl(where.query)), body)
            return self._send(status, json.dumps(said).encode())

        def _send(self, status: int, data: bytes, *, location: str = "") -> None:
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = _do  # noqa: N815 - the names that the base class looks for

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class has it
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
