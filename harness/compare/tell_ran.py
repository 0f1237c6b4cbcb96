"""What ran behind a call: whether a body ran, how often, with which arguments, and what it came to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from harness.compare.bodies import RAN
from harness.compare.described import Described, of_values
from harness.compare.place import Place, Views
from harness.compare.tell_work import tell_result
from harness.compare.texts import call_text, end_text
from harness.folds import Viewed
from harness.types.codes import DivergenceKind

Fields = dict[str, Any]
_LOOP, _TOOL = DivergenceKind.LOOP, DivergenceKind.TOOL
_ENDS: Final = ("turn/end", "run/end")


def tell_other_bodies(place: Place) -> Described | None:
    """Bodies that no call asked for on one side; bodies of another call. None where it is neither."""
    unasked = [_unasked(viewed) for viewed in (place.base, place.candidate)]
    if unasked != [None, None] and unasked[0] != unasked[1]:
        return Described(_LOOP, "bodies that no call asked for", *unasked)
    if not _of_other_calls(place):
        return None
    names = [viewed.fields["name"] for viewed in (place.base, place.candidate) if viewed]
    return Described(_LOOP, "order of the calls that were worked on", *names)


def results_behind(place: Place) -> Place | None:
    """The place behind bodies of two calls, where both are followed by their results: these tell more."""
    after = Place(place.left, place.right, place.index + 1)
    are_results = after.base and after.candidate and after.base.kind == after.candidate.kind == "tool/result"
    return after if are_results and _of_other_calls(place) else None


def _of_other_calls(place: Place) -> bool:
    ids = [viewed.fields["call_id"] for viewed in (place.base, place.candidate) if viewed and viewed.kind == RAN]
    return len(ids) > 1 and ids[0] != ids[1]


def _unasked(viewed: Viewed | None) -> str | None:
    """Bodies that no call asked for, in short; None for anything else."""
    if viewed is None or viewed.kind != RAN or viewed.fields["call_id"] is not None:
        return None
    return ", ".join(map(call_text, viewed.fields["bodies"]))


def tell_ran(place: Place, base: Fields, candidate: Fields) -> Described | None:
    """Bodies of one call: others (the loop did that), or the same with another outcome (the tool did).

    Where a result has a code that the other side's has not, it tells why.
    """
    name = _call(place, base) if base["call_id"] is not None else "bodies that no call asked for"
    bodies, others = base["bodies"], candidate["bodies"]
    if bodies is None or others is None:
        return Described(_LOOP, f"{name} body", _times(place, place.left, base), _times(place, place.right, candidate))
    for one, other in zip(bodies, others, strict=False):
        for field in ("name", "instead_of"):
            if one.get(field) != other.get(field):
                return Described(_LOOP, f"{name} body", call_text(one), call_text(other))
        if one["arguments"] != other["arguments"]:
            return of_values(_LOOP, f"{name} runs with ", one["arguments"], other["arguments"])
        if one != other:
            return _result(place, _TOOL) or _outcome(name, one, other)
    told = _result(place, _LOOP, codes_only=True)
    counts = (_times(place, place.left, base), _times(place, place.right, candidate))
    return told or Described(_LOOP, f"{name} body", *counts)


def tell_as_given(place: Place, base: Fields, candidate: Fields) -> Described | None:
    """The same text told of a call, on one side what its body gave, on the other not; None for anything else."""
    if place.some.kind != "tool/result" or {**base, "as_given": 0} != {**candidate, "as_given": 0}:
        return None
    told = ("not what its body gave" if "as_given" in one else "what its body gave" for one in (base, candidate))
    return Described(_LOOP, f"{_call(place, base)} result", *told)


def _call(place: Place, fields: Fields) -> str:
    found = place.call(fields["call_id"])
    return f"call {found[0]} {fields['name']}" if found else f"call {fields['name']}"


def _outcome(name: str, base: Fields, candidate: Fields) -> Described | None:
    texts = (_end(base), _end(candidate))
    if texts[0] != texts[1]:
        return Described(_TOOL, f"{name} body", *texts)
    return of_values(_TOOL, f"{name} body ", base, candidate)


def _end(body: Fields) -> str:
    return " ".join(part for part in (body.get("outcome", "not ended"), body.get("code")) if part)


def _result(place: Place, kind: DivergenceKind, *, codes_only: bool = False) -> Described | None:
    """What both sides told of the call, where that differs; ``codes_only``: where one of them is told as an error."""
    one, other = (_result_of(place, view) for view in (place.left, place.right))
    if one is None or other is None:
        return None
    alike = all(one.fields[field] == other.fields[field] for field in ("code", "is_error"))
    if alike and (codes_only or one.fields["content"] == other.fields["content"]):
        return None
    told = tell_result(place, one.fields, other.fields)
    return replace(told, kind=kind) if told else None


def _result_of(place: Place, view: Views) -> Viewed | None:
    label = view[place.index].fields["call_id"]
    later = (one for one in view[place.index :] if one.kind == "tool/result" and one.agent == place.agent)
    return next((one for one in later if one.fields["call_id"] == label), None)


def _times(place: Place, view: Views, fields: Fields) -> str:
    """How often a body ran; where none did and there is no result either, how the turn or the run ended instead."""
    if fields["bodies"] is None:
        return "not seen"
    n = len(fields["bodies"])
    if n:
        return f"ran {n} times" if n > 1 else "ran once"
    closes = next((one for one in view[place.index + 1 :] if one.agent == place.agent and one.kind != RAN), None)
    ends = closes is not None and closes.kind in ("step/end", *_ENDS)
    end = next((one for one in view[place.index :] if one.agent == place.agent and one.kind in _ENDS), None)
    return f"not run: {end.kind} {end_text(end.fields)}" if ends and end is not None else "not run"
