"""Trials counted as they come, in any order: one byte a planned trial, and no grade is kept."""

from __future__ import annotations

from array import array
from bisect import insort
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from harness.errors import InvalidValueError
from harness.evaluate.case_index import CaseIndex
from harness.evaluate.message_class import message_class
from harness.evaluate.why import ToolUse
from harness.types.codes import Code
from harness.types.evaluation import Case, Evaluation, Split, ToolSnapshot
from harness.types.evaluation_insight import Example
from harness.types.evaluation_summary import Counts, Spent
from harness.types.grades import Grade, Misfit, MisfitKind, Score, Stage, WhyNoCall
from harness.types.reasons import Usage
from harness.types.trials import AnswerOrigin, Owner, Provenance, Trial

EXAMPLES_KEPT: Final = 3
UNSEEN: Final = 0
MARK: Final = {Score.PASSED: 1, Score.FAILED: 2, Score.ERRORED: 3, Score.SKIPPED: 4}
PASSED, FAILED, ERRORED, SKIPPED = (MARK[score] for score in (Score.PASSED, Score.FAILED, Score.ERRORED, Score.SKIPPED))
KINDS: Final = tuple(MisfitKind)
_BIT: Final = {kind: 1 << i for i, kind in enumerate(KINDS)}
_PIECE_CHARS: Final = 400


class _Kept(NamedTuple):
    """An example with its place: the first ones by case and trial are kept, whatever order trials come in."""

    case: int
    trial: int
    path: str
    message: str


class Seen:
    """How often something was seen, and the first trials that show it."""

    __slots__ = ("kept", "n")

    def __init__(self) -> None:
        self.n = 0
        self.kept: list[_Kept] = []

    def add(self, case: int, trial: int, misfit: Misfit | None = None) -> None:
        """Count one more; its example is kept if it is among the first."""
        self.n += 1
        last = self.kept[-1] if len(self.kept) == EXAMPLES_KEPT else None
        if last is not None and (last.case, last.trial) < (case, trial):
            return
        path, message = ("", "") if misfit is None else (misfit.path[:_PIECE_CHARS], misfit.message[:_PIECE_CHARS])
        insort(self.kept, _Kept(case, trial, path, message))
        del self.kept[EXAMPLES_KEPT:]

    def examples(self, index: CaseIndex) -> tuple[Example, ...]:
        """What was kept, by the ids of the cases."""
        return tuple(Example(index.cases[one.case].id, one.trial, one.path, one.message) for one in self.kept)


class Source(NamedTuple):
    """Which build answered, on which day; "" for what the provider did not tell."""

    origin: str
    model: str
    fingerprint: str
    server: str
    day: str

    @classmethod
    def of(cls, by: Provenance) -> Source:
        """The source of an answer; of the time only the day, of a script nothing but that it was one."""
        if by.origin is AnswerOrigin.SCRIPTED:
            return cls(by.origin.value, "", "", "", "")
        return cls(by.origin.value, by.model or "", by.fingerprint or "", by.server or "", (by.at or "")[:10])


class Answered(NamedTuple):
    """Of which split and which trial of its case an answer of a source is."""

    source: Source
    held_out: bool
    trial: int


class Place(NamedTuple):
    """A trial's case, the number of that case, and the number of its arm."""

    case: Case
    number: int
    arm: int


class ArmTally:
    """What one arm's trials came to, apart from their marks."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str], Seen] = {}
        self.arguments: dict[str, list[int]] = {}
        self.misfits: dict[MisfitKind, Seen] = {}
        self.stages: Counter[Stage] = Counter()
        self.why_no_call: Counter[WhyNoCall] = Counter()
        self.tool_use = ToolUse()
        self.sources: Counter[Answered] = Counter()
        self.errors: Counter[tuple[Owner, Code, str]] = Counter()
        self.never_trials = self.never_violated = 0
        self.input_tokens = self.output_tokens = self.told = self.n_retries = self.n = 0
        self.cost_micro_usd: int | None = None

    def reasons(self) -> Counter[WhyNoCall]:
        """Why nothing was called: no choice of the model where all trials show that its endpoint ignores tools."""
        if not self.tool_use.ignores_tools:
            return self.why_no_call
        found = Counter(self.why_no_call)
        found[WhyNoCall.IGNORES_TOOLS] += found.pop(WhyNoCall.CHOSE_NOT_TO, 0)
        return found

    def answered_by(self, split: Split | None = None, blocks: int | None = None) -> Counter[Source]:
        """How many answers each source gave: over the cases of a split and the first ``blocks`` trials, or all."""
        counted: Counter[Source] = Counter()
        for (source, held_out, trial), n in self.sources.items():
            is_in = split is None or held_out is (split is Split.HELD_OUT)
            if is_in and (blocks is None or trial <= blocks):
                counted[source] += n
        return counted

    def spend(self, trial: Trial) -> None:
        """Add what a trial cost, errors and attempts included."""
        self.n += 1
        self.n_retries += trial.n_retries
        usage = trial.usage or Usage()
        self.told += usage.input_tokens is not None or usage.output_tokens is not None
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0
        if usage.cost_micro_usd is not None:
            self.cost_micro_usd = (self.cost_micro_usd or 0) + usage.cost_micro_usd

    def spent(self) -> Spent:
        """What the arm's trials cost."""
        return Spent(self.input_tokens, self.output_tokens, self.cost_micro_usd, self.told, self.n, self.n_retries)


class Tally:
    """All trials of an evaluation: ``marks`` hold what became of each, one byte, blocks apart.

    ``n_trials`` of each case were planned at first, ``n_judged`` of them are what a look left of the plan.
    """

    def __init__(self, evaluation: Evaluation, distractors: ToolSnapshot | None = None) -> None:
        self.evaluation = evaluation
        self.distractors = distractors
        self.index = CaseIndex(evaluation.cases)
        self.n_trials = self.n_judged = evaluation.trials
        self.arm_number = {arm.name: i for i, arm in enumerate(evaluation.arms)}
        n_rows = len(self.index) * len(evaluation.arms)
        self.marks = bytearray(n_rows * self.n_trials)
        self.kinds = array("L", [0]) * n_rows
        self.arms = tuple(ArmTally() for _ in evaluation.arms)

    def place(self, trial: Trial) -> Place:
        """Where a trial belongs. Raises InvalidValueError for one that was not planned, or is there already."""
        number, arm = self.index.number(trial.case), self.arm_number.get(trial.arm)
        case = None if number is None else self.index.cases[number]
        what = f"the trial {trial.case!r} @{trial.arm!r} #{trial.trial}"
        if number is None or case is None or case.id != trial.case:
            raise InvalidValueError(f"{what} is of no case of {self.evaluation.id!r}; give the trials' own evaluation")
        if arm is None:
            raise InvalidValueError(f"{what} is of no arm of {self.evaluation.id!r}: {', '.join(self.arm_number)}")
        if not 1 <= trial.trial <= self.n_trials:
            raise InvalidValueError(f"{what} was not planned: trials go from 1 to {self.n_trials}")
        if self.marks[self._at(number, arm) + trial.trial - 1] != UNSEEN:
            raise InvalidValueError(f"{what} is there twice: a trial has one line; take one of the two files away")
        return Place(case, number, arm)

    def add(self, place: Place, trial: Trial, grade: Grade) -> None:
        """Count a graded trial at its :meth:`place`."""
        case, arm = place.number, place.arm
        self.marks[self._at(case, arm) + trial.trial - 1] = MARK[grade.score]
        tally = self.arms[arm]
        tally.spend(trial)
        if trial.by is not None:
            held_out = bool(self.index.held_out[case])
            tally.sources[Answered(Source.of(trial.by), held_out, trial.trial)] += 1
        if trial.error is not None and grade.score is Score.ERRORED:
            tally.errors[trial.error.owner, trial.error.code, message_class(trial.error.message)] += 1
        for cell in sorted(set(grade.cells)):
            seen = tally.cells.setdefault(cell, Seen())
            seen.add(case, trial.trial)
            seen.n += grade.cells.count(cell) - 1
        for argument in grade.arguments:
            counts = tally.arguments.setdefault(argument.name, [0, 0])
            counts[0] += argument.right
            counts[1] += 1
        self._misfits(case, arm, trial, grade)

    def _misfits(self, case: int, arm: int, trial: Trial, grade: Grade) -> None:
        tally = self.arms[arm]
        found: dict[MisfitKind, Misfit] = {}
        for misfit in grade.misfits:
            found.setdefault(misfit.kind, misfit)
        row = case * len(self.arms) + arm
        for kind, misfit in found.items():
            tally.misfits.setdefault(kind, Seen()).add(case, trial.trial, misfit)
            self.kinds[row] |= _BIT[kind]
        if grade.stage is not None:
            tally.stages[grade.stage] += 1
        tally.tool_use.add(grade)
        if grade.why_no_call is not None and grade.score is Score.FAILED:  # a right silence needs no reason
            tally.why_no_call[grade.why_no_call] += 1
        if self.index.has_never[case] and grade.score in (Score.PASSED, Score.FAILED):
            tally.never_trials += 1
            tally.never_violated += MisfitKind.FORBIDDEN in found

    def _at(self, case: int, arm: int) -> int:
        return (case * len(self.arms) + arm) * self.n_trials

    def end_behind(self, blocks: int) -> None:
        """Take the plan to have ended behind so many trials of each case: a look decided there, as it was declared.

        What the design left out is then neither planned nor skipped, in any count or rate.
        """
        self.n_judged = blocks

    def row(self, case: int, arm: int, blocks: int | None = None) -> bytes:
        """The marks of a case under an arm, of the first ``blocks`` trials or all ``n_judged``."""
        at = self._at(case, arm)
        return bytes(self.marks[at : at + (self.n_judged if blocks is None else blocks)])

    def scores(self, case: int, arm: int) -> tuple[int, int]:
        """Of a case under an arm: trials passed, trials scored."""
        row = self.row(case, arm)
        passed = row.count(PASSED)
        return passed, passed + row.count(FAILED)

    def counts(self, case: int, arm: int, blocks: int | None = None) -> Counts:
        """What became of the trials of a case under an arm."""
        return counted(self.row(case, arm, blocks))

    def arm_counts(self, arm: int) -> Counts:
        """What became of all planned trials of an arm."""
        return summed(self.counts(case, arm) for case in range(len(self.index)))

    def kinds_of(self, case: int, arm: int) -> tuple[MisfitKind, ...]:
        """The classes of mismatch that a case's trials showed under an arm."""
        bits = self.kinds[case * len(self.arms) + arm]
        return tuple(kind for kind in KINDS if bits & _BIT[kind])


def counted(row: bytes) -> Counts:
    """The counts of a row of marks; a planned trial without a line is skipped."""
    passed, failed, errored = (row.count(mark) for mark in (PASSED, FAILED, ERRORED))
    return Counts(len(row), passed, failed, errored, len(row) - passed - failed - errored)


def summed(counts: Iterable[Counts]) -> Counts:
    """The counts of many together."""
    planned = passed = failed = errored = skipped = 0
    for one in counts:
        planned, passed, failed = planned + one.planned, passed + one.passed, failed + one.failed
        errored, skipped = errored + one.errored, skipped + one.skipped
    return Counts(planned, passed, failed, errored, skipped)
