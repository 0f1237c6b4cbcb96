"""The REST interface of the service that holds a repository: bounded answers, few tries, the token for it alone."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any, Final

MOST_ANSWER_BYTES: Final = 20_000_000
TRIES: Final = 3
TIMEOUT_S: Final = 30
PASSING: Final = (429, 500, 502, 503, 504)
"""Statuses that may be gone at the next try."""


class Refused(Exception):
    """What was found is not taken, or the service said no: a person has to look."""


class NothingToDo(Exception):
    """There is no pull request to write to any more, which is no error."""


class Service:
    """The REST interface of the service that holds the repository."""

    def __init__(self, url: str, token: str, *, pause: Callable[[float], object] = time.sleep) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._pause = pause

    def get(self, path: str, **query: object) -> Any:
        """The JSON that stands there."""
        asked = f"{path}?{urllib.parse.urlencode(query)}" if query else path
        return _json("GET", asked, self._bytes("GET", asked, None, MOST_ANSWER_BYTES))

    def download(self, path: str, most: int) -> bytes:
        """The bytes that stand there. Raises Refused for more than ``most``."""
        return self._bytes("GET", path, None, most)

    def send(self, method: str, path: str, body: object) -> Any:
        """What came back of a JSON body that was sent."""
        return _json(method, path, self._bytes(method, path, json.dumps(body).encode("ascii"), MOST_ANSWER_BYTES))

    def _bytes(self, method: str, path: str, body: bytes | None, most: int) -> bytes:
        for left in reversed(range(TRIES)):
            try:
                return self._once(method, path, body, most)
            except urllib.error.HTTPError as error:
                if left == 0 or error.code not in PASSING or method == "POST":
                    raise Refused(_said_no(method, path, error)) from None
            except (OSError, http.client.HTTPException) as error:
                if left == 0 or method == "POST":
                    raise Refused(f"{method} {path} failed: {error}") from None
            self._pause(2.0 ** (TRIES - left))
        raise AssertionError("the last try returned or raised")

    def _once(self, method: str, path: str, body: bytes | None, most: int) -> bytes:
        request = urllib.request.Request(f"{self._url}{path}", data=body, method=method)
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", "2022-11-28")
        request.add_header("User-Agent", "agent-loop-harness")
        # An artifact is fetched from another host by a redirect, which must not be shown the token.
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            found: bytes = answer.read(most + 1)
        if len(found) > most:
            raise Refused(f"{path} is larger than {most} bytes")
        return found


def _json(method: str, path: str, data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Refused(f"{method} {path}: what came back is no JSON (a page of something in between?)") from None


def _said_no(method: str, path: str, error: urllib.error.HTTPError) -> str:
    hint = {
        401: "the token is not valid",
        403: "the token may not do that: the job needs `permissions: {actions: read, pull-requests: write}`",
        404: "there is nothing there, or the token may not see it",
    }.get(error.code, error.reason)
    return f"{method} {path}: {error.code}, {hint}"
