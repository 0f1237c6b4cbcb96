"""A model that gave no answer: what came back for each attempt, so that an error is not taken for a choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.compare.place import Place, Views
from harness.folds import Viewed
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelFailed, ModelRequest
from harness.types.lifecycle import RunEnd, TurnEnd

_ANSWER: Final = "an answer"


def both_answered(place: Place) -> bool:
    """True where both sides hold an answer here, and neither is only the beginning of the other, cut off."""
    base, candidate = place.base, place.candidate
    if base is None or candidate is None or {base.kind, candidate.kind} != {"assistant/message"}:
        return False
    return not _is_beginning(base, candidate) and not _is_beginning(candidate, base)


def _is_beginning(short: Viewed, other: Viewed) -> bool:
    one, whole = short.fields["content"] or "", other.fields["content"] or ""
    texts = isinstance(one, str) and isinstance(whole, str)
    return bool(short.fields["interrupted"]) and texts and whole.startswith(one)


def model_error(place: Place, base: Trajectory, candidate: Trajectory) -> str:
    """``model error SERVER`` where an attempt failed with it on one side, and on the other did not or otherwise.

    Empty where no attempt came to anything else: then a side has no answer because it was not waited for, or not
    asked for once more.
    """
    sides = ((place.left, place.base, base), (place.right, place.candidate, candidate))
    came = [_came_back(place, view, viewed, run) for view, viewed, run in sides]
    differs = next((pair for pair in zip(*came, strict=False) if pair[0] != pair[1]), ())
    codes = [code for code in differs if code != _ANSWER]
    return f"model error {' → '.join(codes)}" if codes else ""


def _came_back(place: Place, view: Views, here: Viewed | None, run: Trajectory) -> list[str]:
    """The code of each attempt that failed, then the answer, of the request that is open at the place."""
    asked = next((one for one in reversed(view[: place.index]) if _asks(one, place.agent)), None)
    if asked is None or asked.kind != "model/request":
        return []
    request = next(event for event in run if event.seq == asked.seq)
    came = [str(event.fact.code) for event in _until_the_next(request, run) if isinstance(event.fact, ModelFailed)]
    is_whole = here is not None and here.kind == "assistant/message" and not here.fields["interrupted"]
    return [*came, _ANSWER] if is_whole else came


def _asks(viewed: Viewed, agent: str) -> bool:
    """A request, or what ends the wait for its answer."""
    if viewed.agent != agent or viewed.kind not in ("model/request", "assistant/message", "turn/end"):
        return False
    return not viewed.fields.get("interrupted")


def _until_the_next(request: Event, run: Trajectory) -> Iterator[Event]:
    """What the same agent records behind a request, up to its next one or its end."""
    for event in run:
        if event.seq <= request.seq or event.agent != request.agent:
            continue
        fact = event.fact
        if isinstance(fact, TurnEnd | RunEnd) or (isinstance(fact, ModelRequest) and fact.attempt <= 1):
            return
        yield event
