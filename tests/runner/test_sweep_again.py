"""What a sweep accuses a loop of comes twice: chance is flaky, and the order of ends that come together is no difference."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from harness.errors import DeadlockError
from harness.protocols import World
from harness.report import sweep_text
from harness.report.sweeping import COMPARED
from harness.runner.sweep_again import NOT_AGAIN, Again
from harness.runner.sweep_limit_rules import LIMIT_HOLDS
from harness.runner.sweep_pairs import SECOND_CHANGES
from harness.runner.sweep_rules import ORDER_CHANGES, THROW_CHANGES
from harness.runner.sweep_runs import difference
from harness.subjects import BuiltInLoop
from harness.testing import Env, scenario, subject
from harness.types.codes import Outcome, ToolOutcome
from harness.types.events import Trajectory
from harness.types.exchange import ToolEnd
from harness.types.records import Finding
from harness.types.scenario import Boundary, CancelAction, Injection
from harness.types.sweeps import CellOutcome, Sweep, SweepCell
from tests.runner import sweep_lab
from tests.runner.sweep_lab import FIELDS, Loop, TellsTheModel, swept

tools = sweep_lab.tools
pytestmark = pytest.mark.usefixtures("tools")
N_UNDISTURBED = 3


def only_in_run(number: int, broken: type[Loop]) -> type[Loop]:
    """A loop that is broken in one run of all, counted from 1."""
    runs = itertools.count(1)

    class OnlyOnce(broken, TellsTheModel):  # type: ignore[misc, valid-type]
        def __init__(self, env: Env) -> None:
            super().__init__(env)
            self.is_broken = next(runs) == number

        async def run(self) -> Any:
            return await (broken.run(self) if self.is_broken else TellsTheModel.run(self))

        async def call(self, call: Any) -> Any:
            return await (broken.call(self, call) if self.is_broken else TellsTheModel.call(self, call))

    return OnlyOnce


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        pytest.param(sweep_lab.SwallowsItsCancel, "cancel", id="cancel"),
        pytest.param(sweep_lab.DiesOfATool, "tool-error", id="fault"),
        pytest.param(sweep_lab.TellsALimitAsAnAnswer, "limit", id="limit"),
    ],
)
def test_what_does_not_come_again_in_a_second_run_of_its_cell_is_flaky_and_not_red(
    broken: type[Loop], kind: str
) -> None:
    always = swept(broken, kind)
    number = N_UNDISTURBED + 1 + [cell.outcome for cell in always.cells].index(CellOutcome.RED)
    once = swept(only_in_run(number, broken), kind)
    assert (once.red, once.outcome) == ((), Outcome.INCONCLUSIVE), once.strip
    assert once.flaky[0].why.startswith(NOT_AGAIN)
    assert once.flaky[0].reproduction == ""


def test_a_red_cell_takes_a_second_run_only_where_it_is_the_first_to_show_a_check() -> None:
    sweep = swept(sweep_lab.DiesOfATool, "tool-error")
    assert [cell.n_runs for cell in sweep.red] == [2, 1, 1]
    assert sweep.n_runs == N_UNDISTURBED + 4


def test_what_comes_again_stays_and_what_does_not_goes() -> None:
    runs = iter((("a", "b"), ("b",)))

    def made() -> SweepCell:
        found = tuple(Finding(check, "wrong") for check in next(runs))
        return SweepCell(Injection(Boundary("tool/start"), CancelAction()), CellOutcome.RED, found)

    cell = Again().confirmed(made)
    assert (cell.outcome, [one.check for one in cell.findings], cell.n_runs) == (CellOutcome.RED, ["b"], 2)


def test_a_loop_that_raises_in_one_undisturbed_run_only_is_flaky() -> None:
    runs = itertools.count(1)

    class Raises(BuiltInLoop):
        async def run(self, world: World) -> None:
            if next(runs) == 1:
                raise DeadlockError("nothing can ever happen again")
            await super().run(world)

    sweep = scenario(**FIELDS).sweep(Raises(), "cancel")
    assert (sweep.red, sweep.outcome) == ((), Outcome.INCONCLUSIVE)
    assert sweep.flaky[0].why.startswith(NOT_AGAIN)


# ---------------------------------------------------------------- the order of ends


def run_of_three() -> Trajectory:
    """A run whose three bodies are stopped together."""
    three = [{"calls": [{"slow": {"x": 1}}, {"slow": {"x": 2}}, {"slow": {"x": 3}}]}, {"say": "done"}]
    cancel = {"at": {"kind": "tool/start", "nth": 3}, "do": "cancel"}
    fields = {**FIELDS, "script": three, "inject": [cancel], "allow_leftovers": True}
    return scenario(**fields).run(subject(lambda env: TellsTheModel(env).run())).trajectory


def with_ends_in_order(run: Trajectory, order: tuple[int, ...]) -> Trajectory:
    ends = [event for event in run.events if isinstance(event.fact, ToolEnd)]
    moved = {ends[i].seq: replace(ends[j], seq=ends[i].seq) for i, j in enumerate(order)}
    return replace(run, events=tuple(moved.get(event.seq, event) for event in run.events))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_ends_that_come_together_may_come_in_any_order(order: tuple[int, ...]) -> None:
    run = run_of_three()
    other = with_ends_in_order(run, order)
    assert difference(other, run) == ""
    first = next(event.seq for event in run.events if isinstance(event.fact, ToolEnd))
    for n_events in range(first, first + 4):
        assert difference(other, run, n_events) == "", "also where an injection stands among them"


def test_an_end_with_another_outcome_or_at_another_time_is_a_difference() -> None:
    run = run_of_three()
    last = [event for event in run.events if isinstance(event.fact, ToolEnd)][-1]
    assert isinstance(last.fact, ToolEnd)
    for other in (replace(last, fact=replace(last.fact, outcome=ToolOutcome.OK)), replace(last, time=last.time + 1)):
        changed = replace(run, events=tuple(other if event is last else event for event in run.events))
        assert difference(changed, run), other


# ---------------------------------------------------------------- what a file shows


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        pytest.param(("limit_holds",), "the disturbed one is red.yaml", id="compared"),
        pytest.param(("limit_holds", "budgets"), "shown again by red.yaml", id="one-check-accuses-the-run-itself"),
        pytest.param(("budgets",), "shown again by red.yaml", id="a-check"),
    ],
)
def test_a_file_is_said_to_show_a_red_cell_only_where_a_run_of_it_is_accused(checks: tuple[str, ...], words: str) -> None:
    found = tuple(Finding(check, "wrong") for check in checks)
    red = SweepCell(None, CellOutcome.RED, found, reproduction="a file", limit=("steps", 2))
    sweep = Sweep("s", "l", SweepCell(None, CellOutcome.CLEAN), (red,))
    assert words in sweep_text(sweep, text_of=lambda _: "limits.steps 2", shown_by="red.yaml").splitlines()[-1]


def test_every_rule_that_compares_runs_is_known_to_the_report() -> None:
    assert {SECOND_CHANGES, ORDER_CHANGES, THROW_CHANGES, LIMIT_HOLDS} == COMPARED
