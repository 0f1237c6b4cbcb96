"""Runs that died at some event, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.runner import RunResult
from harness.store import write_trajectory
from harness.testing import BoundScenario, scenario
from harness.types.codes import Outcome, Status
from harness.types.events import Trajectory
from harness.types.exchange import ModelRequest, ToolResult
from harness.types.lifecycle import RunEnd

CALL = {"call": {"calculator": {"expression": "1+1"}}}
TWO = {"calls": [{"calculator": {"expression": "1+1"}}, {"calculator": {"expression": "2+2"}}]}


def two_turns(**fields: Any) -> BoundScenario:
    """Two tasks; the first takes a step with two calls."""
    return scenario(
        **{
            "id": "resume/two-turns",
            "tasks": ["Add up.", "And now?"],
            "tools": {"use": ["calculator"]},
            "script": [TWO, {"say": "Two and four."}, {"say": "Nothing more."}],
            "allow_leftovers": True,
            **fields,
        }
    )


def cut(trajectory: Trajectory, n_events: int) -> Trajectory:
    """The first events of a run, as its file holds them when it died."""
    return replace(trajectory, events=trajectory.events[:n_events])


def deaths(trajectory: Trajectory) -> Iterator[Trajectory]:
    """The run cut behind each event before its end, first to last."""
    end = next(event.seq for event in trajectory.events if isinstance(event.fact, RunEnd))
    for n_events in range(1, end + 1):
        yield cut(trajectory, n_events)


def died(bound: BoundScenario, folder: Path, kind: str, *, nth: int = 1) -> Path:
    """A file of the scenario's run that died right behind the nth event of a kind."""
    whole = bound.run().trajectory
    event = [event for event in whole.events if kind == event.fact.TYPE][nth - 1]
    return written(cut(whole, event.seq + 1), folder)


def written(trajectory: Trajectory, folder: Path, name: str = "run.jsonl") -> Path:
    path = folder / name
    write_trajectory(path, trajectory)
    return path


def asking(**fields: Any) -> BoundScenario:
    """Two tasks, whose first asks a person about a call and is parked there."""
    policy = {"tools": {"calculator": "ask"}, "approvals": [{"answer": "park", "after_ms": 20}]}
    return two_turns(**{"policy": policy, "script": [CALL, {"say": "Done."}, {"say": "And that."}], **fields})


def parked(bound: BoundScenario, folder: Path) -> Path:
    """The file of a run of the scenario that was parked."""
    run = bound.run(folder=folder)
    assert run.status is Status.WAITING_FOR_USER
    assert run.path is not None
    return run.path


def kinds(trajectory: Trajectory) -> list[str]:
    return [event.fact.TYPE for event in trajectory.events]


def codes(trajectory: Trajectory) -> list[str | None]:
    return [event.fact.code for event in trajectory.events if isinstance(event.fact, ToolResult)]


def last_shown(run: RunResult) -> list[str]:
    """Role and text of what the last request shows."""
    requests = [event.fact for event in run.trajectory.events if isinstance(event.fact, ModelRequest)]
    return [f"{message.role}: {message.content}" for message in requests[-1].messages]


def complaints(run: RunResult) -> list[tuple[str, str]]:
    """Checks that the run fails, with their first finding."""
    bad = (Outcome.FAIL, Outcome.ERROR)
    return [(one.check, one.findings[0].message) for one in run.verdicts if one.outcome in bad]
