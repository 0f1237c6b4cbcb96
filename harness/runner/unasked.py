"""Answers of a person that a scenario scripts and that no question took."""

from __future__ import annotations

from collections.abc import Sequence

from harness.folds import unasked
from harness.types.codes import Outcome
from harness.types.events import Event
from harness.types.policy import ScriptedApproval
from harness.types.records import Finding, Verdict

CHECK = "approvals"


def approval_verdicts(approvals: Sequence[ScriptedApproval], events: Sequence[Event]) -> tuple[Verdict, ...]:
    """FAIL for every scripted answer that was never given; nothing where all were (as for replies of a script)."""
    left = unasked(approvals, events)
    findings = tuple(Finding(CHECK, _words(number, approval)) for number, approval in left)
    return (Verdict(CHECK, Outcome.FAIL, findings),) if findings else ()


def _words(number: int, approval: ScriptedApproval) -> str:
    about = "".join(f" about {name!r}" for name in (approval.tool, approval.call) if name is not None)
    return (
        f"policy.approvals[{number}] ({approval.reply}{about}) was never asked for. Remove it, or say allow_leftovers."
    )
