"""A run cut into blocks: its beginning, each input, each step of each agent, its end.

A step is a model request (with its attempts), the answer, its calls and their results; children run in lanes
of their own beside it. Every event belongs to one block, so that what blocks took adds up to the whole run.

Most of the time of a comparison goes by in here (``benchmarks/comparing.py``): an event costs two looks and an
append, and what its kind asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeAlias

from harness.compare.keys import (
    answer_key,
    end_key,
    header_key,
    input_key,
    other_key,
    queued_key,
    quiescent_key,
    result_key,
)
from harness.folds import in_call_order
from harness.types import exchange, lifecycle
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolResult
from harness.types.facts import FACT_TYPES

START: Final = "start"
INPUT: Final = "input"
STEP: Final = "step"
END: Final = "end"


class Block:
    """One block: whose it is, where it begins, its events, and what happened in it.

    ``key`` is what is compared, equal for blocks in which the same happened, word for word: the kind, whether a child
    did it, and as raw tuples in order answers, results by the place of their call, all else that is committed;
    no ids, times or numbers.
    """

    answer: AssistantMessage | None = None
    has_request = False
    _places: dict[str, int] | None = None
    _counted: int | None = None

    def __init__(self, kind: str, event: Event, blocks: list[Block]) -> None:
        """Opened by ``event``, which is added by who opens it; put behind the blocks that are there."""
        self.kind = kind
        self.first = event
        self.events: list[Event] = []
        self.key: list[Hashable] = [kind, not event.agent]
        blocks.append(self)

    @property
    def agent(self) -> str:
        """Whose it is."""
        return self.first.agent

    @property
    def turn(self) -> int | None:
        """The turn in which it begins."""
        return self.first.turn

    @property
    def step(self) -> int | None:
        """The step in which it begins: that of the file, or counted where the file has none."""
        return self.first.step if self._counted is None else self._counted

    def place_of(self, call: str) -> int:
        """The place of a call in the answer of this block, from 0; -1 where it was called in another one."""
        if self._places is None:
            calls = self.answer.tool_calls if self.answer is not None else ()
            if len(calls) == 1:
                return 0 if calls[0].id == call else -1
            self._places = {one.id: place for place, one in enumerate(calls)}
        return self._places.get(call, -1)

    @property
    def names(self) -> list[str]:
        """The tools that were called in it, in order."""
        return [call.name for e in self.events if isinstance(e.fact, AssistantMessage) for call in e.fact.tool_calls]

    @property
    def shape(self) -> Hashable:
        """Equal for blocks that called the same tools."""
        return (self.kind, not self.agent, *self.names)

    @property
    def lane(self) -> Hashable:
        """Equal for blocks that may stand side by side."""
        return (self.kind, not self.agent)


def blocks_of(trajectory: Trajectory) -> list[Block]:
    """The blocks of a run in the order in which they begin, children by their calls; each event is in one of them."""
    blocks: list[Block] = []
    if not trajectory.events:
        return blocks
    placed_by = _PLACED
    events = in_call_order(trajectory.events)
    first = events[0]
    agent = first.agent
    block = Block(_FIRST.get(type(first.fact), START), first, blocks)
    open_now: dict[str, Block] = {}
    for event in events:
        fact = event.fact
        if event.agent != agent:
            open_now[agent] = block
            agent = event.agent
            block = open_now.get(agent) or Block(_FIRST.get(type(fact), START), event, blocks)
        placed = placed_by[type(fact)]
        if placed is not None:
            block = placed(block, event, fact, blocks)
        block.events.append(event)
    if all(event.step is None and event.turn is None for event in trajectory.events):
        _count(blocks)
    return blocks


def _count(blocks: list[Block]) -> None:
    """Numbers the steps of each agent, where a file has no places: answered requests count (CONFORMANCE 89).

    A request that got no answer, or only its beginning, has the number of the one that is asked in its place.
    """
    n_answered: dict[str, int] = {}
    for block in blocks:
        if block.kind == STEP:
            n_before = n_answered.get(block.agent, 0)
            block._counted = n_before + 1
            is_step = block.answer is not None and not block.answer.interrupted
            n_answered[block.agent] = n_before + is_step


Placed: TypeAlias = Callable[[Block, Event, Any, list[Block]], Block]
"""The block of an event, by its fact: the open one of its agent or a new one, told what there is to compare of it."""


def _step_start(block: Block, event: Event, _: lifecycle.StepStart, blocks: list[Block]) -> Block:
    return Block(STEP, event, blocks) if block.events or block.kind != STEP else block


def _request(block: Block, event: Event, fact: ModelRequest, blocks: list[Block]) -> Block:
    """Only where no step is open, or the open one has its request; another attempt belongs to its step."""
    if block.kind != STEP or (block.has_request and fact.attempt <= 1):
        block = Block(STEP, event, blocks)
    block.has_request = True
    return block


def _request_header(block: Block, event: Event, fact: exchange.RequestHeader, blocks: list[Block]) -> Block:
    if block.kind != STEP or block.has_request:
        block = Block(STEP, event, blocks)
    block.key.append(header_key(fact))
    return block


def _answer(block: Block, event: Event, fact: AssistantMessage, blocks: list[Block]) -> Block:
    if block.answer is not None or block.kind != STEP:
        block = Block(STEP, event, blocks)
    block.answer, block._places = fact, None
    block.key.append(answer_key(fact))
    return block


def _result(block: Block, _: Event, fact: ToolResult, __: list[Block]) -> Block:
    block.key.append(result_key(block.place_of(fact.call_id), fact))
    return block


def _input(block: Block, event: Event, fact: exchange.UserMessage, blocks: list[Block]) -> Block:
    """Input opens a block of its own, but where it enters an open step, or the turn has just begun."""
    if block.answer is not None or block.kind == END:
        block = Block(INPUT, event, blocks)
    block.key.append(input_key(fact))
    return block


def _queued(block: Block, event: Event, fact: lifecycle.InboxQueued, blocks: list[Block]) -> Block:
    if block.kind == END:
        block = Block(INPUT, event, blocks)
    block.key.append(queued_key(fact))
    return block


def _turn_start(block: Block, event: Event, _: lifecycle.TurnStart, blocks: list[Block]) -> Block:
    return block if block.kind in (START, INPUT) else Block(INPUT, event, blocks)


def _end(block: Block, event: Event, fact: Any, blocks: list[Block]) -> Block:
    if block.kind != END:
        block = Block(END, event, blocks)
    block.key.append(end_key(fact))
    return block


def _quiescent(block: Block, event: Event, fact: lifecycle.RunQuiescent, blocks: list[Block]) -> Block:
    if block.kind != END:
        block = Block(END, event, blocks)
    block.key.append(quiescent_key(fact))
    return block


def _other(block: Block, _: Event, fact: Any, __: list[Block]) -> Block:
    block.key.append(other_key(fact))
    return block


_FIRST: Final[dict[type[Any], str]] = {
    lifecycle.StepStart: STEP,
    exchange.RequestHeader: STEP,
    ModelRequest: STEP,
    AssistantMessage: STEP,
    exchange.UserMessage: INPUT,
    lifecycle.TurnEnd: END,
    lifecycle.RunEnd: END,
    lifecycle.RunQuiescent: END,
}
"""What the first block of an agent is, by the fact that begins it; the start of a run where it is none of these."""
_IN_THE_OPEN_ONE: Final = (
    lifecycle.RunStart,
    lifecycle.StepEnd,
    lifecycle.InboxClaimed,
    exchange.ToolCall,
    exchange.ToolStart,
    exchange.ToolEnd,
    exchange.ModelFailed,
    exchange.ModelRetry,
    exchange.AssistantChunk,
    lifecycle.Note,
    lifecycle.UnknownFact,
)
"""Facts that open no block, and of which nothing is compared."""
_PLACED: Final[dict[type[Any], Placed | None]] = {
    **dict.fromkeys(FACT_TYPES.values(), _other),
    **dict.fromkeys(_IN_THE_OPEN_ONE),
    lifecycle.TurnStart: _turn_start,
    lifecycle.StepStart: _step_start,
    lifecycle.InboxQueued: _queued,
    exchange.UserMessage: _input,
    exchange.RequestHeader: _request_header,
    ModelRequest: _request,
    AssistantMessage: _answer,
    ToolResult: _result,
    lifecycle.TurnEnd: _end,
    lifecycle.RunEnd: _end,
    lifecycle.RunQuiescent: _quiescent,
}
