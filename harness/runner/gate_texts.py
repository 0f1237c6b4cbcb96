"""The gate that judges a change: as it was at the merge base, whatever the change makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.runner.goal_posts import Moved
from harness.types.review import GateSource


@dataclass(frozen=True, slots=True)
class GateText:
    """The bytes of a gate and where they come from. ``data`` None: at the merge base there was no such file.

    ``edited``: the change edits, adds, renames or deletes it.
    """

    file: str
    data: bytes | None
    source: GateSource
    edited: bool = False


def gate_text(gate: Path, moved: Moved | None = None) -> GateText:
    """The gate as it was at the merge base; as it lies here where no base is known, or it is outside the repository.

    Raises UsageError where it is neither here nor there, RepositoryError where git fails.
    """
    name = None if moved is None else moved.repository.path_of(gate)
    here = gate.read_bytes() if gate.is_file() else None
    if moved is None or name is None:
        if here is None:
            raise UsageError(f"--gate {gate}: there is no such file")
        return GateText(str(gate), here, GateSource.FILE)
    was = next((one.before for one in moved.changed if one.now == name and one.renamed), name)
    data = moved.repository.bytes_at(moved.merge_base, was or name)
    if data is None and here is None:
        raise UsageError(f"--gate {gate}: there is no such file, here or at the merge base {moved.merge_base[:12]}")
    return GateText(str(gate), data, GateSource.MERGE_BASE, edited=data != here or was != name)
