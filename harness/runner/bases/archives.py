"""Folders of runs as continuous integration keeps them: packed into a ``.zip``, ``.tar`` or ``.tar.gz``.

What is in such a file is not trusted: only files and folders with plain names come out of it, below a folder of their
own, up to a number of files and of bytes.
"""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Final

from harness.errors import ForeignFormatError, HarnessError

SUFFIXES: Final = (".zip", ".tar", ".tar.gz", ".tgz")
MAX_BYTES: Final = 4 * 1024**3
MAX_FILES: Final = 100_000
"""What comes out of one file at most (unpacked bytes, files and folders)."""
OF_THE_MACHINE: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
)
"""What an archive is not to blame for."""
_DAMAGED: Final = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile, UnicodeDecodeError,
)  # fmt: skip
"""What the libraries raise for bytes that are no archive, or not all of one."""
_PIECE_BYTES: Final = 1 << 20
_DEEPEST: Final = 4
_MARKS: Final = ("trajectories", "run.json", "summary.jsonl")


@dataclass(frozen=True, slots=True)
class Room:
    """How much may come out of an archive."""

    max_bytes: int = MAX_BYTES
    max_files: int = MAX_FILES


def is_archive(path: Path) -> bool:
    """True for a file whose name says that it is packed."""
    return path.name.lower().endswith(SUFFIXES) and not path.is_dir()


@contextmanager
def unpacked(path: Path, room: Room | None = None) -> Iterator[Path]:
    """What is in an archive, in a folder for temporary files that is gone when the block ends.

    Where everything lies in one folder, that is given. Raises ForeignFormatError for what is damaged, locked by a
    password, too much, no file or folder (a link, a device), or would come out elsewhere, HarnessError for a full disk.
    Errors of ours that are raised in the block name the archive.
    """
    with tempfile.TemporaryDirectory(prefix="harness-runs-") as folder:
        out = _Out(path, Path(folder), room or Room())
        try:
            if path.name.lower().endswith(".zip"):
                _unzip(path, out)
            else:
                _untar(path, out)
        except _DAMAGED as error:
            raise ForeignFormatError(f"{path}: cannot be unpacked: {error}; is it whole?") from None
        except RuntimeError as error:  # what zipfile raises for passwords, and for packings that it does not know
            raise ForeignFormatError(f"{path}: cannot be unpacked: {error}") from None
        except OSError as error:
            why = f"{path}: cannot be unpacked: {error.strerror or error}"
            if error.errno in OF_THE_MACHINE:
                raise HarnessError(f"{why} ({folder}; TMPDIR says where there is more room)") from None
            raise ForeignFormatError(why) from None
        try:
            yield _runs_in(Path(folder))
        except HarnessError as error:  # who reads it knows the archive, and not where it was unpacked
            error.args = tuple(one.replace(folder, str(path)) if isinstance(one, str) else one for one in error.args)
            raise


def _runs_in(folder: Path) -> Path:
    """The folder of runs: the one that is there, or the only one in it."""
    for _ in range(_DEEPEST):
        inside = list(folder.iterdir())
        if len(inside) != 1 or not inside[0].is_dir() or inside[0].name in _MARKS:
            break
        folder = inside[0]
    return folder


@dataclass(slots=True)
class _Out:
    """Where an archive's files go, and what has come out of it so far."""

    archive: Path
    folder: Path
    room: Room
    n_bytes: int = 0
    n_files: int = 0
    names: set[str] = field(default_factory=set)

    def place(self, name: str, n_bytes: int) -> Path:
        """Where an entry belongs, counted. Raises ForeignFormatError."""
        self.n_files += 1
        self._count(n_bytes)
        if self.n_files > self.room.max_files:
            raise self.refused(f"it holds more than {self.room.max_files:,} files")
        plain = PurePosixPath(name)
        odd = "\\" in name or "\0" in name or PureWindowsPath(name).drive or plain.is_absolute() or ".." in plain.parts
        if odd or not name:
            raise self.refused(f"it holds {name!r}, which would come out elsewhere")
        if str(plain) in self.names and plain.parts:
            raise self.refused(f"it holds {name!r} twice")
        self.names.add(str(plain))
        return self.folder.joinpath(*plain.parts)

    def write(self, source: IO[bytes], place: Path, n_bytes: int) -> None:
        """Copy what an entry holds: what it said, and not more."""
        place.parent.mkdir(parents=True, exist_ok=True)
        left = n_bytes
        with place.open("xb") as target:
            while left and (piece := source.read(min(_PIECE_BYTES, left))):
                target.write(piece)
                left -= len(piece)
        if left:
            raise self.refused(f"it ends within {place.relative_to(self.folder).as_posix()!r}")

    def _count(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes
        if self.n_bytes > self.room.max_bytes:
            raise self.refused(f"more than {self.room.max_bytes:,} bytes would come out of it")

    def refused(self, why: str) -> ForeignFormatError:
        """The error for an entry."""
        return ForeignFormatError(f"{self.archive}: is not unpacked: {why}")


def _unzip(path: Path, out: _Out) -> None:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            place = out.place(entry.filename, entry.file_size)
            mode = entry.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise out.refused(f"{entry.filename!r} is a link or a device")
            if entry.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                with archive.open(entry) as source:
                    out.write(source, place, entry.file_size)
                    source.read(1)  # at the end its checksum is looked at


def _untar(path: Path, out: _Out) -> None:
    with _stream(path) as stream, tarfile.open(fileobj=(pieces := _Pieces(stream)), mode="r:") as archive:
        for entry in archive:
            place = out.place(entry.name, entry.size)
            if not (entry.isfile() or entry.isdir()):
                raise out.refused(f"{entry.name!r} is a link or a device")
            if entry.isdir():
                place.mkdir(parents=True, exist_ok=True)
                continue
            source = archive.extractfile(entry)
            assert source is not None  # it is a file
            out.write(source, place, entry.size)
        pieces.seek(archive.offset)  # tarfile takes an end of file, and any nonsense, for the end of the archive
        if pieces.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise tarfile.ReadError(f"no end stands behind entry {out.n_files}")


def _stream(path: Path) -> IO[bytes]:
    if path.name.lower().endswith(".tar"):
        return path.open("rb")
    stream: IO[bytes] = gzip.open(path)  # type: ignore[assignment]  # noqa: SIM115  # closed by who asked for it
    return stream


class _Pieces(io.RawIOBase):
    """A stream that no reader gets more of at once than a piece: headers that say they are huge end here."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """At most a piece; tarfile asks for more only where a header is damaged or hostile."""
        if not 0 <= size <= _PIECE_BYTES:
            raise tarfile.ReadError("a header is larger than any name could be")
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        """As the stream does."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """As the stream does."""
        return self._stream.tell()

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True
