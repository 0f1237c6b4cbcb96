"""Runs that died at some event, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.runner import RunResult
from harness.store import write_trajectory
from harness.testing import BoundScenario, scenario
from harness.types.codes import Origin, Outcome, Status
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest, ToolResult, ToolStart
from harness.types.lifecycle import ApprovalAsked, RunEnd, RunQuiescent, StepEnd, TurnEnd
from harness.types.messages import CallId
from harness.types.reasons import Waiting

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


def parked(bound: BoundScenario, folder: Path) -> Path:
    """A file of the scenario's run that was parked at the question about its first call.

    As the approval of calls writes it: the question behind all ``tool/call``, then the ends.
    """
    whole = bound.run().trajectory
    start = next(event for event in whole.events if isinstance(event.fact, ToolStart))
    call_id = start.fact.call_id if isinstance(start.fact, ToolStart) else None
    assert call_id is not None
    events = list(whole.events[: start.seq])
    waiting = Waiting(CallId(call_id))
    for fact, origin, in_step, in_turn in (
        (ApprovalAsked(CallId(call_id)), Origin.SUBJECT, True, True),
        (StepEnd(), Origin.SUBJECT, True, True),
        (TurnEnd(Status.WAITING_FOR_USER, waiting), Origin.SUBJECT, False, True),
        (RunEnd(Status.WAITING_FOR_USER, waiting), Origin.SUBJECT, False, False),
        (RunQuiescent(), Origin.PROBE, False, False),
    ):
        turn, step = (start.turn if in_turn else None), (start.step if in_step else None)
        events.append(Event(len(events), fact, origin, time=start.time, turn=turn, step=step))
    return written(replace(whole, events=tuple(events)), folder)


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
