"""What `scenario mutate` comes to: other behaviours of one run, and which of them a scenario would notice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from harness.types.codes import Outcome


class MutationKind(StrEnum):
    """What about a run is made another: behaviours of the agent, and (LOOP) faults of the loop around it."""

    CALLS = "calls"
    ARGUMENTS = "arguments"
    ORDER = "order"
    STEPS = "steps"
    RESULTS = "results"
    ANSWER = "answer"
    END = "end"
    TURNS = "turns"
    STATE = "state"
    LOOP = "loop"


@dataclass(frozen=True, slots=True)
class MutantVerdict:
    """One other behaviour of the run, and the checks that notice it.

    ``what`` tells it in words, ``where`` its place, ``before`` and ``after`` what was and what is instead.
    ``noticed_by`` are names of checks, ``message`` the first finding. For one that nothing notices, ``hint`` is
    the text of an ``expect`` block (YAML) whose fields, put into the scenario in place of its own, notice it; ""
    where no field of ``expect`` can. ``fields`` are their names.
    """

    kind: MutationKind
    what: str
    where: str
    before: str
    after: str
    noticed_by: tuple[str, ...] = ()
    message: str = ""
    hint: str = ""
    fields: tuple[str, ...] = ()

    @property
    def noticed(self) -> bool:
        """Whether a check or an expectation refuses it."""
        return bool(self.noticed_by)


@dataclass(frozen=True, slots=True, repr=False)
class Mutation:
    """All mutants of one scenario under one subject.

    ``reference`` is what the run itself came to; anything but PASS means that nothing was mutated, and ``why`` says
    more. ``advice`` is the text of one ``expect`` block (YAML) that notices all that can be noticed, "" where nothing
    is missing. ``n_left_out`` counts mutants beyond the bound (up to as many again), ``n_unsound`` those that the run's
    own limits or end make impossible, ``n_meant`` those in another order where the scenario leaves the order of calls
    open.
    """

    scenario: str
    subject: str
    reference: Outcome
    mutants: tuple[MutantVerdict, ...] = ()
    why: str = ""
    advice: str = ""
    allowed: tuple[MutationKind, ...] = ()
    n_left_out: int = 0
    n_unsound: int = 0
    n_meant: int = 0

    @property
    def counted(self) -> tuple[MutantVerdict, ...]:
        """Those of kinds that need not be noticed are told and not counted."""
        return tuple(one for one in self.mutants if one.kind not in self.allowed)

    @property
    def unnoticed(self) -> tuple[MutantVerdict, ...]:
        """Counted mutants that neither a check nor an expectation refuses."""
        return tuple(one for one in self.counted if not one.noticed)

    @property
    def n_noticed(self) -> int:
        """Counted mutants that are refused."""
        return len(self.counted) - len(self.unnoticed)

    def outcome(self, n_permille: int = 1000) -> Outcome:
        """PASS where at least ``n_permille`` of a thousand counted mutants are noticed.

        The outcome of the run itself where that is no PASS; INVALID where nothing was mutated.
        """
        if self.reference is not Outcome.PASS:
            return self.reference
        if not self.counted:
            return Outcome.INVALID
        return Outcome.PASS if self.n_noticed * 1000 >= n_permille * len(self.counted) else Outcome.FAIL

    @property
    def by_kind(self) -> tuple[tuple[MutationKind, int, int], ...]:
        """Each kind that occurs, how many of its mutants are noticed, and how many there are."""
        there, noticed = Counter(one.kind for one in self.mutants), Counter(o.kind for o in self.mutants if o.noticed)
        return tuple((kind, noticed[kind], there[kind]) for kind in MutationKind if there[kind])

    def __repr__(self) -> str:
        told = f"{self.n_noticed} of {len(self.counted)} noticed"
        if self.reference is not Outcome.PASS or not self.mutants:
            told = f"{self.reference}: {self.why}"
        elif self.unnoticed:
            told += f"; not: {self.unnoticed[0].what}"
        return f"<mutation of {self.scenario!r} against {self.subject!r}: {told}>"
