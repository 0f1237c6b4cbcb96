"""Why a run or turn stopped, and the small records inside facts (**wire**).

A reason is not a status: a final answer may be incomplete, a limit may come after good work.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from harness.types.codes import CancelBy, Code, LimitKind, Status
from harness.types.making import quickly_made
from harness.types.messages import CallId, ChatUser, MessageId, OnDisk


@dataclass(frozen=True, slots=True)
class FinalAnswer(OnDisk):
    """The model gave an answer and asked for nothing more.

    ``outcome`` and ``why`` are what an outcome judge said of it; without one the turn is completed.
    """

    kind: Literal["final-answer"] = field(default="final-answer", kw_only=True)
    outcome: Status | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Concluded(OnDisk):
    """A tool concluded the turn, or there was nothing to do in it."""

    kind: Literal["concluded"] = field(default="concluded", kw_only=True)


@dataclass(frozen=True, slots=True)
class OutOfTokens(OnDisk):
    """The answer was cut by the provider's output limit."""

    kind: Literal["max-tokens"] = field(default="max-tokens", kw_only=True)


@dataclass(frozen=True, slots=True)
class ContentFiltered(OnDisk):
    """The provider filtered the answer, or the model refused."""

    kind: Literal["content-filter"] = field(default="content-filter", kw_only=True)


@dataclass(frozen=True, slots=True)
class Interrupted(OnDisk):
    """The process died; said by repair or by a reader, never by a live loop."""

    kind: Literal["interrupted"] = field(default="interrupted", kw_only=True)


@dataclass(frozen=True, slots=True)
class LimitHit(OnDisk):
    """A limit ended the turn; ``value`` is the limit in its own unit (steps, ms, tokens, ...).

    0 in another product's file: it does not tell which number the limit was.

    ``reached`` is what was counted, where that is more than the limit; ``message`` says in words what
    repeated, or what was not started any more.
    """

    kind: Literal["limit"] = field(default="limit", kw_only=True)
    which: LimitKind
    value: int
    reached: int | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Waiting(OnDisk):
    """The turn waits for a person: to answer, or to approve the call named."""

    kind: Literal["waiting"] = field(default="waiting", kw_only=True)
    call_id: CallId | None = None


@dataclass(frozen=True, slots=True)
class Blocked(OnDisk):
    """A hook rejected the step."""

    kind: Literal["blocked"] = field(default="blocked", kw_only=True)
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Failed(OnDisk):
    """The model, a hook, the recorder or the loop failed."""

    kind: Literal["error"] = field(default="error", kw_only=True)
    code: Code
    message: str


@dataclass(frozen=True, slots=True)
class Cancelled(OnDisk):
    """Somebody cancelled."""

    kind: Literal["cancelled"] = field(default="cancelled", kw_only=True)
    by: CancelBy


Reason: TypeAlias = (
    FinalAnswer
    | Concluded
    | OutOfTokens
    | ContentFiltered
    | Interrupted
    | LimitHit
    | Waiting
    | Blocked
    | Failed
    | Cancelled
)


@dataclass(frozen=True, slots=True)
class Usage(OnDisk):
    """Tokens and money of one request, as the provider counted; money in micro-dollars."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_micro_usd: int | None = None


@quickly_made
@dataclass(frozen=True, slots=True)
class EmittedCall(OnDisk):
    """A call as the model emitted it, under its unique ``id``.

    ``arguments`` is the text the model sent. ``wire_id`` is the provider's id verbatim, only where
    it differs from ``id`` (``""`` is kept, an absent one is None).
    """

    id: CallId
    name: str
    arguments: str
    wire_id: str | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Alive(OnDisk):
    """Something that a run started and that was still running at its last line."""

    kind: str
    name: str
    start: int | None = None


@dataclass(frozen=True, slots=True)
class QueuedMessage(OnDisk):
    """Input that the model has not seen yet."""

    id: MessageId
    message: ChatUser
