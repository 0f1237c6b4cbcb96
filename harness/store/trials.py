"""Trials on disk: a header, then one line a trial (**wire**).

A line is handed over in one write and acknowledged after it; its line feed is the commit mark, so the death of the
process can tear only the last line. Reading is streaming and strict: a torn tail is reported, any other damage is an
error that names the line. Going on with a file cuts the torn tail away, and says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from os import fspath
from types import TracebackType
from typing import BinaryIO, Final, NoReturn, Self, TypeVar

from harness.errors import ConfigurationError, InvalidValueError, RecordingFailed, TrajectoryFormatError
from harness.store.encode import members_encoder
from harness.store.files import replace_file
from harness.store.locks import hold, locked
from harness.store.parsing import BadLine, parse_object
from harness.store.reading import File
from harness.store.sink import Mask
from harness.store.writing import UNWRITABLE, encoded
from harness.types.events import TornTail
from harness.types.trials import TRIALS_FORMAT, Trial, TrialsHeader

T = TypeVar("T")
_TAIL_BYTES: Final = 1 << 16
_LONGEST: Final = 20
_SAME: Final = ("evaluation", "digest", "tools_digest", "model", "shard")
"""What a header must share with what goes on behind it."""


# ---------------------------------------------------------------- lines


def trial_line(trial: Trial) -> bytes:
    """One trial as its line. Raises InvalidValueError for what has no place on disk."""
    return _line(f'{{"type":"{Trial.TYPE}"', members_encoder(Trial), trial)


def trials_header_line(header: TrialsHeader) -> bytes:
    """The header as its line; its format is always written."""
    head = f'{{"type":"{TrialsHeader.TYPE}","format":"{TRIALS_FORMAT}"'
    return _line(head, members_encoder(TrialsHeader), header)


def _line(head: str, members: Callable[[object], str], value: Trial | TrialsHeader) -> bytes:
    try:
        return encoded(f"{head}{members(value)}}}\n")
    except UNWRITABLE as error:
        raise InvalidValueError(f"{type(value).__name__} holds what has no place on disk: {error!r}") from error


# ---------------------------------------------------------------- reading


class TrialsReader:
    """Header first, then trials one by one; ``torn`` is known once they are through.

    Raises TrajectoryFormatError, on opening and while iterating, for everything but a torn tail.
    """

    def __init__(self, stream: BinaryIO, source: str) -> None:
        self._stream = stream
        self.source = source
        self.torn: TornTail | None = None
        first = stream.readline()
        if not first.endswith(b"\n"):
            self._refuse("the file is empty" if not first else "the header line is not finished", 1)
        try:
            self.header = _header_of(first)
        except BadLine as bad:
            self._refuse(str(bad), 1)
        self._offset = len(first)

    def __iter__(self) -> Iterator[Trial]:
        for number, line in enumerate(self._stream, start=2):
            if not line.endswith(b"\n"):
                self.torn = TornTail(number, self._offset, len(line))
                return
            try:
                trial = _trial_of(line)
            except BadLine as bad:
                self._refuse(str(bad), number)
            self._offset += len(line)
            yield trial

    def _refuse(self, why: str, line: int) -> NoReturn:
        raise TrajectoryFormatError(why, file=self.source, line=line) from None


@contextmanager
def open_trials_reader(path: File) -> Iterator[TrialsReader]:
    """A reader over a file. Raises TrajectoryFormatError, also for a file that cannot be opened."""
    try:
        stream = open(path, "rb")  # noqa: SIM115  # closed by the block that follows
    except OSError as error:
        raise TrajectoryFormatError(f"cannot be read: {error.strerror}", file=fspath(path)) from error
    with stream:
        yield TrialsReader(stream, fspath(path))


def read_trials(path: File) -> Iterator[Trial]:
    """The trials of a file, streaming; a torn tail ends them. Raises TrajectoryFormatError."""
    with open_trials_reader(path) as reader:
        yield from reader


def read_trials_header(path: File) -> TrialsHeader:
    """The header of a file of trials. Raises TrajectoryFormatError."""
    with open_trials_reader(path) as reader:
        return reader.header


def _header_of(line: bytes) -> TrialsHeader:
    record = parse_object(line)
    if record.pop("type", None) != TrialsHeader.TYPE:
        raise BadLine(f"no trials: the first line must be of type {TrialsHeader.TYPE!r}")
    if record.get("format") != TRIALS_FORMAT:
        raise BadLine(f"format {record.get('format')!r} is not {TRIALS_FORMAT!r}, which this version reads")
    header: TrialsHeader = _valid(TrialsHeader, record)
    return header


def _trial_of(line: bytes) -> Trial:
    record = parse_object(line)
    if record.pop("type", None) != Trial.TYPE:
        raise BadLine(f"every line behind the first must be of type {Trial.TYPE!r}")
    trial: Trial = _valid(Trial, record)
    if (trial.answer is None) == (trial.error is None):
        raise BadLine(f"the trial of {trial.case!r} must have an answer or an error, and not both")
    return trial


def _valid(cls: type[T], record: dict[str, object]) -> T:
    from pydantic_core import ValidationError

    from harness.store.validate import validator_of, what_is_wrong

    try:
        found: T = validator_of(cls).validate_python(record)
    except ValidationError as error:
        raise BadLine(what_is_wrong(error)) from None
    return found


# ---------------------------------------------------------------- writing


class TrialsWriter:
    """Appends trials to one open file that nobody else may write. Raises RecordingFailed.

    ``n_cut_bytes`` is what was torn at the end of the file and cut away; ``is_new``: it began with this writer.
    After a failed write nothing more is taken.
    """

    def __init__(
        self, descriptor: int, path: str, *, write: Callable[[int, bytes], int] = os.write, mask: Mask | None = None
    ) -> None:
        self.path = path
        self.n_cut_bytes = 0
        self.is_new = False
        self._descriptor = descriptor
        self._write = write
        self._mask = mask
        self._failure: str | None = None

    def append(self, trial: Trial) -> None:
        """The trial's line is in the file when this returns."""
        self._put(trial_line(trial))

    def _put(self, line: bytes) -> None:
        if self._failure is not None or self._descriptor < 0:
            raise RecordingFailed(f"{self.path}: {self._failure or 'the file is closed'}; nothing more is written")
        data = line if self._mask is None else self._mask(line)
        try:
            n_written = self._write(self._descriptor, data)
            while n_written < len(data):
                data = data[n_written:]
                n_written = self._write(self._descriptor, data)
        except OSError as error:
            self._failure = f"an earlier write failed ({error.strerror or error})"
            raise RecordingFailed(
                f"{self.path}: cannot record: {error.strerror or error}. What was acknowledged before is in the file."
            ) from error

    def close(self) -> None:
        """Give up the file and its lock; a second time does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_trials(
    path: File, header: TrialsHeader, *, write: Callable[[int, bytes], int] = os.write, mask: Mask | None = None
) -> TrialsWriter:
    """Begin a file of trials, or go on behind the last whole line of the one that is there; folders are made.

    Raises ConfigurationError where the file is of another evaluation, of other tools, of another model or another
    shard, RecordingFailed where another process writes it or it cannot be opened, TrajectoryFormatError where its
    header cannot be read.
    """
    name = fspath(path)
    descriptor = _opened(name)
    try:
        hold(descriptor, name)
        writer = TrialsWriter(descriptor, name, write=write, mask=mask)
        writer.n_cut_bytes = _cut_tail(descriptor)
        if os.fstat(descriptor).st_size == 0:
            writer.is_new = True
            writer._put(trials_header_line(header))
        else:
            _same(read_trials_header(path), header, name)
    except OSError as error:
        os.close(descriptor)
        raise RecordingFailed(f"{name}: cannot be opened: {error.strerror}") from error
    except BaseException:
        os.close(descriptor)
        raise
    return writer


def _opened(name: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        return os.open(name, flags, 0o666)
    except OSError as error:
        raise RecordingFailed(f"{name}: cannot be opened: {error.strerror}") from error


def _cut_tail(descriptor: int) -> int:
    """Cut what stands behind the last line feed; gives how many bytes that was."""
    end = size = os.fstat(descriptor).st_size
    while end > 0:
        begin = max(0, end - _TAIL_BYTES)
        os.lseek(descriptor, begin, os.SEEK_SET)
        at = os.read(descriptor, end - begin).rfind(b"\n")
        if at >= 0:
            end = begin + at + 1
            break
        end = begin
    if end < size:
        os.ftruncate(descriptor, end)
    return size - end


def of_one_evaluation(one: TrialsHeader, other: TrialsHeader) -> bool:
    """Whether trials under these headers belong into one file."""
    return all(getattr(one, name) == getattr(other, name) for name in _SAME)


def _same(found: TrialsHeader, wanted: TrialsHeader, name: str) -> None:
    differs = [one for one in _SAME if getattr(found, one) != getattr(wanted, one)]
    if not differs:
        return
    what = "; ".join(f"{one} was {_short(found, one)} and is {_short(wanted, one)}" for one in differs)
    raise ConfigurationError(
        f"{name} holds the trials of another evaluation ({what}). They cannot be mixed with new ones: keep them and "
        "name another folder (--out), or remove that folder; where only expectations have changed, judge what was "
        "answered by the new ones (--regrade)"
    )


def _short(header: TrialsHeader, name: str) -> str:
    text: str = getattr(header, name)
    return repr(text if not name.endswith("digest") or len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


# ---------------------------------------------------------------- another header


def restate(path: File, header: TrialsHeader) -> None:
    """Give a file of trials another header; all lines behind it stay as they are.

    Raises RecordingFailed where a live run writes it or it cannot be written.
    """
    with locked(path), open(path, "rb") as stream:
        stream.readline()
        replace_file(path, chain([trials_header_line(header)], iter(lambda: stream.read(_TAIL_BYTES), b"")))
