"""The file of ``harness serve --log``: a line for each request, and nothing of anybody else's is lost for it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final, TextIO

from harness.errors import ConfigurationError
from harness.store import check_file
from harness.types.jsontext import parse_json

_MOST: Final = 16 << 20
_OPTION: Final = "--log"


class RequestLog:
    """Opened by :meth:`open`, once the server listens; what comes before that is kept until then.

    Raises ConfigurationError for a place that cannot be written to, and for a file that is there and no
    log of requests: a scenario, say. An older log is replaced, by :meth:`open` and not before.
    """

    def __init__(self, path: Path) -> None:
        check_file(path, _OPTION)
        if path.exists():
            _refuse_others(path)
        self.path = path
        self._waiting: list[str] = []
        self._stream: TextIO | None = None
        self._lock = threading.Lock()

    def open(self) -> None:
        """Make the file, and its folder where there is none. Raises OSError."""
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self.path.open("w", encoding="utf-8")
            self._put(*self._waiting)

    def write(self, line: str) -> None:
        """One request has ended; called in the server's thread."""
        with self._lock:
            self._put(line) if self._stream else self._waiting.append(line)

    def close(self) -> None:
        """Close the file, if it was made."""
        if self._stream is not None:
            self._stream.close()

    def _put(self, *lines: str) -> None:
        assert self._stream is not None
        self._stream.writelines(f"{line}\n" for line in lines)
        self._stream.flush()


def _refuse_others(path: Path) -> None:
    again = f"name another file with {_OPTION}"
    if not os.access(path, os.R_OK | os.W_OK):
        raise ConfigurationError(f"{path} cannot be read and written: {again}")
    with path.open("rb") as stream:
        first = stream.readline(_MOST)
    value = parse_json(first.decode("utf-8", "replace")) if first else {"request": 0, "went": ""}
    if not isinstance(value, dict) or not {"request", "went"} <= value.keys():
        raise ConfigurationError(f"{path} is there already and is no log of requests, so it is not replaced: {again}")
