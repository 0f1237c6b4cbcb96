"""Zip archives of JSON, bounded: what is read of them in all is counted while it is unpacked, not believed before."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from typing import Final, NoReturn

from harness.errors import ForeignFormatError

MAGIC: Final = b"PK\x03\x04"
MOST_MEMBERS: Final = 100_000
_AT_ONCE: Final = 2**20


def read_members(data: bytes, source: str, wanted: Callable[[str], bool], most_bytes: int) -> list[tuple[str, bytes]]:
    """The members whose names are wanted, in the archive's order, at most ``most_bytes`` of them in all.

    Raises ForeignFormatError for what is no archive, is damaged, locked, packed in an unknown way, or too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            if len(infos) > MOST_MEMBERS:
                _refuse(source, f"{len(infos)} members are more than the {MOST_MEMBERS} that are read")
            found: list[tuple[str, bytes]] = []
            left = most_bytes
            for info in infos:
                if wanted(info.filename):
                    found.append((info.filename, _unpacked(archive, info, source, left)))
                    left -= len(found[-1][1])
            return found
    except zipfile.BadZipFile as error:
        if zipfile.is_zipfile(io.BytesIO(data)):
            _refuse(source, f"the archive cannot be read: {str(error)[:200]}")
        _refuse(source, "the archive cannot be read: it has no end, so it was cut or is still being written")
    except (zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        # An unknown packing, encryption or structure is a RuntimeError there.
        _refuse(source, f"the archive cannot be read: {str(error)[:200] or type(error).__name__}")


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: str, most: int) -> bytes:
    pieces: list[bytes] = []
    n_bytes = 0
    with archive.open(info) as member:
        while piece := member.read(_AT_ONCE):
            n_bytes += len(piece)
            if n_bytes > most:
                _refuse(source, f"unpacked it is larger than what is read, at {info.filename[:100]!r}")
            pieces.append(piece)
    return b"".join(pieces)


def _refuse(source: str, why: str) -> NoReturn:
    raise ForeignFormatError(f"{source}: {why}")
