"""What a host decides about a driver beyond its limits: one field for each thing that it may decide."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policies:
    """The choices of one driver. Every default leaves the plain loop as it is."""
