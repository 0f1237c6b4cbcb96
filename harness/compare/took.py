"""What blocks of a run took: steps, calls, tokens, money, time; their sums are those of the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.compare.blocks import Block
from harness.types.events import ROOT_AGENT, Event
from harness.types.exchange import AssistantMessage, ModelFailed
from harness.types.records import Amount


@dataclass(frozen=True, slots=True)
class Took:
    """An amount for each block of a run, in their order."""

    amounts: tuple[Amount, ...]

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
        return cls(tuple(_amount(block, passed) for block in blocks))


def _amount(block: Block, passed: dict[int, int]) -> Amount:
    answers = [event for event in block.events if isinstance(event.fact, AssistantMessage)]
    usages = [e.fact.usage for e in block.events if isinstance(e.fact, AssistantMessage | ModelFailed) and e.fact.usage]
    times = [passed[event.seq] for event in block.events if event.seq in passed]
    return Amount(
        n_steps=sum(1 for event in answers if _is_step(event)),
        n_calls=len(block.names),
        input_tokens=_known(usage.input_tokens for usage in usages),
        output_tokens=_known(usage.output_tokens for usage in usages),
        cost_micro_usd=_known(usage.cost_micro_usd for usage in usages),
        time_ms=sum(times) if times else None,
    )


def _is_step(event: Event) -> bool:
    """Steps count as everywhere: answered ones of the main agent (CONFORMANCE 89)."""
    return event.agent == ROOT_AGENT and isinstance(event.fact, AssistantMessage) and not event.fact.interrupted


def _known(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def sum_of(amounts: Sequence[Amount]) -> Amount:
    """All of them together; what none of them knows stays unknown."""
    return Amount(
        n_steps=sum(one.n_steps for one in amounts),
        n_calls=sum(one.n_calls for one in amounts),
        input_tokens=_known(one.input_tokens for one in amounts),
        output_tokens=_known(one.output_tokens for one in amounts),
        cost_micro_usd=_known(one.cost_micro_usd for one in amounts),
        time_ms=_known(one.time_ms for one in amounts),
    )
