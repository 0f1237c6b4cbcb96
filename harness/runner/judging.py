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

_EXPECTATIONS: Final = frozenset(
    name for name, check in checks.CHECKS.items() if isinstance(check, BuiltCheck) and check.expectation
)


def judge(
    trajectory: Trajectory, names: Collection[str] | None = None, extra: Mapping[str, Check] | None = None
) -> tuple[Verdict, ...]:
    """All verdicts on a trajectory: of the named checks (None: all), of those that its scenario asks
    for, and those noted when the run was closed.

    A name is a built-in check, one of ``extra``, an entry point of ``harness.checks``, or
    ``package.module:name``. Where the world failed (endpoint, disk), an expectation that is not met, or
    a script that was not used up, is INCONCLUSIVE: the loop had no chance to meet it. Raises UnknownNameError.
    """
    asked = noted_checks(trajectory)
    own = {**own_checks({*asked, *(names or ())} - set(extra or ())), **(extra or {})}
    judged = checks.judge(trajectory, names=names, asked=names is not None, extra=own)
    if asked:
        judged = _with_asked(judged, checks.judge(trajectory, names=asked, asked=True, extra=own))
    noted = noted_verdicts(trajectory)
    failed = [verdict.check for verdict in noted if verdict.outcome is Outcome.ERROR]
    if failed:
        judged = tuple(_excused(verdict, failed) if verdict.check in _EXPECTATIONS else verdict for verdict in judged)
        noted = tuple(_excused(verdict, failed) for verdict in noted)
    return (*judged, *noted)


def _with_asked(judged: tuple[Verdict, ...], asked: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """The verdicts, those asked for in place of the same check's that was not."""
    stricter = {verdict.check: verdict for verdict in asked}
    known = {verdict.check for verdict in judged}
    return (
        *(stricter.get(verdict.check, verdict) for verdict in judged),
        *(verdict for verdict in asked if verdict.check not in known),
    )


def _excused(verdict: Verdict, failed: list[str]) -> Verdict:
    if verdict.outcome is not Outcome.FAIL:
        return verdict
    return replace(verdict, outcome=Outcome.INCONCLUSIVE, why=f"not decided, because of {', '.join(failed)}")
