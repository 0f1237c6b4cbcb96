"""``harness check``: many trajectories judged, told in totals, a table of checks, and what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.folds import calls_of, outcome_of, worst_outcome
from harness.report.runs import finding_lines
from harness.report.text import counted, piece, visible
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.records import Verdict

_COLUMNS: Final = (
    (Outcome.PASS, "pass"),
    (Outcome.FAIL, "fail"),
    (Outcome.NOT_APPLICABLE, "not applicable"),
    (Outcome.INCONCLUSIVE, "inconclusive"),
    (Outcome.INVALID, "invalid"),
    (Outcome.ERROR, "error"),
)
_GOOD: Final = (Outcome.PASS, Outcome.NOT_APPLICABLE)
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Judged:
    """One judged trajectory: what it came to, its counts, its verdicts. ``source`` says where it came from."""

    source: str
    run_id: str
    outcome: Outcome
    n_calls: int
    n_results: int
    n_unpaired: int
    n_reused_ids: int
    verdicts: tuple[Verdict, ...]


def judged(trajectory: Trajectory, verdicts: tuple[Verdict, ...]) -> Judged:
    """What a report keeps of a trajectory. Unpaired are calls without result and results without call."""
    traces = calls_of(trajectory)
    n_results = sum(isinstance(event.fact, ToolResult) for event in trajectory)
    n_answered = sum(trace.result is not None for trace in traces)
    return Judged(
        source=trajectory.source or trajectory.header.run_id,
        run_id=trajectory.header.run_id,
        outcome=outcome_of(verdicts),
        n_calls=len(traces),
        n_results=n_results,
        n_unpaired=len(traces) - n_answered + n_results - n_answered,
        n_reused_ids=_n_reused_ids(trajectory),
        verdicts=verdicts,
    )


def check_report(results: Sequence[Judged], *, verbose: bool = False) -> str:
    """Totals, a table of checks, what was found (the first twenty, or ``verbose`` all), and the outcome."""
    found = _found(results, verbose=verbose)
    parts = [[check_totals(results)], _table(results), found, [_last_line(results)]]
    return "\n\n".join("\n".join(part) for part in parts if part)


def check_totals(results: Sequence[Judged]) -> str:
    """``136 trajectories, 784 calls, 784 results, 0 unpaired, 48 reused ids (information)``."""
    n = len(results)
    return (
        f"{n} {'trajectory' if n == 1 else 'trajectories'}, {counted(sum(r.n_calls for r in results), 'call')}, "
        f"{counted(sum(r.n_results for r in results), 'result')}, {sum(r.n_unpaired for r in results)} unpaired, "
        f"{counted(sum(r.n_reused_ids for r in results), 'reused id')} (information)"
    )


def _table(results: Sequence[Judged]) -> list[str]:
    """A line for each check with its verdicts by outcome; columns that are zero throughout are left out."""
    by_check: dict[str, Counter[Outcome]] = {}
    for verdict in (verdict for result in results for verdict in result.verdicts):
        by_check.setdefault(verdict.check, Counter())[verdict.outcome] += 1
    columns = [(o, name) for o, name in _COLUMNS if any(counts[o] for counts in by_check.values())]
    if not columns:
        return []
    rows = [["check", *(name for _, name in columns)]]
    rows += [[visible(check), *(str(by_check[check][o]) for o, _ in columns)] for check in sorted(by_check)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]


def _found(results: Sequence[Judged], *, verbose: bool) -> list[str]:
    lines: list[str] = []
    n_bad = 0
    for result, verdict in ((one, verdict) for one in results for verdict in one.verdicts):
        bad = verdict.outcome not in _GOOD
        n_bad += bad
        if (bad and n_bad <= _SHOWN) or (verbose and (bad or verdict.findings)):
            why = f": {piece(verdict.why)}" if verdict.why else ""
            lines.append(f"{verdict.outcome}  {visible(verdict.check)}  {visible(result.source)}{why}")
            lines += finding_lines(verdict.findings, verbose=verbose)
    if n_bad > _SHOWN and not verbose:
        lines.append(f"and {counted(n_bad - _SHOWN, 'verdict')} more (-v shows all)")
    return lines


def _last_line(results: Sequence[Judged]) -> str:
    outcome = worst_outcome(result.outcome for result in results)
    if not results:
        return f"{outcome}  nothing was checked: no trajectory was found"
    return f"{outcome}  {sum(result.outcome in _GOOD for result in results)} of {len(results)} passed"


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
