"""Which trajectories were not seen by us at all."""

from __future__ import annotations

from typing import Final

from harness.types.codes import Origin
from harness.types.events import Trajectory

IMPORT_VERSION: Final = "import"
"""What the header of an import says instead of a version of ours: nothing of ours ran."""


def is_import(trajectory: Trajectory) -> bool:
    """True for a trajectory that was read from another product's file."""
    observed = trajectory.header.observed
    return bool(observed) and all(origin is Origin.IMPORT for _, origin in observed)
