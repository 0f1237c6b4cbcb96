"""Design choices of section 2 of the catalogue: tools (**wire**)."""

from __future__ import annotations

from enum import StrEnum


class ReusedCallId(StrEnum):
    """CONFORMANCE 32: a provider's call id that comes again in a later step."""

    UNDECLARED = "undeclared"
    ACCEPTED = "accepted"
    RENAMED = "renamed"
    REJECTED = "rejected"


class EmptyArguments(StrEnum):
    """CONFORMANCE 37: arguments that are an empty text."""

    UNDECLARED = "undeclared"
    EMPTY_OBJECT = "empty-object"
    INVALID = "invalid"


class UndeclaredProperty(StrEnum):
    """CONFORMANCE 38: an argument that the schema does not declare."""

    UNDECLARED = "undeclared"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DROPPED = "dropped"


class ToolTimeout(StrEnum):
    """CONFORMANCE 41: a tool that takes too long."""

    UNDECLARED = "undeclared"
    ERROR_RESULT = "error-result"
    FAILS_RUN = "fails-run"
    NOT_OFFERED = "not-offered"


class ParallelSiblings(StrEnum):
    """CONFORMANCE 42: calls of one answer that may overlap."""

    UNDECLARED = "undeclared"
    OVERLAP = "overlap"
    SERIAL = "serial"


class ToolPool(StrEnum):
    """CONFORMANCE 43: how many bodies run at once."""

    UNDECLARED = "undeclared"
    ROLLING_CAP = "rolling-cap"
    FIXED_BATCHES = "fixed-batches"
    UNBOUNDED = "unbounded"
    ONE = "one"


class ExclusiveCall(StrEnum):
    """CONFORMANCE 45: an exclusive call between parallel ones."""

    UNDECLARED = "undeclared"
    BARRIER = "barrier"
    OVERLAPS = "overlaps"
    NOT_OFFERED = "not-offered"


class UnclearMode(StrEnum):
    """CONFORMANCE 46: a tool whose mode cannot be told."""

    UNDECLARED = "undeclared"
    EXCLUSIVE = "exclusive"
    PARALLEL = "parallel"
    NOT_OFFERED = "not-offered"


class ModeReading(StrEnum):
    """CONFORMANCE 47: when a tool's mode is read."""

    UNDECLARED = "undeclared"
    BEFORE_EACH_START = "before-each-start"
    ONCE_A_BATCH = "once-a-batch"
    NOT_OFFERED = "not-offered"


class SequentialTool(StrEnum):
    """CONFORMANCE 48: what one sequential tool does to its batch."""

    UNDECLARED = "undeclared"
    ITSELF_ONLY = "itself-only"
    WHOLE_BATCH = "whole-batch"
    NOT_OFFERED = "not-offered"


class ToolEndOrder(StrEnum):
    """CONFORMANCE 50: the order in which ends of bodies are recorded."""

    UNDECLARED = "undeclared"
    COMPLETION = "completion"
    MODEL = "model"


class ToolHookOrder(StrEnum):
    """CONFORMANCE 51: the order of hooks around tools."""

    UNDECLARED = "undeclared"
    MODEL = "model"
    COMPLETION = "completion"
    NOT_OFFERED = "not-offered"


class DeniedCall(StrEnum):
    """CONFORMANCE 52: a call that a policy denies."""

    UNDECLARED = "undeclared"
    ERROR_RESULT = "error-result"
    FAILS_RUN = "fails-run"
    DROPPED = "dropped"
    NOT_OFFERED = "not-offered"


class HookChangedArguments(StrEnum):
    """CONFORMANCE 54: arguments that a hook changed."""

    UNDECLARED = "undeclared"
    CHECKED_AGAIN = "checked-again"
    NOT_CHECKED = "not-checked"
    NOT_OFFERED = "not-offered"


class ToolAddedContext(StrEnum):
    """CONFORMANCE 55: context that a tool adds."""

    UNDECLARED = "undeclared"
    AFTER_ALL_RESULTS = "after-all-results"
    IN_PLACE = "in-place"
    NOT_OFFERED = "not-offered"


class AskWithoutApprover(StrEnum):
    """CONFORMANCE 57: a question that nobody is there to answer."""

    UNDECLARED = "undeclared"
    DENIED = "denied"
    ALLOWED = "allowed"
    PARKED = "parked"
    NOT_OFFERED = "not-offered"


class ApprovalAfterCancel(StrEnum):
    """CONFORMANCE 58: an approval that is answered after a cancel."""

    UNDECLARED = "undeclared"
    DISCARDED = "discarded"
    HONOURED = "honoured"
    NOT_OFFERED = "not-offered"


class ToolNotAllowed(StrEnum):
    """CONFORMANCE 59: a call of a registered tool outside the allowed set."""

    UNDECLARED = "undeclared"
    ERROR_RESULT = "error-result"
    FAILS_RUN = "fails-run"
    RUNS = "runs"
    NOT_OFFERED = "not-offered"


class OversizedResult(StrEnum):
    """CONFORMANCE 60: a result that is longer than the limit."""

    UNDECLARED = "undeclared"
    TRUNCATED_AND_MARKED = "truncated-and-marked"
    TRUNCATED_SILENTLY = "truncated-silently"
    SUMMARISED_AND_MARKED = "summarised-and-marked"
    REFUSED = "refused"
    KEPT_WHOLE = "kept-whole"


class RepeatedCall(StrEnum):
    """CONFORMANCE 61: the same call again and again."""

    UNDECLARED = "undeclared"
    STOPS = "stops"
    REMINDS = "reminds"
    NOT_DETECTED = "not-detected"


class LoopDetection(StrEnum):
    """CONFORMANCE 62: which loops other than identical calls are caught."""

    UNDECLARED = "undeclared"
    ALTERNATION = "alternation"
    SAME_RESULT = "same-result"
    BOTH = "both"
    NEITHER = "neither"
