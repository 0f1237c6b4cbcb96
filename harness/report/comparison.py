"""``harness compare`` in a terminal: verdict and rule, both sides, counts, the changed runs a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.report.runs import run_name, sum_text, totals
from harness.report.text import Verbosity, counted, piece, visible
from harness.types.codes import Change, DivergenceKind, Outcome
from harness.types.records import Comparison, Divergence, RunSummary, ScenarioComparison

FIRST_SHOWN: Final = 5
CAUSES: Final[dict[str, str]] = {
    DivergenceKind.INPUT: "the input differed",
    DivergenceKind.MODEL: "the model chose differently",
    DivergenceKind.TOOL: "a tool answered differently",
    DivergenceKind.LOOP: "the loop behaved differently",
    DivergenceKind.END: "it ended differently",
    DivergenceKind.SETUP: "it was set up differently",
    DivergenceKind.DETAIL: "same behaviour, other details",
}
_WORST_FIRST: Final = (Change.WORSE, Change.MISSING, Change.CHANGED, Change.BETTER, Change.NEW)
_COUNTED: Final = (Change.SAME, *_WORST_FIRST)


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One changed run in pieces; those that hold foreign text are ``name``, ``where`` and both sides."""

    change: str
    name: str
    where: str
    base: str | None
    candidate: str | None
    remark: str

    @property
    def has_sides(self) -> bool:
        """False where there is no divergence to show."""
        return self.base is not None or self.candidate is not None


def changed_runs(comparison: Comparison) -> list[ScenarioComparison]:
    """All runs that are not the same, the worst first."""
    order = {change: i for i, change in enumerate(_WORST_FIRST)}
    changed = [scenario for scenario in comparison.scenarios if scenario.change != Change.SAME]
    return sorted(changed, key=lambda scenario: order[Change(scenario.change)])


def change_line(scenario: ScenarioComparison) -> ChangeLine:
    """What became of one run, and why, in pieces."""
    some = scenario.candidate or scenario.base
    name = run_name(some) if some else visible(scenario.run_id)
    found = scenario.divergence
    if found is None:
        return ChangeLine(scenario.change, name, "", None, None, _remark(scenario))
    sides = (found.base, found.candidate)
    remark = "; ".join(part for part in (CAUSES.get(found.kind, found.kind), _outcomes(scenario)) if part)
    return ChangeLine(scenario.change, name, _where(found), *sides, remark)


def _where(found: Divergence) -> str:
    place = f"step {found.step}" if found.step is not None else ""
    if found.turn is not None and found.turn > 1:
        place = f"turn {found.turn} {place}".strip()
    plain = found.kind == DivergenceKind.MODEL and found.path in ("call 1", "answer")
    return " ".join(part for part in (place, "" if plain and place else found.path) if part)


def _outcomes(scenario: ScenarioComparison) -> str:
    base, candidate = scenario.base, scenario.candidate
    if base is None or candidate is None or base.outcome == candidate.outcome:
        return ""
    return f"{base.outcome} → {candidate.outcome}"


def _remark(scenario: ScenarioComparison) -> str:
    if scenario.change == Change.MISSING:
        return "in the base only: a regression"
    if scenario.change == Change.NEW:
        return f"in the candidate only: {scenario.candidate.outcome if scenario.candidate else ''}"
    outcomes = _outcomes(scenario) or "other checks"
    checks = (
        [v.check for v in scenario.candidate.verdicts if v.outcome is not Outcome.PASS] if scenario.candidate else []
    )
    named = f" ({visible(', '.join(checks[:3]))})" if scenario.change != Change.BETTER and checks else ""
    return f"same trajectory, {outcomes}{named}"


def rule_text(comparison: Comparison) -> str:
    """The rule that gave the outcome."""
    match comparison.outcome:
        case Outcome.PASS:
            return "no difference"
        case Outcome.INVALID:
            return "nothing to compare: no run is on both sides"
        case _:
            return "without a gate every difference fails"


def counts_text(comparison: Comparison) -> str:
    """``9 same, 1 worse, 0 missing, 2 changed, 0 better, 0 new``."""
    n = Counter(scenario.change for scenario in comparison.scenarios)
    return ", ".join(f"{n[change]} {change}" for change in _COUNTED)


def side_text(runs: Sequence[RunSummary]) -> str:
    """Outcomes, models and subjects of one side."""
    models = sorted({run.model for run in runs if run.model})
    subjects = sorted({run.subject for run in runs})
    names = [f"model {piece(', '.join(models), 60)}" if models else "", f"subject {piece(', '.join(subjects), 60)}"]
    sums = sum_text(totals(run.outcome for run in runs))
    return "  ".join([sums, *(name for name in names if name and runs)])


def sides(comparison: Comparison) -> tuple[list[RunSummary], list[RunSummary]]:
    """The summaries of both sides."""
    pairs = [(scenario.base, scenario.candidate) for scenario in comparison.scenarios]
    return [base for base, _ in pairs if base], [candidate for _, candidate in pairs if candidate]


def one_line(comparison: Comparison) -> str | None:
    """The whole report where nothing changed; None where something did."""
    n = len(comparison.scenarios)
    if comparison.outcome is Outcome.PASS and all(s.change == Change.SAME for s in comparison.scenarios):
        return f"PASS  {counted(n, 'run')}, no difference"
    return None


def comparison_text(comparison: Comparison, *, command: str = "", verbosity: Verbosity = Verbosity.NORMAL) -> str:
    """The first screen, at most about 12 lines: all changed runs with VERBOSE, else the first five."""
    nothing = one_line(comparison)
    if nothing:
        return f"{nothing}  ({visible(comparison.base)}, {visible(comparison.candidate)})"
    base, candidate = sides(comparison)
    changed = changed_runs(comparison)
    shown = changed if verbosity is Verbosity.VERBOSE else changed[:FIRST_SHOWN]
    lines = [
        f"{comparison.outcome}  {rule_text(comparison)}: {counts_text(comparison)}",
        f"base       {visible(comparison.base)}  {side_text(base)}",
        f"candidate  {visible(comparison.candidate)}  {side_text(candidate)}",
        *(line for scenario in shown for line in _lines(scenario, verbosity)),
    ]
    if len(shown) < len(changed):
        lines.append(f"and {counted(len(changed) - len(shown), 'run')} more that changed (-v lists all)")
    return "\n".join([*lines, f"again: {visible(command)}"] if command else lines)


def _lines(scenario: ScenarioComparison, verbosity: Verbosity) -> Iterator[str]:
    line = change_line(scenario)
    between = f"  {visible(line.where)}: {side(line.base)} → {side(line.candidate)}" if line.has_sides else ""
    between = between or (f"  {visible(line.where)}" if line.where else "")
    yield f"{line.change:<8} {line.name}{between}  ({line.remark})"
    if verbosity is Verbosity.VERBOSE:
        for name, run in (("base", scenario.base), ("candidate", scenario.candidate)):
            if run:
                yield f"           {name}: {visible(run.file)}{_event_of(scenario.divergence, name)}"


def _event_of(found: Divergence | None, name: str) -> str:
    seq = None if found is None else found.base_seq if name == "base" else found.candidate_seq
    return "" if seq is None else f" (event {seq})"


def side(text: str | None) -> str:
    """One side of a divergence on one line."""
    return "(nothing)" if text is None else piece(text) or "(empty)"
