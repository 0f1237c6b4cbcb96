"""Sweeps of pairs: a cancel behind a cancel or a fault; sampled by the seed, bounded, and red where the second one harms."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.mutants.seams import BrokenSubject, driver
from harness.runner.sweep_pairs import MOST_PAIRS, SECOND
from harness.scenarios import parse_scenario
from harness.subjects import BuiltInLoop
from harness.testing import scenario
from harness.types.codes import CancelScope, QueueDisposition
from harness.types.lifecycle import CancelRequested
from harness.types.scenario import CancelAction
from tests.runner import sweep_lab
from tests.runner.sweep_lab import FIELDS, TellsTheModel, accused, swept

tools = sweep_lab.tools
pytestmark = pytest.mark.usefixtures("tools")


@pytest.mark.conformance("63", "64", "65", "67", "82")
def test_the_built_in_loop_is_clean_under_pairs_of_every_kind_and_no_more_than_the_bound() -> None:
    sweep = scenario(**FIELDS).sweep(None, "pair")
    assert sweep.clean, sweep.strip
    assert len(sweep.cells) <= MOST_PAIRS
    assert {cell.row for cell in sweep.cells} == {"pair cancel+cancel", "pair tool-error+cancel", "pair model-error+cancel"}
    assert all(cell.second is not None and cell.second.do.reason == SECOND for cell in sweep.cells)  # type: ignore[union-attr]
    assert sweep.n_runs == 3 + 2 * len(sweep.cells)


def test_the_seed_decides_which_pairs_there_are() -> None:
    def pairs(seed: int) -> list[Any]:
        cells = scenario(**FIELDS, seed=seed).sweep(None, "pair").cells
        return [(cell.injection, cell.second) for cell in cells]

    assert pairs(1) == pairs(1)
    assert pairs(1) != pairs(2)


@pytest.mark.conformance("82")
def test_a_loop_that_tells_of_a_second_cancel_that_it_does_not_take_is_red() -> None:
    def notes(controls: Any) -> None:
        cancel = controls.cancel

        def told(**said: Any) -> None:
            if said.get("reason") == SECOND and controls._stopped is not None:
                controls._desk.observe(CancelRequested(said["by"], CancelScope.RUN, QueueDisposition.KEEP, "again"))
            cancel(**said)

        controls.cancel = told

    sweep = scenario(**FIELDS).sweep(BrokenSubject(BuiltInLoop(), "tells", driver(notes)), "pair")
    assert "second_cancel_changes_nothing" in accused(sweep), sweep.strip
    assert {cell.row for cell in sweep.red} == {"pair cancel+cancel"}


class AsksAgainWhenATool(TellsTheModel):
    """Sane when it is cancelled, and when a tool fails; cancelled behind a failed tool it asks for a last word."""

    failed = False

    async def call(self, call: Any) -> Any:
        result = await super().call(call)
        self.failed = self.failed or result["content"].startswith("error")
        return result

    async def run(self) -> Any:
        try:
            return await super().run()
        except asyncio.CancelledError:
            if self.failed:
                await self.ask()
            raise


@pytest.mark.conformance("64")
def test_a_loop_that_is_wrong_only_when_two_things_happen_is_red_in_pairs_alone() -> None:
    alone = swept(AsksAgainWhenATool, "cancel", "tool-error")
    pairs = swept(AsksAgainWhenATool, "pair")
    assert alone.clean, alone.strip
    assert {cell.row for cell in pairs.red} == {"pair tool-error+cancel"}, pairs.strip
    assert accused(pairs) >= {"cancel_no_model_request"}
    smallest = pairs.smallest
    assert smallest is not None
    again = parse_scenario(smallest.reproduction, "again.yaml")
    assert again.inject == (smallest.injection, smallest.second)
    assert isinstance(again.inject[1].do, CancelAction)
    assert again.inject[1].do.scope is CancelScope.RUN
