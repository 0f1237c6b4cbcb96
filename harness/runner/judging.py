"""Judges a trajectory of ours by built-in checks, a user's own, and what was noted when it was closed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from harness import checks
from harness.checks import BuiltCheck
from harness.protocols import Check
from harness.runner.closing import noted_checks, noted_verdicts
from harness.runner.own import own_checks
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.records import Verdict
from harness.types.verdict_names import STALE_RULES

ASKED: Final = "asked_checks"
"""Name of the verdict on checks that were asked for and of which none has anything to judge."""
EXPECTATIONS: Final = frozenset(
    name for name, check in checks.CHECKS.items() if isinstance(check, BuiltCheck) and check.expectation
)
"""Checks of what a scenario wants."""


def judge(
    trajectory: Trajectory, names: Collection[str] | None = None, extra: Mapping[str, Check] | None = None
) -> tuple[Verdict, ...]:
    """All verdicts on a trajectory: of the named checks (None: all), of those that its scenario asks
    for, and those noted when the run was closed.

    A name is a built-in check, one of ``extra``, an entry point of ``harness.checks``, or
    ``package.module:name``. Where the world failed (endpoint, disk) or a recording is out of date, an
    expectation that is not met is INCONCLUSIVE: the loop had no chance to meet it, and one cause is
    one failure. Where nothing of what was asked for applies, a verdict ``asked_checks`` is INVALID.
    Raises UnknownNameError.
    """
    asked = noted_checks(trajectory)
    own = {**own_checks({*asked, *(names or ())} - set(extra or ())), **(extra or {})}
    judged = checks.judge(trajectory, names=names, asked=names is not None, extra=own)
    nothing = _nothing_checked(judged) if names is not None else ()
    if asked:
        stricter = checks.judge(trajectory, names=asked, asked=True, extra=own)
        judged = _with_asked(judged, stricter)
        nothing = _nothing_checked(judged if names is not None else stricter)
    return (*_decided(judged, noted_verdicts(trajectory)), *nothing)


def _nothing_checked(judged: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """INVALID where none of what was asked for, the scenario's expectations among it, has anything to judge."""
    if not judged or any(verdict.outcome is not Outcome.NOT_APPLICABLE for verdict in judged):
        return ()
    whys = "; ".join(f"{verdict.check}: {verdict.why}" for verdict in judged)
    return (Verdict(ASKED, Outcome.INVALID, why=f"nothing was really checked ({whys})"),)


def _decided(judged: tuple[Verdict, ...], noted: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """Verdicts with those left open that follow from something else: one cause, one failure."""
    errors = [verdict.check for verdict in noted if verdict.outcome is Outcome.ERROR]
    causes = errors + [verdict.why for verdict in noted if _is_out_of_date(verdict)]
    if causes:
        judged = tuple(_open(verdict, causes) if verdict.check in EXPECTATIONS else verdict for verdict in judged)
    if errors:
        noted = tuple(_open(verdict, errors) for verdict in noted)
    return (*judged, *noted)


def _with_asked(judged: tuple[Verdict, ...], asked: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """The verdicts, those asked for in place of the same check's that was not.

    A check of somebody's own is not the built-in one of its name.
    """
    stricter = {(verdict.check, verdict.asked): verdict for verdict in asked}
    known = {(verdict.check, verdict.asked) for verdict in judged}
    return (
        *(stricter.get((verdict.check, verdict.asked), verdict) for verdict in judged),
        *(verdict for key, verdict in stricter.items() if key not in known),
    )


def _is_out_of_date(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.FAIL and any(one.rule in STALE_RULES for one in verdict.findings)


def _open(verdict: Verdict, causes: list[str]) -> Verdict:
    if verdict.outcome is not Outcome.FAIL:
        return verdict
    return replace(verdict, outcome=Outcome.INCONCLUSIVE, findings=(), why=f"not decided ({', '.join(causes)})")
