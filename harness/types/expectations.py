"""What a scenario expects of a run: values that checks read back from a trajectory's header."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.types.codes import Status
from harness.types.effects import ExpectedEffects
from harness.types.messages import JsonText
from harness.types.reasons import Waiting


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call by name; ``arguments`` (JSON text of an object of matchers) None means any."""

    name: str
    arguments: JsonText | None = None


class CallOrder(StrEnum):
    """How expected and actual calls are compared."""

    EXACT = "exact"
    IN_ORDER = "in-order"
    ANY_ORDER = "any-order"
    SUBSET = "subset"
    SUPERSET = "superset"


@dataclass(frozen=True, slots=True)
class ExpectedCalls:
    """Expected calls and how to compare them (repeats count)."""

    order: CallOrder
    calls: tuple[ExpectedCall, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Claims that need evidence: what these regular expressions find in the answer, these arguments by tool."""

    answer: tuple[str, ...] = ()
    arguments: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Expectations:
    """What a scenario expects; everything left out is not asked.

    ``answer`` and ``end_state`` are JSON texts of matchers; ``result_codes`` pairs a call's position
    (from 1, over the run) with a code, "OK" for a plain good result; ``never`` names forbidden
    tools; ``before`` pairs of tools where every call of the first precedes all of the second;
    ``at_most_once`` tools called once or never.
    """

    status: str | None = None
    reason: str | None = None
    steps: int | None = None
    messages: int | None = None
    turns: int | None = None
    calls: tuple[ExpectedCalls, ...] = ()
    never: tuple[str, ...] = ()
    before: tuple[tuple[str, str], ...] = ()
    at_most_once: tuple[str, ...] = ()
    answer: JsonText | None = None
    result_codes: tuple[tuple[int, str], ...] = ()
    end_state: JsonText | None = None
    error: str | None = None
    provenance: Provenance | None = None
    effects: tuple[ExpectedEffects, ...] = ()

    @property
    def of_a_stop(self) -> bool:
        """Whether a run is expected to end waiting, so that what is left of it is another run's."""
        return self.status == Status.WAITING_FOR_USER or (self.reason or "").split(" ")[0] == Waiting().kind

    def rules(self) -> Expectations:
        """What holds of every run, however far it came: which calls and effects there may be, and evidence."""
        return Expectations(
            never=self.never,
            before=self.before,
            at_most_once=self.at_most_once,
            provenance=self.provenance,
            effects=self.effects,
        )
