"""The one declared primary comparison: what it says, and when it may not say anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from typing import Final, NamedTuple, assert_never

from harness.evaluate.arm_lines import range_of
from harness.evaluate.drift import drift
from harness.evaluate.sides import ALL_FAILED, Sides, has_gaps, mean, sides_of, whole_blocks
from harness.evaluate.tally import Tally
from harness.evaluate.validity import invalid, too_few_answered, undecided
from harness.statistics.difference import mean_difference
from harness.statistics.noise import false_alarm_rate, false_alarm_rate_within
from harness.statistics.paired import PValues, mcnemar, sign_flip, stratified_exact
from harness.statistics.rates import Interval
from harness.statistics.regions import Region, region
from harness.statistics.robustness import EXTREMES
from harness.statistics.sequential import plan_looks
from harness.statistics.within import within_cases
from harness.types.codes import Outcome
from harness.types.evaluation import Case, Estimand, GateSpec, Metric
from harness.types.evaluation_comparison import (
    AgainstItself,
    Chances,
    ComparisonSummary,
    Flip,
    Look,
    PromptsLikeThese,
    TheseCases,
)
from harness.types.evaluation_summary import rounded

DRIFT: Final = "change + drift"
FLIPS_KEPT: Final = 20
_SPLITS: Final = 500
_SPLIT_VALUES: Final = 500_000
"""How many cases the A/A line splits in all, so that large evaluations are split less often."""


class Sight(NamedTuple):
    """What is judged: the first ``blocks`` trials of each case, by intervals of this level."""

    blocks: int
    level: float
    stopped_early: bool


def sight_of(tally: Tally, gate: GateSpec) -> Sight:
    """The first look at whole blocks that decided, where the trials stop there; else all planned trials.

    Trials that are missing without such a decision count like errors: the verdict must not depend on them.
    """
    plan = plan_looks(tally.n_trials, min(gate.looks, tally.n_trials), alpha=gate.alpha)
    whole = whole_blocks(tally, gate)
    if whole < tally.n_trials:
        for blocks, level in zip(plan.blocks[:-1], plan.levels[:-1], strict=True):
            if blocks <= whole and level < 1 and decides(tally, gate, blocks, level):
                return Sight(blocks, level, stopped_early=True)
    return Sight(tally.n_trials, plan.levels[-1], stopped_early=False)


def decides(tally: Tally, gate: GateSpec, blocks: int, level: float) -> bool:
    """Whether so many whole blocks give PASS or FAIL at a level, errors counted either way, and enough was answered."""
    if too_few_answered(tally, gate, blocks):
        return False
    found = {outcome_of(said) for _, said in _extremes(tally, gate, blocks, level)}
    return found in ({Outcome.PASS}, {Outcome.FAIL})


def _extremes(tally: Tally, gate: GateSpec, blocks: int, level: float) -> list[tuple[str, Region]]:
    """What the rule says under every extreme of what trials without an answer hid; one line where there are none."""
    extremes = EXTREMES if has_gaps(tally, gate, blocks) else (ALL_FAILED,)
    return [(str(extreme), _region(sides_of(tally, gate, extreme, blocks), gate, level)) for extreme in extremes]


def compare(tally: Tally, gate: GateSpec) -> ComparisonSummary:
    """The comparison of a gate over all trials that were counted."""
    sight = sight_of(tally, gate)
    extremes = _extremes(tally, gate, sight.blocks, sight.level)
    sides = sides_of(tally, gate, ALL_FAILED, sight.blocks)
    drifted = drift(tally, gate, sight.blocks)
    why = (
        invalid(tally, gate, sides, sight.blocks, sight.level)
        or _disagreement(extremes)
        or too_few_answered(tally, gate, sight.blocks)
    )
    found = _region(sides, gate, sight.level)
    verdict = Region.INVALID.value if why else DRIFT if drifted else found.value
    return ComparisonSummary(
        base=gate.base,
        candidate=gate.candidate,
        metric=gate.metric,
        estimand=gate.estimand,
        margin=rounded(gate.margin),
        alpha=rounded(gate.alpha),
        split=gate.split,
        rule=rule_in_words(gate),
        verdict=verdict,
        why=why or undecided(sides, gate, sight.level, found),
        base_rate=rounded(mean(sides.rates(sides.base))),
        candidate_rate=rounded(mean(sides.rates(sides.candidate))),
        prompts=_prompts(sides, gate, sight.level),
        cases=_cases(tally, sides, gate, sight),
        if_errors=tuple((said, found.value) for said, found in extremes) if len(extremes) > 1 else (),
        look=Look(sight.blocks, tally.n_trials, rounded(sight.level), sight.stopped_early),
        against_itself=_against_itself(sides, gate, sight),
        spread=_spread(sides),
        drift=drifted,
    )


def outcome_of(verdict: str) -> Outcome:
    """The outcome that a verdict of a comparison is: drift is neither PASS nor FAIL of the change."""
    if verdict == DRIFT:
        return Outcome.INCONCLUSIVE
    match Region(verdict):
        case Region.PASS:
            return Outcome.PASS
        case Region.FAIL | Region.FAIL_BY_MARGIN:
            return Outcome.FAIL
        case Region.INCONCLUSIVE:
            return Outcome.INCONCLUSIVE
        case Region.INVALID:
            return Outcome.INVALID
        case never:
            assert_never(never)


def rule_in_words(gate: GateSpec) -> str:
    """The rule, so that a reader can apply it."""
    points = f"{gate.margin * 100:.3g}"
    metric = "the case pass rate" if gate.metric is Metric.CASE_PASS_RATE else "the share of units that pass always"
    return (
        f"{gate.candidate} minus {gate.base} in {metric}, {gate.estimand}, interval at {(1 - gate.alpha) * 100:.4g} %: "
        f"PASS above -{points} points, FAIL below 0, else INCONCLUSIVE"
    )


# ---------------------------------------------------------------- the two estimands


def _interval(sides: Sides, gate: GateSpec, level: float) -> Interval | None:
    if not sides.cases or level >= 1:
        return None
    match gate.estimand:
        case Estimand.PROMPTS_LIKE_THESE:
            return mean_difference(sides.differences(), level)
        case Estimand.THESE_CASES:
            return within_cases(sides.base, sides.candidate, sides.weights(), level)
        case never:
            assert_never(never)


def _region(sides: Sides, gate: GateSpec, level: float) -> Region:
    return region(_interval(sides, gate, level), gate.margin)


def _prompts(sides: Sides, gate: GateSpec, level: float) -> PromptsLikeThese:
    differences = sides.differences()
    interval = mean_difference(differences, level) if differences and level < 1 else None
    chances = _chances(sign_flip(differences), "sign-flip over units") if differences else None
    found = region(interval, gate.margin).value
    return PromptsLikeThese(len(differences), rounded(mean(differences)), range_of(interval), chances, found)


def _cases(tally: Tally, sides: Sides, gate: GateSpec, sight: Sight) -> TheseCases:
    interval = within_cases(sides.base, sides.candidate, sides.weights(), sight.level) if sight.level < 1 else None
    changes = list(_changes(sides))
    n_worse, n_better = (sum(sign * change > 0 for change in changes) for sign in (-1, 1))
    weights = sides.weights()
    alike = all(n == 1 for _, n in sides.base) and len(set(weights)) == 1  # else McNemar's counts are another mean
    exact = stratified_exact(sides.base, sides.candidate, weights)
    return TheseCases(
        n_cases=len(sides.cases),
        difference=rounded(mean(sides.differences())),
        interval=range_of(interval),
        chances=_chances(exact, "exact within cases") if sides.cases else None,
        mcnemar=_chances(mcnemar(n_worse, n_better), "McNemar, exact") if alike else None,
        region=region(interval, gate.margin).value,
        n_worse=n_worse,
        n_better=n_better,
        n_same=len(changes) - n_worse - n_better,
        worse=_flips(tally, sides, changes, sign=-1),
        better=_flips(tally, sides, changes, sign=1),
    )


def _changes(sides: Sides) -> Iterator[float]:
    """Candidate minus base, a case; equal ones are one object."""
    known: dict[float, float] = {}
    for (before, n_before), (after, n_after) in zip(sides.base, sides.candidate, strict=True):
        change = round(after / n_after - before / n_before, 12)  # 4/5 to 3/5 is as large as 5/5 to 4/5
        yield known.setdefault(change, change)


def _flips(tally: Tally, sides: Sides, changes: Sequence[float], *, sign: int) -> tuple[Flip, ...]:
    """What changed most in one direction, cases or (with PASS_HAT_K) units, by their order where they changed alike."""
    largest = nsmallest(
        FLIPS_KEPT, ((-sign * change, place) for place, change in enumerate(changes) if sign * change > 0)
    )
    cases, of_units = tally.index.cases, sides.metric is Metric.PASS_HAT_K

    def name(case: Case) -> str:
        return case.unit if of_units else case.id

    return tuple(
        Flip(name(cases[sides.cases[place]]), *sides.base[place], *sides.candidate[place]) for _, place in largest
    )


def _chances(p: PValues, test: str) -> Chances:
    return Chances(rounded(p.p_worse), rounded(p.p_better), rounded(p.p_two_sided), test)


def _spread(sides: Sides) -> tuple[tuple[float, int], ...]:
    return tuple(sorted(Counter(round(each, 2) + 0.0 for each in sides.differences()).items()))


# ---------------------------------------------------------------- what else could have come out


def _disagreement(extremes: Sequence[tuple[str, Region]]) -> str:
    if len({outcome_of(found) for _, found in extremes}) == 1:
        return ""
    said = "; ".join(f"{extreme}: {found}" for extreme, found in extremes)
    return f"trials without an answer decide ({said}); run again, which asks only those"


def _against_itself(sides: Sides, gate: GateSpec, sight: Sight) -> AgainstItself | None:
    """How often the rule would have alarmed between halves of the base's own trials."""
    if sides.metric is Metric.PASS_HAT_K or sight.level >= 1:
        return None  # a declared outcome of a case has no halves
    n_splits = max(20, min(_SPLITS, _SPLIT_VALUES // max(1, len(sides.cases))))
    match gate.estimand:
        case Estimand.PROMPTS_LIKE_THESE:
            units = sides.by_unit(sides.base)
            found = false_alarm_rate(units, gate.margin, level=sight.level, n_splits=n_splits)
        case Estimand.THESE_CASES:
            found = false_alarm_rate_within(
                sides.base, gate.margin, weights=sides.weights(), level=sight.level, n_splits=min(200, n_splits)
            )
        case never:
            assert_never(never)
    return None if found is None else AgainstItself(rounded(found.fail_share), found.n_splits)
