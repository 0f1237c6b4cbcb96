"""The sink of the recorder: acknowledged means in the file, before anything happens outside.

``append`` holds lines back, ``commit`` hands all of them over in one write. Process death can then
lose only what no commit acknowledged, and can tear only the last line (RELIABILITY P1).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from enum import StrEnum
from os import fspath
from types import TracebackType
from typing import Final, NoReturn, Self, TypeAlias

from harness.errors import InvalidValueError, RecordingFailed, TrajectoryFormatError
from harness.redaction import Piece
from harness.store.held import HeldChunks
from harness.store.locks import hold
from harness.store.reading import File, open_reader
from harness.store.writing import EventWriter, header_bytes
from harness.types.events import Event, Header

Mask: TypeAlias = Callable[[bytes], bytes]
ChunkMask: TypeAlias = Callable[[Sequence[Piece]], list[str]]
"""Takes secrets out of chunks of streams; the same object where there was none in it."""

HELD_BYTES: Final = 1 << 18
"""Lines held back between commits, at most, in bytes; more are handed over early."""


class Existing(StrEnum):
    """What opening a sink does with a file that is there already."""

    REFUSE = "refuse"
    REPLACE = "replace"


class Durability(StrEnum):
    """What an acknowledged event survives: the death of the process, or also a power loss."""

    PROCESS = "process"
    POWER = "power"


class FileSink:
    """Appends events to one open file; implements ``protocols.Sink``. Raises RecordingFailed.

    After a failure nothing more is taken; what was acknowledged before stays as it is, and what
    the failed write left behind reads as a torn tail or as whole lines. ``write`` has the shape of
    ``os.write``: it may write less than it is given. ``mask`` takes secrets out of a line, and gives the
    same object where it holds none (RELIABILITY P5); ``chunk_mask`` does so with chunks of a stream, which are looked
    at together before they are handed over. ``n_masked`` counts the lines that held some.
    """

    def __init__(
        self,
        descriptor: int,
        path: str,
        *,
        writer: EventWriter,
        next_seq: int = 0,
        durability: Durability = Durability.PROCESS,
        write: Callable[[int, bytes], int] = os.write,
        mask: Mask | None = None,
        chunk_mask: ChunkMask | None = None,
    ) -> None:
        self.path = path
        self.n_masked = 0
        self._mask = mask
        self._chunk_mask = chunk_mask
        self._chunks = HeldChunks()
        self._descriptor = descriptor
        self._writer = writer
        self._next_seq = next_seq
        self._durability = durability
        self._write = write
        self._held: list[bytes] = []
        self._n_held = 0
        self._failure: str | None = None

    def append(self, event: Event) -> None:
        """Take the next event; it may be held back until the next commit."""
        if self._failure is not None or self._descriptor < 0:
            self._refuse()
        if event.seq != self._next_seq:
            raise RecordingFailed(f"{self.path}: got event {event.seq}, expected was {self._next_seq}")
        try:
            line = self._writer.line(event)
        except InvalidValueError as error:
            raise self._failed(str(error)) from error
        if self._mask is not None:
            line = self._masked(line, self._mask)
        if self._chunk_mask is not None:
            self._chunks.saw(event, len(self._held))
        self._next_seq += 1
        self._held.append(line)
        self._n_held += len(line)
        if self._n_held > HELD_BYTES:
            self.commit()

    def commit(self) -> None:
        """Everything taken so far is in the file when this returns."""
        if self._failure is not None or self._descriptor < 0:
            self._refuse()
        if not self._held:
            return
        if self._chunk_mask is not None:
            self._mask_chunks(self._chunk_mask)
        data = self._held[0] if len(self._held) == 1 else b"".join(self._held)
        self._held.clear()
        self._n_held = 0
        self._hand_over(data)

    def close(self) -> None:
        """Commit what is held, unless an earlier write failed, and close; a second time does nothing."""
        if self._descriptor < 0:
            return
        try:
            if self._failure is None:
                self.commit()
        finally:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)

    def put_header(self, header: Header) -> None:
        """Write the header's line; only at the beginning of a file."""
        try:
            line = header_bytes(header)
        except InvalidValueError as error:
            raise self._failed(str(error)) from error
        self._hand_over(line if self._mask is None else self._masked(line, self._mask))

    def _masked(self, line: bytes, mask: Mask) -> bytes:
        clean = mask(line)
        self.n_masked += clean is not line
        return clean

    def _mask_chunks(self, mask: ChunkMask) -> None:
        for position, event in self._chunks.masked(mask):
            line = self._writer.line(event)
            self._held[position] = line if self._mask is None else self._mask(line)
            self.n_masked += 1

    def _hand_over(self, data: bytes) -> None:
        try:
            n_written = self._write(self._descriptor, data)
            while n_written < len(data):
                data = data[n_written:]
                n_written = self._write(self._descriptor, data)
            if self._durability is Durability.POWER:
                os.fsync(self._descriptor)
        except OSError as error:
            raise self._failed(error.strerror or str(error)) from error

    def _failed(self, why: str) -> RecordingFailed:
        self._failure = why
        return RecordingFailed(f"{self.path}: cannot record: {why}. What was acknowledged before is in the file.")

    def _refuse(self) -> NoReturn:
        if self._failure is not None:
            raise RecordingFailed(f"{self.path}: an earlier write failed ({self._failure})")
        raise RecordingFailed(f"{self.path}: the sink is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_sink(
    path: File,
    header: Header,
    *,
    existing: Existing = Existing.REFUSE,
    durability: Durability = Durability.PROCESS,
    write: Callable[[int, bytes], int] = os.write,
    mask: Mask | None = None,
    chunk_mask: ChunkMask | None = None,
) -> FileSink:
    """Begin a new file, its header already in it; folders are made. The file is locked until the sink is closed.

    Raises RecordingFailed, also for a file that another run is writing.
    """
    name = fspath(path)
    how = os.O_EXCL if existing is Existing.REFUSE else 0
    try:
        try:
            descriptor = _open(name, os.O_CREAT | how)
        except FileNotFoundError:  # the first file of a folder
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            descriptor = _open(name, os.O_CREAT | how)
    except FileExistsError as error:
        raise RecordingFailed(f"{name}: exists already. Remove it, or choose another folder.") from error
    except OSError as error:
        raise RecordingFailed(f"{name}: cannot be opened: {error.strerror}") from error
    _empty(descriptor, name)
    sink = FileSink(
        descriptor, name, writer=EventWriter(), durability=durability, write=write, mask=mask, chunk_mask=chunk_mask
    )
    try:
        sink.put_header(header)
    except RecordingFailed:
        sink.close()
        raise
    return sink


def _empty(descriptor: int, name: str) -> None:
    """Only once the lock is held: what a live run has written stays (CONFORMANCE 136)."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return
    try:
        os.ftruncate(descriptor, 0)
    except OSError as error:
        os.close(descriptor)
        raise RecordingFailed(f"{name}: cannot be opened: {error.strerror}") from error


def continue_sink(path: File, *, durability: Durability = Durability.PROCESS) -> FileSink:
    """Go on in a file behind its last event (for repair). Raises TrajectoryFormatError for a torn tail.

    Also raises TrajectoryFormatError where the file cannot be read, RecordingFailed where it cannot
    be opened for writing.
    """
    name = fspath(path)
    writer = EventWriter()
    next_seq = 0
    with open_reader(path) as reader:
        for event in reader:
            writer.remember(event)
            next_seq = event.seq + 1
    if reader.torn is not None:
        raise TrajectoryFormatError(
            "the last line is torn. Repair the file first (repair_tail).", file=name, line=reader.torn.line
        )
    try:
        descriptor = _open(name, 0)
    except OSError as error:
        raise RecordingFailed(f"{name}: cannot be opened: {error.strerror}") from error
    return FileSink(descriptor, name, writer=writer, next_seq=next_seq, durability=durability)


def _open(name: str, flags: int) -> int:
    binary = getattr(os, "O_BINARY", 0)
    descriptor = os.open(name, os.O_WRONLY | os.O_APPEND | flags | getattr(os, "O_CLOEXEC", 0) | binary, 0o666)
    try:
        hold(descriptor, name)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
