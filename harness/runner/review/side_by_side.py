"""The two runs behind a row of a comparison, read again and aligned, for reports that show runs whole."""

from __future__ import annotations

from collections.abc import Sequence

from harness.compare import Block, align, blocks_of, segments_of
from harness.runner.review.comparing import RunSet
from harness.types.aligned import AlignedRuns, AlignedSide, BlockPair, LoadAligned, RunBlock
from harness.types.codes import SegmentKind
from harness.types.events import Trajectory
from harness.types.records import ScenarioComparison


def loader(base: RunSet, candidate: RunSet) -> LoadAligned:
    """Reads the runs that a row names, from the sets they were compared in. Raises as reading them did."""

    def load(row: ScenarioComparison) -> AlignedRuns:
        one = base.load(row.base) if row.base is not None else None
        other = candidate.load(row.candidate) if row.candidate is not None else None
        return side_by_side(one, other, row)

    return load


def side_by_side(base: Trajectory | None, candidate: Trajectory | None, row: ScenarioComparison) -> AlignedRuns:
    """Two runs aligned as the comparison aligned them; a run that has no other side stands alone."""
    if base is not None and candidate is not None:
        found = align(base, candidate, row.divergence)
        pairs = tuple(BlockPair(pair.kind, pair.base, pair.candidate) for pair in found.pairs)
        segments = row.segments or segments_of(found)
        return AlignedRuns(_side(base, found.base), _side(candidate, found.candidate), pairs, segments)
    left = _side(base, blocks_of(base)) if base is not None else None
    right = _side(candidate, blocks_of(candidate)) if candidate is not None else None
    alone = [BlockPair(SegmentKind.ONLY_BASE, at, None) for at in range(len(left.blocks) if left else 0)]
    alone += [BlockPair(SegmentKind.ONLY_CANDIDATE, None, at) for at in range(len(right.blocks) if right else 0)]
    return AlignedRuns(left, right, tuple(alone))


def _side(trajectory: Trajectory, blocks: Sequence[Block]) -> AlignedSide:
    return AlignedSide(
        trajectory,
        tuple(RunBlock(block.kind, block.agent, block.turn, block.step, tuple(block.events)) for block in blocks),
    )
