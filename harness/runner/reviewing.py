"""A review of two sets of runs: compared, judged by a gate or without one, with what a report needs to know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from harness.folds import parting_line
from harness.runner.against_baselines import accepted_sides, baselines_at
from harness.runner.comparing import RunSet, compare_sets
from harness.runner.goal_posts import Moved
from harness.types.codes import Outcome
from harness.types.records import Comparison, ScenarioComparison
from harness.types.review import GateVerdict, Review, Revision


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """How two sets are reviewed. ``form`` reads foreign files as that format; ``command`` makes the review again.

    ``names`` are what the sides are called where they are not what is read; ``base_revision`` is the base's where its
    ``run.json`` does not say all; ``moved`` are the merge base and the goal posts moved since.
    """

    form: str | None = None
    command: str = ""
    names: tuple[str, str] | None = None
    base_revision: Revision | None = None
    moved: Moved | None = None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review, the two sets it is of (to read trajectories again), and the files that were passed over."""

    review: Review
    base: RunSet
    candidate: RunSet
    passed_over: tuple[Path, ...] = ()


def review_paths(base: Path, candidate: Path, options: ReviewOptions) -> Reviewed:
    """Compare and judge. A base that holds accepted variants is compared with by them.

    Raises as :func:`harness.runner.comparing.compare_sets` does.
    """
    one, other, comparison = _compared(base, candidate, options.form)
    if options.names is not None:
        comparison = replace(comparison, base=options.names[0], candidate=options.names[1])
    review = Review(
        comparison,
        without_gate(comparison),
        options.command,
        base_revision=options.base_revision or one.revision,
        candidate_revision=other.revision,
        merge_base=None if options.moved is None else options.moved.merge_base,
        goal_posts=() if options.moved is None else options.moved.posts,
    )
    return Reviewed(review, one, other, (*one.passed_over, *other.passed_over))


def _compared(base: Path, candidate: Path, form: str | None) -> tuple[RunSet, RunSet, Comparison]:
    root = None if form else baselines_at(base)
    if root is None:
        one, other = RunSet.read(base, form), RunSet.read(candidate, form)
        return one, other, compare_sets(one, other, (base, candidate))
    other = RunSet.read(candidate)
    one, beside = accepted_sides(base, root, other, whole=candidate.is_dir())
    found = compare_sets(one, beside, (base, candidate))
    return one, other, replace(found, scenarios=tuple(map(_without_share, found.scenarios)))


def _without_share(row: ScenarioComparison) -> ScenarioComparison:
    """Accepted variants are no trials: how often the base chose something is not known from them."""
    if row.base_chose is None or row.explanation is None:
        return row
    some = row.candidate or row.base
    name = row.run_id if some is None else some.scenario or some.run_id
    return replace(row, base_chose=None, line=parting_line(name, row.explanation))


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
