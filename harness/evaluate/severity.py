"""How much a difference weighs against another, and to which stage of a trial it belongs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from harness.types.grades import Misfit, MisfitKind, Stage

K = MisfitKind

STAGES: Final = {
    K.FORBIDDEN: Stage.SELECTION,
    K.HALLUCINATED: Stage.SELECTION,
    K.UNWANTED: Stage.SELECTION,
    K.DID_NOT_ASK: Stage.SELECTION,
    K.NO_CALL: Stage.SELECTION,
    K.MISSING_CALL: Stage.SELECTION,
    K.EXTRA_CALL: Stage.SELECTION,
    K.ASKED: Stage.SELECTION,
    K.WRONG_TOOL: Stage.SELECTION,
    K.ORDER: Stage.SELECTION,
    K.INVALID_ARGUMENTS: Stage.ARGUMENTS,
    K.MISSING_ARGUMENT: Stage.ARGUMENTS,
    K.EXTRA_ARGUMENT: Stage.ARGUMENTS,
    K.WRONG_VALUE: Stage.ARGUMENTS,
    K.AGENT_ERROR: Stage.EXECUTION,
    K.FAILED_CALL: Stage.EXECUTION,
    K.ANSWER: Stage.USE,
}
"""Where each class belongs (ARTICLES 37), the heaviest first."""

_ORDER: Final = tuple(Stage)
_BASE: Final = 1 << 24
_ONE_OF_ITS_KIND: Final[dict[MisfitKind, int]] = {kind: _BASE**place for place, kind in enumerate(reversed(STAGES))}
_WRONG_DECISION: Final[int] = _BASE ** (len(STAGES) + 2)
_INVALID: Final[int] = _BASE ** (len(STAGES) + 1)
_OTHER: Final[int] = _BASE ** len(STAGES)

ANY_MISFIT: Final[int] = _BASE ** (len(STAGES) + 3)
"""More than all misfits of one pair can weigh together, so that pairs that fit are preferred to any others."""


def weight(misfits: Iterable[Misfit]) -> int:
    """What differences weigh together: first how many decisions are wrong, then how many calls are invalid, then how
    many other things differ, then of which classes they are. Under 16 million of each.
    """
    return sum(_of(misfit.kind) for misfit in misfits)


def _of(kind: MisfitKind) -> int:
    if STAGES[kind] is Stage.SELECTION:
        return _WRONG_DECISION + _ONE_OF_ITS_KIND[kind]
    return (_INVALID if kind is K.INVALID_ARGUMENTS else _OTHER) + _ONE_OF_ITS_KIND[kind]


def stage_of(misfits: Iterable[Misfit]) -> Stage | None:
    """The earliest stage at which something went wrong; None where nothing did."""
    return min((STAGES[misfit.kind] for misfit in misfits), key=_ORDER.index, default=None)
