"""Two runs laid side by side, as plain values: what a comparison hands to a report that shows runs whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from harness.types.codes import SegmentKind
from harness.types.events import Event, Trajectory
from harness.types.records import ScenarioComparison, Segment


@dataclass(frozen=True, slots=True)
class RunBlock:
    """A piece of a run: its beginning, an input, a step, its end (``kind`` start, input, step, end).

    ``agent``, ``turn`` and ``step`` are those it begins with. Each event of a run is in one block, in order.
    """

    kind: str
    agent: str
    turn: int | None
    step: int | None
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class BlockPair:
    """Two blocks side by side, by their places; None where a side has nothing to put there."""

    kind: SegmentKind
    base: int | None
    candidate: int | None


@dataclass(frozen=True, slots=True)
class AlignedSide:
    """One of two runs with its blocks, in the order in which they begin."""

    trajectory: Trajectory
    blocks: tuple[RunBlock, ...]


@dataclass(frozen=True, slots=True)
class AlignedRuns:
    """A pair of runs; one is None where the scenario is on one side only. ``segments`` are stretches of pairs."""

    base: AlignedSide | None
    candidate: AlignedSide | None
    pairs: tuple[BlockPair, ...]
    segments: tuple[Segment, ...] = ()


LoadAligned: TypeAlias = Callable[[ScenarioComparison], AlignedRuns]
"""Reads the pair of runs that a row shows; whoever calls it keeps one pair at a time."""
