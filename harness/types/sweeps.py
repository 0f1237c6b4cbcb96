"""What a sweep comes to: one cell for each injection, an undisturbed reference, and what is red."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final

from harness.types.codes import CancelScope, Outcome, QueueDisposition
from harness.types.messages import CallId
from harness.types.records import Finding
from harness.types.scenario import CancelAction, FaultAction, Injection, SendAction, ThrowAction


class SweepKind(StrEnum):
    """What a sweep injects at every boundary."""

    CANCEL = "cancel"
    TOOL_ERROR = "tool-error"
    MODEL_ERROR = "model-error"
    THROW = "throw"
    SEND = "send"
    LIMIT = "limit"
    ORDER = "order"
    KILL = "kill"
    PAIR = "pair"


class SweepLevel(StrEnum):
    """Where a cancel is injected: at every event, or also at every tick of the event loop."""

    BOUNDARIES = "boundaries"
    TICKS = "ticks"


class SweepAxis(StrEnum):
    """What a sweep of cancels varies besides the place: each doubles the cells.

    ``queued``: a follow-up is queued when the cancel comes. ``stubborn``: bodies swallow their cancels and go on.
    """

    QUEUED = "queued"
    STUBBORN = "stubborn"


class CellOutcome(StrEnum):
    """What one run of a sweep came to.

    ``close``: a loop that is cancelled through its tasks began something in the very tick in which the
    cancel was on its way, it was stopped at once, or only that tick kept it from being stopped, and nothing else was
    wrong. ``void``: the cancel came too late to be delivered, so there was nothing to judge. ``flaky``: what came
    before the boundary was not what it was in the reference, or nothing of what was found came again in a second run.
    """

    CLEAN = "clean"
    CLOSE = "close"
    RED = "red"
    FLAKY = "flaky"
    VOID = "void"
    ERROR = "error"


SIGNS: Final = {
    CellOutcome.CLEAN: ".",
    CellOutcome.CLOSE: "~",
    CellOutcome.RED: "X",
    CellOutcome.FLAKY: "?",
    CellOutcome.VOID: "-",
    CellOutcome.ERROR: "!",
}
"""How a cell stands in a strip."""
_JUDGED: Final = frozenset({CellOutcome.CLEAN, CellOutcome.CLOSE, CellOutcome.RED})


@dataclass(frozen=True, slots=True)
class SweepCell:
    """One run: what was injected (None: nothing, the reference) and what came of it.

    ``limit`` is a limit that was set for the run instead, its name as in a scenario and its value; ``release``
    the order in which bodies that overlap were seen to end; ``killed`` how many events a process had written that died
    and whose run was resumed. ``axes`` say what else was so; ``second`` what was injected behind ``injection``.
    ``n_runs`` is how many runs it took.
    ``findings`` are those that the reference does not have; ``reproduction`` is the text of a scenario
    file that shows a red cell again; of a killed process, of its trajectory, which is to be resumed.
    """

    injection: Injection | None
    outcome: CellOutcome
    findings: tuple[Finding, ...] = ()
    why: str = ""
    reproduction: str = ""
    limit: tuple[str, int] | None = None
    release: tuple[CallId, ...] = ()
    killed: int | None = None
    axes: tuple[SweepAxis, ...] = ()
    second: Injection | None = None
    n_runs: int = 1

    @property
    def row(self) -> str:
        """The row of the strip that it belongs to: what is injected, when, and what else is so, not where."""
        return " ".join((self._what, *self.axes))

    @property
    def _what(self) -> str:
        if self.release:
            return str(SweepKind.ORDER)
        if self.killed is not None:
            return str(SweepKind.KILL)
        if self.limit is not None:
            return f"{SweepKind.LIMIT} {self.limit[0]}"
        if self.injection is not None and self.second is not None:
            return f"{SweepKind.PAIR} {_row(self.injection).split()[0]}+{_row(self.second).split()[0]}"
        return "reference" if self.injection is None else _row(self.injection)


def _row(injection: Injection) -> str:
    when = "tick" if injection.at.tick is not None else injection.at.when.value
    match injection.do:
        case CancelAction(scope=scope, queue=queue):
            more = [*(["turn"] if scope is CancelScope.TURN else []), *(["keep"] if _keeps(queue) else [])]
            return " ".join(["cancel", *more, when])
        case FaultAction(code=code):
            kind = SweepKind.TOOL_ERROR if injection.at.kind == "tool/start" else SweepKind.MODEL_ERROR
            return " ".join([kind, *([code] if code else [])])
        case SendAction(queue=queue):
            return f"{SweepKind.SEND} {queue} {when}"
        case ThrowAction():
            return f"{SweepKind.THROW} {when}"


def _keeps(queue: QueueDisposition) -> bool:
    return queue is QueueDisposition.KEEP


@dataclass(frozen=True, slots=True, repr=False)
class Sweep:
    """One scenario under one subject, disturbed at every boundary.

    ``why`` tells why nothing, or not all of it, was swept ("" where all was). ``n_runs`` counts all runs,
    warm-up and references too.
    """

    scenario: str
    subject: str
    reference: SweepCell
    cells: tuple[SweepCell, ...] = ()
    why: str = ""
    n_runs: int = 0

    @property
    def red(self) -> tuple[SweepCell, ...]:
        """Cells with a finding, the reference among them."""
        return self._with(CellOutcome.RED)

    @property
    def flaky(self) -> tuple[SweepCell, ...]:
        """Cells that were not judged because the loop did not repeat itself, the reference among them."""
        return self._with(CellOutcome.FLAKY)

    @property
    def n_judged(self) -> int:
        """Cells in which something was injected and judged."""
        return sum(cell.outcome in _JUDGED for cell in self.cells)

    @property
    def outcome(self) -> Outcome:
        """FAIL before ERROR before INCONCLUSIVE (flaky) before INVALID (nothing was judged) before PASS."""
        if self.red:
            return Outcome.FAIL
        if self._with(CellOutcome.ERROR):
            return Outcome.ERROR
        if self.flaky:
            return Outcome.INCONCLUSIVE
        return Outcome.PASS if self.n_judged else Outcome.INVALID

    @property
    def clean(self) -> bool:
        """True where at least one cell was judged, and none is red, flaky or an error."""
        return self.outcome is Outcome.PASS

    @property
    def smallest(self) -> SweepCell | None:
        """The red cell that is easiest to look at: the reference, else an event before a tick before a kill."""
        ranked = sorted(self.red, key=lambda cell: (not cell.reproduction, *rank(cell)))
        return ranked[0] if ranked else None

    @property
    def strip(self) -> str:
        """One line for each kind of injection, its cells in the order of the run, run-length coded.

        ``.18 X2 -4``: 18 clean cells, two red ones, four too late to be delivered.
        """
        rows = {cell.row: [one for one in self.cells if one.row == cell.row] for cell in self.cells}
        width = max(map(len, rows), default=0)
        return "\n".join(f"{row:<{width}}  {_run_lengths(cells)}" for row, cells in rows.items())

    def _with(self, outcome: CellOutcome) -> tuple[SweepCell, ...]:
        return tuple(cell for cell in (self.reference, *self.cells) if cell.outcome is outcome)

    def __repr__(self) -> str:
        told = f"{len(self.red)} red, {len(self.flaky)} flaky, {self.n_judged} judged of {len(self.cells)}"
        first = self.smallest or next(iter(self.flaky), None)
        if first is not None:
            told += f"; {first.row}: {first.findings[0].message if first.findings else first.why}"
        elif not self.cells:
            told = self.why or told
        return f"<sweep of {self.scenario!r} against {self.subject!r}: {told}>"


def rank(cell: SweepCell) -> tuple[bool, ...]:
    """How much else there is to look at in a cell; the lowest is the easiest."""
    at = cell.injection.at if cell.injection else None
    return (
        cell.second is not None,
        cell.killed is not None,
        at is not None,
        at is not None and at.tick is not None,
    )


def _run_lengths(cells: list[SweepCell]) -> str:
    runs = [(sign, len(list(group))) for sign, group in groupby(SIGNS[cell.outcome] for cell in cells)]
    return " ".join(f"{sign}{length}" for sign, length in runs)
