"""The sentences of an evaluation's report, one meaning a line; the terminal and Markdown show the same ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from harness.report.text import counted, piece
from harness.types.evaluation import Estimand
from harness.types.evaluation_comparison import Chances, ComparisonSummary, Flip, Range
from harness.types.evaluation_insight import CaseInArm, Curve, FactorLine
from harness.types.evaluation_summary import ArmSummary, Counts, EvaluationSummary, Spent

NAME_CHARS: Final = 40
UNNAMED: Final = "a model that the file does not name"
NO_JUDGE: Final = "No model judges anything: each answer is compared with what its case says is right."


def percent(share: float) -> str:
    """``83.7 %``"""
    return f"{share * 100:.1f} %"


def points(difference: float) -> str:
    """``-12.3`` points of a hundred, always with its sign."""
    return f"{difference * 100:+.1f}"


def interval_text(interval: Range | None, *, signed: bool = False) -> str:
    """``[74.1, 90.2] at 95 %``, or why there is none."""
    if interval is None:
        return "no interval"
    low, high = (f"{bound * 100:+.1f}" if signed else f"{bound * 100:.1f}" for bound in (interval.low, interval.high))
    return f"[{low}, {high}] at {interval.level * 100:.4g} %"


def name_of(arm: str) -> str:
    """A name that somebody chose, made safe and short."""
    return piece(arm, NAME_CHARS)


def headline(summary: EvaluationSummary) -> str:
    """Which evaluation, and how large."""
    units = "" if summary.n_units == summary.n_cases else f" in {counted(summary.n_units, 'unit')}"
    return (
        f"{piece(summary.evaluation, 80)}: {counted(summary.n_cases, 'case')}{units}, "
        f"{counted(summary.n_tools, 'tool')}, {counted(len(summary.arms), 'arm')}, "
        f"{counted(summary.n_trials, 'trial')} a case, {piece(model_text(summary), 90)}"
    )


def model_text(summary: EvaluationSummary) -> str:
    """The model that was asked for, and who answered where that is told and another name."""
    lines = summary.provenance.answered_by if summary.provenance else ()
    names = sorted({line.model for line in lines if line.model})
    asked = summary.model or UNNAMED
    return asked if names in ([], [summary.model]) else f"{asked} (answered by {', '.join(names[:3])})"


def verdict_text(summary: EvaluationSummary) -> str:
    """``FAIL``, ``FAIL by more than the margin``, ``change + drift``."""
    said = summary.verdict
    return said if said.startswith("change") else said.upper() if " " not in said else said.replace("fail", "FAIL", 1)


def counts_text(counts: Counts) -> str:
    """planned = passed + failed + errored + skipped, and the headline rate; the second figure says what it is of."""
    scored = "nothing scored" if counts.scored_rate is None else f"{percent(counts.scored_rate)} of scored"
    return (
        f"planned {counts.planned} = {counts.passed} passed + {counts.failed} failed + {counts.errored} errored "
        f"+ {counts.skipped} skipped: {percent(counts.rate)} of planned ({scored})"
    )


def steadiness_text(arm: ArmSummary) -> str:
    """The rate over units with its interval, pass^k, and how much of it the trials repeat."""
    over = counted(arm.n_units, "unit")
    always = f"pass^{arm.k} not available (no case was asked all its trials)"
    if arm.unit_rate is None:
        said = [f"per case nothing scored, {over}"]
    elif arm.interval is None:
        if arm.pass_hat_k is not None:
            always = f"{arm.pass_hat_k * arm.n_units:.0f} of {over} pass always"
        said = [f"per case {arm.unit_rate * arm.n_units:.3g} of {over}, too few for an interval", always]
    else:
        if arm.pass_hat_k is not None:
            always = f"pass^{arm.k} {percent(arm.pass_hat_k)}"
        said = [f"per case {percent(arm.unit_rate)} {interval_text(arm.interval)} over {over}", always]
    if arm.repeatability is not None:
        said.append(f"{arm.n_flaky} flaky, {percent(arm.repeatability)} of cases repeat")
    if arm.icc is not None and arm.trials_worth is not None:
        said.append(f"icc {arm.icc:.2f}: {counted(arm.k, 'trial')} worth {arm.trials_worth:.1f}")
    said += [f"pass@{line.k} {_pass_at(line.value, line.n_cases, line.left_out)}" for line in arm.pass_at]
    return ", ".join(said)


def _pass_at(value: float | None, n_cases: int, left_out: int) -> str:
    if value is None:
        return f"not available ({counted(left_out, 'case')} with too few trials)"
    return percent(value) + (f" of {n_cases} ({left_out} left out)" if left_out else "")


def spent_text(spent: Spent) -> str:
    """Tokens and money, and of how many trials they are known."""
    if not spent.told:
        return "tokens not told"
    money = "" if spent.cost_micro_usd is None else f", {spent.cost_micro_usd / 1_000_000:.4f} USD"
    of = "" if spent.told == spent.of else f" (told for {spent.told} of {spent.of} trials)"
    retries = f", {counted(spent.n_retries, 'attempt')} repeated" if spent.n_retries else ""
    return f"{spent.input_tokens} tokens in, {spent.output_tokens} out{money}{of}{retries}"


# ---------------------------------------------------------------- insight

_EACH: Final = {
    "distractors": "distractor",
    "turns of padding": "turn",
    "needed calls": "call",
    "turns before the question": "turn",
}


def trend_text(curve: Curve) -> str:
    """The slope and the p of the one test for a trend."""
    if curve.slope is None or curve.p is None:
        return ": no trend to test"
    each = _EACH.get(curve.name, "step")
    return f": {curve.slope * 100:+.2f} points a {each}, p {p_text(curve.p)} ({curve.test})"


def factor_text(factor: FactorLine) -> str:
    """How the mean rate moved, and how often a forbidden tool was called."""
    bounds = "" if factor.low is None or factor.high is None else f" [{points(factor.low)}, {points(factor.high)}]"
    never = ""
    if factor.violated is not None and factor.first_violated is not None:
        never = f", forbidden calls {percent(factor.first_violated)} to {percent(factor.violated)}"
    moved = "nothing scored" if factor.difference is None else f"{points(factor.difference)} points"
    return f"{moved}{bounds}{never}"


def changes_text(factor: FactorLine) -> str:
    """What the arm changes; with a warning where that is more than one thing."""
    mixed = (
        "" if factor.one_factor or not factor.changes else " (not one thing alone: the difference has no single cause)"
    )
    return ("; ".join(factor.changes) or "changes nothing") + mixed


def flip_text(flip: Flip) -> str:
    """``5 of 5 to 1 of 5``."""
    return f"{flip.base_passed} of {flip.base_trials} to {flip.candidate_passed} of {flip.candidate_trials}"


def case_in_arm_text(one: CaseInArm) -> str:
    """``now 3 of 5 (wrong tool)``."""
    planned = one.passed + one.failed + one.errored + one.skipped
    kinds: Sequence[str] = [kind.value for kind in one.kinds]
    return f"{name_of(one.arm)} {one.passed} of {planned}" + (f" ({', '.join(kinds)})" if kinds else "")


def arms_in_order(summary: EvaluationSummary) -> list[ArmSummary]:
    """Base and candidate of the comparison first, then the others as they were declared."""
    compared = summary.comparison
    first = () if compared is None else (compared.base, compared.candidate)
    return [summary.arm(name) for name in first] + [arm for arm in summary.arms if arm.name not in first]


def suspects_text(summary: EvaluationSummary) -> str:
    """How many expectations may be wrong, and as what most of these cases failed."""
    kinds = Counter(kind.value for line in summary.suspects for kind in line.kinds)
    most = f" (mostly {kinds.most_common(1)[0][0]})" if kinds else ""
    return f"{counted(summary.n_suspects, 'case')} failed always in every arm{most}: is what they expect right?"


# ---------------------------------------------------------------- the comparison


def prompts_text(comparison: ComparisonSummary) -> str:
    """The estimand whose cases are drawn from many."""
    said = comparison.prompts
    return (
        f"{_decides(comparison, Estimand.PROMPTS_LIKE_THESE)}prompts like these: {points(said.difference)} points "
        f"{interval_text(said.interval, signed=True)} over {counted(said.n_units, 'unit')}: {said.region}"
        f"{_p(said.chances)}"
    )


def cases_text(comparison: ComparisonSummary) -> str:
    """The estimand whose cases are all there is."""
    said = comparison.cases
    mcnemar = f"; McNemar p {p_text(said.mcnemar.differs)}" if said.mcnemar else ""
    return (
        f"{_decides(comparison, Estimand.THESE_CASES)}these cases: {points(said.difference)} points "
        f"{interval_text(said.interval, signed=True)}: {said.region}; {said.n_worse} worse, {said.n_better} better, "
        f"{said.n_same} same{_p(said.chances)}{mcnemar}"
    )


def _decides(comparison: ComparisonSummary, estimand: Estimand) -> str:
    return "decides: " if comparison.estimand is estimand else "beside: "


def _p(chances: Chances | None) -> str:
    return f" (p worse {p_text(chances.worse)}, {chances.test})" if chances else ""


def p_text(p: float) -> str:
    """A p-value; what is too small to show is said to be so."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def comparison_lines(comparison: ComparisonSummary) -> Iterator[tuple[str, str]]:
    """Name and text of each line about the comparison."""
    rates = f"{percent(comparison.base_rate)} to {percent(comparison.candidate_rate)}"
    split = f", only the {comparison.split} split" if comparison.split else ""
    yield "change", f"{name_of(comparison.base)} to {name_of(comparison.candidate)}: {rates}{split}"
    yield "", prompts_text(comparison)
    yield "", cases_text(comparison)
    yield from _conditions(comparison)


def _conditions(comparison: ComparisonSummary) -> Iterator[tuple[str, str]]:
    if comparison.if_errors:
        yield "errors", _errors_text(comparison.if_errors)
    itself = comparison.against_itself
    if itself is None:
        yield "A/A", f"{name_of(comparison.base)} cannot be split in halves: one outcome a case"
    else:
        yield (
            "A/A",
            f"halves of {name_of(comparison.base)} gave FAIL in {percent(itself.alarms)} of {itself.n_splits} splits",
        )
    look = comparison.look
    if look.stopped_early:
        yield "look", f"stopped after {look.blocks} of {look.of} whole blocks, judged at {look.level * 100:.4g} %"
    for line in comparison.drift:
        yield "drift", piece(line, 300)


def _errors_text(if_errors: Sequence[tuple[str, str]]) -> str:
    regions = {region for _, region in if_errors}
    if len(regions) == 1:
        return f"{regions.pop()}, whether trials without an answer all passed or all failed, in either arm"
    said = "; ".join(f"{extreme}: {region}" for extreme, region in if_errors)
    return f"what trials without an answer hid decides: {said}"


def reasons(summary: EvaluationSummary, before: Sequence[str] = ()) -> Sequence[tuple[str, str]]:
    """What qualifies the verdict: why it is INVALID, verdicts before it, and what a recording is."""
    lines = [("why", piece(summary.why, 400))] if summary.why else []
    lines += [("before", piece(line, 400)) for line in before]
    if summary.provenance and summary.provenance.old_sample:
        lines.append(("sample", piece(summary.provenance.old_sample, 400)))
    return lines


def cause_lines(summary: EvaluationSummary, most: int) -> Iterator[tuple[str, str]]:
    """Name and text of each line that says why trials have no answer, the commonest cause of each arm first."""
    causes = summary.errors or ()
    for at, one in enumerate(causes[:most]):
        said = f"{name_of(one.arm)}: {counted(one.trials, 'trial')}, {one.owner} {one.code}: {piece(one.message, 200)}"
        yield "" if at else "cause", said
    if len(causes) > most:
        yield "", f"and {len(causes) - most} more causes"
