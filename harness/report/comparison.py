"""``harness compare`` in a terminal: verdict and rule, both sides, counts, the changed scenarios a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harness.folds import cause_text, row_name, where_text
from harness.report.text import PIECE_CHARS, Verbosity, counted, distinct, piece, visible
from harness.report.verdict_words import (
    aside_text,
    gate_text,
    goal_posts_text,
    quarantine_lines,
    revision_text,
    rule_breakers,
    rule_lines,
    verdict_text,
    warning_lines,
)
from harness.types.codes import PASSING, Change, DivergenceKind, Outcome
from harness.types.records import Amount, Comparison, Divergence, Measure, ScenarioComparison, Side
from harness.types.review import Review

FIRST_SHOWN: Final = 5
_CAUSE_CHARS: Final = 160
_SIDE_CHARS: Final = 60
_ASIDES: Final = 2
_ASIDE_CHARS: Final = 240
KINDS: Final[dict[str, str]] = {
    DivergenceKind.INPUT: "the input differed",
    DivergenceKind.MODEL: "the model chose differently",
    DivergenceKind.TOOL: "a tool answered differently",
    DivergenceKind.LOOP: "the loop behaved differently",
    DivergenceKind.END: "it ended differently",
    DivergenceKind.SETUP: "it was set up differently",
    DivergenceKind.DETAIL: "same behaviour, other details",
}
"""Words for a difference that nobody has explained."""
_WORST_FIRST: Final = (Change.WORSE, Change.MISSING, Change.CHANGED, Change.BETTER, Change.NEW)
_COUNTED: Final = (Change.SAME, *_WORST_FIRST)


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One changed scenario in pieces; all but ``change`` may hold foreign text."""

    change: str
    name: str
    where: str
    base: str | None
    candidate: str | None
    cause: str
    remark: str

    @property
    def has_sides(self) -> bool:
        """False where there is no divergence to show."""
        return self.base is not None or self.candidate is not None


def changed_runs(comparison: Comparison) -> list[ScenarioComparison]:
    """All scenarios that are not the same, the worst first."""
    order = {change: i for i, change in enumerate(_WORST_FIRST)}
    changed = [scenario for scenario in comparison.scenarios if scenario.change != Change.SAME]
    return sorted(changed, key=lambda scenario: order[scenario.change])


def changed_first(review: Review) -> list[ScenarioComparison]:
    """All scenarios that changed or that a rule speaks of, those that break a rule first, then the worst."""
    breakers = rule_breakers(review.verdict)
    changed = changed_runs(review.comparison)
    unchanged = [row for row in review.comparison.scenarios if row.change == Change.SAME and row_name(row) in breakers]
    return sorted([*changed, *unchanged], key=lambda row: row_name(row) not in breakers)


def change_line(scenario: ScenarioComparison) -> ChangeLine:
    """What became of one scenario, and why, in pieces."""
    name = distinct(row_name(scenario))
    found = scenario.explanation.shown if scenario.explanation else scenario.divergence
    if found is None:
        return ChangeLine(scenario.change, name, "", None, None, "", _remark(scenario))
    cause = _cause(scenario, found)
    return ChangeLine(scenario.change, name, where_text(found), found.base, found.candidate, cause, _outcomes(scenario))


def _cause(scenario: ScenarioComparison, found: Divergence) -> str:
    if scenario.explanation:
        return cause_text(scenario.explanation, scenario.base_chose)
    return KINDS.get(found.kind, found.kind)


def _outcomes(scenario: ScenarioComparison) -> str:
    """How it was judged on both sides, where that differs: by outcome, or over trials how many passed."""
    base, candidate = scenario.base, scenario.candidate
    if base is None or candidate is None:
        return ""
    if max(scenario.n_base, scenario.n_candidate) > 1:
        passed = f"{scenario.base_passed} of {scenario.n_base} → {scenario.candidate_passed} of {scenario.n_candidate}"
        differ = f", {scenario.n_differ} differ" if scenario.n_differ else ""
        return f"{passed} passed{differ}"
    return "" if base.outcome == candidate.outcome else f"{base.outcome} → {candidate.outcome}"


def _remark(scenario: ScenarioComparison) -> str:
    if scenario.change == Change.MISSING:
        return "in the base only: a regression"
    if scenario.change == Change.NEW:
        return f"in the candidate only: {scenario.candidate.outcome if scenario.candidate else ''}"
    if scenario.change == Change.SAME:
        return f"no difference, {scenario.candidate.outcome if scenario.candidate else 'no run'} on both sides"
    outcomes = _outcomes(scenario) or "other checks"
    checks = [v.check for v in scenario.candidate.verdicts if v.outcome not in PASSING] if scenario.candidate else []
    named = f" ({visible(', '.join(checks[:3]))})" if scenario.change != Change.BETTER and checks else ""
    return f"same trajectory, {outcomes}{named}"


def counts_text(comparison: Comparison) -> str:
    """``9 same, 1 worse, 0 missing, 2 changed, 0 better, 0 new``."""
    n = Counter(scenario.change for scenario in comparison.scenarios)
    return ", ".join(f"{n[change]} {change}" for change in _COUNTED)


def side_text(side: Side | None) -> str:
    """Outcomes, models and subjects of one side; the outcomes add up to what was planned (INVARIANTS 30)."""
    if side is None:
        return "not counted"
    parts = [
        f"{side.passed} passed",
        f"{side.failed} failed",
        f"{side.errored} errored",
        f"{side.inconclusive} inconclusive",
        f"{side.skipped} skipped",
    ]
    parts += [f"{side.invalid} invalid"] if side.invalid else []
    parts += [f"{side.not_run} not run"] if side.not_run else []
    names = (("model", side.models), ("subject", side.subjects))
    shown = [f"{name} {piece(', '.join(values), 60)}" for name, values in names if any(values)]
    sums = f"{side.planned} planned = {' + '.join(parts)}; {side.out_of_date} out of date"
    return "  ".join([sums, *shown])


def took_text(comparison: Comparison) -> str:
    """Cost, tokens and latency of both sides with their noise; what is not known, or nothing on both, is left out."""
    measures = (
        ("cost", comparison.cost, "µ$"),
        ("tokens", comparison.tokens, ""),
        ("latency", comparison.latency, "ms"),
    )
    return "   ".join(
        _measure(name, found, unit, comparison)
        for name, found, unit in measures
        if found and found.base + found.candidate
    )


def _measure(name: str, found: Measure, unit: str, comparison: Comparison) -> str:
    """``cost 1200 → 1260 µ$ (+5.0 %, noise ± 3.1 %)``; noise is two standard errors, from repeated trials."""
    sides = f"{name} {found.base} → {found.candidate}{f' {unit}' if unit else ''}"
    if not found.base:
        return sides if found.candidate == found.base else f"{sides} (from nothing)"
    change = f"{100 * (found.candidate - found.base) / found.base:+.1f} %"
    repeated = any(row.n_base > 1 and row.n_candidate > 1 for row in comparison.scenarios)
    unknown = "not every scenario has repeated trials" if repeated else "one trial each"
    noise = f"noise unknown: {unknown}" if found.noise is None else f"noise ± {100 * found.noise / found.base:.1f} %"
    n = sum(row.change not in (Change.MISSING, Change.NEW) for row in comparison.scenarios)
    over = "" if found.n_scenarios == n else f", known of {found.n_scenarios} of {n} scenarios"
    return f"{sides} ({change}, {noise}{over})"


def one_line(review: Review) -> str | None:
    """The whole report where nothing changed, nothing moved and nothing is remarked; None where something did."""
    comparison, verdict = review.comparison, review.verdict
    n = len(comparison.scenarios)
    quiet = review.outcome is Outcome.PASS and not goal_posts_text(review) and not review.remarks
    if quiet and all(row.change == Change.SAME for row in comparison.scenarios):
        return f"PASS  {counted(n, 'scenario')}, no difference{aside_text(verdict)}"
    return None


def comparison_text(review: Review, *, verbosity: Verbosity = Verbosity.NORMAL) -> str:
    """The first screen, about 12 lines: all changed scenarios and rules with VERBOSE, else the first five."""
    comparison = review.comparison
    rules = _rules(review) if verbosity is Verbosity.VERBOSE else []
    nothing = one_line(review)
    if nothing:
        return "\n".join([f"{nothing}  ({visible(comparison.base)}, {visible(comparison.candidate)})", *rules])
    changed = changed_first(review)
    shown = changed if verbosity is Verbosity.VERBOSE else changed[:FIRST_SHOWN]
    lines = [*_head(review), *(line for scenario in shown for line in _lines(scenario, verbosity))]
    if len(shown) < len(changed):
        lines.append(f"and {counted(len(changed) - len(shown), 'scenario')} more that changed (-v lists all)")
    lines += rules or _asides(review)
    took = took_text(comparison)
    lines += [took] if took else []
    return "\n".join([*lines, f"again: {visible(review.command)}"] if review.command else lines)


def _head(review: Review) -> Iterator[str]:
    """Verdict and rule, both sides, what moved."""
    comparison = review.comparison
    yield f"{review.outcome}  {verdict_text(review.verdict)}: {counts_text(comparison)}"
    sides = (
        ("base     ", comparison.base, review.base_revision, comparison.base_side),
        ("candidate", comparison.candidate, review.candidate_revision, comparison.candidate_side),
    )
    for name, place, revision, side in sides:
        parts = (visible(place), revision_text(revision), side_text(side))
        yield "  ".join((name, *(part for part in parts if part)))
    moved = goal_posts_text(review)
    if moved:
        yield f"moved: {moved}"
    yield from (f"note: {piece(remark, _ASIDE_CHARS)}" for remark in review.remarks)


def _asides(review: Review) -> Iterator[str]:
    """Rules that only warn and known flakes, each on one line."""
    for name, told in (("warning", warning_lines(review.verdict)), ("quarantine", quarantine_lines(review.verdict))):
        if told:
            more = f" | and {len(told) - _ASIDES} more (-v)" if len(told) > _ASIDES else ""
            yield f"{name}: {' | '.join(piece(line, _ASIDE_CHARS) for line in told[:_ASIDES])}{more}"


def _rules(review: Review) -> list[str]:
    """Every rule's result, and every entry of the quarantine."""
    judged = gate_text(review.verdict)
    lines = [f"judged by {judged}"] if judged else []
    lines += [f"           {line}" for line in rule_lines(review.verdict)]
    return lines + [f"           quarantine: {line}" for line in quarantine_lines(review.verdict)]


def _lines(scenario: ScenarioComparison, verbosity: Verbosity) -> Iterator[str]:
    line = change_line(scenario)
    most = PIECE_CHARS if verbosity is Verbosity.VERBOSE else _SIDE_CHARS
    sides = f"{side(line.base, most)} → {side(line.candidate, most)}"
    between = f"  {visible(line.where)}: {sides}" if line.has_sides else ""
    between = between or (f"  {visible(line.where)}" if line.where else "")
    cause = f"  cause: {piece(line.cause, _CAUSE_CHARS)}" if line.cause else ""
    remark = f"  ({line.remark})" if line.remark else ""
    yield f"{line.change:<8} {line.name}{between}{cause}{remark}"
    if verbosity is Verbosity.VERBOSE:
        for name, run in (("base", scenario.base), ("candidate", scenario.candidate)):
            if run:
                yield f"           {name}: {visible(run.file)}{_event_of(scenario.divergence, name)}"
        yield from (f"           {text}" for text in segment_lines(scenario))


def segment_lines(scenario: ScenarioComparison) -> Iterator[str]:
    """The stretches of the pair that tells most, with what each took; a step is one of the side that is named."""
    for segment in scenario.segments:
        whose = "candidate" if segment.base is None else "base"
        where = f" from step {segment.step} of the {whose}" if segment.step is not None else ""
        amounts = [(name, took) for name, took in (("base", segment.base), ("candidate", segment.candidate)) if took]
        yield f"{segment.kind}{where}: " + "; ".join(f"{name} {_amount(took)}" for name, took in amounts)


def _amount(took: Amount) -> str:
    parts = [counted(took.n_steps, "step"), counted(took.n_calls, "call")]
    numbers = (
        (took.input_tokens, "tokens in"),
        (took.output_tokens, "tokens out"),
        (took.cost_micro_usd, "µ$"),
        (took.time_ms, "ms"),
    )
    return ", ".join([*parts, *(f"{n} {unit}" for n, unit in numbers if n is not None)])


def _event_of(found: Divergence | None, name: str) -> str:
    seq = None if found is None else found.base_seq if name == "base" else found.candidate_seq
    return "" if seq is None else f" (event {seq})"


def side(text: str | None, n_chars: int = PIECE_CHARS) -> str:
    """One side of a divergence on one line."""
    return "(nothing)" if text is None else piece(text, n_chars) or "(empty)"
