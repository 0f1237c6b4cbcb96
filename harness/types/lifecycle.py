"""Facts that frame a run: run, turn, step, inbox, approval, cancel, note (**wire**)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.types.codes import ApprovalOutcome, CancelBy, CancelScope, InboxQueue, QueueDisposition, Status
from harness.types.messages import CallId, JsonText, MessageId, OnDisk
from harness.types.reasons import Alive, QueuedMessage, Reason

REMOVED: Final = "removed by its sender"
"""Why input was dropped that its sender took back, whatever a cancel says of the queue."""


@dataclass(frozen=True, slots=True)
class RunStart(OnDisk):
    """The run begins."""

    TYPE: ClassVar[str] = "run/start"


@dataclass(frozen=True, slots=True)
class RunEnd(OnDisk):
    """The subject's account of its end; exactly one."""

    TYPE: ClassVar[str] = "run/end"
    status: Status
    reason: Reason


@dataclass(frozen=True, slots=True)
class RunQuiescent(OnDisk):
    """The last line: what is still running, by name; ``settle_ms`` is how long was waited."""

    TYPE: ClassVar[str] = "run/quiescent"
    alive: tuple[Alive, ...] = ()
    settle_ms: int = 0


@dataclass(frozen=True, slots=True)
class InboxQueued(OnDisk):
    """Input was accepted."""

    TYPE: ClassVar[str] = "inbox/queued"
    queue: InboxQueue
    messages: tuple[QueuedMessage, ...]


@dataclass(frozen=True, slots=True)
class InboxClaimed(OnDisk):
    """A turn or step took input; it becomes user messages."""

    TYPE: ClassVar[str] = "inbox/claimed"
    queue: InboxQueue
    message_ids: tuple[MessageId, ...]


@dataclass(frozen=True, slots=True)
class InboxDiscarded(OnDisk):
    """Input was dropped, and why."""

    TYPE: ClassVar[str] = "inbox/discarded"
    queue: InboxQueue
    message_ids: tuple[MessageId, ...]
    why: str


@dataclass(frozen=True, slots=True)
class TurnStart(OnDisk):
    """The work owed to one piece of user input begins."""

    TYPE: ClassVar[str] = "turn/start"


@dataclass(frozen=True, slots=True)
class TurnEnd(OnDisk):
    """It ends."""

    TYPE: ClassVar[str] = "turn/end"
    status: Status
    reason: Reason


@dataclass(frozen=True, slots=True)
class StepStart(OnDisk):
    """One model request (with its attempts) and its tool calls begin."""

    TYPE: ClassVar[str] = "step/start"


@dataclass(frozen=True, slots=True)
class StepEnd(OnDisk):
    """They end; also written where no answer came."""

    TYPE: ClassVar[str] = "step/end"


@dataclass(frozen=True, slots=True)
class ApprovalAsked(OnDisk):
    """A person is asked about a call."""

    TYPE: ClassVar[str] = "approval/asked"
    call_id: CallId


@dataclass(frozen=True, slots=True)
class ApprovalAnswered(OnDisk):
    """The answer, and who gave it."""

    TYPE: ClassVar[str] = "approval/answered"
    call_id: CallId
    outcome: ApprovalOutcome
    by: str


@dataclass(frozen=True, slots=True)
class CancelRequested(OnDisk):
    """A cancel was asked for."""

    TYPE: ClassVar[str] = "cancel/requested"
    by: CancelBy
    scope: CancelScope
    queue: QueueDisposition
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class CancelDelivered(OnDisk):
    """The cancel reached the subject; checks judge from here on."""

    TYPE: ClassVar[str] = "cancel/delivered"
    by: CancelBy
    scope: CancelScope
    queue: QueueDisposition
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Note(OnDisk):
    """Anything else worth keeping; ``data`` is JSON text."""

    TYPE: ClassVar[str] = "note"
    IGNORABLE: ClassVar[bool] = True
    name: str
    data: JsonText | None = None


MESSAGE_NOTE: Final = "chat/message"
"""Name of the note that keeps a system or developer message of an import behind the first other message."""
NO_IDS_NOTE: Final = "import/no-ids"
"""Name of the note of an import before an answer whose calls have no id because their form knows none (JSON text)."""
UNRECORDED_NOTE: Final = "import/unrecorded"
"""Name of the note of an import before an answer of which its file shows less than there was: a JSON list of
``request`` and ``answer``, or one of them. Nothing may be said of what was not recorded."""
NOT_WRAPPED_NOTE: Final = "tools/not-wrapped"
"""Name of the note that lists the tools which the model called and the loop had never wrapped (JSON list of names)."""
REAL_TIME_NOTE: Final = "door/real-time"
"""Name of the note that says why a loop is run against the server on loopback, in real time (JSON text)."""
FAULT_NOTE: Final = "inject/fault"
"""Name of the note behind a ``tool/start`` or ``model/request`` that was made to fail."""
CHANGED_ARGUMENTS_NOTE: Final = "arguments-changed"
"""Name of the note before a body whose arguments a hook changed: ``{call, arguments}``, as the body gets them."""
CHANGED_RESULT_NOTE: Final = "result-changed"
"""Name of the note before a result whose content a hook changed: ``{call}``."""


@dataclass(frozen=True, slots=True)
class UnknownFact(OnDisk):
    """A line of a kind that this version does not know but may ignore, kept for an exact round trip."""

    TYPE: ClassVar[str] = "(unknown)"
    IGNORABLE: ClassVar[bool] = True
    kind: str
    line: JsonText
