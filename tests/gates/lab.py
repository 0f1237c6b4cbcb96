"""Comparisons for gates, made from runs whose verdicts and behaviour are chosen."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from harness.compare import About, compare_runs, digest_of
from harness.folds import limits_to_json, outcome_of
from harness.gates import judge
from harness.types.codes import Code, Outcome, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage
from harness.types.gates import Gate
from harness.types.reasons import Failed, Reason
from harness.types.records import Comparison, Finding, RunSummary, Verdict
from harness.types.review import GateVerdict, Rule, RuleResult, Severity
from harness.types.scenario import Limits
from tests.compare.made import ANSWERS, header, refund_run, summary, with_facts

LOOK, REFUND, SAY = ANSWERS
MISS: Reason = Failed(Code.CASSETTE_MISS, "nothing recorded")


def _without_usage(fact: Any) -> Any:
    return dataclasses.replace(fact, usage=None) if isinstance(fact, AssistantMessage) else fact


RUNS: dict[str, Trajectory] = {
    "same": refund_run(),
    "other": refund_run(answers=(LOOK, ([("cancel_order", '{"order":7}')], None), SAY)),
    "details": with_facts(refund_run(), _without_usage),
    "setup": refund_run(head=header(limits=limits_to_json(Limits(steps=3)))),
    "stale": refund_run(answers=(LOOK,), status=Status.FAILED, reason=MISS),
}
TODAY = "2026-11-30"


def run(scenario: str = "a", trial: int = 1, *, how: str = "same", **given: Any) -> RunSummary:
    """A run that behaves as ``how`` says. ``fails``, ``errors``, ``open``: names of checks; ``stale``: its recording."""
    verdicts = [Verdict("termination", Outcome.PASS)]
    for outcome, name in ((Outcome.FAIL, "fails"), (Outcome.ERROR, "errors"), (Outcome.INCONCLUSIVE, "open")):
        verdicts += [Verdict(check, outcome, (Finding(check, "said"),)) for check in given.pop(name, ())]
    if given.pop("stale", False):
        how = "stale" if how == "same" else how
        verdicts.append(Verdict("cassette", Outcome.FAIL, (Finding("cassette", "x", rule="recording-out-of-date"),)))
        verdicts.append(Verdict("expected_end", Outcome.INCONCLUSIVE, why="not decided"))
    outcome = given.pop("outcome", None) or outcome_of(verdicts)
    told = tuple(verdicts) if outcome is outcome_of(verdicts) else ()
    fields = {"trial": trial, "run_id": f"{scenario}@default#{trial}", "file": how, "verdicts": told, **given}
    return summary(scenario, outcome, **fields)


def compared(
    base: Iterable[RunSummary], candidate: Iterable[RunSummary], about: tuple[About, About] = (About(), About())
) -> Comparison:
    """Both sides, each run's trajectory the one that its file names."""
    return compare_runs(
        base,
        candidate,
        lambda _, one: RUNS[one.file],
        digest=lambda _, one: digest_of(RUNS[one.file]),
        about=about,
    )


def judged(comparison: Comparison, gate: Gate | None = None, **given: Any) -> GateVerdict:
    """The verdict of a gate on the day of these tests."""
    return judge(comparison, gate or Gate(), **{"today": TODAY, **given})


def only(rule: Rule, severity: Severity = Severity.FAIL, **beside: Any) -> Gate:
    """A gate whose other exact rules all pass."""
    exact = tuple((one, severity if one is rule else Severity.PASS) for one, _ in Gate().exact)
    return Gate(exact=exact, **beside)


def result(verdict: GateVerdict, rule: Rule) -> RuleResult:
    """What one rule came to."""
    return next(one for one in verdict.results if one.rule is rule)


def suite(n: int, *, n_trials: int = 1, **given: Any) -> list[RunSummary]:
    """So many scenarios that pass, each with so many trials."""
    return [run(f"s{i:03}", trial, **given) for i in range(n) for trial in range(1, n_trials + 1)]


def failing(runs: Sequence[RunSummary], n: int) -> list[RunSummary]:
    """The same runs, of which the first so many fail."""
    return [run(one.scenario, one.trial, fails=("answer",)) if place < n else one for place, one in enumerate(runs)]
