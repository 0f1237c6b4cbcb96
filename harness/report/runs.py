"""What ``harness run`` tells of each run, and of all of them at the end."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from harness.folds import scenario_of, worst_outcome
from harness.report.text import Verbosity, block, counted, piece, visible
from harness.types.codes import PASSING, Outcome
from harness.types.records import Finding, RunSummary, Verdict

_FINDINGS_SHOWN: Final = 5
_MESSAGE_CHARS: Final = 300


def run_name(summary: RunSummary) -> str:
    """Scenario (or run id), with arm and trial where they are not the default ones."""
    name = scenario_of(summary)
    arm = f"@{summary.arm}" if summary.arm != "default" else ""
    return visible(f"{name}{arm}" + (f"#{summary.trial}" if summary.trial != 1 else ""))


def run_line(summary: RunSummary) -> str:
    """``PASS  shop/refund  3 steps, 7 messages, 12 ms  completed (final-answer)``."""
    time = "" if summary.duration_ms is None else f", {summary.duration_ms} ms"
    counts = f"{counted(summary.n_steps, 'step')}, {counted(summary.n_messages, 'message')}{time}"
    end = f"{summary.status} ({piece(summary.reason)})" if summary.status else piece(summary.reason)
    real = f"  in real time: {piece(summary.real_time)}" if summary.real_time else ""
    return f"{summary.outcome}  {run_name(summary)}  {counts}  {end}{real}"


def verdict_lines(verdicts: Iterable[Verdict], *, verbosity: Verbosity = Verbosity.NORMAL) -> list[str]:
    """A line for each verdict that is not good (VERBOSE: for each), findings with their event numbers."""
    lines = []
    for checks, verdict in _grouped(verdicts, verbosity):
        if verdict.outcome in PASSING and verbosity is Verbosity.NORMAL:
            continue
        why = f": {piece(verdict.why, _MESSAGE_CHARS)}" if verdict.why else ""
        lines.append(f"  {verdict.outcome} {visible(checks)}{why}")
        lines += finding_lines(verdict.findings, verbosity=verbosity)
    return lines


def _grouped(verdicts: Iterable[Verdict], verbosity: Verbosity) -> Iterator[tuple[str, Verdict]]:
    """Names and verdict; NORMAL: those undecided for one and the same reason stand together."""

    def reason(verdict: Verdict) -> tuple[object, ...]:
        together = verdict.outcome is Outcome.INCONCLUSIVE and verdict.why and not verdict.findings
        return (verdict.why,) if together and verbosity is Verbosity.NORMAL else (verdict.check, id(verdict))

    for _, group in groupby(verdicts, key=reason):
        found = list(group)
        yield ", ".join(verdict.check for verdict in found), found[0]


def finding_lines(findings: Sequence[Finding], *, verbosity: Verbosity) -> list[str]:
    """Findings with event numbers and the rule they come from; the first few where not VERBOSE."""
    whole = verbosity is Verbosity.VERBOSE
    shown = findings if whole else findings[:_FINDINGS_SHOWN]
    lines = []
    for finding in shown:
        events = _events_text(finding.events)
        rule = f" [{visible(finding.rule)}]" if finding.rule else ""
        first, *more = block(finding.message) if whole else [piece(finding.message, _MESSAGE_CHARS)]
        lines += [f"    {first}{events}{rule}", *(f"      {line}" for line in more)]
    if len(shown) < len(findings):
        lines.append(f"    and {counted(len(findings) - len(shown), 'finding')} more (-v shows all)")
    return lines


def _events_text(events: tuple[int, ...]) -> str:
    if not events:
        return ""
    shown = ", ".join(map(str, events[:8])) + (", …" if len(events) > 8 else "")
    return f" (event {shown})" if len(events) == 1 else f" (events {shown})"


def run_text(summary: RunSummary, *, folder: str = "", verbosity: Verbosity = Verbosity.NORMAL) -> str:
    """The line of a run; where it is not good or VERBOSE also its verdicts, its file, and what to do."""
    lines = [run_line(summary), *verdict_lines(summary.verdicts, verbosity=verbosity)]
    if summary.outcome not in PASSING:
        path = f"{folder.rstrip('/')}/{summary.file}" if folder else summary.file
        if summary.file:
            lines.append(f"  look: harness show {visible(shlex.quote(path))}")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Totals:
    """Runs by outcome; they add up to ``planned`` (INVARIANTS 30)."""

    planned: int
    passed: int
    failed: int
    errored: int
    inconclusive: int
    invalid: int
    skipped: int
    not_run: int

    @property
    def outcome(self) -> Outcome:
        """The worst outcome; INVALID where nothing ran, or not everything that was planned."""
        counts = {
            Outcome.FAIL: self.failed,
            Outcome.ERROR: self.errored,
            Outcome.INVALID: self.invalid + self.not_run,
            Outcome.INCONCLUSIVE: self.inconclusive,
            Outcome.PASS: self.passed,
        }
        return worst_outcome(outcome for outcome, n in counts.items() if n)


def totals(outcomes: Iterable[Outcome], *, planned: int | None = None, skipped: int = 0) -> Totals:
    """Count runs. ``planned`` includes the skipped ones; what is planned and has no outcome was not run.

    Raises ValueError when there are more outcomes than were planned.
    """
    n = Counter(outcomes)
    done = sum(n.values()) + skipped
    planned = done if planned is None else planned
    if done > planned:
        raise ValueError(f"{done} runs ended or were skipped, but only {planned} were planned")
    return Totals(
        planned=planned,
        passed=n[Outcome.PASS] + n[Outcome.NOT_APPLICABLE],
        failed=n[Outcome.FAIL],
        errored=n[Outcome.ERROR],
        inconclusive=n[Outcome.INCONCLUSIVE],
        invalid=n[Outcome.INVALID],
        skipped=skipped,
        not_run=planned - done,
    )


def sum_text(counts: Totals) -> str:
    """``12 planned = 10 passed + 1 failed + 0 errored + 1 skipped``; rarer kinds only where there are some."""
    parts = [f"{counts.passed} passed", f"{counts.failed} failed", f"{counts.errored} errored"]
    rare = (("inconclusive", counts.inconclusive), ("invalid", counts.invalid))
    parts += [f"{n} {name}" for name, n in rare if n]
    parts.append(f"{counts.skipped} skipped")
    parts += [f"{counts.not_run} not run"] if counts.not_run else []
    return f"{counts.planned} planned = {' + '.join(parts)}"


def totals_line(counts: Totals, *, wall_ms: int | None = None, folder: str = "") -> str:
    """The last line of ``harness run``; the rate divides by what was planned."""
    time = f", {wall_ms} ms" if wall_ms is not None else ""
    where = f", in {visible(folder)}" if folder else ""
    return f"{counts.outcome}  {counts.passed} of {counts.planned} passed: {sum_text(counts)}{time}{where}"
