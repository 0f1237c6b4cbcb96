"""Which scenarios ``harness record`` asks a model about, by its mode."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import say
from harness.cli.stale import asking_text, cause_lines, names_text
from harness.errors import NothingToRunError, UsageError

if TYPE_CHECKING:
    from harness.runner import RunOptions
    from harness.types.scenario import Scenario


class Mode(StrEnum):
    """ALL: every scenario; ONCE: those without a recording; REFRESH: every one, and what still fits is kept."""

    ALL = "all"
    ONCE = "once"
    REFRESH = "refresh"


def unrecorded(scenarios: Sequence[Scenario], options: RunOptions) -> tuple[Scenario, ...]:
    """Those of which a recording is missing. Raises NothingToRunError where all are there."""
    from harness.runner import cassettes_of, plan

    missing = {
        spec.scenario.id for spec in plan(scenarios, options) if not all(path.exists() for path in cassettes_of(spec))
    }
    if not missing:
        raise NothingToRunError(f"nothing to record: each of {len(scenarios)} scenarios has its recording")
    return tuple(one for one in scenarios if one.id in missing)


def out_of_date(scenarios: Sequence[Scenario], options: RunOptions, *, quiet: bool) -> tuple[Scenario, ...]:
    """Those whose recordings do not fit any more, found by replaying them; says which, why and at what price.

    Nothing is asked of anybody for that. Raises UsageError where trials are asked for by number: which of them is
    out of date is not to be chosen.
    """
    from harness.runner import ModelSource, plan, run_specs
    from harness.runner.settings import settings
    from harness.runner.stale import Asking, stale_recordings

    if options.trials != 1:
        raise UsageError("--stale finds out what to record: leave --trials out")
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        replayed = replace(options, source=ModelSource.CASSETTE, folder=Path(folder))
        specs = plan(scenarios, replayed)
        ran = run_specs(specs, jobs=1, tell=lambda _: None)
    found = stale_recordings(specs, [one.summary for one in ran if one.summary is not None], settings().prices)
    names = {spec.scenario.id for one in found for spec in one.specs}
    unread = sorted({one.scenario for one in ran if one.summary is None})
    if not quiet:
        asking = Asking()
        for one in found:
            asking = asking.plus(one.asking)
            say("\n".join(cause_lines(one)))
        if unread:
            say(f"without a recording that can be read: {names_text(unread)} (harness record --mode once)")
        say(f"asks {asking_text(asking)}" if found else f"no recording is out of date: {len(specs)} looked at")
    return tuple(one for one in scenarios if one.id in names)
