"""Words for the event where two runs part: who is behind it, and which field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

from harness.compare.bodies import RAN
from harness.compare.described import Described, of_values
from harness.compare.essence import essence
from harness.compare.other_event import other_event
from harness.compare.place import Place
from harness.compare.tell_input import tell_header, tell_input, tell_request
from harness.compare.tell_ran import results_behind, tell_as_given, tell_other_bodies, tell_ran
from harness.compare.tell_work import tell_answer, tell_end, tell_result
from harness.compare.whose import told_by_the_loop
from harness.types.codes import DivergenceKind

Teller: TypeAlias = Callable[[Place, dict[str, Any], dict[str, Any]], Described | None]

_BEHIND: Final = {
    "inbox/queued": DivergenceKind.INPUT,
    "user/message": DivergenceKind.INPUT,
    "request/header": DivergenceKind.INPUT,
    "cancel/requested": DivergenceKind.INPUT,
    "approval/answered": DivergenceKind.INPUT,
    "assistant/message": DivergenceKind.MODEL,
    "tool/result": DivergenceKind.TOOL,
    "turn/end": DivergenceKind.END,
    "run/end": DivergenceKind.END,
    "run/quiescent": DivergenceKind.END,
}
_TELLERS: Final[dict[str, Teller]] = {
    "inbox/queued": tell_input,
    "user/message": tell_input,
    "request/header": tell_header,
    "model/request": tell_request,
    "assistant/message": tell_answer,
    "tool/result": tell_result,
    RAN: tell_ran,
    "turn/end": tell_end,
    "run/end": tell_end,
}


def describe(place: Place, kind: DivergenceKind | None) -> Described:
    """The difference at a place in words. ``kind`` DETAIL: behaviour is the same, look at all fields."""
    base, candidate = place.base, place.candidate
    results = results_behind(place)
    if results is not None:
        return describe(results, kind)
    other_bodies = tell_other_bodies(place)
    if other_bodies is not None:
        return other_bodies
    if base is None or candidate is None or base.kind != candidate.kind:
        return other_event(place)
    if kind is DivergenceKind.DETAIL:
        return _generic(kind, base.kind, base.fields, candidate.fields)
    for name in ("agent", "turn", "step"):
        one, other = getattr(base, name), getattr(candidate, name)
        if one != other:
            return Described(DivergenceKind.LOOP, f"{name} of {base.kind}", str(one), str(other))
    left, right = essence(base), essence(candidate)
    teller = _TELLERS.get(base.kind)
    told = tell_as_given(place, left, right) or (teller(place, left, right) if teller else None)
    told = told or _generic(_BEHIND.get(base.kind, DivergenceKind.LOOP), base.kind, left, right)
    is_the_loops = told.kind is DivergenceKind.TOOL and base.kind != RAN and told_by_the_loop(place)
    return replace(told, kind=DivergenceKind.LOOP) if is_the_loops else told


def _generic(kind: DivergenceKind, event: str, base: dict[str, Any], candidate: dict[str, Any]) -> Described:
    return of_values(kind, f"{event} ", base, candidate) or Described(kind, event, None, None)
