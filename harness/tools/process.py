"""Bodies in a child process, which loses its whole process group when it ends or is cancelled."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from harness.errors import ToolError, UnsupportedError
from harness.tools import child
from harness.tools.content import Output
from harness.tools.replies import BodyFailed
from harness.types.jsontext import canonical_json

_CHILD: Final = str(child.__file__)


def importable(name: str, function: Callable[..., Any]) -> tuple[str, str]:
    """Module and qualified name under which a child finds the function. Raises UnsupportedError."""
    module = getattr(function, "__module__", None)
    path = getattr(function, "__qualname__", "")
    if os.name != "posix":
        raise UnsupportedError(f"tool {name!r}: isolation 'subprocess' needs process groups; use 'thread' here")
    if not module or module == "__main__" or "<" in path or child.find(module, path) is not function:
        raise UnsupportedError(
            f"tool {name!r}: isolation 'subprocess' needs a function that a child can import by name, "
            f"not {function!r:.80}; define it at the top of a module, or use 'thread'"
        )
    return module, path


async def in_subprocess(where: tuple[str, str], arguments: Mapping[str, Any]) -> Output:
    """Run a function of a module in a child and give its content.

    Raises ToolError or BodyFailed as the child says. However this ends, nobody of the child's
    process group is left, grandchildren included (INVARIANTS 13).
    """
    with tempfile.TemporaryDirectory(prefix="harness-tool-") as folder:
        _write_request(folder, where, arguments)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            _CHILD,
            folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            await process.wait()
        finally:
            with suppress(ProcessLookupError):  # the whole group has ended by itself
                os.killpg(process.pid, signal.SIGKILL)
            await _reaped(process)
        return _read_reply(folder, process.returncode)


async def _reaped(process: asyncio.subprocess.Process) -> None:
    # A second cancel must not leave a zombie; after SIGKILL this takes no time worth naming.
    cancelled: asyncio.CancelledError | None = None
    while process.returncode is None:
        try:
            await process.wait()
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _write_request(folder: str, where: tuple[str, str], arguments: Mapping[str, Any]) -> None:
    module, path = where
    request = {"path": sys.path, "module": module, "function": path, "arguments": dict(arguments)}
    Path(folder, child.REQUEST).write_text(canonical_json(request), "utf-8")


def _read_reply(folder: str, returncode: int | None) -> Output:
    try:
        reply = json.loads(Path(folder, child.REPLY).read_text("utf-8"))
    except FileNotFoundError:
        raise BodyFailed("ProcessEnded", f"exit code {returncode}, without a result") from None
    if "content" in reply:
        return Output(reply["content"], reply["empty"], reply["concludes"], tuple(reply["context"]))
    if "code" in reply:
        raise ToolError(reply["message"], code=reply["code"])
    raise BodyFailed(reply["class"], reply["message"])
