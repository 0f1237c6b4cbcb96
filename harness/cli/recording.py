"""Which scenarios ``harness record`` asks a model about, by its mode."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness.cli.output import say
from harness.cli.stale import asking_text, cause_lines, names_text
from harness.errors import CassetteError, NothingToRunError, UsageError

if TYPE_CHECKING:
    from harness.runner import Ran, RunOptions
    from harness.runner.stale import Stale
    from harness.types.scenario import Scenario

ONCE: Final = "harness record --mode once"
_MOST_TOLD: Final = 5


class Mode(StrEnum):
    """ALL: every scenario; ONCE: those without a recording; REFRESH: every one, and what still fits is kept."""

    ALL = "all"
    ONCE = "once"
    REFRESH = "refresh"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The scenarios to ask about. ``broken``: names of those whose recording is there and cannot be replayed, so that
    nobody knows whether it fits; ``exit_code`` is theirs, 0 where there are none.
    """

    scenarios: tuple[Scenario, ...]
    broken: tuple[str, ...] = ()
    exit_code: int = 0


def unrecorded(scenarios: Sequence[Scenario], options: RunOptions, *, quiet: bool) -> Chosen:
    """Those of which a recording is missing, or cannot be read, which is said. Raises NothingToRunError for none."""
    from harness.runner import cassettes_of, plan

    missing = set()
    for spec in plan(scenarios, options):
        for path in cassettes_of(spec):
            why = _unreadable(path)
            if why and not quiet:
                say(f"recorded anew: {why}")
            if why or not path.exists():
                missing.add(spec.scenario.id)
    if not missing:
        raise NothingToRunError(f"nothing to record: each of {len(scenarios)} scenarios has its recording")
    return Chosen(tuple(one for one in scenarios if one.id in missing))


def _unreadable(path: Path) -> str:
    """Why a cassette that is there cannot be read; "" for one that can, and for one that is not there."""
    from harness.cassettes import read_cassette

    if not path.exists():
        return ""
    try:
        read_cassette(path)
    except CassetteError as error:
        return str(error)
    return ""


def out_of_date(scenarios: Sequence[Scenario], options: RunOptions, *, quiet: bool) -> Chosen:
    """Those whose recordings do not fit any more, found by replaying them; says which, why and at what price.

    Nothing is asked of anybody for that. Raises UsageError where trials are asked for by number: which of them is
    out of date is not to be chosen.
    """
    from harness.runner import ModelSource, cassettes_of, exit_code_of, plan, run_specs
    from harness.runner.settings import settings
    from harness.runner.stale import stale_recordings

    if options.trials != 1:
        raise UsageError("--stale finds out what to record: leave --trials out")
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        replayed = replace(options, source=ModelSource.CASSETTE, folder=Path(folder))
        specs = plan(scenarios, replayed)
        ran = run_specs(specs, jobs=1, tell=lambda _: None)
    found = stale_recordings(specs, [one.summary for one in ran if one.summary is not None], settings().prices)
    names = {spec.scenario.id for one in found for spec in one.specs}
    missing = {spec.run_id for spec in specs if not all(path.exists() for path in cassettes_of(spec))}
    lost = [one for one in ran if one.summary is None]
    broken = [one for one in lost if one.run_id not in missing]
    if not quiet:
        _tell(found, sorted({one.scenario for one in lost if one.run_id in missing}), broken, n_looked_at=len(specs))
    chosen = tuple(one for one in scenarios if one.id in names)
    return Chosen(chosen, tuple(one.scenario for one in broken), exit_code_of(broken) if broken else 0)


def _tell(found: Sequence[Stale], missing: Sequence[str], broken: Sequence[Ran], *, n_looked_at: int) -> None:
    from harness.runner.stale import Asking

    asking = Asking()
    for one in found:
        asking = asking.plus(one.asking)
        say("\n".join(cause_lines(one)))
    if missing:
        say(f"without a recording: {names_text(missing)} ({ONCE})")
    for lost in broken[:_MOST_TOLD]:
        say(f"cannot be replayed: {lost.scenario}: {lost.error}")
    if len(broken) > _MOST_TOLD:
        say(f"  and {len(broken) - _MOST_TOLD} more")
    if any(one.exit_code == CassetteError.exit_code for one in broken):
        say(f"  if they cannot be restored: {ONCE} asks about those that cannot be read")
    known = "that can be replayed " if broken else ""
    say(
        f"asks {asking_text(asking)}"
        if found
        else f"no recording {known}is out of date: {n_looked_at - len(broken)} looked at"
    )
