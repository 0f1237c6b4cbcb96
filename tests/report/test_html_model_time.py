"""When a model was asked, and what was waited for, as the page's lanes draw it."""

from __future__ import annotations

import pytest
from hypothesis import given

from harness.report.html.model_time import asked_of, delays_of
from harness.types.codes import Code, Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest, ModelRetry
from harness.types.facts import Fact
from harness.types.lifecycle import StepEnd, StepStart
from harness.types.messages import MessageBuffer
from tests.strategies import trajectories

NOTHING = MessageBuffer().view()
ASKED, AGAIN = ModelRequest(NOTHING), ModelRequest(NOTHING, attempt=2)
REFUSED, RETRY = ModelFailed(Code.RATE_LIMIT, "slow down"), ModelRetry(Code.RATE_LIMIT, 1, 500)
ANSWER, PREFIX = AssistantMessage("done", attempt=2), AssistantMessage("do", interrupted=True)
BEGIN, END = StepStart(), StepEnd()


def events(*facts: tuple[int, Fact]) -> list[Event]:
    return [Event(seq, fact, Origin.SUBJECT, time) for seq, (time, fact) in enumerate(facts)]


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        pytest.param([(0, BEGIN), (0, ASKED), (7, ANSWER), (9, END)], [(1, 0, 7, "answered")], id="answered"),
        pytest.param(
            [(0, BEGIN), (0, ASKED), (0, REFUSED), (0, RETRY), (500, AGAIN), (530, ANSWER), (530, END)],
            [(1, 0, 0, "failed"), (2, 500, 530, "answered")],
            id="refused-then-answered",
        ),
        pytest.param([(0, BEGIN), (0, ASKED), (250, END)], [(1, 0, 250, "interrupted")], id="broken-off"),
        pytest.param([(0, BEGIN), (0, ASKED), (20, PREFIX), (25, END)], [(1, 0, 20, "interrupted")], id="prefix"),
        pytest.param([(0, BEGIN), (3, ASKED)], [(1, 3, None, None)], id="killed"),
        pytest.param([(2, BEGIN), (9, ANSWER), (9, END)], [(None, 2, 9, "answered")], id="no-request-is-told"),
        pytest.param([(0, BEGIN), (9, END)], [], id="nothing"),
    ],
)
def test_each_request_lasts_until_what_came_of_it(
    facts: list[tuple[int, Fact]], told: list[tuple[int | None, int, int | None, str | None]]
) -> None:
    found = asked_of(events(*facts))
    assert [(one["attempt"], one["startMs"], one["endMs"], one["outcome"]) for one in found] == told


def test_a_delay_lasts_from_the_retry_to_the_request_and_is_no_time_of_the_model() -> None:
    made = events((0, BEGIN), (0, ASKED), (5, REFUSED), (5, RETRY), (505, AGAIN), (530, ANSWER))
    assert delays_of(made) == [{"attempt": 2, "startSeq": 3, "startMs": 5, "endSeq": 4, "endMs": 505}]
    assert sum(one["endMs"] - one["startMs"] for one in asked_of(made)) == 30


def test_a_delay_that_was_broken_off_ends_with_its_step() -> None:
    made = events((0, BEGIN), (0, ASKED), (0, REFUSED), (0, RETRY), (90, END))
    assert [(one["startMs"], one["endMs"]) for one in delays_of(made)] == [(0, 90)]


@given(trajectories())
def test_every_request_of_any_run_is_told_once_in_its_order(trajectory: Trajectory) -> None:
    requests = [event.seq for event in trajectory.events if isinstance(event.fact, ModelRequest)]
    told = asked_of(trajectory.events)
    assert [one["startSeq"] for one in told if one["attempt"] is not None] == requests
    assert all(one["endSeq"] is None or one["endSeq"] > one["startSeq"] for one in told if one["attempt"] is not None)
