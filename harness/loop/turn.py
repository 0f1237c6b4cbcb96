"""One turn: its beginning, its end, and the desk on which a driver keeps its things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.folds import MESSAGE_FACTS, Budget, CallIds, History, header_tokens, windowed
from harness.loop.hooks import Hooks
from harness.loop.inbox import Inbox
from harness.loop.policies import Policies
from harness.loop.scheduler import Scheduler
from harness.loop.stop import StopSignal
from harness.protocols import Log, ModelDoor, ToolDoor
from harness.types.codes import Origin, Status
from harness.types.events import Event
from harness.types.facts import Fact
from harness.types.lifecycle import TurnEnd
from harness.types.messages import CallId, ChatDeveloper, ChatSystem, JsonText, Messages
from harness.types.policy import ApprovalReply
from harness.types.reasons import (
    Blocked,
    Cancelled,
    Concluded,
    ContentFiltered,
    EmittedCall,
    Failed,
    FinalAnswer,
    Interrupted,
    LimitHit,
    OutOfTokens,
    Reason,
    Waiting,
)
from harness.types.scenario import Limits


@dataclass(slots=True)
class Turn:
    """The open turn: its number (from 1 in a run), its open step (from 1; 0 before), its signal.

    ``goes_on``: it takes up the work of an interrupted turn, and needs no input. ``parked``: calls of the open step
    that go on with these ``answers``.
    """

    number: int
    stop: StopSignal
    step: int = 0
    step_is_open: bool = False
    goes_on: bool = False
    parked: tuple[EmittedCall, ...] = ()
    answers: Mapping[CallId, ApprovalReply] = field(default_factory=dict)
    limit: LimitHit | None = None  # what kept a body from starting: ends the turn behind its batch
    n_skipped: int = 0


@dataclass(slots=True)
class Desk:
    """What the parts of a driver share: both doors, the log, limits, the inbox, and the history as a fold."""

    model: ModelDoor
    tools: ToolDoor
    log: Log
    limits: Limits
    system: tuple[ChatSystem | ChatDeveloper, ...]
    parameters: JsonText
    hooks: Hooks
    agent: str
    scheduler: Scheduler
    ids: CallIds
    policies: Policies = field(default_factory=Policies)
    inbox: Inbox = field(default_factory=Inbox)
    history: History = field(init=False)
    budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        self.history = History(self.agent)
        self.budget = Budget(self.limits, self.agent, header_tokens(self.system, self.tools.offered))

    @property
    def shown(self) -> Messages:
        """What the next request shows: the history, or a window of it (on disk still one conversation)."""
        last = self.policies.context.window
        return self.history.messages if last is None else windowed(self.history.messages, last)

    def say(self, fact: Fact, turn: Turn | None = None, *, origin: Origin = Origin.SUBJECT) -> Event:
        """Record a fact of the loop's own account, in its place, and fold it into the history."""
        if turn is None:
            event = self.log.record(fact, origin=origin, agent=self.agent)
        else:
            step = turn.step if turn.step_is_open else None
            event = self.log.record(fact, origin=origin, agent=self.agent, turn=turn.number, step=step)
        if type(fact) in MESSAGE_FACTS:
            self.history.apply(event)
        return event

    def observe(self, fact: Fact) -> None:
        """Record a fact that the harness itself knows (a cancel)."""
        self.say(fact, origin=Origin.PROBE)


def end_turn(desk: Desk, turn: Turn, reason: Reason) -> None:
    """Record the turn's end."""
    desk.say(TurnEnd(status_for(reason), reason), turn)


def status_for(reason: Reason) -> Status:
    """The status that a reason gives a turn (design page, Statuses)."""
    match reason:
        case FinalAnswer(outcome=outcome):
            return outcome or Status.COMPLETED
        case Concluded():
            return Status.COMPLETED
        case OutOfTokens() | ContentFiltered() | Interrupted():
            return Status.INCOMPLETE
        case LimitHit():
            return Status.LIMIT_REACHED
        case Waiting():
            return Status.WAITING_FOR_USER
        case Blocked():
            return Status.BLOCKED
        case Failed():
            return Status.FAILED
        case Cancelled():
            return Status.CANCELLED
