"""Injections out of a recorded run: cancels and input, each behind the event that it came behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.folds import Places, text_of
from harness.scenarios.lifted.script import Note
from harness.types.codes import CancelBy, InboxQueue, Status
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ModelRequest, UserMessage
from harness.types.lifecycle import CancelRequested, InboxQueued, RunEnd, RunQuiescent, RunStart, TurnEnd
from harness.types.lifecycle import Note as NoteFact
from harness.types.messages import ChatUser
from harness.types.scenario import Boundary, CancelAction, InjectAction, Injection, SendAction


@dataclass(frozen=True, slots=True)
class Input:
    """Something that the main agent was sent, where, and whether it is a task: nothing was under way when it came.

    ``joins``: it came behind another task that nothing had answered yet, so both are one.
    """

    event: Event
    message: ChatUser
    queue: InboxQueue
    is_task: bool
    joins: bool = False

    def text(self, note: Note) -> str:
        """Its text; parts that are none are told."""
        if not isinstance(self.message.content, str):
            note("input was made of parts (images are known by digests); the scenario has its text")
        return text_of(self.message.content)


def inputs_of(events: Sequence[Event]) -> tuple[Input, ...]:
    """All input, from the inbox where the file tells of one, else from the user messages."""
    main = [event for event in events if not event.agent]
    queued = any(isinstance(event.fact, InboxQueued) for event in main)
    return tuple(_queued(main) if queued else _shown(main))


def _queued(events: Sequence[Event]) -> Iterator[Input]:
    idle = True
    for event in events:
        match event.fact:
            case RunStart() | TurnEnd():
                idle = True
            case InboxQueued(queue=queue, messages=messages):
                for one in messages:
                    yield Input(event, one.message, queue, idle and queue is InboxQueue.FOLLOWUP)
                idle = idle and queue is InboxQueue.INJECT
            case NoteFact():
                pass
            case _:
                idle = False


def _shown(events: Sequence[Event]) -> Iterator[Input]:
    answer: AssistantMessage | None = None
    waiting = False
    for event in events:
        match event.fact:
            case UserMessage(message=message):
                steers = answer is not None and bool(answer.tool_calls)
                queue = InboxQueue.STEER if steers else InboxQueue.FOLLOWUP
                yield Input(event, message, queue, not steers, joins=waiting)
                waiting = not steers
            case AssistantMessage() as answer:
                waiting = False
            case _:
                pass


def injections_of(events: Sequence[Event], *, timed: bool, note: Note) -> tuple[Injection, ...]:
    """Cancels by anybody but a parent, and input that is no task, in the order of the events."""
    sends: dict[int, list[Input]] = {}
    for one in inputs_of(events):
        if not one.is_task:
            sends.setdefault(one.event.seq, []).append(one)
    found: list[Injection] = []
    before = _Before()
    for event in events:
        for action in _actions(event, sends.get(event.seq, []), note):
            place = before.place(event, timed=timed)
            if place is None:
                note("something was injected before the first event, which no boundary names")
            else:
                found.append(Injection(place, action))
        before.take(event, injected=event.seq in sends or isinstance(event.fact, CancelRequested))
    return tuple(found)


def _actions(event: Event, sent: Sequence[Input], note: Note) -> Iterator[InjectAction]:
    fact = event.fact
    if isinstance(fact, CancelRequested) and not event.agent and fact.by is not CancelBy.PARENT:
        yield CancelAction(fact.by, fact.scope, fact.queue, fact.reason)
    for one in sent:
        yield SendAction(one.text(note), one.queue)


class _Before:
    """The last event at which something can be injected, as a boundary."""

    def __init__(self) -> None:
        self._places = Places()
        self._seen: Counter[Boundary] = Counter()
        self._last: tuple[Boundary, Event] | None = None

    def take(self, event: Event, *, injected: bool = False) -> None:
        """The next event; what was ``injected`` itself is no place: what follows it came behind the same event."""
        self._places.follow(event)
        if isinstance(event.fact, NoteFact | RunQuiescent):
            return
        key = self._places.key_of(event)
        self._seen[key] += 1
        if not injected:
            self._last = (replace(key, nth=self._seen[key]), event)

    @property
    def here(self) -> Boundary | None:
        """The last place."""
        return self._last[0] if self._last else None

    def place(self, event: Event, *, timed: bool) -> Boundary | None:
        if self._last is None:
            return None
        at, behind = self._last
        waited = (event.time or 0) - (behind.time or 0)
        if not timed or waited <= 0:
            return at
        return replace(at, after_ms=waited)


def open_end(events: Sequence[Event]) -> Boundary | None:
    """Where a file stops that tells of no end and has an unanswered call or request last, or where it was cancelled."""
    cancelled = any(isinstance(event.fact, CancelRequested) for event in events)
    ended = any(isinstance(event.fact, RunEnd) for event in events)
    before = _Before()
    answer: AssistantMessage | None = None
    waiting = False
    for event in events:
        fact = event.fact
        if isinstance(fact, TurnEnd | RunEnd) and fact.status is Status.CANCELLED and not (event.agent or cancelled):
            return before.here
        if isinstance(fact, AssistantMessage) and not event.agent:
            answer, waiting = fact, False
        elif isinstance(fact, ModelRequest) and not event.agent:
            waiting = True
        elif isinstance(fact, CancelRequested):
            waiting = False
        before.take(event)
    stops_short = waiting or (answer is not None and bool(answer.tool_calls) and not cancelled)
    return before.here if not ended and stops_short else None
