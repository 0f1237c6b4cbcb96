"""What ``harness replay`` tells of each run: how far it followed, and the first difference with both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.folds import worst_outcome
from harness.report.runs import verdict_lines
from harness.report.text import Verbosity, counted, piece, visible
from harness.types.codes import Outcome
from harness.types.records import Verdict

_MOST_CHARS = 300


@dataclass(frozen=True, slots=True)
class ReplayLine:
    """One replayed run in pieces. ``how`` says what was run; ``place``, ``recorded`` and ``now`` are the difference."""

    outcome: Outcome
    name: str
    n_followed: int = 0
    n_steps: int = 0
    how: str = ""
    place: str = ""
    recorded: str = ""
    now: str = ""
    why: str = ""
    verdicts: tuple[Verdict, ...] = ()


def replay_text(line: ReplayLine, *, verbosity: Verbosity = Verbosity.NORMAL) -> str:
    """``PASS  shop/refund  followed 3 of 3 steps  (recorded tools, …)``, and below it what differs."""
    if line.why:
        return f"{line.outcome}  {visible(line.name)}  {piece(line.why, _MOST_CHARS)}"
    steps = f"followed {line.n_followed} of {counted(line.n_steps, 'step')}"
    lines = [f"{line.outcome}  {visible(line.name)}  {steps}  ({visible(line.how)})"]
    if line.place:
        lines.append(f"  first difference: {visible(line.place)}")
        lines.append(f"    recorded: {visible(line.recorded)}")
        lines.append(f"    now:      {visible(line.now)}")
    others = [verdict for verdict in line.verdicts if not (line.place and _follows(verdict))]
    return "\n".join([*lines, *verdict_lines(others, verbosity=verbosity)])


def _follows(verdict: Verdict) -> bool:
    """Told by the difference already, or undecided because of it."""
    return verdict.check == "replay" or verdict.outcome is Outcome.INCONCLUSIVE


def replay_totals(lines: Sequence[ReplayLine], *, folder: str) -> str:
    """The last line: how many runs followed, and how many of their steps."""
    outcome = worst_outcome(line.outcome for line in lines)
    n_good = sum(line.outcome is Outcome.PASS for line in lines)
    n_followed = sum(line.n_followed for line in lines)
    n_steps = counted(sum(line.n_steps for line in lines), "step")
    n_left = sum(bool(line.why) for line in lines)
    left = f", nothing to replay in {n_left}" if n_left else ""
    followed = f"{n_good} of {counted(len(lines), 'run')} followed to the end, {n_followed} of {n_steps}"
    return f"{outcome}  {followed}{left}, in {folder}"
