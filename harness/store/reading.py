"""Reading trajectories: strict and streaming, a torn tail reported, damage refused by line number.

A line is what stands before a line feed; nothing else ends one (INVARIANTS 27). The line feed is
the commit mark: text behind the last one was never acknowledged and is never parsed, not even when
it happens to be JSON (RELIABILITY P1, case PB-038).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from os import PathLike, fspath
from typing import BinaryIO, NoReturn, TypeAlias

from harness.errors import TrajectoryFormatError
from harness.store.ondisk import HEADER_TYPE
from harness.store.parsing import BadLine, EventReader, parse_header
from harness.types.events import Event, TornTail, Trajectory
from harness.types.jsontext import parse_json

File: TypeAlias = str | PathLike[str]

_CHUNK_BYTES = 1 << 16
_WRITTEN_BY_US = b'{"type":"%s"' % HEADER_TYPE.encode()
_LINE_FEED = ord("\n")


class TrajectoryReader:
    """Header first, then events one by one; ``torn`` is known once they are through.

    Raises TrajectoryFormatError, on opening and while iterating, for everything but a torn tail.
    Memory holds one event and the newest request's messages.
    """

    def __init__(self, stream: BinaryIO, source: str) -> None:
        self._stream = stream
        self.source = source
        self.torn: TornTail | None = None
        self._events = EventReader()
        try:
            first = stream.readline()
        except OSError as error:
            self._fail(error)
        if not first.endswith(b"\n"):
            self._refuse("the file is empty" if not first else "the header line is not finished", 1)
        try:
            self.header = parse_header(first)
        except BadLine as bad:
            self._refuse(str(bad), 1)
        self._first_offset = len(first)

    def __iter__(self) -> Iterator[Event]:
        event_of = self._events.event
        offset = self._first_offset
        try:
            for line in self._stream:
                if line[-1] != _LINE_FEED:
                    self.torn = TornTail(self._line, offset, len(line))
                    return
                try:
                    event = event_of(line)
                except BadLine as bad:
                    self._end_with(line, offset, bad)
                    return
                offset += len(line)
                yield event
        except OSError as error:
            self._fail(error)

    @property
    def _line(self) -> int:
        """The number of the line behind the header and all events so far."""
        return self._events.next_seq + 2

    def _fail(self, error: OSError) -> NoReturn:
        """For a folder, or a disk that fails."""
        raise TrajectoryFormatError(f"cannot be read: {error.strerror}", file=self.source) from error

    def _end_with(self, line: bytes, offset: int, bad: BadLine) -> None:
        """Accept torn text that only blank lines follow, and blank lines at the end; refuse the rest."""
        place = self._line
        blank = not line.strip()
        n_blank = 0
        while chunk := self._stream.read(_CHUNK_BYTES):
            if chunk.strip():
                self._refuse("a blank line" if blank else str(bad), place)
            n_blank += len(chunk)
        if not blank and (bad.is_json or not n_blank):
            self._refuse(str(bad), place)
        self.torn = TornTail(place, offset, len(line) + n_blank)

    def _refuse(self, why: str, line: int | None = None) -> NoReturn:
        raise TrajectoryFormatError(why, file=self.source, line=line or self._line) from None


@contextmanager
def open_reader(path: File) -> Iterator[TrajectoryReader]:
    """A reader over a file. Raises TrajectoryFormatError, also for a file that cannot be opened."""
    with _opened(path) as stream:
        yield TrajectoryReader(stream, fspath(path))


def _opened(path: File) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise TrajectoryFormatError(f"cannot be read: {error.strerror}", file=fspath(path)) from error


def is_trajectory(path: File) -> bool:
    """True where a file's first line is a header of ours, however it is spaced; what follows may still be damaged.

    Raises TrajectoryFormatError for a file that cannot be read.
    """
    with _opened(path) as stream:
        try:
            begin = stream.read(len(_WRITTEN_BY_US))
            if begin == _WRITTEN_BY_US or not begin.lstrip().startswith(b"{"):
                return begin == _WRITTEN_BY_US
            line = begin if b"\n" in begin else begin + stream.readline()
        except OSError as error:
            raise TrajectoryFormatError(f"cannot be read: {error.strerror}", file=fspath(path)) from error
    if HEADER_TYPE.encode() not in line:
        return False
    found = parse_json(line.decode("utf-8", "replace"))
    return isinstance(found, dict) and found.get("type") == HEADER_TYPE


def iter_events(path: File) -> Iterator[Event]:
    """The events of a file, streaming; a torn tail ends them. Raises TrajectoryFormatError."""
    with open_reader(path) as reader:
        yield from reader


def read_trajectory(path: File) -> Trajectory:
    """A whole file. Raises TrajectoryFormatError; a torn tail is in ``Trajectory.torn``."""
    with open_reader(path) as reader, _collector_paused():
        return _whole(reader)


def read_bytes(data: bytes, source: str) -> Trajectory:
    """A whole file's bytes; ``source`` names them in errors. Raises TrajectoryFormatError."""
    with _collector_paused():
        return _whole(TrajectoryReader(BytesIO(data), source))


def _whole(reader: TrajectoryReader) -> Trajectory:
    events = tuple(reader)
    return Trajectory(reader.header, events, reader.torn, reader.source)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A load makes no garbage, and the collector would take a third of it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
