"""Requests that the endpoint calls invalid: one case's own fault, or that of all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from harness.types.codes import Code
from harness.types.trials import Trial

_ENOUGH: Final = 3


@dataclass(frozen=True, slots=True)
class Held:
    """What may be written now, and why everything must stop ("" where it need not)."""

    released: tuple[Trial, ...] = ()
    why: str = ""


@dataclass(slots=True)
class Refusals:
    """Holds refused trials of an arm back until one of its requests was answered: then only they are to blame.

    Three refusals without any answer stop the evaluation; nothing is written of them, so that they are asked once
    what is wrong has been changed.
    """

    _answered: set[str] = field(default_factory=set)
    _held: dict[str, list[Trial]] = field(default_factory=dict)

    def take(self, trial: Trial) -> Held:
        """One more trial has come to its end."""
        refused = trial.error is not None and trial.error.code is Code.INVALID_REQUEST
        if trial.arm in self._answered or (not refused and trial.error is not None):
            return Held((trial,))
        if not refused:
            self._answered.add(trial.arm)
            return Held((*self._held.pop(trial.arm, ()), trial))
        held = self._held.setdefault(trial.arm, [])
        held.append(trial)
        return Held(why=_why(held)) if len(held) >= _ENOUGH else Held()

    def close(self) -> str:
        """Why it must be said that nothing was answered at all; "" where everything was decided."""
        return next((_why(held) for held in self._held.values()), "")


def _why(held: list[Trial]) -> str:
    first = held[0]
    message = first.error.message if first.error is not None else ""
    return (
        f"the endpoint refuses the requests of arm {first.arm!r} (case {first.case!r}: {message}): "
        "look at its tools, its parameters and the model's name. Nothing was written of them"
    )
