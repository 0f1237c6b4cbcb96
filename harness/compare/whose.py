"""Who is behind what was done differently: inputs explain what a model did, a tool what its bodies gave."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import Final

from harness.compare.bodies import RAN
from harness.compare.essence import essence
from harness.compare.inputs import Input
from harness.compare.place import Place, Views
from harness.folds import Viewed
from harness.types.codes import Cause, DivergenceKind, ToolOutcome
from harness.types.records import Divergence

_ASKING: Final = ("model/request", "assistant/message", "turn/end")
_OF_A_TOOL: Final = (Cause.TOOL_SCHEMA, Cause.TOOLS_OFFERED)


def told_by_the_loop(place: Place) -> bool:
    """True where results differ, or messages that carry them, though the bodies were seen to give the same.

    So it is where no body ran on either side, too: what the model was told then is nobody's but the loop's.
    """
    base = place.base
    if base is None:
        return False
    if base.kind == "model/request":  # a result is compared before the request that carries it
        return any(one.kind == RAN for one in place.left[: place.index])
    call = base.fields.get("call_id")
    later = (one for one in place.right[place.index :] if one.kind == "tool/result" and one.agent == base.agent)
    candidate = next((one for one in later if one.fields["call_id"] == call), None)
    if candidate is None or base.gave is None or base.gave != candidate.gave:
        return False
    outcome, _, digest = base.gave[-1] if base.gave else (None, None, None)
    return digest is not None or outcome is not ToolOutcome.OK  # of a text that nobody knows either may be the cause


def is_the_models(place: Place, effect: Divergence, views: tuple[Views, Views]) -> bool:
    """True where a model answered otherwise or was asked in vain, or context is replaced: inputs may explain that.

    ``place`` is that of the effect among all that was done.
    """
    kinds = {one.kind for one in (place.base, place.candidate) if one}
    if effect.kind is DivergenceKind.INPUT or kinds == {"context/replaced"}:
        return True
    sides = zip(views, (place.base, place.candidate), strict=True)
    return effect.kind is DivergenceKind.MODEL and all(_was_asked(view, here, place.agent) for view, here in sides)


def _was_asked(view: Views, here: Viewed | None, agent: str) -> bool:
    """True where the model is answering here, or a request of it is open."""
    if here is not None and here.kind == "assistant/message":
        return True
    before = view if here is None else view[: view.index(here)]
    asked = (one.kind for one in reversed(before) if one.agent == agent and one.kind in _ASKING)
    return next(asked, "") == "model/request"


def input_of_the_work(effect: Divergence, place: Place, inputs: Sequence[Input]) -> Input | None:
    """The input that explains what tools and the loop did: that very tool's schema, or one more or less user input."""
    tool = place.some.fields.get("name")
    for one in inputs:
        if one.cause in _OF_A_TOOL and one.detail == tool:
            return one
        is_missing = None in (one.divergence.base_seq, one.divergence.candidate_seq)
        if one.cause is Cause.USER_INPUT and is_missing and effect.kind is not DivergenceKind.TOOL:
            return one
    return None


def outside_before(effect: Divergence, views: tuple[Views, Views], kinds: dict[str, str]) -> str:
    """What came from outside on one side only, or otherwise, before the effect; empty for nothing."""
    seqs = (effect.base_seq, effect.candidate_seq)
    base, candidate = (
        [one for one in takewhile(partial(_is_not, seq), view) if one.kind in kinds]
        for view, seq in zip(views, seqs, strict=True)
    )
    if [essence(one) for one in base] == [essence(one) for one in candidate]:
        return ""
    pairs = zip(base, candidate, strict=False)
    parted = next((one for one, other in pairs if essence(one) != essence(other)), None)
    return kinds[(parted or [*base[len(candidate) :], *candidate[len(base) :]][0]).kind]


def _is_not(seq: int | None, viewed: Viewed) -> bool:
    return viewed.seq != seq
