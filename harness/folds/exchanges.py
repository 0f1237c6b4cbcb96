"""What each request of a run came to: its answer, its failure, its chunks, or nothing.

What replays a trajectory needs (``harness replay``, ``harness scenario from``): both sides of every
exchange with a model, told apart by agent and role.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from harness.types.doors import MAIN_ROLE, AnsweredCall
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    RequestHeader,
)
from harness.types.jsontext import Refusal, parse_json
from harness.types.lifecycle import FAULT_NOTE, Note
from harness.types.messages import JsonText
from harness.types.reasons import EmittedCall
from harness.types.retrying import MODEL_ROLE_NOTE

_OURS: Final = re.compile(r"(?:.*/)?\d+\.\d+\.\d+(?:'|~\d+)*\Z", re.DOTALL)


@dataclass(slots=True)
class Exchange:
    """One request with what came of it; ``asked`` None: the file tells the answer only (an import).

    ``chunks`` pairs each chunk with the milliseconds since the event before it of the same exchange (None: no times).
    ``faulted``: an injection made it fail before a model was asked. ``retried_after_ms``: the pause before the next
    attempt. Neither ``answer`` nor ``failure``: it was stopped. An ``interrupted`` answer is the visible prefix of one
    that never became whole.
    """

    agent: str
    asked: Event | None
    header: RequestHeader | None = None
    role: str = MAIN_ROLE
    chunks: list[tuple[int | None, JsonText]] = field(default_factory=list)
    answer: AssistantMessage | None = None
    failure: ModelFailed | None = None
    answered: Event | None = None
    faulted: bool = False
    retried_after_ms: int | None = None

    @property
    def is_answered(self) -> bool:
        """Whether a whole answer came: only those count as steps."""
        return self.answer is not None and not self.answer.interrupted

    @property
    def delay_ms(self) -> int:
        """From the request to the last that came of it, less what passed between chunks; 0 where no times are known."""
        began = self.asked.time if self.asked else None
        ended = self.answered.time if self.answered else None
        if began is None or ended is None:
            return 0
        return max(ended - began - sum(gap or 0 for gap, _ in self.chunks), 0)


def exchanges_of(trajectory: Trajectory) -> tuple[Exchange, ...]:
    """All exchanges of a run, in the order of their requests."""
    return tuple(_exchanges(trajectory.events))


def _exchanges(events: tuple[Event, ...]) -> Iterator[Exchange]:
    found: list[Exchange] = []
    open_ones: dict[str, Exchange] = {}
    headers: dict[str, RequestHeader] = {}
    last_ms: dict[str, int | None] = {}
    for event in events:
        fact, agent = event.fact, event.agent
        match fact:
            case RequestHeader():
                headers[agent] = fact
            case ModelRequest():
                open_ones[agent] = Exchange(agent, event, headers.get(agent))
                last_ms[agent] = event.time
                found.append(open_ones[agent])
            case Note(name=name):
                _noted(open_ones.get(agent), fact, is_fault=name == FAULT_NOTE)
            case AssistantChunk() if agent in open_ones:
                before = last_ms.get(agent)
                gap = None if event.time is None or before is None else event.time - before
                open_ones[agent].chunks.append((gap, fact.chunk))
                last_ms[agent] = event.time
            case ModelRetry(delay_ms=delay_ms) if agent in open_ones:
                open_ones[agent].retried_after_ms = delay_ms
            case AssistantMessage() | ModelFailed():
                _closed(found, open_ones, event, fact)
            case _:
                pass
    yield from found


def _noted(exchange: Exchange | None, note: Note, *, is_fault: bool) -> None:
    """A note behind a request: which role it went to, or that it was made to fail."""
    if exchange is None or exchange.answered is not None:
        return
    value = parse_json(note.data or "null")
    if note.name == MODEL_ROLE_NOTE and isinstance(value, str):
        exchange.role = value
    elif is_fault and isinstance(value, dict) and exchange.asked is not None and value.get("at") == exchange.asked.seq:
        exchange.faulted = True


def _closed(
    found: list[Exchange], open_ones: dict[str, Exchange], event: Event, fact: AssistantMessage | ModelFailed
) -> None:
    exchange = open_ones.get(event.agent)
    prefix_of_failed = isinstance(fact, AssistantMessage) and fact.interrupted
    if exchange is None or (exchange.answered is not None and not prefix_of_failed):
        exchange = Exchange(event.agent, None)
        found.append(exchange)
    if isinstance(fact, AssistantMessage):
        exchange.answer = fact
        if not prefix_of_failed:
            open_ones.pop(event.agent, None)
    else:
        exchange.failure = fact
    exchange.answered = exchange.answered or event


def given_id(call: EmittedCall) -> str | None:
    """The id that the provider gave a call: ``""`` where it was empty, None where it gave none.

    A file leaves the provider's id out where it is the call's own, and where there was none; an id of the form that
    the loop makes (``turn.step.index``) is taken for its own.
    """
    if call.wire_id is not None:
        return call.wire_id
    return None if _OURS.match(call.id) else call.id


def answered_call(call: EmittedCall) -> AnsweredCall:
    """A call as the provider sent it."""
    return AnsweredCall(call.name, call.arguments, given_id(call), call.type)


def tool_names(tools: JsonText) -> tuple[str, ...]:
    """The names in a list of offered tools (``request/header``), in order."""
    value = parse_json(tools)
    if isinstance(value, Refusal) or not isinstance(value, list):
        return ()
    return tuple(one["name"] for one in value if isinstance(one, dict) and isinstance(one.get("name"), str))
