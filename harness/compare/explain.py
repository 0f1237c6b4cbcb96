"""Why two runs part: what differed first, what was done differently because of it, and who is behind it."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from harness.compare.bodies import views_of
from harness.compare.common import on_common_ground
from harness.compare.divergence import divergence_at, first_index, first_place, same_behaviour
from harness.compare.inputs import Input, header_differences, inputs_between, model_change
from harness.compare.no_answer import both_answered, model_error
from harness.compare.place import Place, Views
from harness.compare.setup import loop_difference, setup_difference
from harness.compare.tell_input import headers_around
from harness.compare.whose import input_of_the_work, is_the_models, outside_before
from harness.types.codes import Cause, Code, DivergenceKind
from harness.types.events import Trajectory
from harness.types.exchange import ModelFailed
from harness.types.lifecycle import RunEnd, TurnEnd
from harness.types.reasons import Failed
from harness.types.records import Divergence, Explanation

_GIVEN: Final = frozenset(
    {
        "inbox/queued",
        "inbox/claimed",
        "inbox/discarded",
        "user/message",
        "request/header",
        "model/request",
        "cancel/requested",
        "cancel/delivered",
        "approval/answered",
    }
)
"""What is given to the model and the loop; all else is what they do with it."""
_FRAMES: Final = frozenset({"run/start", "turn/start", "step/start", "step/end"})
_STALE: Final = frozenset({Code.CASSETTE_MISS, Code.REPLAY_DIFFERS})
_MOST_INPUTS: Final = 8
"""So many are kept, the first ones given; all are counted."""
_OUTSIDE: Final = {"cancel/requested": "cancel", "cancel/delivered": "cancel", "approval/answered": "approval"}


def explain(base: Trajectory, candidate: Trajectory) -> Explanation | None:
    """Why two runs part; None where they are the same (INVARIANTS 28).

    ``first`` is what :func:`harness.compare.first_divergence` gives. Where that is an input, ``effect`` is the first
    thing that the model, a tool or the loop then did differently.
    """
    base, candidate = on_common_ground(base, candidate)
    left, right = views_of(base, candidate)
    place, kind = first_place(left, right)
    if place is None:
        found = setup_difference(base.header, candidate.header)
        if found is None:
            return None
        return Explanation(Cause.SETUP, found.path, Divergence(found.kind, found.path, found.base, found.candidate))
    first = divergence_at(place, kind)
    if kind is not None:
        return Explanation(Cause.DETAIL, first.path, first)
    given = bool(_kinds(place) & _GIVEN)
    done = _first_done(left, right) if given else place
    effect = divergence_at(done) if done else None
    inputs = _inputs(left, right, effect) if given else []
    if given and done and effect and not _is_more_input(place) and not is_the_models(done, effect, (left, right)):
        cause, detail = _of_the_work(done, effect, inputs, (left, right), (base, candidate))
    else:
        cause, detail = _cause(place, first, inputs[0] if inputs else None, (base, candidate))
    stale = _stale(base, candidate)
    if stale is not None:
        cause, detail = Cause.RECORDING, ": ".join(part for part in (stale, first.path if given else "") if part)
    shown = tuple(one.divergence for one in inputs[:_MOST_INPUTS])
    return Explanation(cause, detail, first, effect, shown, len(inputs))


def _kinds(place: Place) -> set[str]:
    return {viewed.kind for viewed in (place.base, place.candidate) if viewed}


def _is_more_input(place: Place) -> bool:
    """True where one side is told something by its user, and the other goes on."""
    kinds = _kinds(place)
    return len(kinds) > 1 and any(kind.startswith(("inbox/", "user/")) for kind in kinds)


def _first_done(left: Views, right: Views) -> Place | None:
    """Where something was first done differently, whatever was given: answers, bodies, results, ends."""
    done = [tuple(one for one in view if one.kind not in _GIVEN and one.kind not in _FRAMES) for view in (left, right)]
    index = first_index(done[0], done[1], same_behaviour)
    return None if index is None else Place(done[0], done[1], index)


def _inputs(left: Views, right: Views, effect: Divergence | None) -> list[Input]:
    """All inputs that differ before what was done differently (or anywhere, where nothing was)."""
    sides = (
        _before(left, effect.base_seq if effect else None),
        _before(right, effect.candidate_seq if effect else None),
    )
    return inputs_between(*sides)


def _before(view: Views, seq: int | None) -> Views:
    return tuple(takewhile(lambda one: one.seq != seq, view))


def _cause(
    place: Place, first: Divergence, given: Input | None, runs: tuple[Trajectory, Trajectory]
) -> tuple[Cause, str]:
    kinds = _kinds(place)
    outside = next((name for kind, name in _OUTSIDE.items() if kind in kinds), None)
    if outside is not None:
        return Cause.OUTSIDE, outside
    if given is not None:
        return given.cause, given.detail
    if kinds & _GIVEN:
        return _without_input(place, kinds, first)
    match first.kind:
        case DivergenceKind.MODEL:
            other = model_change(place, runs[0].header, runs[1].header)
            if other or both_answered(place):
                return (Cause.OTHER_MODEL, other) if other else (Cause.MODEL, "")
            return _unchosen(place, runs)
        case DivergenceKind.TOOL:
            return Cause.TOOL, str(place.some.fields.get("name", ""))
        case DivergenceKind.INPUT:
            return Cause.CONTEXT, ""
        case _:
            return (Cause.CONTEXT, "") if kinds == {"context/replaced"} else _unchosen(place, runs)


def _of_the_work(
    done: Place,
    effect: Divergence,
    inputs: list[Input],
    views: tuple[Views, Views],
    runs: tuple[Trajectory, Trajectory],
) -> tuple[Cause, str]:
    """No model did it: another result of the same call, or another end after the same answers and results."""
    outside = outside_before(effect, views, _OUTSIDE)
    if outside:
        return Cause.OUTSIDE, outside
    given = input_of_the_work(effect, done, inputs)
    if given is not None:
        return given.cause, given.detail
    return _unchosen(done, runs) if effect.kind is DivergenceKind.MODEL else _cause(done, effect, None, runs)


def _unchosen(place: Place, runs: tuple[Trajectory, Trajectory]) -> tuple[Cause, str]:
    """No choice of the model's: its error, another rule that the loop goes by, or the loop itself."""
    error = model_error(place, *runs)
    if error:
        return Cause.OUTSIDE, error
    other_rule = loop_difference(runs[0].header, runs[1].header)
    return (Cause.SETUP, other_rule) if other_rule else (Cause.LOOP, "")


def _without_input(place: Place, kinds: set[str], first: Divergence) -> tuple[Cause, str]:
    """Something else was given here, though over the whole run user, prompt, tools and parameters were the same."""
    if any(kind.startswith("inbox/") or kind == "user/message" for kind in kinds):
        return Cause.USER_INPUT, ""
    headers = headers_around(place)
    for cause, detail, _ in header_differences(*headers) if headers else ():
        return cause, detail
    if first.kind == DivergenceKind.TOOL:
        return Cause.TOOL, ""
    return (Cause.CONTEXT, "") if first.kind == DivergenceKind.INPUT else (Cause.LOOP, "")


def _stale(base: Trajectory, candidate: Trajectory) -> str | None:
    """Whose recording did not answer: empty for the candidate's alone; None where neither's or both's."""
    was, now = _asked_anew(base), _asked_anew(candidate)
    return None if was == now else "" if now else "the base's"


def _asked_anew(trajectory: Trajectory) -> bool:
    """True for a run that asked what its recording does not hold."""
    facts = [event.fact for event in trajectory]
    ends = [fact.reason for fact in facts if isinstance(fact, TurnEnd | RunEnd)]
    codes = [fact.code for fact in facts if isinstance(fact, ModelFailed)]
    codes += [reason.code for reason in ends if isinstance(reason, Failed)]
    return not _STALE.isdisjoint(codes)
