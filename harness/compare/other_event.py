"""Two runs of which one does something else next, or nothing more."""

from __future__ import annotations

from typing import Final

from harness.compare.described import Described
from harness.compare.place import Place, Views
from harness.compare.tell_input import headers_around, tell_header
from harness.compare.texts import call_text, end_text, in_short
from harness.folds import Viewed
from harness.types.codes import DivergenceKind

_ENDS: Final = ("turn/end", "run/end")
_FROM_OUTSIDE: Final = {
    "cancel/requested": "cancel",
    "inbox/queued": "user input",
    "user/message": "user input",
    "request/header": "system prompt, tools or parameters",
    "approval/answered": "approval",
}

_BEFORE_A_HEADER: Final = frozenset({"cancel/requested", "inbox/queued", "user/message"})


def other_event(place: Place) -> Described:
    """Who is behind it: the model where it gave no answer, outside, an end, else the loop."""
    one, other = place.base, place.candidate
    kinds = {viewed.kind for viewed in (one, other) if viewed}
    texts = (_next(place.left, place.index), _next(place.right, place.index))
    if texts[0] == texts[1]:  # both come to the same end by other ways
        texts = (_kind(one), _kind(other))
    headers = headers_around(place) if kinds.isdisjoint(_BEFORE_A_HEADER) else None
    told = tell_header(place, *headers) if headers else None
    if told:
        return told
    outside = next((name for kind, name in _FROM_OUTSIDE.items() if kind in kinds), None)
    if outside:
        return Described(DivergenceKind.INPUT, outside, *texts)
    if "assistant/message" in kinds:
        return Described(DivergenceKind.MODEL, "answer", *texts)
    if one is None or other is None:
        return Described(DivergenceKind.END, "end of the file", *texts)
    if kinds & set(_ENDS):
        return Described(DivergenceKind.END, "end of the turn" if "turn/end" in kinds else "end of the run", *texts)
    return Described(DivergenceKind.LOOP, "what happens next", *texts)


def _kind(viewed: Viewed | None) -> str | None:
    return viewed.kind if viewed else None


def _next(view: Views, index: int) -> str | None:
    if index >= len(view):
        return None
    viewed = view[index]
    if viewed.kind == "step/end":  # says little: what the turn came to says more
        ends = (later for later in view[index:] if later.kind in _ENDS)
        return _event_text(next(ends, viewed))
    return _event_text(viewed)


def _event_text(viewed: Viewed) -> str:
    fields = viewed.fields
    match viewed.kind:
        case "assistant/message":
            calls = ", ".join(call_text(call) for call in fields["tool_calls"])
            content = fields["content"]
            return calls or (f'answer "{in_short(content)}"' if isinstance(content, str) else "answer")
        case "turn/end" | "run/end":
            return f"{viewed.kind} {end_text(fields)}"
        case "tool/call" | "tool/result":
            return f"{viewed.kind} {fields['name']}"
        case "cancel/requested" | "cancel/delivered":
            return f"{viewed.kind} by {fields['by']}"
        case "tool/ran":
            return f"{'work on' if fields['bodies'] else 'no body of'} {fields['name']}"
        case _:
            return viewed.kind
