"""The ledger of effects: a file with a line for each thing that was really done, which outlives its process.

A tool writes into it where its effect takes place. ``expect: effects`` then counts what was done and not what was
tried: over a run and the runs that it goes on from, whatever killed them (INVARIANTS 15, CONFORMANCE 140).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from harness.matching import match_value
from harness.protocols import ToolContext
from harness.types.effects import EFFECTS_FILE, Effect, Effects
from harness.types.jsontext import Refusal, canonical_json, parse_json

_MODE: Final = 0o644


class EffectLedger:
    """The ledger in the file ``path``; in a folder, the one that a run with that workspace looks into.

    Nothing is kept in memory: every process that names the file adds to the same ledger and reads the same lines.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given = Path(path)
        self.path = given / EFFECTS_FILE if given.is_dir() else given

    def add(self, tool: str, arguments: Mapping[str, Any] | None = None, *, context: ToolContext | None = None) -> None:
        """Say that ``tool`` took effect with ``arguments``; in the file when this returns (one write of one line).

        ``context`` is what the body was given, so that the line names the call. Raises InvalidValueError for arguments
        that are no lossless JSON, OSError where the file cannot be written.
        """
        call = context.call_id if context is not None else None
        entry = {"tool": tool, "arguments": dict(arguments or {}), **({"call": call} if call is not None else {})}
        line = canonical_json(entry).encode("utf-8") + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, _MODE)
        try:
            whole = b"" if _ends_whole(descriptor) else b"\n"  # a torn line stays a line of its own
            n_written = os.write(descriptor, whole + line)
            if n_written != len(whole) + len(line):
                raise OSError(f"{self.path}: only {n_written} bytes of an effect were written")
        finally:
            os.close(descriptor)

    def read(self, start: int = 0) -> Effects:
        """What it holds from byte ``start`` on; nothing without a file. Lines that cannot be read are counted."""
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            return Effects()  # nothing took effect yet
        read = [_entry(line) for line in lines if line]
        entries = tuple(entry for entry in read if entry is not None)
        return Effects(entries, len(read) - len(entries))

    @property
    def size(self) -> int:
        """Bytes written so far: where the next run's effects begin."""
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def entries(self) -> tuple[Effect, ...]:
        """Every line that can be read, in order."""
        return self.read().entries

    def count(self, tool: str | None = None, /, **arguments: Any) -> int:
        """How many lines there are: of a tool (None: any), whose arguments include these."""
        return sum(
            tool in (None, one.tool) and not match_value({"$subset": arguments}, parse_json(one.arguments))
            for one in self.entries
        )


def _ends_whole(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"


def _entry(line: bytes) -> Effect | None:
    try:
        value = parse_json(line.decode("utf-8"))
    except UnicodeDecodeError:
        return None  # cut inside a character
    if isinstance(value, Refusal) or not isinstance(value, dict):
        return None
    tool, arguments, call = value.get("tool"), value.get("arguments"), value.get("call")
    if not isinstance(tool, str) or not isinstance(arguments, dict) or not isinstance(call, str | None):
        return None
    return Effect(tool, canonical_json(arguments), call)
