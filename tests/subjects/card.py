"""A card of a loop: every shipped scenario that it can take, and what it breaks there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError
from harness.protocols import Subject
from harness.runner import RunOptions, execute, plan
from harness.scenarios import collect
from harness.types.codes import Outcome
from harness.types.scenario import Scenario

EXPECTATIONS = frozenset(
    {"answer", "end_state", "expected_end", "expected_counts", "result_codes", "tool_order", "script", "inject"}
)
"""Checks of what a scenario wants of the built-in loop; a card is about what must hold of any loop."""


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario: how the loop ended, and which rules it broke there."""

    scenario: str
    status: str
    reason: str
    broken: tuple[str, ...]


def takes(one: Scenario) -> bool:
    """True for scenarios with a script and one task: a function subject takes one."""
    return one.script is not None and len(one.tasks) == 1 and one.skip is None


def rows(subject: Subject, folder: Path) -> list[Row]:
    """The card of a loop over all shipped scenarios that it can take, in their order."""
    return [_row(subject, one) for one in collect([folder]) if takes(one)]


def _row(subject: Subject, one: Scenario) -> Row:
    try:
        result = execute(plan([one], RunOptions())[0], subject=subject)
    except HarnessError as error:
        return Row(one.id, "not run", f"{type(error).__name__}: {error}", ())
    broken = [v.check for v in result.verdicts if v.outcome is Outcome.FAIL and v.check not in EXPECTATIONS]
    return Row(one.id, str(result.status or "interrupted"), result.summary.reason, tuple(broken))
