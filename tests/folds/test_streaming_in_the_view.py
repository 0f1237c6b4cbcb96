"""Whether an answer was asked for whole or in pieces is no part of the committed view."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.folds import committed_view
from harness.folds.view import without_streaming
from harness.testing import scenario
from harness.types.events import Trajectory
from harness.types.exchange import RequestHeader
from harness.types.messages import JsonText


@pytest.mark.parametrize(
    ("parameters", "left"),
    [
        ("{}", "{}"),
        ('{"seed":1,"stream":true}', '{"seed":1}'),
        ('{"stream":false}', "{}"),
        ('{"stream":true,"stream_options":{"include_usage":true},"temperature":0}', '{"temperature":0}'),
        ('{"streams":true}', '{"streams":true}'),
        ('{"x":{"stream":true}}', '{"x":{"stream":true}}'),
    ],
)
def test_only_what_asks_for_a_stream_is_left_out(parameters: str, left: str) -> None:
    assert without_streaming(JsonText(parameters)) == left


@pytest.mark.conformance("69")
@pytest.mark.parametrize(("parameters", "same"), [('{"stream":true}', True), ('{"stream":true,"seed":2}', False)])
def test_a_streamed_run_has_the_view_of_the_whole_one_unless_something_else_differs(parameters: str, same: bool) -> None:
    run = scenario(task="Hello", script=[{"say": "Hi."}]).run().trajectory
    events = tuple(
        replace(event, fact=replace(event.fact, parameters=JsonText(parameters))) if isinstance(event.fact, RequestHeader) else event
        for event in run.events
    )
    one, other = committed_view(run), committed_view(Trajectory(run.header, events))
    assert ([viewed.key for viewed in one] == [viewed.key for viewed in other]) is same
