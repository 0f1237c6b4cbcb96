"""Design choices of sections 1 and 4 of the catalogue: turns, steps, limits (**wire**)."""

from __future__ import annotations

from enum import StrEnum


class RequestHistory(StrEnum):
    """CONFORMANCE 7: how a request's messages follow from those of the request before."""

    UNDECLARED = "undeclared"
    APPEND_ONLY = "append-only"
    REWRITTEN = "rewritten"
    WINDOWED = "windowed"


class ObserverThrows(StrEnum):
    """CONFORMANCE 11: what an observer that throws does to the run."""

    UNDECLARED = "undeclared"
    CHANGES_NOTHING = "changes-nothing"
    FAILS_RUN = "fails-run"
    RAISED_TO_CALLER = "raised-to-caller"


class PolicyHookThrows(StrEnum):
    """CONFORMANCE 12: what a policy hook that throws does."""

    UNDECLARED = "undeclared"
    FAILS_RUN = "fails-run"
    CHANGES_NOTHING = "changes-nothing"
    RAISED_TO_CALLER = "raised-to-caller"
    NOT_OFFERED = "not-offered"


class StepRejected(StrEnum):
    """CONFORMANCE 13: how a turn ends whose step a hook rejected."""

    UNDECLARED = "undeclared"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    FAILED = "failed"
    NOT_OFFERED = "not-offered"


class RewrittenToEmpty(StrEnum):
    """CONFORMANCE 14: a first step whose input a hook rewrote to nothing."""

    UNDECLARED = "undeclared"
    COMPLETED_WITHOUT_STEP = "completed-without-step"
    EMPTY_REQUEST = "empty-request"
    REFUSED = "refused"
    NOT_OFFERED = "not-offered"


class RewrittenInput(StrEnum):
    """CONFORMANCE 15: what is kept of input that a hook rewrote."""

    UNDECLARED = "undeclared"
    RECORDED_AND_SENT = "recorded-and-sent"
    SENT_ONLY = "sent-only"
    NOT_OFFERED = "not-offered"


class InputAtStopping(StrEnum):
    """CONFORMANCE 16: input added while a turn is about to stop."""

    UNDECLARED = "undeclared"
    ONE_MORE_STEP = "one-more-step"
    NEXT_TURN = "next-turn"
    NOT_OFFERED = "not-offered"


class ConcludingResult(StrEnum):
    """CONFORMANCE 17: a tool result that concludes the turn."""

    UNDECLARED = "undeclared"
    STOPS_UNLESS_STEERED = "stops-unless-steered"
    STOPS = "stops"
    NOT_OFFERED = "not-offered"


class TerminatingBatch(StrEnum):
    """CONFORMANCE 18: which results of a batch must ask for the end."""

    UNDECLARED = "undeclared"
    ALL_OF_BATCH = "all-of-batch"
    ANY_OF_BATCH = "any-of-batch"
    NOT_OFFERED = "not-offered"


class NothingToContinue(StrEnum):
    """CONFORMANCE 19: going on from an answer or from an empty history, without input."""

    UNDECLARED = "undeclared"
    ERROR = "error"
    NO_OP = "no-op"
    ASKS_MODEL = "asks-model"
    NOT_OFFERED = "not-offered"


class OfferedToolOrder(StrEnum):
    """CONFORMANCE 24: the order in which tools are offered."""

    UNDECLARED = "undeclared"
    BY_NAME = "by-name"
    AS_REGISTERED = "as-registered"


class HeaderChange(StrEnum):
    """CONFORMANCE 25: how changed system text or tools show in the trajectory."""

    UNDECLARED = "undeclared"
    FULL_SNAPSHOT = "full-snapshot"
    NOT_SHOWN = "not-shown"
    CANNOT_CHANGE = "cannot-change"


class StepwiseDriving(StrEnum):
    """CONFORMANCE 27: the log of a run driven by hand."""

    UNDECLARED = "undeclared"
    SAME_LOG = "same-log"
    DIFFERENT_LOG = "different-log"
    NOT_OFFERED = "not-offered"


class MaxTokens(StrEnum):
    """CONFORMANCE 95: an answer cut by the output limit."""

    UNDECLARED = "undeclared"
    ENDS_TURN = "ends-turn"
    ERROR_RESULTS = "error-results"


class MaxTokensNextTurn(StrEnum):
    """CONFORMANCE 96: what the output limit leaves for the next turn."""

    UNDECLARED = "undeclared"
    NOTHING = "nothing"
    CARRIED_OVER = "carried-over"


class EmptyCutAnswer(StrEnum):
    """CONFORMANCE 97: an answer that was cut before it had any text."""

    UNDECLARED = "undeclared"
    NOT_SENT_BACK = "not-sent-back"
    SENT_BACK_EMPTY = "sent-back-empty"


class BudgetChecks(StrEnum):
    """CONFORMANCE 100: when budgets of time, tokens and money are looked at."""

    UNDECLARED = "undeclared"
    BEFORE_REQUESTS_AND_BODIES = "before-requests-and-bodies"
    BEFORE_REQUESTS = "before-requests"
    AFTER_STEPS = "after-steps"
    NOT_OFFERED = "not-offered"


class LimitPrecedence(StrEnum):
    """CONFORMANCE 101: which of several simultaneous ends is reported."""

    UNDECLARED = "undeclared"
    CANCEL_STEPS_TIME = "cancel-steps-time"
    CANCEL_TIME_STEPS = "cancel-time-steps"
    FIRST_NOTICED = "first-noticed"


class RetryCounting(StrEnum):
    """CONFORMANCE 102: what a retried request counts as."""

    UNDECLARED = "undeclared"
    ATTEMPT_OF_ONE_STEP = "attempt-of-one-step"
    OWN_STEP = "own-step"
    NO_RETRIES = "no-retries"
