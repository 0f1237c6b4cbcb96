"""A run cut into blocks: its beginning, each input, each step of each agent, its end.

A step is a model request (with its attempts), the answer, its calls and their results; children run in lanes
of their own beside it. Every event belongs to one block, so that what blocks took adds up to the whole run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, TypeAlias

from harness.compare.keys import answer_key, other_key, result_key
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    RequestHeader,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
    UserMessage,
)
from harness.types.lifecycle import (
    InboxClaimed,
    InboxQueued,
    Note,
    RunEnd,
    RunQuiescent,
    RunStart,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnStart,
    UnknownFact,
)

START: Final = "start"
INPUT: Final = "input"
STEP: Final = "step"
END: Final = "end"


class Block:
    """One block: whose it is, where it begins, its events, and what happened in it.

    ``step`` is that of the file, or counted where the file has none. ``seen`` is what is compared, as raw tuples
    in order: answers, results by the place of their call, all else that is committed; no ids, times or numbers.
    ``key`` is equal for blocks in which the same happened, word for word.
    """

    __slots__ = ("agent", "answer", "events", "has_request", "key", "kind", "places", "seen", "step", "turn")

    def __init__(self, kind: str, event: Event, before: Sequence[Block]) -> None:
        self.kind = kind
        self.agent = event.agent
        self.turn = event.turn
        self.step = event.step
        self.events: list[Event] = []
        self.seen: list[Hashable] = []
        self.answer: AssistantMessage | None = None
        self.places: dict[str, int] | None = None
        self.has_request = False
        self.key: tuple[Hashable, ...] = ()
        if kind is STEP and event.step is None and event.turn is None:
            self.step = 1 + sum(one.kind is STEP and one.agent == self.agent for one in before)

    @property
    def names(self) -> list[str]:
        """The tools that were called in it, in order."""
        return [call.name for e in self.events if isinstance(e.fact, AssistantMessage) for call in e.fact.tool_calls]

    def place_of(self, call: str) -> int:
        """The place of a call in the answer of this block, from 0; -1 where it was called in another one."""
        if self.places is None:
            calls = self.answer.tool_calls if self.answer is not None else ()
            if len(calls) == 1:
                return 0 if calls[0].id == call else -1
            self.places = {one.id: place for place, one in enumerate(calls)}
        return self.places.get(call, -1)

    @property
    def shape(self) -> Hashable:
        """Equal for blocks that called the same tools."""
        return (self.kind, not self.agent, *self.names)

    @property
    def lane(self) -> Hashable:
        """Equal for blocks that may stand side by side."""
        return (self.kind, not self.agent)


def blocks_of(trajectory: Trajectory) -> list[Block]:
    """The blocks of a run, in the order in which they begin; each event is in one of them."""
    blocks: list[Block] = []
    open_now: dict[str, Block] = {}
    handlers = _HANDLERS
    for event in trajectory.events:
        fact = event.fact
        opens, take = handlers.get(type(fact), _OTHER)
        block = open_now.get(event.agent)
        if opens is not None or block is None:
            kind = opens(block, fact) if opens is not None else None
            if kind is not None or block is None:
                block = open_now[event.agent] = Block(kind or START, event, blocks)
                blocks.append(block)
        block.events.append(event)
        if take is not None:
            take(block, fact)
    for block in blocks:
        block.key = (block.kind, not block.agent, *block.seen)
    return blocks


Opens: TypeAlias = Callable[[Block | None, Any], str | None]
Handler: TypeAlias = tuple[Opens | None, Callable[[Block, Any], None] | None]


def _always(kind: str) -> Opens:
    return lambda block, _: None if block is not None and block.kind == kind and kind == END else kind


def _at_request(block: Block | None, fact: ModelRequest | RequestHeader) -> str | None:
    """Only where no step is open, or the open one has its request; another attempt belongs to its step."""
    if block is not None and block.kind == STEP:
        again = isinstance(fact, ModelRequest) and fact.attempt > 1
        return STEP if block.has_request and not again else None
    return STEP


def _at_answer(block: Block | None, _: AssistantMessage) -> str | None:
    return None if block is not None and block.kind == STEP and block.answer is None else STEP


def _at_input(block: Block | None, _: UserMessage) -> str | None:
    """Input opens a block of its own, but where it enters an open step, or the turn has just begun."""
    if block is None:
        return INPUT
    return INPUT if block.answer is not None or block.kind == END else None


_OPENS: Final[dict[type[Any], Opens]] = {
    TurnStart: lambda block, _: INPUT if block is not None and block.kind not in (START, INPUT) else None,
    InboxQueued: lambda block, _: INPUT if block is not None and block.kind == END else None,
    StepStart: _always(STEP),
    ModelRequest: _at_request,
    RequestHeader: _at_request,
    AssistantMessage: _at_answer,
    UserMessage: _at_input,
    TurnEnd: _always(END),
    RunEnd: _always(END),
    RunQuiescent: _always(END),
}


def _take_request(block: Block, _: ModelRequest) -> None:
    block.has_request = True


def _take_answer(block: Block, fact: AssistantMessage) -> None:
    block.answer, block.places = fact, None
    block.seen.append(answer_key(fact))


def _take_result(block: Block, fact: ToolResult) -> None:
    block.seen.append(result_key(block.place_of(fact.call_id), fact))


def _take_other(block: Block, fact: Any) -> None:
    block.seen.append(other_key(fact))


_NOTHING: Final = (
    RunStart,
    TurnStart,
    StepStart,
    StepEnd,
    InboxClaimed,
    ToolCall,
    ToolStart,
    ToolEnd,
    ModelFailed,
    ModelRetry,
    AssistantChunk,
    Note,
    UnknownFact,
)
_TAKES: Final[dict[type[Any], Callable[[Block, Any], None] | None]] = {
    ModelRequest: _take_request,
    AssistantMessage: _take_answer,
    ToolResult: _take_result,
    **dict.fromkeys(_NOTHING),
}
_OTHER: Final[Handler] = (None, _take_other)
_HANDLERS: Final[dict[type[Any], Handler]] = {
    kind: (_OPENS.get(kind), _TAKES.get(kind, _take_other)) for kind in {**_OPENS, **_TAKES}
}
"""For each kind of fact whether it opens a block, and what of it is compared."""
