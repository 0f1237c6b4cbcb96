"""Other behaviours of a run: what the same agent might have done instead, each a sound trajectory of its own.

They are what a scenario's expectations are tried on (``harness scenario mutate``). Those of the kind LOOP are no
behaviours of the agent but faults of the loop around it, which checks should refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from harness.mutants.behaviours.base import Behaviour
from harness.mutants.behaviours.calls import (
    left_out,
    made_again,
    not_asked_for,
    of_another_tool,
    with_other_arguments,
)
from harness.mutants.behaviours.ends import a_turn_less, other_answers, other_ends, other_results, other_states
from harness.mutants.behaviours.faults import (
    a_body_twice,
    input_twice,
    no_system_prompt,
    results_shown_otherwise,
    retry_not_told,
    tools_dropped,
)
from harness.mutants.behaviours.order import at_once, one_after_the_other, turned_in_an_answer, turned_steps
from harness.types.events import Trajectory

__all__ = ["FAMILIES", "Behaviour", "behaviours"]

FAMILIES: Final[tuple[Callable[[Trajectory], Iterator[Behaviour]], ...]] = (
    left_out,
    made_again,
    not_asked_for,
    of_another_tool,
    with_other_arguments,
    turned_in_an_answer,
    turned_steps,
    at_once,
    one_after_the_other,
    other_results,
    other_answers,
    other_ends,
    a_turn_less,
    other_states,
    no_system_prompt,
    input_twice,
    results_shown_otherwise,
    tools_dropped,
    a_body_twice,
    retry_not_told,
)
"""Each gives all behaviours of one sort that a run can be made into, in the order of the run."""


def behaviours(run: Trajectory) -> Iterator[Behaviour]:
    """All of them, the first of each family first, so that a bound leaves every family some."""
    left = [family(run) for family in FAMILIES]
    while left:
        going_on = []
        for family in left:
            one = next(family, None)
            if one is not None:
                yield one
                going_on.append(family)
        left = going_on
