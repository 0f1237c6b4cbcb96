"""What the process of a side has for its PYTHONPATH: this harness, then what lies in the work tree of that side."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import harness.errors
from harness.errors import RecordingFailed
from harness.runner.bases.in_tree import write_first_module
from harness.runner.bases.repository import Repository
from harness.store import locked

PATH_PREFIX: Final = "harness-path-"
_YOUNG_S: Final = 60


@contextmanager
def path_of_side(here: Repository, tree: Path, roots: Sequence[str]) -> Iterator[str]:
    """A PYTHONPATH with this harness first, alone in a folder, so that nothing that lies beside it comes along.

    Whatever is begun with that path of another work tree imports nothing of the caller's.
    """
    package = Path(harness.errors.__file__).parent
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    others = [entry for entry in named if entry and here.path_of(Path(entry)) is None]
    with tempfile.TemporaryDirectory(prefix=PATH_PREFIX) as place, locked(place):
        _remove_left_behind(Path(place))
        os.symlink(package, Path(place, package.name), target_is_directory=True)
        if os.path.realpath(tree) != os.path.realpath(here.top):
            write_first_module(Path(place), here.top, tree)
        yield os.pathsep.join([place, *roots, *others])


def _remove_left_behind(ours: Path) -> None:
    """Remove folders like ``ours`` beside it whose process was killed; one that is young may not be locked yet."""
    now = ours.stat()
    for place in ours.parent.glob(f"{PATH_PREFIX}*"):
        with suppress(OSError, RecordingFailed):  # it goes just now, or is another user's; or its process is alive
            known = place.lstat()
            old = known.st_mtime < now.st_mtime - _YOUNG_S
            if place != ours and old and known.st_uid == now.st_uid and stat.S_ISDIR(known.st_mode):
                with locked(place):
                    shutil.rmtree(place, ignore_errors=True)
