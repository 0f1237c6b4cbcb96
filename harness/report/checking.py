"""``harness check``: many trajectories judged, told in totals, a table of checks, and what was found."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import Final

from harness.folds import calls_of, outcome_of, worst_outcome
from harness.report.runs import finding_lines
from harness.report.text import Verbosity, counted, piece, torn_text, visible
from harness.types.codes import PASSING, Origin, Outcome
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, RequestHeader, ToolResult
from harness.types.lifecycle import Note
from harness.types.records import ProviderRefusal, Verdict

_COLUMNS: Final = (
    (Outcome.PASS, "pass"),
    (Outcome.FAIL, "fail"),
    (Outcome.NOT_APPLICABLE, "not applicable"),
    (Outcome.INCONCLUSIVE, "inconclusive"),
    (Outcome.INVALID, "invalid"),
    (Outcome.ERROR, "error"),
)
_SHOWN: Final = 20
_REFUSED: Final = 5


class CheckReport:
    """Adds one judged trajectory at a time and keeps only counts and what is to be shown.

    ``outcome`` is the worst of all (INVALID without any). One that holds nothing to judge is INVALID whatever its
    checks say, and so is a file that could not be read. VERBOSE keeps all findings, else the first twenty bad verdicts.
    """

    def __init__(self, *, verbosity: Verbosity = Verbosity.NORMAL) -> None:
        self._verbosity = verbosity
        self._outcomes: Counter[Outcome] = Counter()
        self._by_check: dict[str, Counter[Outcome]] = {}
        self._findings: list[str] = []
        self._n_bad = 0
        self._refusals: list[str] = []
        self._remarks: list[str] = []
        self._n_unread = 0
        self.n_refused = 0
        self.n_trajectories = self.n_calls = self.n_results = self.n_unpaired = self.n_reused_ids = 0

    @property
    def outcome(self) -> Outcome:
        """What all of it came to."""
        return worst_outcome(self._outcomes)

    def add(
        self,
        trajectory: Trajectory,
        verdicts: tuple[Verdict, ...],
        *,
        source: str = "",
        refusals: tuple[ProviderRefusal, ...] = (),
    ) -> None:
        """Take one judged trajectory into account; ``source`` names it in findings (else its own source).

        ``refusals`` are the providers that would not take its history: told, and without a say in the outcome.
        """
        bare = is_bare(trajectory)
        self._outcomes[Outcome.INVALID if bare else outcome_of(verdicts)] += 1
        self._count(trajectory)
        name = source or _name_of(trajectory)
        if bare:
            self._remarks.append(f"INVALID  {visible(name)}: there is nothing in it to judge")
        if trajectory.torn is not None:
            self._remarks.append(f"torn tail  {visible(name)}: {torn_text(trajectory.torn)}")
        self._refused(trajectory, refusals)
        for verdict in verdicts:
            self._by_check.setdefault(verdict.check, Counter())[verdict.outcome] += 1
            whole = self._verbosity is Verbosity.VERBOSE
            if verdict.outcome in PASSING and not (whole and verdict.findings):
                continue
            self._n_bad += verdict.outcome not in PASSING
            if whole or self._n_bad <= _SHOWN:
                why = f": {piece(verdict.why)}" if verdict.why else ""
                self._findings.append(f"{verdict.outcome}  {visible(verdict.check)}  {visible(name)}{why}")
                self._findings += finding_lines(verdict.findings, verbosity=self._verbosity)

    def add_unread(self, why: str) -> None:
        """A file that could not be read, and why: INVALID beside what the others came to."""
        self._outcomes[Outcome.INVALID] += 1
        self._n_unread += 1
        self._remarks.append(f"INVALID  not read: {visible(why)}")

    def _refused(self, trajectory: Trajectory, refusals: tuple[ProviderRefusal, ...]) -> None:
        self.n_refused += bool(refusals)
        if refusals and (self._verbosity is Verbosity.VERBOSE or self.n_refused <= _REFUSED):
            told = ", ".join(f"{one.provider} ({self._why(one)})" for one in refusals)
            self._refusals.append(f"a provider would refuse  {visible(trajectory.header.run_id)}: {told}")

    def _why(self, refusal: ProviderRefusal) -> str:
        shown = refusal.why if self._verbosity is Verbosity.VERBOSE else refusal.why[:1]
        more = len(refusal.why) - len(shown)
        return "; ".join(piece(text) for text in shown) + (f"; and {more} more" if more else "")

    def _count(self, trajectory: Trajectory) -> None:
        traces = calls_of(trajectory)
        n_results = sum(isinstance(event.fact, ToolResult) for event in trajectory)
        n_answered = sum(trace.result is not None for trace in traces)
        self.n_trajectories += 1
        self.n_calls += len(traces)
        self.n_results += n_results
        self.n_unpaired += len(traces) - n_answered + n_results - n_answered
        self.n_reused_ids += _n_reused_ids(trajectory)

    def totals_line(self) -> str:
        """``136 trajectories, 784 calls, 784 results, 0 unpaired, 48 reused ids (information)``."""
        n = self.n_trajectories
        return (
            f"{n} {'trajectory' if n == 1 else 'trajectories'}, {counted(self.n_calls, 'call')}, "
            f"{counted(self.n_results, 'result')}, {self.n_unpaired} unpaired, "
            f"{counted(self.n_reused_ids, 'reused id')} (information)"
        )

    def table(self) -> list[str]:
        """A line for each check with its verdicts by outcome; columns that are zero throughout are left out."""
        columns = [(o, name) for o, name in _COLUMNS if any(counts[o] for counts in self._by_check.values())]
        rows = [["check", *(name for _, name in columns)]]
        for check in sorted(self._by_check):
            rows.append([visible(check), *(str(self._by_check[check][o]) for o, _ in columns)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]

    def text(self) -> str:
        """Totals, table, findings, and the outcome in the last line."""
        hidden = self._n_bad - _SHOWN if self._verbosity is Verbosity.NORMAL else 0
        more = [f"and {counted(hidden, 'verdict')} more (-v shows all)"] if hidden > 0 else []
        lines = [self.totals_line(), "", *self.table(), *([""] if self._findings else []), *self._findings, *more]
        lines += ["", *self._refusals] if self._refusals else []
        if self.n_refused > len(self._refusals):
            lines.append(f"and {self.n_refused - len(self._refusals)} more histories that a provider would refuse")
        lines += ["", *self._remarks] if self._remarks else []
        return "\n".join([*lines, "", self._last_line()])

    def _last_line(self) -> str:
        if not self.n_trajectories:
            return f"{self.outcome}  nothing was checked: no trajectory was found"
        n_good = sum(self._outcomes[outcome] for outcome in PASSING)
        unread = f", {counted(self._n_unread, 'file')} not read" if self._n_unread else ""
        return f"{self.outcome}  {n_good} of {self.n_trajectories} passed{unread}"


def check_report(
    judged: list[tuple[Trajectory, tuple[Verdict, ...]]], *, verbosity: Verbosity = Verbosity.NORMAL
) -> str:
    """The report on trajectories that are all at hand; :class:`CheckReport` takes them one by one."""
    report = CheckReport(verbosity=verbosity)
    for trajectory, verdicts in judged:
        report.add(trajectory, verdicts)
    return report.text()


def is_bare(trajectory: Trajectory) -> bool:
    """True for one that holds nothing but notes and what a request would have offered: no message, and no end."""
    return all(isinstance(event.fact, Note | RequestHeader) for event in trajectory)


def _name_of(trajectory: Trajectory) -> str:
    """Its file; of another product's, which of the runs in that file."""
    run, source = trajectory.header.run_id, trajectory.source
    if not source or Origin.IMPORT not in dict(trajectory.header.observed).values():
        return source or run
    return f"{source}  {run.removeprefix(f'{PurePath(source).stem}/')}"


def _n_reused_ids(trajectory: Trajectory) -> int:
    """Calls whose id from the provider an earlier call of the run already had."""
    seen: set[str] = set()
    n_reused = 0
    for event in trajectory:
        for call in event.fact.tool_calls if isinstance(event.fact, AssistantMessage) else ():
            wire = call.id if call.wire_id is None else call.wire_id
            n_reused += bool(wire) and wire in seen
            seen.add(wire)
    return n_reused
