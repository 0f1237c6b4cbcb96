"""What became of one trial (a case under an arm, asked once more), as one line on disk.

A trial's line is atomic: it is in the file whole or not at all, and a trial with an answer is never asked again (one
that only the provider failed is, and its later line stands). Lines hold what the model answered, not what that is
worth: grades are derived, so that new rules judge old answers for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Final, NamedTuple

from harness.types.codes import Code, FinishReason, Status
from harness.types.messages import JsonText, OnDisk
from harness.types.model_spec import NO_PARAMETERS
from harness.types.reasons import Usage

TRIALS_FORMAT: Final = "harness-trials/1"


class TrialKey(NamedTuple):
    """Which trial; ``trial`` counts from 1."""

    case: str
    arm: str
    trial: int


class Owner(StrEnum):
    """Whose error it was. The agent's count against it; the provider's are asked again as the same trial."""

    AGENT = "agent"
    PROVIDER = "provider"
    HARNESS = "harness"


class AnswerOrigin(StrEnum):
    """Where an answer came from."""

    LIVE = "live"
    RECORDED = "recorded"
    SCRIPTED = "scripted"


@dataclass(frozen=True, slots=True)
class TrialCall(OnDisk):
    """A call of the answer as the model sent it, in the model's order; ``name`` is what the model was offered."""

    name: str
    arguments: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class TrialError(OnDisk):
    """Why there is no answer."""

    code: Code
    message: str
    owner: Owner


@dataclass(frozen=True, slots=True)
class TrialAnswer(OnDisk):
    """The decision that is judged: the first answer; of a whole loop all calls in order, and the final text.

    ``n_steps``, ``status``, ``result_codes`` (one a call, "OK" for a plain good result) and ``trajectory`` (a path
    below the folder) are there only where the whole loop ran.
    """

    content: str | None = None
    refusal: str | None = None
    calls: tuple[TrialCall, ...] = ()
    finish_reason: FinishReason | None = None
    n_steps: int | None = None
    status: Status | None = None
    result_codes: tuple[str, ...] = ()
    trajectory: str | None = None


@dataclass(frozen=True, slots=True)
class Provenance(OnDisk):
    """Who answered: the name and fingerprint that came back, the server's build, and when (ISO 8601, UTC)."""

    origin: AnswerOrigin
    model: str | None = None
    fingerprint: str | None = None
    server: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Trial(OnDisk):
    """One trial. Exactly one of ``answer`` and ``error`` is there. ``request`` is the sha256 of what was asked.

    ``duration_ms`` is of the attempt that was answered; ``n_retries`` counts attempts that the provider failed, whose
    tokens are in ``usage`` too where they were told.
    """

    TYPE: ClassVar[str] = "trial"
    case: str
    arm: str
    trial: int
    request: str
    answer: TrialAnswer | None = None
    error: TrialError | None = None
    usage: Usage | None = None
    n_retries: int = 0
    duration_ms: int | None = None
    by: Provenance | None = None

    @property
    def key(self) -> TrialKey:
        """Which trial this is."""
        return TrialKey(self.case, self.arm, self.trial)


@dataclass(frozen=True, slots=True)
class TrialsHeader(OnDisk):
    """The first line of a file of trials: of which evaluation, which tools, which share of the whole.

    ``shard`` is ``i/n`` (from 1), or "1/1". ``model`` is the name that was asked for.
    """

    TYPE: ClassVar[str] = "trials/header"
    evaluation: str
    digest: str
    tools_digest: str
    model: str
    arms: tuple[str, ...]
    n_cases: int
    trials: int
    shard: str = "1/1"
    format: str = field(default=TRIALS_FORMAT)
    settings: JsonText = NO_PARAMETERS
