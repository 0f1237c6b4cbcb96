"""The gate that judges a change: as it was at the merge base, whatever the change makes of it."""

from __future__ import annotations

from pathlib import Path

from harness.errors import ConfigurationError
from harness.runner.bases.repository import short
from harness.runner.review.goal_posts import Moved
from harness.runner.review.reviewing import GateText, gate_from_file
from harness.types.review import GateSource


def gate_text(gate: Path, moved: Moved | None = None) -> GateText:
    """The gate as it was at the merge base; as it lies here where no base is known, or it is outside the repository.

    Raises ConfigurationError where it is neither here nor there, RepositoryError where git fails.
    """
    name = None if moved is None else moved.repository.path_of(gate)
    if moved is None or name is None:
        return gate_from_file(gate)
    was = next((one.before for one in moved.changed if one.now == name and one.renamed), None) or name
    there = moved.repository.bytes_at(moved.merge_base, was)
    here = gate.read_bytes() if gate.is_file() else None
    if there is None and here is None:
        raise ConfigurationError(
            f"--gate {gate}: there is no such file, neither here nor at the merge base {short(moved.merge_base)}"
        )
    return GateText(there, gate.as_posix(), GateSource.MERGE_BASE, edited=there != here or was != name)
