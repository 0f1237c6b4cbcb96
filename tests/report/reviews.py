"""Reviews that fill every field, with any text in all of them, and as large as one likes."""

from __future__ import annotations

import dataclasses
from typing import Any

from harness.compare.sides import unpassed
from harness.folds import row_name
from harness.types.codes import Cause, Outcome, SegmentKind
from harness.types.records import (
    Amount,
    Comparison,
    Divergence,
    Explanation,
    Finding,
    Measure,
    RunSummary,
    ScenarioComparison,
    Segment,
    Share,
    Side,
    Unpassed,
    Verdict,
)
from harness.types.review import (
    GateSource,
    GateVerdict,
    GoalPost,
    Held,
    PostKind,
    Quarantined,
    Review,
    Revision,
    Rule,
    RuleResult,
    Severity,
    SourceLine,
)
from tests.compare.made import summary

PASS, FAIL = Outcome.PASS, Outcome.FAIL
NOT_FREE = frozenset({"change", "kind", "line_number"})
"""Fields that are text by type, and words of a closed set by what writes them."""


def told(value: Any, text: str, *, alone: bool, name: str = "") -> Any:
    """The value with ``text`` behind every free text in it, or (``alone``) instead of every one."""
    if type(value) is str:
        return value if name in NOT_FREE else text if alone else value + text
    if isinstance(value, tuple):
        return tuple(told(item, text, alone=alone, name=name) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: told(getattr(value, f.name), text, alone=alone, name=f.name) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    return value


def row(name: str, change: str, *, base: Outcome | None = PASS, candidate: Outcome | None = FAIL) -> ScenarioComparison:
    """A row with everything a row can have."""
    findings = (Finding("pairing", "call 7 has no result", (4, 5), "72"), Finding("pairing", "nor has call 8"))
    bad = (Verdict("pairing", FAIL, findings), Verdict("answer", Outcome.INCONCLUSIVE, why="nobody saw it"))
    shown = Divergence("model", "call 1", "refund(7)", "cancel_order(7)", 2, 3, 20, 21)
    given = Divergence("input", "system prompt line 4", None, "Now.", 1, 1, 3, 3)
    found = Explanation(Cause.SYSTEM_PROMPT, "line 4", given, shown, (given, given), 2)
    segment = Segment(SegmentKind.CHANGED, Amount(1, 2, 30, 4, 5, 6), None, 2, 3, 20, 21)
    runs = [None if one is None else summary(name, one, verdicts=bad if one is FAIL else (), duration_ms=1_234) for one in (base, candidate)]
    both = base is not None and candidate is not None and change != "same"
    return ScenarioComparison(
        f"{name}@default#1",
        change,
        given if both else None,
        runs[0],
        runs[1],
        found if both else None,
        Share(1, 3) if both else None,
        n_base=int(base is not None),
        n_candidate=int(candidate is not None),
        base_passed=int(base is PASS),
        candidate_passed=int(candidate is PASS),
        n_differ=int(both),
        segments=(segment, segment) if both else (),
        line=f"{name}  step 3: refund(7) → cancel_order(7)",
        unpassed=_unpassed(*runs),
    )


def _unpassed(base: RunSummary | None, candidate: RunSummary | None) -> tuple[Unpassed, ...]:
    return unpassed(*([] if one is None else [one] for one in (base, candidate)))


ROWS = (
    row("shop/worse", "worse"),
    row("shop/changed", "changed", candidate=PASS),
    row("shop/held", "changed"),
    row("gone", "missing", candidate=None),
    row("a/b/fresh", "new", base=None),
    row("fresh", "new", base=None, candidate=PASS),
    row("shop/better", "better", base=FAIL, candidate=PASS),
    row("shop/broken", "worse", candidate=Outcome.ERROR),
    row("shop/same", "same", candidate=PASS),
    row("shop/undecided", "same", base=Outcome.INCONCLUSIVE, candidate=Outcome.INCONCLUSIVE),
)
SIDE = Side(10, 6, 2, 1, 1, models=("small", "large"), subjects=("built-in",))
COMPARISON = Comparison("runs/main", "runs/branch", ROWS, FAIL, SIDE, SIDE, Measure(1_000, 1_100, 9, 20), Measure(5, 5, 9))
RESULTS = (
    RuleResult(Rule.CHECKS, FAIL, Severity.FAIL, "3 scenarios fail", ("shop/worse", "a/b/fresh", "shop/broken"), 3, ("shop/broken",)),
    RuleResult(Rule.BEHAVIOUR, FAIL, Severity.WARN, "1 behaves otherwise", ("shop/changed",), 1),
    RuleResult(Rule.NEW, PASS, Severity.FAIL),
    RuleResult(Rule.COST, Outcome.INCONCLUSIVE, Severity.WARN, "cost + 10 %, noise ± 2 %"),
)
HELD = (Held("shop/held", (Rule.BEHAVIOUR,)),)
VERDICT = GateVerdict(
    FAIL,
    "checks: 3 scenarios fail",
    Rule.CHECKS,
    RESULTS,
    (Quarantined("shop/held", "2026-12-31", "the weather tool flakes", held=("behaviour",), held_scenarios=HELD),),
    GateSource.MERGE_BASE,
    "gate.yaml",
    edited=True,
)
GATED = Review(
    COMPARISON,
    VERDICT,
    "harness compare runs/main runs/branch",
    Revision("1" * 40, "main"),
    Revision("2" * 40, "branch", dirty=True),
    "1" * 40,
    (GoalPost(PostKind.GATE, "gate.yaml", "behaviour: fail → warn"), GoalPost(PostKind.LIMIT, "s.yaml", "limits.steps: 10 → 40")),
    (SourceLine("shop/worse", "scenarios/shop/worse.yaml", 3),),
    ("the candidate's runs are of commit 333, and HEAD is 222: what changed since was not run",),
)
"""A review with something in every field: each change, each fate."""
UNGATED = dataclasses.replace(GATED, verdict=GateVerdict(FAIL, "without a gate every difference fails"), goal_posts=())


def spoken(text: str, *, alone: bool = False, review: Review = GATED) -> Review:
    """The review with a text in every field that holds free text; what names a scenario still does."""
    result: Review = told(review, text, alone=alone)
    was, now = review.comparison.scenarios, result.comparison.scenarios
    called = dict(zip(map(row_name, was), map(row_name, now), strict=True))
    results = [dataclasses.replace(one, scenarios=_called(one.scenarios, called), errored=_called(one.errored, called)) for one in review.verdict.results]
    said = [dataclasses.replace(one, why=told(one.why, text, alone=alone)) for one in results]
    # A remark would say that an entry holds nothing back.
    held = tuple(
        dataclasses.replace(now, remark="", held_scenarios=tuple(Held(called[one.scenario], one.rules) for one in was.held_scenarios))
        for was, now in zip(review.verdict.quarantine, result.verdict.quarantine, strict=True)
    )
    return dataclasses.replace(result, verdict=dataclasses.replace(result.verdict, results=tuple(said), quarantine=held))


def _called(names: tuple[str, ...], called: dict[str, str]) -> tuple[str, ...]:
    return tuple(called[name] for name in names)


def large(n: int, text: str = "") -> Review:
    """So many scenarios, all worse, without a gate; each name ends in its number."""
    rows = tuple(told(row(f"shop/{i}", "worse"), text, alone=False) for i in range(n))
    return dataclasses.replace(UNGATED, comparison=dataclasses.replace(COMPARISON, scenarios=rows), sources=())
