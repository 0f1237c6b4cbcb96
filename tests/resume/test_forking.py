"""A fork begins with another run's events, at a closed boundary, and goes its own way."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.folds import closed_boundaries
from harness.store import read_trajectory
from harness.testing import scenario
from harness.types.codes import Status
from harness.types.lifecycle import InboxDiscarded
from tests.resume.lab import complaints, cut, last_shown, two_turns, written

SCRIPT = [
    {"calls": [{"calculator": {"expression": "1+1"}}, {"calculator": {"expression": "2+2"}}]},
    {"say": "Two and four."},
    {"say": "Another way."},
    {"say": "Nothing more."},
]
BOUND = two_turns(script=SCRIPT)
WHOLE = BOUND.run().trajectory
ALLOWED = closed_boundaries(WHOLE.events)


@pytest.mark.conformance("126")
def test_a_run_may_be_forked_where_no_turn_is_open_and_nowhere_else(tmp_path: Path) -> None:
    path = written(WHOLE, tmp_path)
    before = path.read_bytes()
    open_turns = 0
    for event in WHOLE.events:
        open_turns += (event.fact.TYPE == "turn/start") - (event.fact.TYPE == "turn/end")
        ended = event.fact.TYPE in ("run/end", "note", "run/quiescent")
        assert (event.seq in ALLOWED) == (open_turns == 0 and not ended)
        if event.seq in ALLOWED:
            run = BOUND.fork(path, at=event.seq, task="Go another way.")
            assert complaints(run) == []
            assert run.status is Status.COMPLETED
            assert last_shown(run)[-1] == "user: Go another way." or run.n_steps > 1
            assert run.trajectory.events[: event.seq + 1] == WHOLE.events[: event.seq + 1]
        else:
            with pytest.raises(UsageError, match=rf"event {event.seq} is no closed boundary.*The nearest are"):
                BOUND.fork(path, at=event.seq, task="Go another way.")
    assert path.read_bytes() == before, "a fork leaves its parent alone"


@pytest.mark.conformance("28", "126")
def test_no_fork_begins_behind_a_turn_that_waits_for_a_person(tmp_path: Path) -> None:
    bound = scenario(
        id="s/parked",
        task="x",
        tools=["calculator"],
        policy={"tools": {"calculator": "ask"}, "approvals": [{"answer": "park"}]},
        script=[{"call": {"calculator": {"expression": "1"}}}, {"say": "y"}],
    )
    folder = tmp_path / "runs"
    run = bound.run(folder=folder)
    assert run.path is not None
    ended = next(event.seq for event in run.trajectory if event.fact.TYPE == "turn/end")
    with pytest.raises(UsageError, match="a call waits there for a person: --resume it with --answer"):
        bound.fork(run.path, at=ended, task="Another")


@pytest.mark.parametrize("at", [-1, 10**20])
def test_an_event_that_the_file_does_not_have_is_told_as_such(at: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"the file has events 0 to {len(WHOLE.events) - 1}"):
        BOUND.fork(written(WHOLE, tmp_path), at=at, task="x")


@pytest.mark.conformance("126")
def test_the_nearest_boundaries_are_named(tmp_path: Path) -> None:
    first_end = next(event.seq for event in WHOLE.events if event.fact.TYPE == "turn/end")
    with pytest.raises(UsageError, match=f"{first_end}"):
        BOUND.fork(written(WHOLE, tmp_path), at=first_end - 1)


@pytest.mark.conformance("126", "137")
def test_what_was_pending_is_not_inherited(tmp_path: Path) -> None:
    queued = [event.seq for event in WHOLE.events if event.fact.TYPE == "inbox/queued"][1]
    assert queued in ALLOWED
    run = BOUND.fork(written(WHOLE, tmp_path), at=queued, task="Go another way.")
    assert complaints(run) == []
    dropped = [event.fact for event in run.trajectory.events if isinstance(event.fact, InboxDiscarded)]
    assert [(fact.message_ids, fact.why) for fact in dropped] == [(("m2",), "not inherited by a fork")]
    assert [line for line in last_shown(run) if line.startswith("user")] == ["user: Add up.", "user: Go another way."]


def test_without_a_task_the_tasks_go_on_that_were_not_sent(tmp_path: Path) -> None:
    first_end = next(event.seq for event in WHOLE.events if event.fact.TYPE == "turn/end")
    path = written(WHOLE, tmp_path)
    run = BOUND.fork(path, at=first_end)
    assert last_shown(run)[-1] == "user: And now?"
    assert run.answer == "Another way."
    assert run.trajectory.header.run_id == "resume/two-turns@default#1+fork"
    with pytest.raises(UsageError, match="say with --task"):
        BOUND.fork(path, at=ALLOWED[-1])


def test_a_file_is_forked_as_often_as_one_likes_also_one_that_died(tmp_path: Path) -> None:
    first_end = next(event.seq for event in WHOLE.events if event.fact.TYPE == "turn/end")
    path = written(cut(WHOLE, first_end + 5), tmp_path)
    before = path.read_bytes()
    answers = {BOUND.fork(path, at=first_end, task=task).answer for task in ("One?", "Two?")}
    assert answers == {"Another way."}
    assert path.read_bytes() == before
    assert read_trajectory(path).events == WHOLE.events[: first_end + 5]
