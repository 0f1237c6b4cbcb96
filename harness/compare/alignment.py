"""Two runs side by side: which of their blocks are equal, changed, or on one side only, and what each stretch took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from harness.compare.blocks import Block, blocks_of
from harness.compare.bodies import sees_bodies
from harness.compare.common import on_common_ground
from harness.compare.keys import by_value
from harness.compare.sequence import matches
from harness.compare.took import Took
from harness.folds import value_key
from harness.types.codes import SegmentKind
from harness.types.events import Trajectory
from harness.types.exchange import ToolStart
from harness.types.records import Divergence, Segment

EQUAL, CHANGED = SegmentKind.EQUAL, SegmentKind.CHANGED
ONLY_BASE, ONLY_CANDIDATE = SegmentKind.ONLY_BASE, SegmentKind.ONLY_CANDIDATE


class Pair(NamedTuple):
    """Two blocks side by side, by their places; None where a side has nothing to put there."""

    kind: SegmentKind
    base: int | None
    candidate: int | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """The blocks of both runs and their pairs, in order; each block is in one pair."""

    base: tuple[Block, ...]
    candidate: tuple[Block, ...]
    pairs: tuple[Pair, ...]

    @property
    def is_equal(self) -> bool:
        """No block is changed or on one side only."""
        return all(pair.kind is EQUAL for pair in self.pairs)


def align(base: Trajectory, candidate: Trajectory, divergence: Divergence | None) -> Alignment:
    """Align two runs. ``divergence`` is their first difference (None: they are the same).

    The blocks in which that lies are not equal, also where only a detail differs. Blocks behind it are
    judged by what happened in them: a request that only carries an earlier difference is none of its own.
    """
    one, other = on_common_ground(base, candidate)
    left, right = _blocks(one, base), _blocks(other, candidate)
    if sees_bodies(base.header) and sees_bodies(candidate.header):
        _tell_bodies([*left, *right])
    pairs = pair_blocks(left, right)
    if divergence is not None:
        places = (_place(left, divergence.base_seq), _place(right, divergence.candidate_seq))
        pairs = _marked(pairs, places)
    return Alignment(tuple(left), tuple(right), tuple(pairs))


def _tell_bodies(blocks: Sequence[Block]) -> None:
    """What ran in each block belongs to what happened in it: in one order, whichever body was first."""
    for block in blocks:
        starts = [event.fact for event in block.events if isinstance(event.fact, ToolStart)]
        if starts:
            block.key.append((ToolStart.TYPE, frozenset(Counter(_body_key(block, one) for one in starts).items())))


def _body_key(block: Block, start: ToolStart) -> Hashable:
    place = -1 if start.call_id is None else block.place_of(start.call_id)
    return (place, start.name, value_key(start.arguments), start.instead_of)


def _blocks(reduced: Trajectory, whole: Trajectory) -> list[Block]:
    """The blocks of a run as it is compared, with all events of the whole run: what they took adds up to it."""
    blocks = blocks_of(reduced)
    if reduced is whole or not blocks:
        return blocks or blocks_of(whole)
    home = {event.seq: block for block in blocks for event in block.events}
    open_now: dict[str, Block] = {block.agent: block for block in reversed(blocks)}
    for block in blocks:
        block.events = []
    for event in whole.events:
        block = home.get(event.seq) or open_now.get(event.agent, blocks[0])
        open_now[event.agent] = block
        block.events.append(event)
    return blocks


def _place(blocks: Sequence[Block], seq: int | None) -> int | None:
    found = (at for at, block in enumerate(blocks) for event in block.events if event.seq == seq)
    return next(found, None)


def _marked(pairs: Sequence[Pair], places: tuple[int | None, int | None]) -> list[Pair]:
    """The pair that holds the difference is changed. Where its sides are in two pairs, others tell it: blocks moved."""
    base, candidate = places
    both = None not in places and any(pair.kind is not EQUAL for pair in pairs)

    def holds(pair: Pair) -> bool:
        at = (base is not None and pair.base == base, candidate is not None and pair.candidate == candidate)
        return all(at) if both else any(at)

    return [Pair(CHANGED, pair.base, pair.candidate) if pair.kind is EQUAL and holds(pair) else pair for pair in pairs]


def pair_blocks(left: Sequence[Block], right: Sequence[Block]) -> Sequence[Pair]:
    """Equal blocks first, then those between them by the tools that they call, then by their place.

    Linear in the blocks of runs that are alike; bounded by :mod:`harness.compare.sequence` otherwise.
    """
    keys, others = [block.key for block in left], [block.key for block in right]
    if keys == others:  # nearly all pairs: one comparison in C, nothing to look for
        return _all_equal(len(keys))
    n_left, n_right = len(keys), len(others)
    low = next((at for at, (one, other) in enumerate(zip(keys, others, strict=False)) if one != other), -1)
    low = min(n_left, n_right) if low < 0 else low
    n_tail = 0
    most = min(n_left, n_right) - low
    while n_tail < most and keys[n_left - 1 - n_tail] == others[n_right - 1 - n_tail]:
        n_tail += 1
    pairs = [Pair(EQUAL, at, at) for at in range(low)]
    if n_left != low + n_tail or n_right != low + n_tail:
        pairs += _middle(left, right, (low, n_left - n_tail, low, n_right - n_tail))
    return pairs + [Pair(EQUAL, n_left - back, n_right - back) for back in range(n_tail, 0, -1)]


@lru_cache(maxsize=16)
def _all_equal(n_blocks: int) -> Sequence[Pair]:
    return tuple(Pair(EQUAL, at, at) for at in range(n_blocks))


def _middle(left: Sequence[Block], right: Sequence[Block], bounds: tuple[int, int, int, int]) -> Iterator[Pair]:
    low, high, start, end = bounds
    one, other = left[low:high], right[start:end]
    levels: list[Level] = [
        (EQUAL, [by_value(block.key) for block in one], [by_value(block.key) for block in other]),
        (CHANGED, [block.shape for block in one], [block.shape for block in other]),
        (CHANGED, [block.lane for block in one], [block.lane for block in other]),
    ]
    for pair in _filled(levels, 0, (0, high - low, 0, end - start)):
        yield Pair(pair.kind, _moved(pair.base, low), _moved(pair.candidate, start))


def _moved(place: int | None, by: int) -> int | None:
    return None if place is None else place + by


Level = tuple[SegmentKind, list[Hashable], list[Hashable]]


def _filled(levels: Sequence[Level], at: int, bounds: tuple[int, int, int, int]) -> Iterator[Pair]:
    """The pairs of a stretch: matched at this level, and between the matches at the next one."""
    low, high, start, end = bounds
    if at == len(levels) or low == high or start == end:
        yield from (Pair(ONLY_BASE, place, None) for place in range(low, high))
        yield from (Pair(ONLY_CANDIDATE, None, place) for place in range(start, end))
        return
    kind, left, right = levels[at]
    found = matches(left[low:high], right[start:end])
    places = [(low - 1, start - 1), *((low + i, start + j) for i, j in found), (high, end)]
    for (one, other), (next_one, next_other) in pairwise(places):
        if one >= low:
            yield Pair(kind, one, other)
        yield from _filled(levels, at + 1, (one + 1, next_one, other + 1, next_other))


def segments_of(alignment: Alignment) -> tuple[Segment, ...]:
    """Stretches of pairs of one kind, with what both sides took; sums equal those of the whole runs, where known."""
    took = (Took.of(alignment.base), Took.of(alignment.candidate))
    runs = groupby(alignment.pairs, key=lambda pair: pair.kind)
    return tuple(_segment(kind, tuple(pairs), alignment, took) for kind, pairs in runs)


def _segment(kind: SegmentKind, pairs: tuple[Pair, ...], alignment: Alignment, took: tuple[Took, Took]) -> Segment:
    bases = [pair.base for pair in pairs if pair.base is not None]
    candidates = [pair.candidate for pair in pairs if pair.candidate is not None]
    base = alignment.base[bases[0]] if bases else None
    candidate = alignment.candidate[candidates[0]] if candidates else None
    some = base or candidate
    return Segment(
        kind,
        took[0].amount(bases),
        took[1].amount(candidates),
        turn=some.turn if some else None,
        step=some.step if some else None,
        base_seq=base.events[0].seq if base else None,
        candidate_seq=candidate.events[0].seq if candidate else None,
    )
