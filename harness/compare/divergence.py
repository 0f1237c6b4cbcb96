"""The first divergence of two trajectories, named in the model's terms."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from harness.compare.bodies import views_of
from harness.compare.common import on_common_ground
from harness.compare.describe import describe
from harness.compare.essence import essence
from harness.compare.place import Place, Views
from harness.compare.plain import first_difference
from harness.compare.setup import setup_difference
from harness.folds import Viewed
from harness.types.codes import DivergenceKind
from harness.types.events import Trajectory
from harness.types.records import Divergence


def first_divergence(base: Trajectory, candidate: Trajectory) -> Divergence | None:
    """Where two trajectories part first; None where they are the same.

    Behaviour comes first, in the order of events; then bookkeeping (kind ``detail``: token counts,
    names of models, spelling of JSON); then the headers (kind ``setup``: limits, expectations, ...).
    Ids and times, run id, arm, trial, our version and who saw an event are no differences
    (INVARIANTS 28, case PB-036), nor is what the file of another product cannot tell. ``step`` is
    that of the file, or counted where the file has none.
    """
    base, candidate = on_common_ground(base, candidate)
    left, right = views_of(base, candidate)
    place, kind = first_place(left, right)
    if place is not None:
        return divergence_at(place, kind)
    found = setup_difference(base.header, candidate.header)
    return Divergence(found.kind, found.path, found.base, found.candidate) if found else None


def first_place(left: Views, right: Views) -> tuple[Place | None, DivergenceKind | None]:
    """The place where two views part: in behaviour (kind None), else in a DETAIL; None where they are the same."""
    for same, kind in ((same_behaviour, None), (_same_event, DivergenceKind.DETAIL)):
        index = first_index(left, right, same)
        if index is not None:
            return Place(left, right, index), kind
    return None, None


def first_index(left: Views, right: Views, same: Callable[[Viewed, Viewed], bool]) -> int | None:
    """The first place at which two views are not the same in that sense; None where there is none."""
    pairs = enumerate(zip_longest(left, right))
    return next((i for i, (a, b) in pairs if a is None or b is None or not same(a, b)), None)


def _same_event(base: Viewed, candidate: Viewed) -> bool:
    return base.key == candidate.key


def same_behaviour(base: Viewed, candidate: Viewed) -> bool:
    """True for events that differ in bookkeeping only."""
    if base.key == candidate.key:
        return True
    alike = base.key[:-1] == candidate.key[:-1]
    return alike and first_difference(essence(base), essence(candidate)) is None


def divergence_at(place: Place, kind: DivergenceKind | None = None) -> Divergence:
    """The difference at a place, in words."""
    described = describe(place, kind)
    return Divergence(
        kind=described.kind,
        path=f"child {place.agent}: {described.path}" if place.agent else described.path,
        base=described.base,
        candidate=described.candidate,
        turn=place.turn,
        step=place.step,
        base_seq=place.base.seq if place.base else None,
        candidate_seq=place.candidate.seq if place.candidate else None,
    )
