"""Why trials have no answer: who failed, with which code and words, and how often."""

from __future__ import annotations

from typing import Final

from harness.evaluate.tally import Tally
from harness.types.evaluation_summary import ErrorCause

MOST_CAUSES: Final = 10


def error_causes(tally: Tally) -> tuple[ErrorCause, ...] | None:
    """The causes of each arm, the commonest first, at most MOST_CAUSES of an arm; None where there is none."""
    found = []
    for arm, counted in zip(tally.evaluation.arms, tally.arms, strict=True):
        causes = [ErrorCause(arm.name, *cause, trials) for cause, trials in counted.errors.items()]
        causes.sort(key=lambda one: (-one.trials, one.code, one.owner, one.message))
        found += causes[:MOST_CAUSES]
    return tuple(found) or None
