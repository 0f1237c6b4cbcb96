"""Whole files: written beside their place and moved there, never half (INVARIANTS 24, 27)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from os import fspath
from pathlib import Path

from harness.errors import ConfigurationError, RecordingFailed, TrajectoryFormatError
from harness.store.reading import File, open_reader
from harness.store.writing import lines_of
from harness.types.events import Trajectory


def replace_file(path: File, chunks: Iterable[bytes]) -> None:
    """Write a file anew: it has its old bytes or all of the new ones.

    Through a link its target is written. Raises RecordingFailed, and ConfigurationError for what is there
    and no file: a folder, a device, a pipe.
    """
    target = _target_of(Path(fspath(path)))
    digest = hashlib.sha256(fspath(target).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    beside = target.with_name(f".{digest}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _write_beside(beside, target, chunks)
    except OSError as error:
        raise RecordingFailed(f"{target}: cannot be written: {error.strerror or error}") from error


def check_folder(folder: File, option: str = "", *, writable: bool = True) -> None:
    """Raise ConfigurationError where nothing could be written into this folder, which is there or can be made.

    For what takes long and is written at its end: it is to be refused before it begins. ``option`` is what named it.
    Not ``writable``: only what can be no folder at all is refused, for a report that may fail and change nothing.
    """
    again = f"name another folder{option and f' with {option}'}"
    path = Path(fspath(folder))
    nearest = next(one for one in (path, *path.absolute().parents) if os.path.lexists(one))
    if not nearest.is_dir():
        what = "is no folder" if nearest == path else f"leads through {nearest}, which is no folder"
        raise ConfigurationError(f"{path} {what}: {again}")
    if writable and not os.access(nearest, os.W_OK | os.X_OK):
        raise ConfigurationError(f"{nearest} cannot be written to: {again}")


def check_file(path: File, option: str = "", *, writable: bool = True) -> None:
    """Raise ConfigurationError where no file could be written to this path; see :func:`check_folder`."""
    check_folder(_target_of(Path(fspath(path))).parent, option, writable=writable)


def _target_of(path: Path) -> Path:
    """Where the bytes go: moving a file onto a link or a device would put the file in its place."""
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if target.exists() and not target.is_file():
        kind = "a folder" if target.is_dir() else "a device, pipe or socket"
        raise ConfigurationError(f"{path} is {kind}: name a file to write to")
    return target


def _write_beside(beside: Path, target: Path, chunks: Iterable[bytes]) -> None:
    stream = open(beside, "wb")  # noqa: SIM115  # closed before it is moved, removed when that fails
    try:
        with stream:
            stream.writelines(chunks)
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_trajectory(path: File, trajectory: Trajectory) -> None:
    """Write a whole trajectory, replacing what is there.

    Raises RecordingFailed when the file cannot be written, InvalidValueError for values that have
    no place on disk; the old file then stays as it was.
    """
    replace_file(path, lines_of(trajectory))


def repair_tail(path: File) -> bytes:
    """Cut a file behind its last commit mark; gives back what was cut (nothing: it was whole).

    Raises TrajectoryFormatError for a file damaged before its tail, RecordingFailed where it cannot
    be cut.
    """
    with open_reader(path) as reader:
        for _ in reader:
            pass
    torn = reader.torn
    if torn is None:
        return b""
    try:
        with open(path, "r+b") as stream:
            stream.seek(torn.offset)
            cut = stream.read()
            if len(cut) != torn.n_bytes:
                raise TrajectoryFormatError("it grew while it was repaired", file=fspath(path), line=torn.line)
            stream.truncate(torn.offset)
            os.fsync(stream.fileno())
    except OSError as error:
        raise RecordingFailed(f"{fspath(path)}: cannot be cut: {error.strerror or error}") from error
    return cut
