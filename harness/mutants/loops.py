"""All broken loops: name, fault, the scenario that reveals it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from harness.mutants.broken_told import BROKEN_TOLD
from harness.mutants.plain import BROKEN_PLAIN, PlainLoop
from harness.mutants.seams import BrokenSubject, Seam
from harness.protocols import Subject


@dataclass(frozen=True, slots=True)
class LoopMutant:
    """A loop with one fault.

    ``scenario`` names one of :data:`~harness.mutants.lab.SCENARIOS`; ``sweep`` what it is swept with to see
    the fault ("": one run shows it). ``loop`` is a loop of its own over a function subject's ``env``;
    ``seam`` breaks the world of a subject that tells all. One of the two is there.
    """

    name: str
    about: str
    scenario: str
    sweep: str = ""
    loop: type[PlainLoop] | None = None
    seam: Seam | None = None

    def subject(self, sound: Subject, of_loop: Callable[[type[PlainLoop], str], Subject]) -> Subject:
        """It as a subject: ``sound`` is what a seam breaks, ``of_loop`` makes one of a loop and a name."""
        if self.loop is not None:
            return of_loop(self.loop, self.name)
        assert self.seam is not None
        return BrokenSubject(sound, self.name, self.seam)


def _snake(name: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name).strip("_")


def _about(loop: type[PlainLoop]) -> str:
    text = (loop.__doc__ or "").strip().rstrip(".")
    return text[:1].lower() + text[1:]


LOOPS: Final[dict[str, LoopMutant]] = {
    mutant.name: mutant
    for mutant in (
        *(LoopMutant(_snake(one.__name__), _about(one), name, sweep, loop=one) for one, name, sweep in BROKEN_PLAIN),
        *(LoopMutant(name, about, where, sweep, seam=seam) for name, about, seam, where, sweep in BROKEN_TOLD),
    )
}
"""Every broken loop by name."""
