"""Would the verdict stand whatever the provider's errors hid? If not, it is no verdict.

A trial that the provider failed for good has no outcome. Leaving such trials out takes them to be like the others,
which nobody knows: a provider may well fail on the long prompts. So the comparison is judged under every extreme: all
of them passed and all of them failed, in either arm. Where these do not agree, the comparison is INVALID.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from harness.errors import UsageError

Judged = TypeVar("Judged")


class UnitOutcomes(NamedTuple):
    """Of one unit under one arm: trials passed, failed (the agent's errors among them), failed by the provider."""

    passed: int
    failed: int
    errored: int


class Extreme(NamedTuple):
    """What the provider's errors are taken to be in each arm: all passed, or all failed."""

    base_passes: bool
    candidate_passes: bool

    def __str__(self) -> str:
        words = {True: "all passed", False: "all failed"}
        return f"base {words[self.base_passes]}, candidate {words[self.candidate_passes]}"


EXTREMES: Final = tuple(Extreme(base, candidate) for base in (True, False) for candidate in (True, False))

Judge = Callable[[Sequence[tuple[int, int]], Sequence[tuple[int, int]]], Judged]


@dataclass(frozen=True, slots=True)
class Robustness(Generic[Judged]):
    """``agreed`` is what every extreme says, None where they differ; ``said`` what each says, ordered as EXTREMES."""

    agreed: Judged | None
    said: tuple[tuple[Extreme, Judged], ...]
    n_errored: int


def judge_robustly(
    base: Sequence[UnitOutcomes], candidate: Sequence[UnitOutcomes], judge: Judge[Judged]
) -> Robustness[Judged]:
    """Judge the same units of both arms under every extreme of what the provider's errors hid.

    ``judge`` takes (passed, trials) of each unit, base and candidate, in the same order. It is asked once where there
    are no errors. Raises UsageError where the arms have not the same units.
    """
    if len(base) != len(candidate):
        raise UsageError(f"base has {len(base)} units and candidate {len(candidate)}: give the same units in both arms")
    n_errored = sum(unit.errored for unit in (*base, *candidate))
    if n_errored == 0:
        verdict = judge(_counted(base, errors_pass=False), _counted(candidate, errors_pass=False))
        return Robustness(verdict, tuple((extreme, verdict) for extreme in EXTREMES), 0)
    said = tuple(
        (
            extreme,
            judge(
                _counted(base, errors_pass=extreme.base_passes),
                _counted(candidate, errors_pass=extreme.candidate_passes),
            ),
        )
        for extreme in EXTREMES
    )
    first = said[0][1]
    return Robustness(first if all(verdict == first for _, verdict in said) else None, said, n_errored)


def _counted(units: Sequence[UnitOutcomes], *, errors_pass: bool) -> tuple[tuple[int, int], ...]:
    return tuple((unit.passed + unit.errored * errors_pass, unit.passed + unit.failed + unit.errored) for unit in units)
