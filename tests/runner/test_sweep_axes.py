"""Cancels with a follow-up queued and among tools that swallow them: the built-in loop is clean, planted loops are red."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import UsageError
from harness.folds import boundaries_of
from harness.mutants.seams import BrokenSubject, driver
from harness.runner import RunOptions, plan_sweeps
from harness.runner.sweep_axes import Stubborn, queued_before
from harness.scenarios import parse_scenario
from harness.subjects import BuiltInLoop
from harness.testing import BoundScenario, scenario, subject
from harness.types.codes import QueueDisposition
from harness.types.exchange import ToolEnd, ToolResult
from harness.types.lifecycle import InboxQueued
from harness.types.sweeps import CellOutcome, Sweep, SweepAxis
from tests.runner import sweep_lab
from tests.runner.sweep_lab import FIELDS, OneByOne, TellsTheModel, accused

tools = sweep_lab.tools
pytestmark = pytest.mark.usefixtures("tools")
BOTH = ("queued", "stubborn")


def of(sweep: Sweep, *axes: str) -> list[CellOutcome]:
    return [cell.outcome for cell in sweep.cells if cell.axes == axes]


@pytest.mark.conformance("63", "64", "65", "66", "67", "76", "77", "109", "110")
def test_one_call_cancels_empty_and_queued_among_cooperative_and_stubborn_tools_at_every_event() -> None:
    bound = scenario(**FIELDS)
    sweep = bound.sweep(None, "cancel", axes=BOTH)
    assert sweep.clean, sweep.strip
    n_places = len(boundaries_of(bound.run().trajectory))
    plain = n_places * 2 * 2  # inside and next-tick, of the run and of the turn
    assert {axes: len(of(sweep, *axes)) for axes in ((), ("queued",))} == {(): plain, ("queued",): 2 * plain}
    assert len(of(sweep, *BOTH)) == 2 * len(of(sweep, "stubborn"))
    assert len(of(sweep, "stubborn")) >= plain
    rows = {cell.row for cell in sweep.cells}
    assert {"cancel inside", "cancel keep inside queued", "cancel inside stubborn", "cancel turn keep next-tick queued stubborn"} <= rows


@pytest.mark.conformance("65", "109")
def test_a_loop_that_takes_what_a_cancel_was_to_drop_is_red_only_where_something_is_queued() -> None:
    def forgets(controls: Any) -> None:
        cancel, park = controls.cancel, controls._inbox.park
        controls.cancel = lambda **said: cancel(**{**said, "queue": QueueDisposition.KEEP})
        controls._inbox.park = lambda: None if len(controls._inbox) == 1 else park()

    loop = BrokenSubject(BuiltInLoop(), "forgets", driver(forgets))
    sweep = scenario(**FIELDS).sweep(loop, "cancel", axes=("queued",))
    assert of(sweep).count(CellOutcome.RED) <= 3, "only before its own task is taken"
    assert of(sweep, "queued").count(CellOutcome.RED) > 200


class GoesOnBehindAStubbornTool(OneByOne):
    """Sane in fair weather; a tool that swallows its cancel swallows the loop's, too."""


@pytest.mark.conformance("64", "76")
def test_a_loop_that_takes_a_swallowed_cancel_for_none_is_red_only_among_stubborn_tools() -> None:
    told = subject(lambda env: GoesOnBehindAStubbornTool(env).run(), name="goes-on")
    sweep = scenario(**FIELDS).sweep(told, "cancel", axes=("stubborn",))
    assert {cell.axes for cell in sweep.red} == {(SweepAxis.STUBBORN,)}, sweep.strip
    assert "cancel_no_model_request" in accused(sweep)
    assert all(cell.reproduction == "" for cell in sweep.red), "no scenario says that its tools are stubborn"
    assert sweep.smallest is not None
    assert "stubborn" in sweep.smallest.row


def test_a_users_own_functions_are_stubborn_too() -> None:
    async def mine(x: int) -> str:
        return f"mine {x}"

    class Own(OneByOne):
        def __init__(self, env: Any) -> None:
            super().__init__(env)
            self.tools = env.wrap({"slow": mine, "quick": mine})

    sweep = scenario(**FIELDS).sweep(subject(lambda env: Own(env).run(), name="own"), "cancel", axes=("stubborn",))
    assert {cell.axes for cell in sweep.red} == {(SweepAxis.STUBBORN,)}, sweep.strip


def test_a_red_queued_cell_is_shown_again_by_a_file_that_queues() -> None:
    def keeps(controls: Any) -> None:
        park = controls._inbox.park
        controls._inbox.park = lambda: None if len(controls._inbox) == 1 else park()

    loop = BrokenSubject(BuiltInLoop(), "goes-on-with-what-was-kept", driver(keeps))
    sweep = scenario(**FIELDS).sweep(loop, "cancel", axes=("queued",))
    red = next(cell for cell in sweep.red if cell.axes)
    assert red.injection is not None
    again = BoundScenario(parse_scenario(red.reproduction, "again.yaml"))
    assert again.scenario.inject == (queued_before(red.injection), red.injection)
    found = {finding.check for finding in again.run(loop).findings}
    assert {finding.check for finding in red.findings} <= found


def test_a_function_takes_no_input_and_says_so() -> None:
    sweep = scenario(**FIELDS).sweep(subject(lambda env: TellsTheModel(env).run(), name="sane"), "cancel", axes=("queued",))
    assert "the axis queued is not swept: the loop takes no input while it runs" in sweep.why
    assert sweep.clean
    assert of(sweep, "queued") == []


def test_a_stubborn_body_goes_on_and_its_call_keeps_what_it_says() -> None:
    inject = [{"at": {"kind": "tool/start", "tool": "quick", "when": "next-tick"}, "do": {"cancel": {}}}]
    run = scenario(**FIELDS, inject=inject).run(Stubborn(BuiltInLoop()))
    ends = [event for event in run.trajectory if isinstance(event.fact, ToolEnd)]
    assert run.status == "cancelled"
    assert ends[-1].time is not None
    assert any(isinstance(event.fact, ToolResult) for event in run.trajectory)
    assert not any(isinstance(event.fact, InboxQueued) and event.seq > ends[0].seq for event in run.trajectory)


def test_an_axis_of_no_known_name_is_refused() -> None:
    with pytest.raises(UsageError, match="no axis is named 'stuborn'; there are queued, stubborn"):
        plan_sweeps([scenario(**FIELDS).scenario], RunOptions(), axes=["stuborn"])
