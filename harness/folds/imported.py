"""Which trajectories were not seen by us at all."""

from __future__ import annotations

from harness.types.codes import Origin
from harness.types.events import Trajectory


def is_import(trajectory: Trajectory) -> bool:
    """True for a trajectory that was read from another product's file."""
    observed = trajectory.header.observed
    return bool(observed) and all(origin is Origin.IMPORT for _, origin in observed)
