"""Repair on disk: the one thing that appends to a file that is there already.

Under the lock that a live run holds, so nobody repairs what somebody writes (CONFORMANCE 136). The torn
tail is cut, and what the file still owes is handed over in one write; killed in between, a repair is
completed by the next one. Reading a file never writes to it (135).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from os import fspath

from harness.errors import RecordingFailed
from harness.folds import repair
from harness.store.locks import hold
from harness.store.reading import File, read_trajectory
from harness.store.sink import Durability, FileSink
from harness.store.writing import EventWriter
from harness.types.events import Event, Trajectory


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did: bytes of a torn tail that were cut, events that were appended. The trajectory is whole."""

    trajectory: Trajectory
    n_cut_bytes: int
    appended: tuple[Event, ...]

    @property
    def changed(self) -> bool:
        """Whether the file was written to at all."""
        return bool(self.n_cut_bytes or self.appended)


def repair_file(path: File) -> Repaired:
    """Close what a run that died left open in its file; a sound file stays as it is, byte for byte.

    Raises TrajectoryFormatError for a file damaged before its tail, RecordingFailed for one that a live run
    writes or that cannot be written; the file then stays as it was.
    """
    name = fspath(path)
    read_trajectory(path)  # what cannot be read is never opened for writing
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise RecordingFailed(f"{name}: cannot be repaired: {error.strerror}") from error
    try:
        hold(descriptor, name)
        return _repair(descriptor, name)
    finally:
        os.close(descriptor)


def _repair(descriptor: int, name: str) -> Repaired:
    found = read_trajectory(name)  # once more: only now nobody else writes
    n_cut = 0
    if found.torn is not None:
        n_cut = os.fstat(descriptor).st_size - found.torn.offset
        try:
            os.ftruncate(descriptor, found.torn.offset)
        except OSError as error:
            raise RecordingFailed(f"{name}: cannot be cut: {error.strerror}") from error
    owed = repair(found)
    whole = Trajectory(found.header, found.events + owed, source=found.source)
    if owed:
        _append(descriptor, name, found, owed)
    elif n_cut:
        os.fsync(descriptor)
    return Repaired(whole, n_cut, owed)


def _append(descriptor: int, name: str, found: Trajectory, owed: tuple[Event, ...]) -> None:
    writer = EventWriter()
    for event in found.events:
        writer.remember(event)
    sink = FileSink(descriptor, name, writer=writer, next_seq=len(found.events), durability=Durability.POWER)
    for event in owed:
        sink.append(event)
    sink.commit()
