"""Records of baselines: variants of a scenario that were accepted, and what a set of runs is beside them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.types.codes import Change, Outcome
from harness.types.messages import OnDisk, RunId
from harness.types.records import Explanation


class OnFailing(StrEnum):
    """What accepting does with runs that did not pass."""

    REFUSE = "refuse"
    ACCEPT = "accept"


class OldVariants(StrEnum):
    """What becomes of variants that no accepted run took again."""

    KEEP = "keep"
    DROP = "drop"


class Taken(StrEnum):
    """What accepting did with a run."""

    ADDED = "added"
    KNOWN = "known"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Variant(OnDisk):
    """An accepted variant: where it is kept, and which run it was.

    ``digest`` is that of its events as they are kept; ``stale`` says why it is out of date (empty: it is not, or
    nobody knows the scenarios).
    """

    scenario: str
    number: int
    file: str
    run_id: RunId
    subject: str
    model: str
    arm: str
    trial: int
    n_steps: int
    digest: str
    stale: str = ""


@dataclass(frozen=True, slots=True)
class AcceptedRun(OnDisk):
    """A run and its variant (None: it was refused, and ``why``)."""

    scenario: str
    run_id: RunId
    taken: Taken
    number: int | None = None
    file: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Acceptance(OnDisk):
    """What became of each run, and the files of variants that were dropped or replaced."""

    runs: tuple[AcceptedRun, ...]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BaselineRow(OnDisk):
    """A run beside the variants of its scenario; a scenario without runs is ``missing`` and has no run.

    ``variant`` is the equal one, else the nearest: the one that the run follows longest. ``name`` tells trials
    apart; it and ``line`` hold foreign text as it is.
    """

    scenario: str
    change: Change
    name: str
    line: str
    run_id: RunId | None = None
    file: str | None = None
    variant: int | None = None
    n_variants: int = 0
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class BaselineDiff(OnDisk):
    """All rows, scenario by scenario; FAIL for a changed or missing one, INVALID where nothing could be compared."""

    runs: str
    baselines: str
    outcome: Outcome
    rows: tuple[BaselineRow, ...] = ()
