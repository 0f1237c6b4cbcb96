"""The last facts of a run before quiescence, and the verdicts that they carry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import InvalidValueError
from harness.folds import from_plain, to_plain
from harness.recorder import Recorder
from harness.tools import EffectLedger, memory_of
from harness.types.codes import Code, Origin, Outcome
from harness.types.effects import EFFECTS_FILE, EFFECTS_NOTE
from harness.types.events import Trajectory
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.lifecycle import Note
from harness.types.records import Finding, Verdict
from harness.types.scenario import Scenario
from harness.types.verdict_names import RECORDER

VERDICTS_NOTE = "verdicts"
ASKED_NOTE = "asked_checks"
END_STATE_NOTE = "end_state"
MASKED_NOTE = "secrets/masked"


def closing_facts(
    scenario: Scenario,
    verdicts: tuple[Verdict, ...],
    recorder: Recorder,
    workspace: Path,
    *,
    n_masked: int,
    effects_from: int = 0,
) -> Iterator[Note]:
    """What the harness itself knows at the end: the world's state where it is asked for, its verdicts.

    In the file, so that it can be judged again from the file alone. ``effects_from``: bytes of the ledger that earlier
    runs wrote.
    """
    if n_masked:
        yield Note(MASKED_NOTE, canonical_json({"lines": n_masked}))
    if scenario.checks:
        yield Note(ASKED_NOTE, canonical_json(list(scenario.checks)))
    if scenario.expect.end_state is not None:
        memory = parse_json(memory_of(scenario.tools, workspace))
        yield Note(END_STATE_NOTE, canonical_json({"memory": memory}))
    ledger = EffectLedger(workspace / EFFECTS_FILE)
    if scenario.expect.effects and ledger.size:
        yield Note(EFFECTS_NOTE, canonical_json(to_plain(ledger.read(effects_from))))
    failed = recorder.failed
    if failed is not None:
        verdicts = (
            *verdicts,
            Verdict(RECORDER, Outcome.ERROR, (Finding(RECORDER, f"{Code.RECORDING_FAILED}: {failed}"),)),
        )
    if verdicts:
        yield Note(VERDICTS_NOTE, canonical_json(to_plain(verdicts)))


def noted_verdicts(trajectory: Trajectory) -> tuple[Verdict, ...]:
    """The verdicts that a trajectory carries in its notes. Raises InvalidValueError for a damaged note."""
    return tuple(from_plain(Verdict, item) for item in _noted(trajectory, VERDICTS_NOTE))


def noted_checks(trajectory: Trajectory) -> tuple[str, ...]:
    """Names of the checks that its scenario asked for. Raises InvalidValueError for a damaged note."""
    return tuple(map(str, _noted(trajectory, ASKED_NOTE)))


def _noted(trajectory: Trajectory, name: str) -> Iterator[Any]:
    for event in trajectory.events:
        if type(event.fact) is Note and event.fact.name == name and event.origin is Origin.PROBE:
            value = parse_json(event.fact.data or "[]")
            if isinstance(value, Refusal) or not isinstance(value, list):
                raise InvalidValueError(f"event {event.seq}: the note {name!r} holds no list")
            yield from value
