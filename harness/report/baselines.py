"""Baselines as text: what was accepted, what there is, and runs beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from harness.folds import cause_text, where_text
from harness.report.comparison import side
from harness.report.text import Verbosity, counted, piece, visible
from harness.types.baselines import Acceptance, BaselineDiff, BaselineRow, Taken, Variant
from harness.types.codes import Change, Outcome

_FIRST_SHOWN: Final = 10
_SIDE_CHARS: Final = 60
_CAUSE_CHARS: Final = 160
_WORST_FIRST: Final = (Change.CHANGED, Change.MISSING, Change.NEW)


def acceptance_text(done: Acceptance, root: str) -> str:
    """A line for each run that is new or was refused, for each file that was dropped, and the counts."""
    lines = []
    for run in done.runs:
        if run.taken is Taken.ADDED:
            lines.append(f"added    {visible(run.scenario)}  variant {run.number} ({visible(run.run_id)})")
        elif run.taken is Taken.REFUSED:
            lines.append(f"refused  {visible(run.scenario)}  {visible(run.run_id)} is {visible(run.why)}")
    lines += [f"dropped  {visible(file)}" for file in done.dropped]
    n = Counter(run.taken for run in done.runs)
    counts = f"{n[Taken.ADDED]} added, {n[Taken.KNOWN]} known already, {n[Taken.REFUSED]} refused"
    lines.append(f"{counted(len(done.runs), 'run')}: {counts}, in {visible(root)}")
    if n[Taken.REFUSED]:
        lines.append("runs that did not pass are accepted with --failing only")
    return "\n".join(lines)


def variants_text(variants: Sequence[Variant], root: str) -> str:
    """A line for each variant, and the counts; stale ones say why."""
    if not variants:
        return f"no baselines in {visible(root)}: 'harness baseline accept RUNS' keeps what runs did"
    lines = []
    for one in variants:
        who = ", ".join(visible(word) for word in (one.subject, one.model, one.arm) if word)
        stale = f"  STALE: {one.stale}" if one.stale else ""
        lines.append(
            f"{visible(one.scenario)}  variant {one.number}  {counted(one.n_steps, 'step')}  "
            f"{visible(one.run_id)}  {who}{stale}"
        )
    n_stale = sum(bool(one.stale) for one in variants)
    n_scenarios = len({one.scenario for one in variants})
    lines.append(f"{counted(len(variants), 'variant')} of {counted(n_scenarios, 'scenario')}, {n_stale} stale")
    return "\n".join(lines)


def baseline_diff_text(diff: BaselineDiff, *, verbosity: Verbosity = Verbosity.NORMAL) -> str:
    """One line where every run took an accepted variant; else the counts and the first rows that say more."""
    told = sorted(
        (row for row in diff.rows if row.change is not Change.SAME), key=lambda row: _WORST_FIRST.index(row.change)
    )
    places = f"({visible(diff.runs)}, {visible(diff.baselines)})"
    n = Counter(row.change for row in diff.rows)
    counts = ", ".join(f"{n[change]} {change}" for change in (Change.SAME, *_WORST_FIRST))
    lines = [f"{diff.outcome}  {_rule(diff)}: {counts}  {places}"]
    whole = verbosity is Verbosity.VERBOSE
    lines += [_row(row) for row in (told if whole else told[:_FIRST_SHOWN])]
    if whole:
        lines += [f"same     {visible(row.name)}  (variant {row.variant})" for row in _same(diff)]
    elif len(told) > _FIRST_SHOWN:
        lines.append(f"and {len(told) - _FIRST_SHOWN} more (-v lists all)")
    return "\n".join(lines)


def _same(diff: BaselineDiff) -> Iterator[BaselineRow]:
    return (row for row in diff.rows if row.change is Change.SAME)


def _rule(diff: BaselineDiff) -> str:
    match diff.outcome:
        case Outcome.PASS:
            return "every run that has variants took one of them"
        case Outcome.FAIL:
            return "each run must take an accepted variant of its scenario, and each such scenario must run"
        case Outcome.INVALID | Outcome.ERROR | Outcome.INCONCLUSIVE | Outcome.NOT_APPLICABLE:
            return "none of these runs has an accepted variant to compare with"
        case _:
            assert_never(diff.outcome)


def _row(row: BaselineRow) -> str:
    head = f"{row.change:<8} "
    if row.explanation is None:
        return head + visible(row.line)
    shown = row.explanation.shown
    of = f"variant {row.variant}" if row.n_variants == 1 else f"nearest of {row.n_variants}: variant {row.variant}"
    sides = f"{side(shown.base, _SIDE_CHARS)} → {side(shown.candidate, _SIDE_CHARS)}"
    cause = piece(cause_text(row.explanation), _CAUSE_CHARS)
    return f"{head}{visible(row.name)}  {visible(where_text(shown))}: {sides}  cause: {cause}  ({of})"
