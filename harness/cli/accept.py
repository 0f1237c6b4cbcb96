"""``--update``: where an expectation is not met, what was observed is written into the scenario's file.

Only the ``expect`` block of the file is rewritten; everything else keeps its bytes.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.cli.session import Session
    from harness.runner import Ran
    from harness.types.events import Trajectory
    from harness.types.scenario import Scenario

_ASKED_OF_NEW: Final = ("status", "steps", "calls")
"""What a scenario that expects nothing yet gets."""
_RULES: Final = ("never", "before", "at_most_once", "error", "provenance", "effects")
"""Expectations that are rules: a run that breaks one is no reason to drop it."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of one scenario's file: the difference, or why it stays as it is."""

    scenario: str
    difference: str = ""
    kept: str = ""


def accept_all(session: Session) -> dict[str, Any]:
    """Bring the files of all scenarios that ran up to date, say so, and judge their runs anew.

    Gives what ``--json`` tells of it.
    """
    from harness.cli.output import say

    runs: dict[str, list[Ran]] = {}
    for ran in session.ended:
        runs.setdefault(ran.scenario, []).append(ran)
    scenarios = {spec.scenario.id: spec.scenario for spec in session.specs}
    told = [_accept(scenarios[name], ended, session) for name, ended in runs.items()]
    for one in told:
        if not session.as_json and (one.difference or one.kept):
            say(one.difference.rstrip("\n") or f"not updated: {one.scenario}: {one.kept}")
    return {
        "updated": [{"scenario": one.scenario, "difference": one.difference} for one in told if one.difference],
        "notUpdated": [{"scenario": one.scenario, "why": one.kept} for one in told if one.kept],
    }


def _accept(scenario: Scenario, ended: Sequence[Ran], session: Session) -> Accepted:
    from harness.cli.expect_block import expect_of
    from harness.store import read_trajectory

    summaries = [ran.summary for ran in ended]
    if any(summary is None for summary in summaries):
        return Accepted(scenario.id, kept="it did not run")
    paths = [session.folder / summary.file for summary in summaries if summary is not None]
    try:
        asked = expect_of(_text(scenario), scenario.source)
        observed = [_wanted(asked, read_trajectory(path)) for path in paths]
        if all(wanted is None for wanted in observed):
            return Accepted(scenario.id)
        if any(wanted != observed[0] for wanted in observed):
            return Accepted(scenario.id, kept=f"its {len(observed)} trials did not come to the same")
        difference = rewrite(scenario, observed[0] or {})
        _judge_again(Path(scenario.source), scenario, paths, session)
    except UsageError as error:
        return Accepted(scenario.id, kept=str(error))
    return Accepted(scenario.id, difference)


def _wanted(asked: Mapping[str, Any], trajectory: Trajectory) -> dict[str, Any] | None:
    """The ``expect`` block as it should be; None where it is met. Raises UsageError for broken rules."""
    from harness.cli.observed import failed_unexpectedly, observed_in, unmet

    if not asked:
        return observed_in(trajectory, _ASKED_OF_NEW)
    if failed_unexpectedly(asked, trajectory):
        raise UsageError("the run failed, and whether it should is yours to say (expect: {status: failed})")
    open_ones = unmet(asked, trajectory)
    broken = [name for name in open_ones if name in _RULES]
    if broken:
        raise UsageError(f"{', '.join(broken)} is a rule, which only you can change")
    return {**asked, **observed_in(trajectory, open_ones, asked)} if open_ones else None


def _judge_again(path: Path, scenario: Scenario, paths: Sequence[Path], session: Session) -> None:
    """The trajectories get the expectations that now hold, and their runs new summaries."""
    from dataclasses import replace

    from harness.folds import EXIT_CODES, expectations_to_json
    from harness.runner import summarise_file
    from harness.scenarios import parse_scenario
    from harness.store import read_trajectory, write_trajectory
    from harness.types.events import ScenarioRef

    now = parse_scenario(path.read_bytes(), str(path), scenario.id)
    for file in paths:
        old = read_trajectory(file)
        reference = ScenarioRef(now.id, now.digest)
        header = replace(old.header, expectations=expectations_to_json(now.expect), scenario=reference)
        write_trajectory(file, replace(old, header=header))
        summary = summarise_file(file, session.folder, session.options.checks)
        for index, ran in enumerate(session.ended):
            if ran.run_id == summary.run_id:
                session.ended[index] = replace(ran, summary=summary, exit_code=EXIT_CODES[summary.outcome])


def _text(scenario: Scenario) -> str:
    path = Path(scenario.source)
    if path.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{scenario.source or scenario.id!r} is no YAML file; change its expectations by hand")
    return path.read_bytes().decode("utf-8")


def rewrite(scenario: Scenario, expect: dict[str, Any]) -> str:
    """Write the ``expect`` block of a scenario's YAML file; gives the difference as a unified diff.

    Raises UsageError where that would change anything else (a document in braces, a Python file).
    """
    from harness.cli.expect_block import with_block
    from harness.store import replace_file

    old = _text(scenario)
    new = with_block(old, expect, scenario.source)
    replace_file(scenario.source, [new.encode("utf-8")])
    before, after = (text.replace("\r\n", "\n").splitlines(keepends=True) for text in (old, new))
    return "".join(difflib.unified_diff(before, after, scenario.source, scenario.source, n=1))
