"""What an accepted variant says of runs that did not pass: a note in its file; without one, they passed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from harness.errors import TrajectoryFormatError
from harness.folds import worst_outcome
from harness.runner.accepted import accepted_bytes
from harness.store import dump_trajectory
from harness.types.codes import PASSING, Origin, Outcome
from harness.types.events import Event, Trajectory
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import Note, RunQuiescent
from harness.types.messages import JsonText
from harness.types.records import Finding, RunSummary, Verdict

FAILING_NOTE: Final = "baseline/failing"
"""Name of the note of a variant that ``harness baseline accept --failing`` took: what its runs came to, as JSON."""


def variant_bytes(variant: Trajectory, scenario: str, runs: Iterable[RunSummary]) -> bytes:
    """The file of a variant that these runs took, with a note where some of them did not pass."""
    data = _said(runs)
    return accepted_bytes(variant, scenario) if data is None else dump_trajectory(_with_note(variant, data))


def says(variant: Trajectory, runs: Iterable[RunSummary]) -> bool:
    """Does a variant say what these runs came to?"""
    return _noted(variant) == _said(runs)


def came_to(variant: Trajectory) -> tuple[Outcome, tuple[Verdict, ...]]:
    """What the accepted runs of a variant came to, and the checks that did not pass; PASS where nothing is noted.

    Raises TrajectoryFormatError for a note that somebody edited into something else.
    """
    noted = _noted(variant)
    if noted is None:
        return Outcome.PASS, ()
    said: Any = parse_json(noted)
    try:
        return Outcome(said["outcome"]), tuple(map(_verdict, said["checks"]))
    except (KeyError, TypeError, ValueError):  # whatever JSON it is, or is not
        why = f"its note {FAILING_NOTE!r} cannot be read: bring the file back from version control, or accept it again"
        raise TrajectoryFormatError(why, file=variant.source) from None


def _said(runs: Iterable[RunSummary]) -> JsonText | None:
    failing = [run for run in runs if run.outcome not in PASSING]
    if not failing:
        return None
    rules: dict[tuple[str, Outcome], set[str]] = {}
    for verdict in (one for run in failing for one in run.verdicts if one.outcome not in PASSING):
        known = rules.setdefault((verdict.check, verdict.outcome), set())
        known.update(finding.rule for finding in verdict.findings if finding.rule)
    checks = [{"check": check, "outcome": how, "rules": sorted(rules[check, how])} for check, how in sorted(rules)]
    return JsonText(canonical_json({"outcome": worst_outcome(run.outcome for run in failing), "checks": checks}))


def _verdict(said: Any) -> Verdict:
    check = str(said["check"])
    return Verdict(check, Outcome(said["outcome"]), tuple(Finding(check, "", rule=str(one)) for one in said["rules"]))


def _noted(variant: Trajectory) -> JsonText | None:
    notes = (event.fact for event in variant if isinstance(event.fact, Note))
    return next((note.data for note in notes if note.name == FAILING_NOTE), None)


def _is_note(event: Event) -> bool:
    return isinstance(event.fact, Note) and event.fact.name == FAILING_NOTE


def _with_note(variant: Trajectory, data: JsonText) -> Trajectory:
    """The variant with the note in front of ``run/quiescent``, which is the last line wherever there is one."""
    events = [event for event in variant if not _is_note(event)]
    at = len(events) - bool(events and isinstance(events[-1].fact, RunQuiescent))
    events.insert(at, Event(0, Note(FAILING_NOTE, data), Origin.PROBE))
    return replace(variant, events=tuple(replace(event, seq=seq) for seq, event in enumerate(events)))
