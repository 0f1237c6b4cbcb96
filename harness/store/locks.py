"""One writer a file: a live run holds a lock that the kernel releases when its process dies.

The lock is on the file itself, so nothing is left behind that could block after a crash. Reading needs
none. Where the system has no such locks (Windows), nothing is locked.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath

from harness.errors import RecordingFailed

if sys.platform != "win32":
    import fcntl


_BUSY = "a live run is writing it (or a repair is under way). Wait for its end; reading is possible."


def hold(descriptor: int, name: str, busy: str = _BUSY) -> None:
    """Lock an open file until its descriptor is closed. Raises RecordingFailed where another one holds it.

    Devices and pipes are not locked.
    """
    if sys.platform == "win32" or stat.S_IFMT(os.fstat(descriptor).st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RecordingFailed(f"{name}: {busy}") from error
    except OSError:
        return  # a file system without locks: then there is one writer because nobody starts two


@contextmanager
def locked(path: str | PathLike[str], busy: str = _BUSY) -> Iterator[None]:
    """The lock of a file or folder that is there, for as long as the block lasts.

    Raises RecordingFailed as :func:`hold` does; ``busy`` says what it means that somebody holds it.
    """
    name = fspath(path)
    if sys.platform == "win32" and os.path.isdir(name):
        yield
        return
    try:
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise RecordingFailed(f"{name}: cannot be opened: {error.strerror}") from error
    try:
        hold(descriptor, name, busy)
        yield
    finally:
        os.close(descriptor)
