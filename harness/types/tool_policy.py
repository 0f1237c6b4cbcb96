"""What a host decides about tools: what a failure leads to, how long a result may be, which repairs are allowed.

Nothing of it is on by default: a failure is reported to the model, results stay whole, and arguments that are no
JSON are refused.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

LEAST_RESULT: Final = 200
"""The smallest limit of a result, in either unit: the words that say what was cut need room."""


class AfterFailure(StrEnum):
    """What follows a failed tool, once its retries are used up (ARTICLES 20)."""

    REPORT = "report"
    FAIL_RUN = "fail-run"
    FALL_BACK = "fall-back"


class ResultUnit(StrEnum):
    """What the length of a result is counted in: characters, or bytes of UTF-8."""

    CHARS = "chars"
    BYTES = "bytes"


class AfterLength(StrEnum):
    """What becomes of a result that is too long: its beginning stays, or a model sums it up (ARTICLES 33)."""

    CUT = "cut"
    SUMMARISE = "summarise"


class Rung(StrEnum):
    """One repair of arguments that cannot be read as they are (ARTICLES 31)."""

    TRAILING_COMMA = "trailing-comma"
    SINGLE_QUOTES = "single-quotes"
    LONE_STRING = "lone-string"


@dataclass(frozen=True, slots=True)
class OnFailure:
    """What a failed body leads to: up to ``retries`` more attempts ``delay_ms`` apart, then ``then``.

    Retries need a tool that is declared idempotent. ``fallback`` is the tool that takes over with FALL_BACK.
    """

    retries: int = 0
    delay_ms: int = 0
    then: AfterFailure = AfterFailure.REPORT
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class ResultLimit:
    """How long a result may be, its notice of what was cut included (from :data:`LEAST_RESULT` on), and what then."""

    most: int
    unit: ResultUnit = ResultUnit.CHARS
    then: AfterLength = AfterLength.CUT


@dataclass(frozen=True, slots=True)
class ToolRules:
    """The rules of one tool, or of every tool; None: nothing is said here."""

    failure: OnFailure | None = None
    results: ResultLimit | None = None
    timeout_ms: int | None = None


NO_RULES: Final = ToolRules()


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """``rules`` for every tool, ``tools`` by name for one of them (field by field), and the rungs in their order.

    What the policy says of a tool by name goes before what the tool says of itself, that before ``rules``.
    """

    rules: ToolRules = field(default_factory=ToolRules)
    tools: tuple[tuple[str, ToolRules], ...] = ()
    repair: tuple[Rung, ...] = ()

    @property
    def summarises(self) -> bool:
        """Whether a long result of some tool is to be summed up."""
        given = (self.rules, *(rules for _, rules in self.tools))
        return any(one.results is not None and one.results.then is AfterLength.SUMMARISE for one in given)

    def within(self, names: Collection[str]) -> ToolPolicy:
        """The same for an agent that has only these tools: what it says of others by name is left out."""
        kept = [(name, rules) for name, rules in self.tools if name in names and _falls_back_within(rules, names)]
        return replace(self, tools=tuple(kept))


def _falls_back_within(rules: ToolRules, names: Collection[str]) -> bool:
    fallback = rules.failure.fallback if rules.failure is not None else None
    return fallback is None or fallback in names


NO_POLICY: Final = ToolPolicy()
REPAIRED_NOTE: Final = "arguments/repaired"
"""Name of the note before a body that runs with repaired arguments: ``{callId, raw, rungs, used}``."""
CUT_NOTE: Final = "result/cut"
"""Name of the note about a result that was cut: ``{callId, chars, bytes, sha256, most, unit}`` of the whole one."""
NO_FALLBACK_NOTE: Final = "tool/no-fallback"
"""Name of the note about a fallback that could not take over: ``{callId, tool, why}``."""
SUMMARISED_NOTE: Final = "result/summarised"
"""Name of the note about a result that was summed up, as :data:`CUT_NOTE`; the whole one is in the request for it."""
NOT_SUMMARISED_NOTE: Final = "result/not-summarised"
"""Name of the note about a result that is cut because no summary came: ``{callId, why}``."""
