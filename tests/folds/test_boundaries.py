"""Boundaries: every event has its own, it finds just that event again, and it is told in words."""

from __future__ import annotations

from typing import Any

import pytest

from harness.folds import Places, boundaries_of, place_text, when_text
from harness.runner import RunResult
from harness.testing import scenario
from harness.types.events import Event
from harness.types.lifecycle import Note, RunQuiescent
from harness.types.scenario import Boundary, BoundaryWhen

RUNS: dict[str, dict[str, Any]] = {
    "two calls": {
        "task": "x",
        "script": [{"calls": [{"calculator": {"expression": "1"}}, {"get_weather": {"city": "Oslo"}}]}, {"say": "x"}],
    },
    "ids that come again": {
        "tasks": ["x", "y"],
        "script": [
            {"calls": [{"name": "calculator", "arguments": {"expression": "1"}, "id": "c"}] * 2},
            {"say": "x"},
            {"calls": [{"name": "calculator", "arguments": {"expression": "2"}, "id": "c"}]},
            {"say": "y"},
        ],
    },
}


def run_of(name: str) -> RunResult:
    return scenario(tools=["calculator", "get_weather"], **RUNS[name]).run()


def found_by(at: Boundary, events: tuple[Event, ...]) -> Event:
    places, n_left = Places(), at.nth
    for event in events:
        places.follow(event)
        n_left -= places.fits(at, event)
        if n_left == 0:
            return event
    raise AssertionError(f"{at} is nowhere")


@pytest.mark.parametrize("name", RUNS)
def test_every_event_has_a_boundary_of_its_own_that_finds_it_again(name: str) -> None:
    run = run_of(name)
    places = boundaries_of(run.trajectory)
    events = [event for event in run.trajectory if not isinstance(event.fact, Note | RunQuiescent)]
    assert len(set(places)) == len(places) == len(events)
    assert [found_by(at, run.trajectory.events) for at in places] == events


def test_the_end_of_a_body_is_known_by_its_tool_and_call() -> None:
    ends = [at for at in boundaries_of(run_of("two calls").trajectory) if at.kind == "tool/end"]
    assert ends == [Boundary("tool/end", "calculator", "call_1_0"), Boundary("tool/end", "get_weather", "call_1_1")]


@pytest.mark.parametrize(
    ("at", "place", "when"),
    [
        pytest.param(Boundary("run/start"), "run/start", "inside", id="kind"),
        pytest.param(Boundary("tool/end", "a", "c1", nth=2), "tool/end of 'a' of call 'c1', number 2", "inside", id="call"),
        pytest.param(Boundary("step/end", turn=2, when=BoundaryWhen.NEXT_TICK), "step/end in turn 2", "in the tick after", id="turn"),
        pytest.param(Boundary("tool/start", after_ms=5), "tool/start", "5 ms after", id="time"),
        pytest.param(Boundary("", tick=7), "tick 7 of the event loop", "", id="tick"),
    ],
)  # fmt: skip
def test_a_boundary_is_told_in_words(at: Boundary, place: str, when: str) -> None:
    assert (place_text(at), when_text(at)) == (place, when)
