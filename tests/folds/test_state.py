"""A run's state in words, at every event of a run."""

from __future__ import annotations

from itertools import groupby

import pytest

from harness.folds import State, state_text
from harness.testing import scenario

SCRIPT = [{"call": {"calculator": {"expression": "1+1"}}}, {"say": "two"}]


def states(**fields: object) -> list[str]:
    run = scenario(**{"task": "x", "tools": ["calculator"], "script": SCRIPT, **fields}).run()  # type: ignore[arg-type]
    state, texts = State(), []
    for event in run.trajectory.events:
        state.follow(event)
        texts.append(state.text)
    assert state_text(run.trajectory.events) == texts[-1]
    return [text for text, _ in groupby(texts)]


@pytest.mark.article("40")
def test_a_run_tells_what_it_is_doing_at_every_event() -> None:
    assert states() == [
        "not begun",
        "preparing",
        "asking the model (step 1)",
        "reading the answer",
        "running calculator",
        "going on with what the tools said",
        "asking the model (step 2)",
        "reading the answer",
        "done",
    ]


@pytest.mark.article("40")
@pytest.mark.parametrize(
    ("fields", "last"),
    [
        pytest.param({"script": [{"fail": "AUTH"}]}, "failed", id="failed"),
        pytest.param({"limits": {"steps": 1}, "allow_leftovers": True}, "ended by a limit", id="limit"),
        pytest.param({"inject": [{"at": "tool/start", "do": "cancel"}], "allow_leftovers": True}, "cancelled", id="cancelled"),
    ],
)  # fmt: skip
def test_an_ending_has_a_word_of_its_own(fields: dict[str, object], last: str) -> None:
    assert states(**fields)[-1] == last


@pytest.mark.article("40")
def test_a_run_that_is_parked_at_a_question_waits_for_confirmation_until_it_is_answered() -> None:
    parked = states(policy={"tools": {"calculator": "ask"}, "approvals": [{"answer": "park"}]}, script=SCRIPT[:1])
    assert parked[-1] == "waiting for confirmation of call call_1_0"
    allowed = states(policy={"tools": {"calculator": "ask"}, "approvals": [{"answer": "allow"}]})
    assert "waiting for confirmation of call call_1_0" in allowed
    assert allowed[-1] == "done"


def test_a_cancel_and_a_pause_are_told_while_they_last() -> None:
    at = {"kind": "tool/start"}
    assert "stopping: running calculator" in states(inject=[{"at": at, "do": "cancel"}], allow_leftovers=True)
    retried = states(retry={"attempts": 2}, script=[{"fail": "SERVER"}, {"say": "x"}])
    assert "waiting 500 ms before asking again" in retried
