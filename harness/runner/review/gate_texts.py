"""The gate that judges a change: as it was at the merge base, whatever the change makes of it."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import ConfigurationError
from harness.runner.bases.repository import LONG_S, Repository, RepositoryError, as_text, git, short
from harness.runner.review.goal_posts import Moved
from harness.runner.review.reviewing import GateText, gate_from_file
from harness.types.review import GateSource


def gate_text(gate: Path, moved: Moved | None = None) -> GateText:
    """The gate as it was at the merge base; as it lies here where no base is known, or it is outside the repository.

    Raises ConfigurationError where it is neither here nor there, RepositoryError where git fails.
    """
    name = None if moved is None else moved.repository.path_of(gate)
    if moved is None or name is None:
        return gate_from_file(gate)
    was = next((one.before for one in moved.changed if one.now == name and one.renamed), None) or name
    there = _followed(moved.repository, moved.merge_base, was)
    here = _here(gate)
    if there is None and here is None:
        raise ConfigurationError(
            f"--gate {gate}: there is no such file, neither here nor at the merge base {short(moved.merge_base)}"
        )
    edited = was != name or not _same(moved.repository, gate, there, here)
    return GateText(there, gate.as_posix(), GateSource.MERGE_BASE, edited=edited)


def _here(gate: Path) -> bytes | None:
    """The gate as it lies here; None: it does not. Raises ConfigurationError where it cannot be read."""
    try:
        return gate.read_bytes() if gate.is_file() else None
    except OSError as error:
        raise ConfigurationError(f"--gate {gate}: cannot be read: {error.strerror}") from None


def _followed(repository: Repository, commit: str, path: str) -> bytes | None:
    """A file as it was at a commit, or what its link (or that of a folder around it) led to there; None: none was.

    Raises RepositoryError for a link that leads out of the repository, or nowhere.
    """
    if "\n" in path:
        return repository.bytes_at(commit, path)
    asked = os.fsencode(f"{commit}:{path}\n")
    done = git(repository.top, "cat-file", "--batch", "--follow-symlinks", given=asked, timeout_s=LONG_S)
    if done.returncode:
        why = " ".join(done.stderr.decode("utf-8", "replace").split())
        raise RepositoryError(f"{repository.top}: {as_text(path)!r} at {short(commit)}: {why}")
    head, _, rest = done.stdout.partition(b"\n")
    if head.endswith(b" missing"):
        return None
    words = head.rsplit(b" ", 2)
    if len(words) != 3:
        what = f"{repository.top}: {as_text(path)!r} at {short(commit)}"
        raise RepositoryError(f"{what} is a link that leads out of the repository, or nowhere: name the file itself")
    return rest[: int(words[2])] if words[1] == b"blob" else None


def _same(repository: Repository, gate: Path, there: bytes | None, here: bytes | None) -> bool:
    """Are both one text for git, which may write other line ends into a work tree than it keeps?"""
    if there is None or here is None or there == here:
        return there == here
    name = repository.path_of(Path(os.path.realpath(repository.folder / gate)))
    if name is None:
        return False
    kept = git(repository.top, "hash-object", "--stdin", "--path", name, given=here)
    return kept.returncode == 0 and kept.stdout == git(repository.top, "hash-object", "--stdin", given=there).stdout
