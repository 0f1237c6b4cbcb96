"""Functions that a child process can import by name."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from harness.errors import ToolError
from harness.tools import conclude


def add(a: int, b: int) -> dict[str, int]:
    """Add."""
    sys.stdout.write("noise that is no result")
    return {"sum": a + b}


async def add_later(a: int, b: int) -> int:
    await asyncio.sleep(0)
    return a + b


def concludes() -> Any:
    return conclude({"sum": 5})


def nothing_at_all() -> None:
    return None


def broken() -> None:
    raise ValueError("broken in the child")


def refused() -> None:
    raise ToolError("not for you", code="PERMISSION_DENIED")


def odd() -> Any:
    return object()


def dies() -> None:
    os._exit(7)


def leaves(folder: str) -> None:
    """Start a grandchild that writes its pid, then hang for ever."""
    _grandchild(folder)
    while True:
        time.sleep(60)


def forgets(folder: str) -> str:
    """Start a grandchild and return while it lives."""
    _grandchild(folder)
    while not Path(folder, "pid").exists():
        time.sleep(0.005)
    return "returned"


def _grandchild(folder: str) -> None:
    code = "import os, sys, time; p = sys.argv[1]; f = open(p + '.part', 'w'); f.write(str(os.getpid())); f.close(); os.rename(p + '.part', p); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code, str(Path(folder, "pid"))])
