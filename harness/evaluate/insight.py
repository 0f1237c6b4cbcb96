"""Where the answers went wrong: the confusion matrix, arguments, classes of mismatch, tags, and single cases."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from typing import Final

from harness.evaluate.tally import FAILED, PASSED, Tally, summed
from harness.types.evaluation import Acceptable, Case, Wanted
from harness.types.evaluation_insight import (
    ArgumentAccuracy,
    CaseInArm,
    CaseLine,
    ConfusionCell,
    MisfitCount,
    SuspectCase,
    TagRate,
)
from harness.types.expectations import CallOrder, ExpectedCall
from harness.types.grades import MisfitKind

WORST_KEPT: Final = 20
SUSPECTS_KEPT: Final = 50
TAGS_KEPT: Final = 100
_TEXT_CHARS: Final = 300


def confusion(tally: Tally) -> tuple[ConfusionCell, ...]:
    """Expected by chosen, per arm in the arms' order, cells by name."""
    return tuple(
        ConfusionCell(arm.name, *cell, seen.n, seen.examples(tally.index))
        for arm, counted in zip(tally.evaluation.arms, tally.arms, strict=True)
        for cell, seen in sorted(counted.cells.items())
    )


def arguments(tally: Tally) -> tuple[ArgumentAccuracy, ...]:
    """How often each expected argument was right, per arm, by name."""
    return tuple(
        ArgumentAccuracy(arm.name, name, right, n)
        for arm, counted in zip(tally.evaluation.arms, tally.arms, strict=True)
        for name, (right, n) in sorted(counted.arguments.items())
    )


def misfits(tally: Tally) -> tuple[MisfitCount, ...]:
    """The classes of mismatch of each arm, most frequent first."""
    return tuple(
        MisfitCount(arm.name, kind, seen.n, seen.examples(tally.index))
        for arm, counted in zip(tally.evaluation.arms, tally.arms, strict=True)
        for kind, seen in sorted(counted.misfits.items(), key=lambda item: (-item[1].n, item[0].value))
    )


def tags(tally: Tally) -> tuple[TagRate, ...]:
    """The headline rate of the cases with each tag, per arm; of the TAGS_KEPT most frequent tags, by name."""
    frequent = sorted(tally.index.tags.items(), key=lambda item: (-len(item[1]), item[0]))[:TAGS_KEPT]
    lines = []
    for tag, cases in sorted(frequent):
        for number, arm in enumerate(tally.evaluation.arms):
            counts = summed(tally.counts(case, number) for case in cases)
            lines.append(TagRate(tag, arm.name, len(cases), counts.planned, counts.passed, counts.rate))
    return tuple(lines)


# ---------------------------------------------------------------- single cases


def suspects(tally: Tally) -> tuple[int, tuple[SuspectCase, ...]]:
    """How many cases failed always in every arm that offers tools, where two such arms answered; and the first."""
    found = 0
    kept: list[SuspectCase] = []
    for case in range(len(tally.index)):
        trials = _trials_if_suspect(tally, case)
        if not trials:
            continue
        found += 1
        if len(kept) < SUSPECTS_KEPT:
            kept.append(_suspect(tally, case, trials))
    return found, tuple(kept)


def _offering(tally: Tally) -> list[int]:
    """The arms that offer tools: without any, nearly every case must fail."""
    return [number for number, arm in enumerate(tally.evaluation.arms) if arm.offer_tools]


def _trials_if_suspect(tally: Tally, case: int) -> int:
    rows = [tally.row(case, arm) for arm in _offering(tally)]
    failed = [row.count(FAILED) for row in rows]
    if len(rows) < 2 or not all(failed) or any(row.count(PASSED) for row in rows):
        return 0
    return sum(failed)


def _suspect(tally: Tally, number: int, trials: int) -> SuspectCase:
    case = tally.index.cases[number]
    kinds = {kind for arm in _offering(tally) for kind in tally.kinds_of(number, arm)}
    return SuspectCase(case.id, case.ask[:_TEXT_CHARS], expected_text(case), trials, tuple(sorted(kinds, key=_order)))


def _order(kind: MisfitKind) -> int:
    return list(MisfitKind).index(kind)


def worst(tally: Tally) -> tuple[CaseLine, ...]:
    """The cases with the most trials that did not pass, over all arms that offer tools; those that never failed not."""
    keys = nsmallest(WORST_KEPT, _failing(tally))
    return tuple(_case_line(tally, number) for _, number in keys)


def _failing(tally: Tally) -> Iterator[tuple[int, int]]:
    offering = _offering(tally) or list(range(len(tally.arms)))
    for case in range(len(tally.index)):
        failed = sum(tally.row(case, arm).count(FAILED) for arm in offering)
        if failed:
            yield -failed, case


def _case_line(tally: Tally, number: int) -> CaseLine:
    case = tally.index.cases[number]
    lines = []
    for arm, spec in enumerate(tally.evaluation.arms):
        counts = tally.counts(number, arm)
        kinds = tally.kinds_of(number, arm)
        lines.append(CaseInArm(spec.name, counts.passed, counts.failed, counts.errored, counts.skipped, kinds))
    return CaseLine(case.id, case.unit, case.ask[:_TEXT_CHARS], expected_text(case), tuple(lines))


# ---------------------------------------------------------------- expectations in words


def expected_text(case: Case) -> str:
    """What is right, on one line: ``get_order({"id":7}) or ask_user``."""
    text = " or ".join(_acceptable_text(accept) for accept in case.accept)
    return text if len(text) <= _TEXT_CHARS else text[: _TEXT_CHARS - 1] + "…"


def _acceptable_text(accept: Acceptable) -> str:
    if accept.wanted is not Wanted.CALLS:
        return accept.wanted.value
    joint = " and " if accept.order is CallOrder.ANY_ORDER else ", then "
    said = joint.join(_call_text(call) for call in accept.calls)
    plain = len(accept.calls) < 2 or accept.order in (CallOrder.ANY_ORDER, CallOrder.IN_ORDER)
    return said if plain else f"{accept.order}: {said}"


def _call_text(call: ExpectedCall) -> str:
    return call.name if call.arguments is None else f"{call.name}({call.arguments})"
