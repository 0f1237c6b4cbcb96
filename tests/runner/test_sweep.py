"""Sweeps: broken loops get red cells, sane ones none; a red cell is shown again by its file; the flaky are not judged."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigurationError, NothingToRunError, UsageError
from harness.runner import ModelSource, RunOptions, injection_text, plan_sweeps
from harness.runner.sweep_plan import nothing_of
from harness.runner.sweep_rules import against_reference
from harness.runner.sweep_runs import Observed
from harness.scenarios import parse_scenario
from harness.subjects import BuiltInLoop
from harness.testing import BoundScenario, Env, scenario, subject
from harness.types.codes import CancelScope, Outcome, QueueDisposition
from harness.types.records import Finding
from harness.types.scenario import Boundary, BoundaryWhen, CancelAction, FaultAction, Injection, ThrowAction
from harness.types.sweeps import SIGNS, CellOutcome, Sweep, SweepCell, SweepKind
from tests.runner import sweep_lab
from tests.runner.sweep_lab import (
    BROKEN,
    BROKEN_AT_LIMITS,
    FIELDS,
    SANE,
    AnswersInTheOrderOfTheEnds,
    KnowsWhichCameFirst,
    LeavesWhenItsTaskIsDone,
    Loop,
    TellsTheModel,
    accused,
    swept,
)  # fmt: skip

tools = sweep_lab.tools
pytestmark = pytest.mark.usefixtures("tools")


def outcomes(sweep: Sweep, row: str) -> list[CellOutcome]:
    return [cell.outcome for cell in sweep.cells if cell.row == row]


# ---------------------------------------------------------------- sane and broken loops


@pytest.mark.conformance("39", "63", "64", "65", "67", "68", "71", "76", "86")
@pytest.mark.parametrize("loop", SANE)
def test_a_sane_loop_is_clean_at_every_boundary_and_tick(loop: type[Loop]) -> None:
    sweep = swept(loop, level="ticks")
    assert (sweep.red, sweep.flaky, sweep.clean) == ((), (), True), sweep.strip
    rows = {cell.row for cell in sweep.cells if cell.second is None}
    assert rows - {"order"} == {"cancel inside", "cancel next-tick", "cancel tick", "tool-error", "model-error", "model-error INVALID_REQUEST", "throw inside"}
    assert sweep.n_judged > 40


def test_a_start_in_the_tick_in_which_a_cancel_travels_is_told_apart_and_not_red() -> None:
    group, gathered = swept(sweep_lab.InATaskGroup, "cancel"), swept(TellsTheModel, "cancel")
    assert CellOutcome.CLOSE in outcomes(group, "cancel inside")
    assert CellOutcome.CLOSE not in outcomes(gathered, "cancel inside")


AT_ONCE = [{"calls": [{"quick": {"x": 1}}, {"plain": {"x": 2}}, {"plain": {"x": 3}}]}, {"call": {"plain": {"x": 4}}}, {"say": "done"}]


@pytest.mark.conformance("63")
@pytest.mark.parametrize("loop", [sweep_lab.LeavesATaskBehind, sweep_lab.HasAWorker])
def test_work_that_is_done_in_the_tick_of_a_cancel_is_red_where_nobody_would_have_stopped_it(
    loop: type[Loop], tmp_path: Path
) -> None:
    sweep = swept(loop, "cancel", script=AT_ONCE)
    assert accused(sweep) == {"cancel_no_tool_start"}, sweep.strip
    assert CellOutcome.CLOSE not in {cell.outcome for cell in sweep.cells}
    assert sweep.smallest is not None
    again = BoundScenario(parse_scenario(sweep.smallest.reproduction, "again.yaml"))
    run = again.run(subject(lambda env: loop(env).run()))
    assert {finding.check for finding in run.findings} == {"cancel_no_tool_start"}


@pytest.mark.conformance("63")
@pytest.mark.parametrize("loop", SANE)
@pytest.mark.parametrize("script", [AT_ONCE, FIELDS["script"]], ids=["at-once", "in-time"])
def test_a_loop_that_stops_its_tasks_is_not_accused_of_what_one_tick_let_through(loop: type[Loop], script: Any) -> None:
    sweep = swept(loop, "cancel", "pair", script=script)
    assert sweep.clean, sweep.strip


@pytest.mark.conformance("28", "39", "63", "64", "67", "76")
@pytest.mark.parametrize(("loop", "kind", "check"), [pytest.param(*row, id=row[0].__name__) for row in BROKEN])
def test_a_broken_loop_gets_a_red_cell_and_its_file_shows_it_again(
    loop: type[Loop], kind: str, check: str, tmp_path: Path
) -> None:
    sweep = swept(loop, kind)
    assert not sweep.clean
    assert check in accused(sweep), sweep.strip
    assert (sweep.reference.outcome, sweep.flaky) == (CellOutcome.CLEAN, ())
    smallest = sweep.smallest
    assert smallest is not None
    file = tmp_path / "again.yaml"
    file.write_text(smallest.reproduction, encoding="utf-8")
    again = scenario(file).run(subject(lambda env: loop(env).run()))
    told_as = {"tool_error_survived": "expected_end"}  # the sweep's own rule is an expectation of the file
    wanted = {told_as.get(finding.check, finding.check) for finding in smallest.findings}
    assert wanted <= {finding.check for finding in again.findings}
    assert again.outcome is Outcome.FAIL


@pytest.mark.conformance("89", "90", "91")
@pytest.mark.parametrize(("loop", "text"), [pytest.param(*row, id=row[0].__name__) for row in BROKEN_AT_LIMITS])
def test_a_loop_that_is_wrong_about_its_limit_is_red_where_limits_are_swept(loop: type[Loop], text: str) -> None:
    sweep = swept(loop, "limit")
    found = [finding.message for cell in sweep.red for finding in cell.findings if finding.check == "limit_holds"]
    assert any(text in message for message in found), (found, sweep.strip)
    assert {cell.row for cell in sweep.cells} == {"limit steps"}
    assert "limits:" in sweep.smallest.reproduction  # type: ignore[union-attr]


@pytest.mark.conformance("89", "90", "91")
def test_a_loop_that_keeps_its_limit_is_clean_below_at_and_above_what_it_needs() -> None:
    sweep = swept(TellsTheModel, "limit")
    assert (sweep.clean, [cell.limit for cell in sweep.cells]) == (True, [("steps", 2), ("steps", 3), ("steps", 4)])


@pytest.mark.conformance("49")
@pytest.mark.parametrize(
    ("loop", "checks"),
    [
        pytest.param(TellsTheModel, set(), id="sane"),
        pytest.param(KnowsWhichCameFirst, {"order_changes_nothing"}, id="tells-which-came-first"),
        pytest.param(AnswersInTheOrderOfTheEnds, {"provider_history", "event_grammar", "order_changes_nothing"}, id="in-order-of-ends"),
    ],
)
def test_bodies_that_end_in_any_order_leave_the_same_history(loop: type[Loop], checks: set[str]) -> None:
    three = [{"calls": [{"slow": {"x": 1}}, {"slow": {"x": 2}}, {"slow": {"x": 3}}]}, {"say": "done"}]
    sweep = swept(loop, "order", script=three)
    assert (len(sweep.cells), {cell.row for cell in sweep.cells}) == (6, {"order"})
    assert sweep.clean is not bool(checks), sweep.strip
    assert accused(sweep) <= checks
    assert all("release:" in cell.reproduction for cell in sweep.red)


@pytest.mark.conformance("49", "50")
def test_the_built_in_loop_commits_the_same_whatever_order_its_bodies_end_in(tools: None) -> None:
    calls = [{"slow": {"x": number}} for number in range(4)]
    sweep = scenario(**{**FIELDS, "script": [{"calls": calls}, {"say": "done"}]}).sweep(None, "order")
    assert (sweep.clean, len(sweep.cells)) == (True, 24), sweep.strip


@pytest.mark.conformance("103a", "118")
def test_a_host_that_leaves_input_behind_is_red_where_input_is_sent(tools: None) -> None:
    bound = scenario(**FIELDS)
    sweep = bound.sweep(LeavesWhenItsTaskIsDone(), "send")
    assert accused(sweep) == {"inbox"}, sweep.strip
    assert bound.sweep(None, "send").clean


@pytest.mark.conformance("11")
def test_a_run_that_a_throwing_listener_changed_is_accused_and_one_that_it_did_not_is_not(tools: None) -> None:
    sweep = scenario(**FIELDS).sweep(None, "throw")
    assert sweep.clean, sweep.strip
    reference, longer = _observed(FIELDS), _observed({**FIELDS, "system": "another prompt"})
    at = Injection(Boundary("run/start"), ThrowAction("x"))
    mark = reference.trajectory.events[0]
    assert list(against_reference(at, reference, reference, mark)) == []
    assert [one.check for one in against_reference(at, longer, reference, mark)] == ["throw_changes_nothing"]


def _observed(fields: dict[str, Any]) -> Observed:
    return Observed(scenario(**fields).run(), ())


def test_a_loop_that_never_ends_once_a_tool_failed_is_red() -> None:
    class Waits(Loop):
        async def call(self, call: Any) -> Any:
            try:
                return await super().call(call)
            except Exception:
                await asyncio.Event().wait()

    sweep = swept(Waits, "tool-error", limits={"wall_ms": 5_000})
    assert outcomes(sweep, "tool-error") == [CellOutcome.RED] * 3


def test_a_loop_that_leaves_the_program_is_red() -> None:
    class Exits(Loop):
        async def call(self, call: Any) -> Any:
            try:
                return await super().call(call)
            except Exception:
                raise SystemExit(3) from None

    sweep = swept(Exits, "tool-error")
    assert outcomes(sweep, "tool-error") == [CellOutcome.RED] * 3
    assert "SystemExit: 3" in sweep.red[0].findings[0].message


# ---------------------------------------------------------------- flaky, not swept, red at rest


def test_a_loop_that_does_not_repeat_itself_is_flaky_and_not_judged() -> None:
    numbers = itertools.count()

    class Counts(TellsTheModel):
        def __init__(self, env: Env) -> None:
            super().__init__(env)
            self.messages[0]["content"] = f"run {next(numbers)}"

    sweep = swept(Counts)
    assert (sweep.outcome, sweep.clean, sweep.cells) == (Outcome.INCONCLUSIVE, False, ())
    assert sweep.reference.outcome is CellOutcome.FLAKY
    assert "two undisturbed runs differ: event 1 is user/message" in sweep.reference.why


def test_a_run_whose_beginning_differs_from_the_reference_is_flaky_and_not_judged() -> None:
    numbers = itertools.count()

    class ChangesLater(sweep_lab.SwallowsItsCancel):
        def __init__(self, env: Env) -> None:
            super().__init__(env)
            if next(numbers) > 10:
                self.messages[0]["content"] = "another"

    sweep = swept(ChangesLater, "cancel")
    assert sweep.outcome is Outcome.FAIL, "what was judged before stays"
    late = outcomes(sweep, "cancel next-tick")
    assert set(late[3:]) == {CellOutcome.FLAKY}
    assert "did not repeat itself before that: event 1 is user/message" in sweep.flaky[-1].why


def test_what_the_undisturbed_run_is_accused_of_is_the_reference_s_and_no_cell_s() -> None:
    class RunsTwice(TellsTheModel):
        async def call(self, call: Any) -> Any:
            await super().call(call)
            return await super().call(call)

    sweep = swept(RunsTwice, "model-error")
    assert sweep.reference.outcome is CellOutcome.RED
    assert sweep.smallest is sweep.reference
    assert outcomes(sweep, "model-error")[-1] is CellOutcome.CLEAN
    assert not sweep.clean


def test_what_a_loop_cannot_take_is_not_swept_and_not_clean() -> None:
    async def one_task(env: Env) -> str:
        return env.task

    told = scenario(tasks=["one", "two"], script=[{"say": "x"}]).sweep(subject(one_task))
    assert (told.outcome, told.clean, told.cells) == (Outcome.INVALID, False, ())
    assert "has 2 tasks" in told.why


@pytest.mark.parametrize(
    ("loop", "kind", "fields", "why"),
    [
        pytest.param(None, "tool-error", {}, "no body of a tool began", id="tool-error"),
        pytest.param(None, "order", {}, "no two bodies of one answer overlap", id="order"),
        pytest.param(None, "order", {"inject": [{"at": {"kind": "run/end"}, "do": {"throw": "x"}}]}, "the scenario injects", id="order-timed"),
        pytest.param(TellsTheModel, "send", {}, "takes no input while it runs", id="send"),
        pytest.param(TellsTheModel, "kill", {}, "cannot start from an existing log", id="kill"),
        pytest.param(TellsTheModel, "limit", {"limits": {"steps": 1}}, "limits.tool_calls", id="limit"),
        pytest.param("asks nobody", "model-error", {}, "no request was made", id="model-error"),
    ],
)  # fmt: skip
def test_a_kind_without_a_boundary_is_not_clean_and_says_why(loop: Any, kind: str, fields: Any, why: str) -> None:
    async def asks_nobody(env: Env) -> str:
        return "done"

    loops = {None: BuiltInLoop(), TellsTheModel: subject(lambda env: TellsTheModel(env).run())}
    sweep = scenario(task="x", script=[{"say": "hello"}], **fields).sweep(loops.get(loop) or subject(asks_nobody), kind)
    assert why in sweep.why
    if kind != "limit":
        assert (sweep.cells, sweep.clean) == ((), False)
        both = scenario(task="x", script=[{"say": "hello"}], **fields).sweep(loops.get(loop) or subject(asks_nobody), kind, "cancel")
        assert (why in both.why, len(both.cells) > 0) == (True, True), "also where others have something to sweep"


def test_a_pair_with_nothing_behind_its_first_says_why() -> None:
    told = list(nothing_of([SweepKind.PAIR, SweepKind.LIMIT, SweepKind.KILL], (), scenario(**FIELDS).scenario))
    assert told == ["pair is not swept: no first injection has a place behind it"]


def test_what_was_not_asked_for_by_name_is_not_explained() -> None:
    assert scenario(task="x", script=[{"say": "hello"}]).sweep(BuiltInLoop()).why == ""


@pytest.mark.parametrize(
    ("fields", "kinds", "options", "error"),
    [
        pytest.param({"model": "m"}, (), RunOptions(), NothingToRunError, id="no-script"),
        pytest.param({"script": [{"say": "x"}]}, ("cancle",), RunOptions(), UsageError, id="unknown-kind"),
        pytest.param({"script": [{"say": "x"}]}, (), "live", ConfigurationError, id="live"),
    ],
)
def test_what_cannot_be_swept_at_all_is_refused(fields: Any, kinds: Any, options: Any, error: type[Exception]) -> None:
    wanted = RunOptions(source=ModelSource.LIVE) if options == "live" else options
    with pytest.raises(error):
        plan_sweeps([scenario(task="x", **fields).scenario], wanted, kinds)


# ---------------------------------------------------------------- the built-in loop


TWO_TURNS: dict[str, Any] = {
    "tasks": ["one", "two"],
    "tools": {"use": ["calculator", "probe_stubborn"], "options": {"probe_stubborn": {"ms": 20_000}}},
    "script": [
        {"calls": [{"probe_stubborn": {}}, {"calculator": {"expression": "1"}}]},
        {"say": "first"},
        {"call": {"calculator": {"expression": "2"}}},
        {"say": "second"},
    ],
}


@pytest.mark.conformance("39", "63", "64", "65", "66", "67", "68", "71", "72", "76", "77", "81", "82", "86")
def test_the_built_in_loop_is_clean_at_every_boundary_and_tick_under_every_scope_and_queue() -> None:
    sweep = scenario(**TWO_TURNS).sweep(level="ticks")
    assert sweep.clean, sweep.strip
    actions = {(cell.injection.do.scope, cell.injection.do.queue) for cell in sweep.cells if cell.injection and isinstance(cell.injection.do, CancelAction)}  # fmt: skip
    assert actions == {(scope, queue) for scope in CancelScope for queue in QueueDisposition}
    assert CellOutcome.CLOSE not in {cell.outcome for cell in sweep.cells}
    run = [cell for cell in sweep.cells if cell.killed is None or cell.outcome is not CellOutcome.VOID]
    n_pairs = sum(cell.second is not None for cell in run)
    assert sweep.n_runs == 3 + len(run) + n_pairs > 300


@pytest.mark.conformance("63", "64", "65", "67", "72", "76")
@pytest.mark.parametrize(
    "name",
    ["cancellation/one-turn-only", "cancellation/slow-clean-up", "limits/two-tools-overlap", "failures/throwing-tool",
     "memory/writes-are-a-barrier", "damage/raw-response"],
)  # fmt: skip
def test_shipped_scenarios_have_no_red_cell_at_any_boundary_or_tick(name: str, repo: Path) -> None:
    sweep = scenario(repo / "scenarios" / f"{name}.yaml").sweep(None, level="ticks")
    assert sweep.clean, f"{sweep!r}\n{sweep.strip}"


def test_tools_in_threads_are_swept_by_events_and_say_that_ticks_are_not(repo: Path) -> None:
    sweep = scenario(repo / "scenarios/cancellation/tool-in-a-thread.yaml").sweep(None, "tool-error", level="ticks")
    assert sweep.clean, sweep.strip
    assert "system's clock" in sweep.why


def test_a_sweep_of_a_result_is_that_of_its_scenario_and_loop() -> None:
    bound, loop = BoundScenario(scenario(**FIELDS).scenario), subject(lambda env: TellsTheModel(env).run(), name="mine")
    assert bound.run(loop).sweep("tool-error") == bound.sweep(loop, "tool-error")


def test_the_same_sweep_gives_the_same_cells() -> None:
    assert swept(sweep_lab.WorksOnDetached) == swept(sweep_lab.WorksOnDetached)


# ---------------------------------------------------------------- the value


def cell(outcome: CellOutcome, at: Boundary, do: Any = None) -> SweepCell:
    found = (Finding("c", "wrong"),) if outcome is CellOutcome.RED else ()
    return SweepCell(Injection(at, do or CancelAction()), outcome, found)


INSIDE = Boundary("tool/start", "slow")
LATER = Boundary("tool/start", "slow", when=BoundaryWhen.NEXT_TICK)
AT_REST = SweepCell(None, CellOutcome.CLEAN)
C = CellOutcome


@pytest.mark.parametrize(
    ("reference", "inside", "outcome"),
    [
        pytest.param(C.CLEAN, [C.CLEAN, C.VOID, C.CLOSE], Outcome.PASS, id="clean"),
        pytest.param(C.CLEAN, [], Outcome.INVALID, id="nothing"),
        pytest.param(C.CLEAN, [C.VOID], Outcome.INVALID, id="all-too-late"),
        pytest.param(C.CLEAN, [C.CLEAN, C.RED, C.FLAKY, C.ERROR], Outcome.FAIL, id="red-before-all"),
        pytest.param(C.RED, [C.CLEAN], Outcome.FAIL, id="red-at-rest"),
        pytest.param(C.CLEAN, [C.CLEAN, C.FLAKY], Outcome.INCONCLUSIVE, id="flaky"),
        pytest.param(C.FLAKY, [], Outcome.INCONCLUSIVE, id="flaky-at-rest"),
        pytest.param(C.CLEAN, [C.CLEAN, C.ERROR, C.FLAKY], Outcome.ERROR, id="error"),
    ],
)
def test_a_sweep_s_outcome_follows_from_its_cells(reference: C, inside: list[C], outcome: Outcome) -> None:
    sweep = Sweep("s", "l", SweepCell(None, reference), tuple(cell(one, INSIDE) for one in inside))
    assert sweep.outcome is outcome
    assert sweep.clean is (outcome is Outcome.PASS)


def test_a_strip_is_run_length_coded_a_row_for_each_kind_of_injection() -> None:
    inside = [cell(one, INSIDE) for one in (C.CLEAN, C.CLEAN, C.RED, C.CLEAN, C.VOID, C.VOID)]
    turn = cell(C.FLAKY, LATER, CancelAction(scope=CancelScope.TURN, queue=QueueDisposition.KEEP))
    faults = [cell(C.CLOSE, INSIDE, FaultAction()), cell(C.ERROR, Boundary("model/request"), FaultAction())]
    tick = cell(C.CLEAN, Boundary("", tick=4))
    assert Sweep("s", "l", AT_REST, (*inside, turn, *faults, tick)).strip.split("\n") == [
        "cancel inside               .2 X1 .1 -2",
        "cancel turn keep next-tick  ?1",
        "tool-error                  ~1",
        "model-error                 !1",
        "cancel tick                 .1",
    ]


def test_the_smallest_red_cell_is_at_an_event_before_a_tick_and_tells_itself() -> None:
    cells = (cell(C.RED, Boundary("", tick=1)), cell(C.CLEAN, INSIDE), cell(C.RED, LATER))
    sweep = Sweep("s", "l", AT_REST, cells)
    assert sweep.smallest is cells[2]
    assert repr(sweep) == "<sweep of 's' against 'l': 2 red, 0 flaky, 3 judged of 3; cancel next-tick: wrong>"


@pytest.mark.parametrize(
    ("injection", "text"),
    [
        pytest.param(None, "nothing injected", id="reference"),
        pytest.param(Injection(INSIDE, CancelAction()), "cancel, inside tool/start of 'slow'", id="inside"),
        pytest.param(Injection(LATER, CancelAction(scope=CancelScope.TURN)), "cancel turn, in the tick after tool/start of 'slow'", id="later"),
        pytest.param(Injection(Boundary("", tick=3), CancelAction()), "cancel, at tick 3 of the event loop", id="tick"),
        pytest.param(Injection(Boundary("model/request", nth=2), FaultAction()), "model-error, inside model/request, number 2", id="fault"),
    ],
)  # fmt: skip
def test_an_injection_is_told_in_words(injection: Injection | None, text: str) -> None:
    assert injection_text(injection) == text


def test_a_tick_s_red_cell_is_shown_again_by_a_file_that_names_the_tick() -> None:
    sweep = swept(sweep_lab.SwallowsItsCancel, "cancel", level="ticks")
    red = next(one for one in sweep.red if one.row == "cancel tick")
    assert red.injection is not None
    again = BoundScenario(parse_scenario(red.reproduction, "again.yaml"))
    assert again.scenario.inject == (red.injection,)
    run = again.run(subject(lambda env: sweep_lab.SwallowsItsCancel(env).run()))
    assert {finding.check for finding in red.findings} <= {finding.check for finding in run.findings}


def test_every_kind_is_swept_where_none_is_named() -> None:
    (spec,) = plan_sweeps([scenario(**FIELDS).scenario], RunOptions())
    assert spec.kinds == tuple(SweepKind)


def test_the_page_of_the_docs_tells_every_sign_and_every_kind(repo: Path) -> None:
    page = (repo / "docs/sweeps.md").read_text(encoding="utf-8")
    for outcome, sign in SIGNS.items():
        assert f"| `{sign}` | {outcome} |" in page
    for kind in SweepKind:
        assert f"| `{kind}` |" in page
