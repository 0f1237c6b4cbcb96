"""What a trial is worth: derived from its line and its case, never stored beside them as truth."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.types.messages import OnDisk


class Score(StrEnum):
    """What a trial counts as; planned = passed + failed + errored + skipped, per arm."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    SKIPPED = "skipped"


class MisfitKind(StrEnum):
    """How a decision differs from what was acceptable."""

    WRONG_TOOL = "wrong tool"
    NO_CALL = "no call"
    UNWANTED = "unwanted call"
    FORBIDDEN = "forbidden call"
    HALLUCINATED = "hallucinated tool"
    INVALID_ARGUMENTS = "invalid arguments"
    WRONG_VALUE = "wrong value"
    MISSING_ARGUMENT = "missing argument"
    EXTRA_ARGUMENT = "extra argument"
    MISSING_CALL = "missing call"
    EXTRA_CALL = "extra call"
    ORDER = "order"
    ASKED = "asked instead"
    DID_NOT_ASK = "did not ask"
    FAILED_CALL = "failed call"
    ANSWER = "wrong answer"
    AGENT_ERROR = "agent error"


class Stage(StrEnum):
    """Where a failed case went wrong (ARTICLES 37)."""

    SELECTION = "selection"
    ARGUMENTS = "arguments"
    EXECUTION = "execution"
    USE = "use of the result"


class WhyNoCall(StrEnum):
    """Why a model called nothing (ARTICLES 36)."""

    NOT_OFFERED = "the tool was not offered"
    TOOL_CHOICE_NONE = "tool_choice is none"
    IN_TEXT = "the call sits in the text"
    IGNORES_TOOLS = "the endpoint ignores tools"
    CUT = "the answer was cut"
    REFUSED = "the model refused"
    CHOSE_NOT_TO = "the model chose not to"


@dataclass(frozen=True, slots=True)
class Misfit(OnDisk):
    """One difference: its class, its place (``calls[1].arguments.city``), and in words what was expected and came."""

    kind: MisfitKind
    path: str
    message: str
    why: WhyNoCall | None = None


@dataclass(frozen=True, slots=True)
class ArgumentGrade(OnDisk):
    """One expected argument of a call that was made: was it right? ``name`` is ``tool.argument``."""

    name: str
    right: bool


@dataclass(frozen=True, slots=True)
class Grade(OnDisk):
    """What one trial is worth.

    ``expected`` and ``chosen`` are the cells of the confusion matrix that it counts in: pairs of tool names, where
    "(none)", "(ask_user)", "(hallucinated)" and "(invalid)" stand for what is no tool. Names are those of the
    evaluation, also where an arm renamed them. ``stage`` is None unless the trial failed.
    """

    score: Score
    misfits: tuple[Misfit, ...] = ()
    stage: Stage | None = None
    cells: tuple[tuple[str, str], ...] = ()
    arguments: tuple[ArgumentGrade, ...] = ()
    why_no_call: WhyNoCall | None = None
