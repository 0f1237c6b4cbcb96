"""What blocks of a run took: steps, calls, tokens, money, time; their sums are those of the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.compare.blocks import Block
from harness.folds import known_sum, told_usages
from harness.types.events import ROOT_AGENT, Event
from harness.types.exchange import AssistantMessage
from harness.types.records import Amount


@dataclass(frozen=True, slots=True)
class Took:
    """The blocks of a run, in their order, and the time that went to each event that has one."""

    blocks: Sequence[Block]
    passed: dict[int, int]

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> Took:
        """Time goes to the block of the event that ends it, so lanes that overlap share it and nothing counts twice."""
        events = sorted((event for block in blocks for event in block.events), key=lambda event: event.seq)
        passed: dict[int, int] = {}
        now = 0
        for event in events:
            if event.time is not None:
                passed[event.seq] = event.time - now
                now = event.time
        return cls(blocks, passed)

    def amount(self, places: Iterable[int]) -> Amount | None:
        """What the blocks at these places took together; None for no blocks. What one does not know, all do not.

        Where no request was made it is 0, and so is the time of events without one in a file that has times.
        """
        blocks = [self.blocks[place] for place in places]
        if not blocks:
            return None
        events = [event for block in blocks for event in block.events]
        usages = tuple(told_usages(events))
        times = [self.passed[event.seq] for event in events if event.seq in self.passed]
        return Amount(
            n_steps=sum(map(_is_step, events)),
            n_calls=sum(len(block.names) for block in blocks),
            input_tokens=_sum(usage.input_tokens for usage in usages),
            output_tokens=_sum(usage.output_tokens for usage in usages),
            cost_micro_usd=_sum(usage.cost_micro_usd for usage in usages),
            time_ms=sum(times) if self.passed else None,
        )


def _sum(numbers: Iterable[int | None]) -> int | None:
    """As :func:`~harness.folds.known_sum`, but where nothing was asked nothing was taken."""
    known = tuple(numbers)
    return known_sum(known) if known else 0


def _is_step(event: Event) -> bool:
    """Steps count as everywhere: answered ones of the main agent (CONFORMANCE 89)."""
    return event.agent == ROOT_AGENT and isinstance(event.fact, AssistantMessage) and not event.fact.interrupted
