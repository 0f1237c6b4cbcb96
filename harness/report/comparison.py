"""``harness compare`` in a terminal: verdict and rule, both sides, counts, the changed scenarios a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from harness.folds import cause_text, row_name, where_text
from harness.report.fates import is_told, rows_of, worst_first
from harness.report.text import PIECE_CHARS, Verbosity, counted, distinct, piece, visible
from harness.report.unpassed import failing_checks, of_trials, unpassed, unpassed_text
from harness.report.verdict_words import (
    aside_text,
    gate_text,
    goal_posts_text,
    quarantine_lines,
    revision_text,
    rule_lines,
    verdict_text,
    warning_lines,
)
from harness.types.codes import Change, DivergenceKind, Outcome
from harness.types.records import Amount, Comparison, Divergence, Measure, ScenarioComparison, Side
from harness.types.review import Review

FIRST_SHOWN: Final = 5
_CAUSE_CHARS: Final = 160
_SIDE_CHARS: Final = 60
_ASIDES: Final = 2
_ASIDE_CHARS: Final = 240
_CHECKS: Final = 3
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
_COUNTED: Final = (Change.SAME, Change.WORSE, Change.MISSING, Change.CHANGED, Change.BETTER, Change.NEW)


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
        outcome = scenario.candidate.outcome if scenario.candidate else ""
        beside = ", the base planned it and did not run it" if any(one.n_base for one in scenario.unpassed) else ""
        return f"in the candidate only{beside}: {outcome}"
    checks = failing_checks(scenario) if scenario.change != Change.BETTER else []
    named = f" ({piece(', '.join(checks[:_CHECKS]))})" if checks else ""
    if scenario.change != Change.SAME:
        return f"same trajectory, {_outcomes(scenario) or 'other checks'}{named}"
    bad = [unpassed_text(one, scenario) for one in unpassed(scenario)[:_CHECKS]]
    if scenario.n_candidate > 1 and bad:
        return f"no difference; {', '.join(bad)}"
    return f"no difference, {scenario.candidate.outcome if scenario.candidate else 'no run'} on both sides{named}"


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
    """``cost 1200 → 1260 µ$ (+5.0 %, noise ± 3.1 %)``; noise is two standard errors, from repeated trials.

    Whole numbers of any size are told. Where the base took nothing, noise stands in the unit of the measure.
    """
    sides = f"{name} {found.base} → {found.candidate}{f' {unit}' if unit else ''}"
    change = f"{_percent(found.candidate - found.base, found.base)}" if found.base else "from nothing"
    repeated = any(row.n_base > 1 and row.n_candidate > 1 for row in comparison.scenarios)
    unknown = "not every scenario has repeated trials" if repeated else "one trial each"
    noise = f"noise unknown: {unknown}" if found.noise is None else f"noise ± {_noise(found.noise, found.base, unit)}"
    n = sum(row.change not in (Change.MISSING, Change.NEW) for row in comparison.scenarios)
    over = "" if found.n_scenarios == n else f", known of {found.n_scenarios} of {n} scenarios"
    return f"{sides} ({change}, {noise}{over})"


def _percent(part: int, whole: int) -> str:
    """``+5.0 %``: rounded half to even on whole numbers; what is not nothing is not told as nothing."""
    tenths = round(Fraction(1_000 * part, whole))
    if part and not tenths:
        return "under 0.1 %"
    return f"{'-' if tenths < 0 else '+'}{abs(tenths) // 10}.{abs(tenths) % 10} %"


def _noise(noise: int, base: int, unit: str) -> str:
    return _percent(noise, base).lstrip("+") if base else f"{noise}{f' {unit}' if unit else ''}"


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
    named = [row.scenario for row in worst_first(rows_of(review)) if is_told(row)]
    shown = named if verbosity is Verbosity.VERBOSE else named[:FIRST_SHOWN]
    lines = [*_head(review), *(line for scenario in shown for line in _lines(scenario, verbosity))]
    if len(shown) < len(named):
        lines.append(f"and {more_text(named[len(shown) :])} (-v lists all)")
    lines += rules or _asides(review)
    took = took_text(comparison)
    lines += [took] if took else []
    return "\n".join([*lines, f"again: {visible(review.command)}"] if review.command else lines)


def more_text(rows: Sequence[ScenarioComparison]) -> str:
    """``3 scenarios more that changed``, with those that fail although they did not."""
    same = any(row.change == Change.SAME for row in rows)
    return f"{counted(len(rows), 'scenario')} more that changed{' or fail' if same else ''}"


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
                event = event_of(scenario.divergence, name)
                yield f"           {name}: {visible(run.file)}{f' ({event})' if event else ''}"
        yield from (f"           {text}" for text in (*of_trials(scenario), *segment_lines(scenario)))


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


def event_of(found: Divergence | None, side: str) -> str:
    """``event 20``: where a side (``base`` or ``candidate``) parts; empty where it has no event there."""
    seq = None if found is None else found.base_seq if side == "base" else found.candidate_seq
    return "" if seq is None else f"event {seq}"


def side(text: str | None, n_chars: int = PIECE_CHARS) -> str:
    """One side of a divergence on one line."""
    return "(nothing)" if text is None else piece(text, n_chars) or "(empty)"
