"""A review of two sets of runs: compared, judged by a gate or without one, with what a report needs to know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.clock import wall_clock_iso
from harness.errors import ConfigurationError
from harness.folds import parting_line, row_scenario
from harness.gates import judge, without_gate
from harness.runner.bases.side_runs import what_a_bare_base_lacks
from harness.runner.review.against_baselines import accepted_sides, baselines_at
from harness.runner.review.code_posts import with_code_posts
from harness.runner.review.comparing import RunSet, compare_sets
from harness.runner.review.goal_posts import Moved
from harness.runner.review.sources import with_sources
from harness.scenarios.gates import read_gate
from harness.types.gates import Gate
from harness.types.records import Comparison, ScenarioComparison
from harness.types.review import GateSource, GateVerdict, Review, Revision, Severity

_FIRST_GATE: Final = "a first gate is one line, 'format: harness-gate/1'; its page (gates) says what more it may hold"
NEW_GATE: Final = "the gate is new and does not judge the change that brings it: every difference fails"


@dataclass(frozen=True, slots=True)
class GateText:
    """A gate's document and where it comes from. ``text`` None: it is not there at the merge base, and does not judge.

    ``name`` is what messages and reports call it; ``edited``: the change edits, adds or deletes it.
    """

    text: str | bytes | None
    name: str
    source: GateSource = GateSource.FILE
    edited: bool = False


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """How two sets are reviewed. ``form`` reads foreign files as that format; ``command`` makes the review again.

    ``inconclusive`` is for rules of the gate that cannot be decided, in place of what it says. ``today`` (ISO 8601)
    ends quarantines; empty: today, UTC. ``scenarios`` are files and folders to look up the lines of scenarios in (none:
    those of the project).
    ``names`` are what the sides are called where they are not what is read; ``base_revision`` is the base's where its
    ``run.json`` does not say all; ``moved`` are the merge base and the goal posts moved since. ``remarks`` are to be
    told with it. ``empty_base``: the base is known to have no scenario at all, and is not read. ``base_is_bare``: it
    was run with what is committed, and nothing else.
    """

    form: str | None = None
    command: str = ""
    gate: GateText | None = None
    inconclusive: Severity | None = None
    today: str = ""
    scenarios: tuple[Path, ...] = ()
    names: tuple[str, str] | None = None
    base_revision: Revision | None = None
    moved: Moved | None = None
    empty_base: bool = False
    remarks: tuple[str, ...] = ()
    base_is_bare: bool = False


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review, the two sets it is of (to read trajectories again), and the files that were passed over."""

    review: Review
    base: RunSet
    candidate: RunSet
    passed_over: tuple[Path, ...] = ()


def review_paths(base: Path, candidate: Path, options: ReviewOptions) -> Reviewed:
    """Compare and judge. A base that holds accepted variants is compared with by them.

    Raises as :func:`harness.runner.review.comparing.compare_sets` does, and ConfigurationError for a gate that cannot
    be read.
    """
    gate = read_if_there(options.gate)
    one, other, comparison = _compared(base, candidate, options)
    if options.names is not None:
        comparison = replace(comparison, base=options.names[0], candidate=options.names[1])
    moved = with_code_posts(options.moved, one.own_checks | other.own_checks, options.scenarios)
    review = Review(
        comparison,
        verdict_on(comparison, gate, options),
        options.command,
        base_revision=options.base_revision or one.revision,
        candidate_revision=other.revision,
        merge_base=None if moved is None else moved.merge_base,
        goal_posts=() if moved is None else moved.posts,
        remarks=(*options.remarks, *(what_a_bare_base_lacks(one.runs) if options.base_is_bare else ())),
    )
    return Reviewed(with_sources(review, options.scenarios), one, other, (*one.passed_over, *other.passed_over))


def _compared(base: Path, candidate: Path, options: ReviewOptions) -> tuple[RunSet, RunSet, Comparison]:
    form = options.form
    if options.empty_base:
        one, other = RunSet(base), RunSet.read(candidate, form)
        return one, other, compare_sets(one, other, (base, candidate))
    root = None if form else baselines_at(base)
    if root is None:
        one, other = RunSet.read(base, form), RunSet.read(candidate, form)
        return one, other, compare_sets(one, other, (base, candidate))
    other = RunSet.read_to_accept(candidate)
    one, beside = accepted_sides(base, root, other, whole=candidate.is_dir())
    found = compare_sets(one, beside, (base, candidate))
    return one, other, replace(found, scenarios=tuple(map(_without_share, found.scenarios)))


def _without_share(row: ScenarioComparison) -> ScenarioComparison:
    """Accepted variants are no trials: how often the base chose something is not known from them."""
    if row.base_chose is None or row.explanation is None:
        return row
    return replace(row, base_chose=None, line=parting_line(row_scenario(row), row.explanation))


def gate_from_file(path: Path) -> GateText:
    """A gate as it lies here. Raises ConfigurationError."""
    try:
        return GateText(path.read_bytes(), path.as_posix())
    except OSError as error:
        why = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror or "cannot be read"
        raise ConfigurationError(f"--gate {path}: {why}; {_FIRST_GATE}") from None


def read_if_there(given: GateText | None) -> Gate | None:
    """The gate that judges; None where none does. Raises ConfigurationError."""
    return None if given is None or given.text is None else read_gate(given.text, given.name)


def verdict_on(comparison: Comparison, gate: Gate | None, options: ReviewOptions) -> GateVerdict:
    """By the gate that judges, with where it comes from; without one every difference fails."""
    given = options.gate
    if gate is None:
        verdict = without_gate(comparison, empty_base=options.empty_base)
    else:
        today = options.today or wall_clock_iso()[:10]
        verdict = judge(comparison, gate, today=today, inconclusive=options.inconclusive, empty_base=options.empty_base)
    if given is None:
        return verdict
    new = gate is None
    source = GateSource.NONE if new else given.source
    return replace(verdict, source=source, file=given.name, edited=given.edited, note=NEW_GATE if new else "")
