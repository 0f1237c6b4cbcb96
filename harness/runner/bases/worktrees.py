"""A commit checked out beside the work tree for as long as it is needed, whatever ends the process that needs it.

Each has a place of its own in the system's folder for temporary files, with a lock that the kernel releases when its
process dies; whoever comes next removes what a killed process left behind.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from harness.errors import HarnessError, RecordingFailed
from harness.runner.bases.repository import LONG_S, Repository, RepositoryError, git, short
from harness.store import locked

PREFIX: Final = "harness-base-"
_LOCK: Final = "lock"
_FULL: Final = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT)))
"""What git says, in the C locale, where it is not the repository that is at fault."""


@contextmanager
def worktree(repository: Repository, commit: str) -> Iterator[Path]:
    """The top of a work tree of ``commit``, gone when the block ends.

    Raises RepositoryError; HarnessError for a full disk.

    Hooks do not run, and submodules are not filled. What is untracked or ignored in the repository is not in it.
    """
    remove_left_behind(repository)
    place = Path(os.path.realpath(tempfile.mkdtemp(prefix=PREFIX)))
    tree = place / place.name
    try:
        (place / _LOCK).touch()
        with locked(place / _LOCK):
            done = git(repository.top, "worktree", "add", "--detach", "--quiet", str(tree), commit, timeout_s=LONG_S)
            if done.returncode:
                text = " ".join(done.stderr.decode("utf-8", "replace").split())
                what = f"{repository.top}: {short(commit)} cannot be checked out into {tree}: {text}"
                if any(word in text for word in _FULL):
                    raise HarnessError(f"{what} (TMPDIR says where there is more room)")
                raise RepositoryError(what)
            yield tree
    finally:
        _remove(repository, place)


def remove_left_behind(repository: Repository) -> None:
    """Remove work trees of ours whose process is dead; nobody else's. Raises RepositoryError."""
    listed = os.fsdecode(git(repository.top, "worktree", "list", "--porcelain", "-z").stdout)
    trees = [Path(field.removeprefix("worktree ")) for field in listed.split("\0") if field.startswith("worktree ")]
    for place in (tree.parent for tree in trees if tree.name == tree.parent.name and tree.name.startswith(PREFIX)):
        if not (place / _LOCK).is_file():
            _remove(repository, place)  # somebody emptied the folder for temporary files
            continue
        with suppress(RecordingFailed), locked(place / _LOCK):  # held: its process is alive
            _remove(repository, place)


def _remove(repository: Repository, place: Path) -> None:
    """Remove a place, and what the repository remembers of it."""
    git(repository.top, "worktree", "remove", "--force", "--force", str(place / place.name), timeout_s=LONG_S)
    shutil.rmtree(place, ignore_errors=True)
