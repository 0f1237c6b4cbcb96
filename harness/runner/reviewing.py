"""A review of two sets of runs: compared, judged by a gate or without one, with what a report needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.runner.comparing import RunSet, compare_sets
from harness.runner.sources import with_sources
from harness.types.codes import Outcome
from harness.types.records import Comparison
from harness.types.review import GateVerdict, Review


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """How two sets are reviewed. ``form`` reads foreign files as that format; ``command`` makes the review again.

    ``scenarios`` are files and folders to look up the lines of scenarios in (none: those of the project).
    """

    form: str | None = None
    command: str = ""
    scenarios: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review, the two sets it is of (to read trajectories again), and the files that were passed over."""

    review: Review
    base: RunSet
    candidate: RunSet
    passed_over: tuple[Path, ...] = ()


def review_paths(base: Path, candidate: Path, options: ReviewOptions) -> Reviewed:
    """Compare and judge. Raises as :func:`harness.runner.comparing.compare_sets` does, and ConfigurationError."""
    one, other = RunSet.read(base, options.form), RunSet.read(candidate, options.form)
    comparison = compare_sets(one, other, (base, candidate))
    review = Review(comparison, without_gate(comparison), options.command)
    review = with_sources(review, options.scenarios)
    return Reviewed(review, one, other, (*one.passed_over, *other.passed_over))


def without_gate(comparison: Comparison) -> GateVerdict:
    """Every difference fails where nobody says otherwise."""
    match comparison.outcome:
        case Outcome.PASS:
            text = "no difference"
        case Outcome.INVALID:
            text = "nothing to compare: no scenario is on both sides"
        case _:
            text = "without a gate every difference fails"
    return GateVerdict(comparison.outcome, text)
