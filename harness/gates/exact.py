"""Exact rules: one observation decides. What each finds in a scenario, over all its trials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias, assert_never

from harness.folds import CAUSE_WORDS
from harness.types.codes import Cause, Change, Outcome, Status
from harness.types.records import RunSummary, ScenarioComparison, Unpassed
from harness.types.review import Rule

Found: TypeAlias = tuple[Outcome, str]
"""What a rule finds in a scenario, and what it is counted by (a check, a cause)."""
CANCEL_CHECKS: Final = frozenset(
    {"cancel_no_tool_start", "cancel_no_model_request", "cancel_no_input_consumed", "cancel_settled", "quiescence"}
)
"""No further work after a cancel, and at the end nothing is running or it is named."""
PAIRING_CHECKS: Final = frozenset({"pairing", "provider_history"})
"""Every call has one result, and every request shows that to the provider."""
_WHOLE: Final = "event_grammar"
NO_CHECK: Final = "no check to judge by"
FEWER: Final = "fewer trials pass"
BASE_LACKS: Final = "the base found no such file or module"
BASE_ERRORED: Final = "every run of the base errored"
BASE_BROKE_OFF: Final = "the base's run broke off"
BASE_NOT_RUN: Final = "the base did not run it"
_NOT_THERE: Final = ("FileNotFoundError", "ModuleNotFoundError", "NotADirectoryError")
"""Errors of Python that a file which is not there gives."""


def family(check: str) -> Rule:
    """The rule that a check belongs to."""
    if check in CANCEL_CHECKS:
        return Rule.CANCEL
    return Rule.PAIRING if check in PAIRING_CHECKS else Rule.CHECKS


def on_both_sides(row: ScenarioComparison) -> bool:
    """True for a scenario that can be compared."""
    return row.change not in (Change.MISSING, Change.NEW)


def applies(rule: Rule, row: ScenarioComparison) -> bool:
    """Could this rule find anything in this scenario?"""
    match rule:
        case Rule.MISSING:
            return row.change != Change.NEW
        case Rule.NEW:
            return row.change == Change.NEW
        case _:
            return on_both_sides(row)


def findings(rule: Rule, row: ScenarioComparison) -> Iterator[Found]:
    """All that an exact rule finds in a scenario to which it applies."""
    match rule:
        case Rule.CHECKS:
            yield from _checks(row)
        case Rule.CANCEL | Rule.PAIRING:
            yield from _newly(rule, row)
        case Rule.STALE:
            yield from _stale(row)
        case Rule.MISSING:
            yield from _missing(row)
        case Rule.NEW:
            yield from {(one.outcome, BASE_NOT_RUN if one.n_base else one.outcome.value) for one in row.unpassed}
        case Rule.BEHAVIOUR:
            # What got better cannot have stayed the same: it is told, and no reason to stop.
            if row.n_behave and (row.change != Change.BETTER or _never_judged(row)):
                yield Outcome.FAIL, _cause(row)
            elif row.change == Change.BETTER and (why := _no_base(row)):
                yield Outcome.INCONCLUSIVE, why
        case Rule.DETAILS:
            if row.n_details:
                yield Outcome.FAIL, "" if row.cause is None else CAUSE_WORDS[row.cause]
        case Rule.PASS_RATE | Rule.COST | Rule.LATENCY | Rule.TOKENS | Rule.STEPS:
            raise ValueError(f"{rule.value!r} is a statistical rule: no single scenario breaks it")
        case _:
            assert_never(rule)


def more_often(one: Unpassed, row: ScenarioComparison) -> bool:
    """Does it happen in a greater share of the candidate's trials?"""
    return one.n_candidate * row.n_base > one.n_base * row.n_candidate


def _newly(rule: Rule, row: ScenarioComparison) -> Iterator[Found]:
    """Checks of the rule that fail, or cannot be decided, more often than in the base."""
    for one in row.unpassed:
        if one.stale or one.outcome is Outcome.ERROR or family(one.check) is not rule:
            continue
        if more_often(one, row):
            yield one.outcome, one.check or NO_CHECK


def _checks(row: ScenarioComparison) -> Iterator[Found]:
    """Errors count whatever the base did: they say of the world, and nothing of the change."""
    yield from ((one.outcome, one.check) for one in errors(row))
    yield from _newly(Rule.CHECKS, row)
    told = any(one.n_candidate and (more_often(one, row) or one.outcome is Outcome.ERROR) for one in row.unpassed)
    if row.change == Change.WORSE and not told:
        # Each check fails as often as before, and no longer in the same trials.
        yield Outcome.FAIL, FEWER


def errors(row: ScenarioComparison) -> list[Unpassed]:
    """What failed in the candidate because of the world, or of the harness itself."""
    return [one for one in row.unpassed if one.outcome is Outcome.ERROR and one.n_candidate]


def says_nothing(row: ScenarioComparison) -> bool:
    """True where errors, or recordings out of date, kept every trial of the candidate from saying anything."""
    return row.candidate_hindered.n >= row.n_candidate > 0


def _stale(row: ScenarioComparison) -> Iterator[Found]:
    stale = [one for one in row.unpassed if one.stale and one.n_candidate]
    if not stale:
        return
    if any(more_often(one, row) for one in stale):
        yield Outcome.FAIL, _stale_cause(row)
    else:
        yield Outcome.INCONCLUSIVE, "out of date in the base too"


def _stale_cause(row: ScenarioComparison) -> str:
    """What the recording does not hold, as far as the pair that is shown says it."""
    known = row.explanation is not None and row.explanation.cause is Cause.RECORDING
    return (row.explanation.detail if known and row.explanation is not None else "") or "cause not known"


def lacks_a_file(run: RunSummary) -> bool:
    """True for a run whose loop died because there was no such file or module: it says nothing of how it behaves."""
    return run.status is Status.FAILED and any(name in run.reason for name in _NOT_THERE)


def _no_base(row: ScenarioComparison) -> str:
    """Why the base says nothing of how the scenario behaves, so that it cannot be told what got better; else empty."""
    if row.base is not None and lacks_a_file(row.base):
        return BASE_LACKS
    if row.base is not None and row.base.status is None and _without_end(row):
        return BASE_BROKE_OFF
    return BASE_ERRORED if row.base_hindered.errored >= row.n_base > 0 else ""


def _never_judged(row: ScenarioComparison) -> bool:
    """True where no trial of the base was judged to the end: then nothing got better, it is only known now."""
    return row.base_hindered.unjudged >= row.n_base > 0


def _without_end(row: ScenarioComparison) -> bool:
    """True where no trial of the base is whole: its process was killed."""
    return any(one.check == _WHOLE and one.n_base >= row.n_base for one in row.unpassed)


def _missing(row: ScenarioComparison) -> Iterator[Found]:
    if row.change == Change.MISSING:
        yield Outcome.FAIL, "not in the candidate"
    elif row.n_candidate < row.n_base:
        yield Outcome.FAIL, "fewer trials"


def _cause(row: ScenarioComparison) -> str:
    quiet = row.cause in (None, Cause.DETAIL, Cause.RECORDING)
    return "" if quiet or row.cause is None else CAUSE_WORDS[row.cause]
