"""Design choices of sections 3 and 5 to 9 of the catalogue: cancel, queues, log, streams, errors (**wire**)."""

from __future__ import annotations

from enum import StrEnum


class StreamedPrefix(StrEnum):
    """CONFORMANCE 70: the visible text of an answer that a cancel cut."""

    UNDECLARED = "undeclared"
    KEPT_AND_MARKED = "kept-and-marked"
    DROPPED = "dropped"
    NOT_STREAMED = "not-streamed"


class ResultAfterCancel(StrEnum):
    """CONFORMANCE 73: the result of a body that succeeded although a cancel had come."""

    UNDECLARED = "undeclared"
    KEPT = "kept"
    ABORTED = "aborted"


class OwnErrorAtCancel(StrEnum):
    """CONFORMANCE 74: a denial or a tool's own error that races with a cancel."""

    UNDECLARED = "undeclared"
    KEEPS_ITS_CODE = "keeps-its-code"
    ABORTED = "aborted"


class UncooperativeTool(StrEnum):
    """CONFORMANCE 77: a body that does not end when it is cancelled."""

    UNDECLARED = "undeclared"
    WAITED_FOR = "waited-for"
    ABANDONED_AND_NAMED = "abandoned-and-named"


class CancelCause(StrEnum):
    """CONFORMANCE 80: which of two cancels is the cause."""

    UNDECLARED = "undeclared"
    FIRST = "first"
    LAST = "last"


class CancelDuringApproval(StrEnum):
    """CONFORMANCE 85: a call that waits for approval when a cancel comes."""

    UNDECLARED = "undeclared"
    CANCELLED = "cancelled"
    REJECTED = "rejected"
    NOT_OFFERED = "not-offered"


class ParentCancel(StrEnum):
    """CONFORMANCE 88: whether a cancel reaches child agents."""

    UNDECLARED = "undeclared"
    REACHES_CHILDREN = "reaches-children"
    CHILDREN_GO_ON = "children-go-on"
    NOT_OFFERED = "not-offered"


class Steering(StrEnum):
    """CONFORMANCE 104: when input that steers reaches the model."""

    UNDECLARED = "undeclared"
    NEXT_REQUEST = "next-request"
    NEXT_TURN = "next-turn"
    NOT_OFFERED = "not-offered"


class InjectWhileIdle(StrEnum):
    """CONFORMANCE 105: input injected while nothing runs."""

    UNDECLARED = "undeclared"
    STARTS_NOTHING = "starts-nothing"
    STARTS_TURN = "starts-turn"
    NOT_OFFERED = "not-offered"


class InputDuringRequest(StrEnum):
    """CONFORMANCE 106: input that arrives while a request is prepared."""

    UNDECLARED = "undeclared"
    NEXT_REQUEST = "next-request"
    NEXT_TURN = "next-turn"
    REFUSED = "refused"
    NOT_OFFERED = "not-offered"


class InputBatching(StrEnum):
    """CONFORMANCE 107: how much queued input is taken at once."""

    UNDECLARED = "undeclared"
    ONE_FOLLOWUP_ALL_STEERING = "one-followup-all-steering"
    ONE_AT_A_TIME = "one-at-a-time"
    ALL = "all"
    NOT_OFFERED = "not-offered"


class CallsLeftAtSteering(StrEnum):
    """CONFORMANCE 108: calls that have not run when steering arrives."""

    UNDECLARED = "undeclared"
    RUN = "run"
    SKIPPED_WITH_RESULT = "skipped-with-result"
    NOT_OFFERED = "not-offered"


class KeptQueue(StrEnum):
    """CONFORMANCE 110: a queue that a cancel kept."""

    UNDECLARED = "undeclared"
    PARKED_UNTIL_WAKE = "parked-until-wake"
    RUNS_AT_ONCE = "runs-at-once"
    NOT_OFFERED = "not-offered"


class RemovedWake(StrEnum):
    """CONFORMANCE 112: a wake message that is removed before its turn."""

    UNDECLARED = "undeclared"
    NO_TURN = "no-turn"
    TURN_WITHOUT_STEPS = "turn-without-steps"
    NOT_OFFERED = "not-offered"


class InputAfterDisposal(StrEnum):
    """CONFORMANCE 113: input that arrives after disposal."""

    UNDECLARED = "undeclared"
    REFUSED = "refused"
    DROPPED = "dropped"
    LATCHED = "latched"
    NOT_OFFERED = "not-offered"


class QueueAfterBlock(StrEnum):
    """CONFORMANCE 114: queued input behind a blocked or failed turn."""

    UNDECLARED = "undeclared"
    PARKED_IN_ORDER = "parked-in-order"
    RUNS_ON = "runs-on"
    DROPPED = "dropped"
    NOT_OFFERED = "not-offered"


class ReentrantAppend(StrEnum):
    """CONFORMANCE 121: an event recorded from inside a listener."""

    UNDECLARED = "undeclared"
    QUEUED = "queued"
    REFUSED = "refused"
    NOT_OFFERED = "not-offered"


class InvalidReplacement(StrEnum):
    """CONFORMANCE 124: a replacement that names no current messages."""

    UNDECLARED = "undeclared"
    REFUSED = "refused"
    APPLIED = "applied"
    NOT_OFFERED = "not-offered"


class RewrittenResult(StrEnum):
    """CONFORMANCE 125: what may change when a result is rewritten."""

    UNDECLARED = "undeclared"
    CONTENT_ONLY = "content-only"
    ANYTHING = "anything"
    NOT_OFFERED = "not-offered"


class Compaction(StrEnum):
    """CONFORMANCE 127: where older history may be cut."""

    UNDECLARED = "undeclared"
    WHERE_CALLS_BALANCE = "where-calls-balance"
    ANYWHERE = "anywhere"
    NOT_OFFERED = "not-offered"


class UnknownEvent(StrEnum):
    """CONFORMANCE 128: an event of an unknown kind in a file."""

    UNDECLARED = "undeclared"
    REFUSED_UNLESS_IGNORABLE = "refused-unless-ignorable"
    KEPT = "kept"
    SKIPPED = "skipped"


class LateProgress(StrEnum):
    """CONFORMANCE 146: progress of a tool that has already settled."""

    UNDECLARED = "undeclared"
    DROPPED = "dropped"
    RECORDED = "recorded"
    NOT_OFFERED = "not-offered"


class MessageEvents(StrEnum):
    """CONFORMANCE 147: what observers see of each message."""

    UNDECLARED = "undeclared"
    START_UPDATES_END = "start-updates-end"
    END_ONLY = "end-only"
    NOT_OFFERED = "not-offered"


class RetriedErrors(StrEnum):
    """CONFORMANCE 151: which model errors are tried again."""

    UNDECLARED = "undeclared"
    TRANSIENT = "transient"
    ALL = "all"
    NONE = "none"


class RetryDelay(StrEnum):
    """CONFORMANCE 152: how long a retry waits."""

    UNDECLARED = "undeclared"
    RETRY_AFTER_AND_BACKOFF = "retry-after-and-backoff"
    BACKOFF = "backoff"
    AT_ONCE = "at-once"
    NO_RETRIES = "no-retries"


class ContextOverflow(StrEnum):
    """CONFORMANCE 153: a request that is longer than the model's context."""

    UNDECLARED = "undeclared"
    COMPACTED_AND_RETRIED_ONCE = "compacted-and-retried-once"
    FAILS_RUN = "fails-run"
    CUT_SILENTLY = "cut-silently"
