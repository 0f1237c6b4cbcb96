"""The last facts of a run before quiescence, and the verdicts that they carry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.errors import InvalidValueError
from harness.folds import from_plain, to_plain
from harness.recorder import Recorder
from harness.tools import memory_of
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.lifecycle import Note
from harness.types.records import Finding, Verdict
from harness.types.scenario import Scenario

VERDICTS_NOTE = "verdicts"
END_STATE_NOTE = "end_state"


def closing_facts(
    scenario: Scenario, verdicts: tuple[Verdict, ...], recorder: Recorder, workspace: Path
) -> Iterator[Note]:
    """What the harness itself knows at the end: the world's state where it is asked for, its verdicts.

    In the file, so that it can be judged again from the file alone.
    """
    if scenario.expect.end_state is not None:
        memory = parse_json(memory_of(scenario.tools, workspace))
        yield Note(END_STATE_NOTE, canonical_json({"memory": memory}))
    failed = recorder.failed
    if failed is not None:
        verdicts = (*verdicts, Verdict("recorder", Outcome.ERROR, (Finding("recorder", str(failed)),)))
    if verdicts:
        yield Note(VERDICTS_NOTE, canonical_json(to_plain(verdicts)))


def noted_verdicts(trajectory: Trajectory) -> tuple[Verdict, ...]:
    """The verdicts that a trajectory carries in its notes. Raises InvalidValueError for a damaged note."""
    found: list[Verdict] = []
    for event in trajectory.events:
        if isinstance(event.fact, Note) and event.fact.name == VERDICTS_NOTE:
            value = parse_json(event.fact.data or "[]")
            if isinstance(value, Refusal) or not isinstance(value, list):
                raise InvalidValueError(f"event {event.seq}: the note {VERDICTS_NOTE!r} holds no list")
            found += [from_plain(Verdict, item) for item in value]
    return tuple(found)
