"""Closed sets: every enum that is written to disk. Values are the words on disk."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Origin(StrEnum):
    """Who saw an event: the harness at its own door, the subject's own account, a foreign file."""

    PROBE = "probe"
    SUBJECT = "subject"
    IMPORT = "import"


class Status(StrEnum):
    """How a run or a turn ended."""

    COMPLETED = "completed"
    WAITING_FOR_USER = "waiting_for_user"
    INCOMPLETE = "incomplete"
    LIMIT_REACHED = "limit_reached"
    BLOCKED = "blocked"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Code(StrEnum):
    """Why a tool result or a model request is not plainly good. Closed; UNKNOWN is for imports."""

    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    TOOL_NOT_ALLOWED = "TOOL_NOT_ALLOWED"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    INVALID_ARGS = "INVALID_ARGS"
    TOOL_FAILED = "TOOL_FAILED"
    TOOL_TIMEOUT = "TOOL_TIMEOUT"
    EMPTY = "EMPTY"
    INVALID_TOOL_OUTPUT = "INVALID_TOOL_OUTPUT"
    TRUNCATED = "TRUNCATED"
    SUMMARISED = "SUMMARISED"
    REJECTED = "REJECTED"
    APPROVAL_UNAVAILABLE = "APPROVAL_UNAVAILABLE"
    ABORTED = "ABORTED"
    ABORTED_BEFORE_DISPATCH = "ABORTED_BEFORE_DISPATCH"
    SKIPPED = "SKIPPED"
    ANSWER_TRUNCATED = "ANSWER_TRUNCATED"
    TOOL_NOT_STARTED = "TOOL_NOT_STARTED"
    TOOL_OUTCOME_UNKNOWN = "TOOL_OUTCOME_UNKNOWN"

    EMPTY_RESPONSE = "EMPTY_RESPONSE"
    DAMAGED_RESPONSE = "DAMAGED_RESPONSE"
    NO_FINISH_REASON = "NO_FINISH_REASON"
    RATE_LIMIT = "RATE_LIMIT"
    SERVER = "SERVER"
    TIMEOUT = "TIMEOUT"
    TRANSPORT = "TRANSPORT"
    AUTH = "AUTH"
    QUOTA = "QUOTA"
    INVALID_REQUEST = "INVALID_REQUEST"
    CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
    PROVIDER_ABORTED = "PROVIDER_ABORTED"
    NO_MODEL = "NO_MODEL"
    CASSETTE_MISS = "CASSETTE_MISS"
    REPLAY_DIFFERS = "REPLAY_DIFFERS"
    SCRIPT_EXHAUSTED = "SCRIPT_EXHAUSTED"
    HOOK_FAILED = "HOOK_FAILED"
    INTERNAL = "INTERNAL"
    RECORDING_FAILED = "RECORDING_FAILED"
    UNKNOWN = "UNKNOWN"


BODY_CODES: Final = frozenset(
    {
        Code.PERMISSION_DENIED,
        Code.INVALID_ARGS,
        Code.TOOL_FAILED,
        Code.TOOL_TIMEOUT,
        Code.EMPTY,
        Code.INVALID_TOOL_OUTPUT,
        Code.TRUNCATED,
        Code.REJECTED,
        Code.APPROVAL_UNAVAILABLE,
    }
)
"""What a tool's body may say of itself; the other tool codes say that no body ran, which it cannot know."""


class FinishReason(StrEnum):
    """Why the model stopped, normalised; OTHER is a present but unknown reason (kept raw)."""

    STOP = "stop"
    TOOL_CALLS = "tool-calls"
    LENGTH = "length"
    CONTENT_FILTER = "content-filter"
    REFUSAL = "refusal"
    ABORTED = "aborted"
    ERROR = "error"
    OTHER = "other"


class Mode(StrEnum):
    """Whether a tool may overlap its siblings."""

    PARALLEL = "parallel"
    EXCLUSIVE = "exclusive"


class Effect(StrEnum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"


class Isolation(StrEnum):
    """Where a tool's body runs."""

    INLINE = "inline"
    THREAD = "thread"
    SUBPROCESS = "subprocess"


class ToolOutcome(StrEnum):
    """How a tool's body ended."""

    OK = "ok"
    ERROR = "error"
    CANCELLED = "cancelled"


class CancelBy(StrEnum):
    """Who asked for a cancel."""

    USER = "user"
    PARENT = "parent"
    DISPOSE = "dispose"
    HOOK = "hook"


class CancelScope(StrEnum):
    """What a cancel ends: the open turn, or the whole run with what is queued behind it."""

    TURN = "turn"
    RUN = "run"


class QueueDisposition(StrEnum):
    """What a cancel does with input that the model has not seen."""

    KEEP = "keep"
    DROP = "drop"


class InboxQueue(StrEnum):
    """How input reaches a driver."""

    FOLLOWUP = "followup"
    STEER = "steer"
    INJECT = "inject"


class HeaderWhy(StrEnum):
    """Why a request header was written."""

    INITIAL = "initial"
    RESUME = "resume"
    CHANGE = "change"


class LimitKind(StrEnum):
    """Which limit ended a turn."""

    STEPS = "steps"
    WALL_TIME = "wall-time"
    TURN_TIME = "turn-time"
    TOOL_CALLS = "tool-calls"
    TOKENS = "tokens"
    COST = "cost"
    CONTEXT = "context"
    REPEATS = "repeats"
    MESSAGES = "messages"


class ClockKind(StrEnum):
    """Which clock stamped a trajectory."""

    VIRTUAL = "virtual"
    SYSTEM = "system"
    UNKNOWN = "unknown"


class ApprovalOutcome(StrEnum):
    """How a question to a person was answered."""

    ALLOWED = "allowed"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    UNAVAILABLE = "unavailable"


class Outcome(StrEnum):
    """What a check or a run came to (design page, Verdicts)."""

    PASS = "PASS"
    FAIL = "FAIL"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    INCONCLUSIVE = "INCONCLUSIVE"
    INVALID = "INVALID"
    ERROR = "ERROR"


PASSING: Final = (Outcome.PASS, Outcome.NOT_APPLICABLE)
"""What says nothing against a run, of a check or of the run itself."""


class DivergenceKind(StrEnum):
    """What differed first between two trajectories, by who is behind it."""

    INPUT = "input"
    MODEL = "model"
    TOOL = "tool"
    LOOP = "loop"
    END = "end"
    SETUP = "setup"
    DETAIL = "detail"


class Change(StrEnum):
    """What became of one run from a base to a candidate."""

    SAME = "same"
    CHANGED = "changed"
    BETTER = "better"
    WORSE = "worse"
    MISSING = "missing"
    NEW = "new"


class Cause(StrEnum):
    """Why two runs part, in the words of whoever changed something (compare page, Causes)."""

    SYSTEM_PROMPT = "system-prompt"
    TOOL_DESCRIPTION = "tool-description"
    TOOL_SCHEMA = "tool-schema"
    TOOLS_OFFERED = "tools-offered"
    PARAMETERS = "parameters"
    USER_INPUT = "user-input"
    CONTEXT = "context"
    OUTSIDE = "outside"
    OTHER_MODEL = "other-model"
    MODEL = "model"
    TOOL = "tool"
    LOOP = "loop"
    RECORDING = "recording-out-of-date"
    SETUP = "setup"
    DETAIL = "detail"


class SegmentKind(StrEnum):
    """What became of a stretch of a run between a base and a candidate."""

    EQUAL = "equal"
    CHANGED = "changed"
    ONLY_BASE = "only-base"
    ONLY_CANDIDATE = "only-candidate"
