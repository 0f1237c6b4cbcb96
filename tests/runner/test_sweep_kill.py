"""Sweeps of kill -9: a loop that does its work again, or forgets it, is red behind some write; the built-in is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.folds import repaired
from harness.protocols import World
from harness.runner import sweep_kill
from harness.runner.sweep_kill_rules import repair_owes
from harness.store import read_trajectory
from harness.subjects import BuiltInLoop
from harness.testing import scenario, subject
from harness.tools import Door
from harness.types.codes import Code
from harness.types.events import Trajectory
from harness.types.exchange import ToolResult, ToolStart
from harness.types.sweeps import CellOutcome, Sweep

FIELDS: dict[str, Any] = {
    "tasks": ["one", "two"],
    "tools": {"use": ["write_memory", "calculator"]},
    "script": [
        {"calls": [{"write_memory": {"key": "a", "value": "1"}}, {"calculator": {"expression": "1"}}]},
        {"say": "first"},
        {"call": {"write_memory": {"key": "b", "value": "2"}}},
        {"say": "second"},
    ],
}


class BeginsAnew(BuiltInLoop):
    """It takes what there is in the log for nothing, and does all of it again."""

    name = "begins-anew"

    async def run(self, world: World) -> None:
        await super().run(replace(world, going_on=None))


class SendsItsTasksAgain(BuiltInLoop):
    """It sends every task, whatever was sent before."""

    name = "sends-its-tasks-again"

    async def run(self, world: World) -> None:
        going_on = world.going_on and replace(world.going_on, tasks=world.scenario.tasks)
        await super().run(replace(world, going_on=going_on))


class ForgetsWhatIsOwed(BuiltInLoop):
    """It resumes nothing: what the dead process was at stays undone."""

    name = "forgets-what-is-owed"

    async def run(self, world: World) -> None:
        if world.going_on is None:
            await super().run(world)
            return
        driver = self._driver(world)
        world.attach(driver)
        driver.open(world.going_on.past, {})
        driver.close()


class RunsTheUnknownAgain(BuiltInLoop):
    """A call of which nobody knows whether it took effect is run once more, to be sure."""

    name = "runs-the-unknown-again"

    async def run(self, world: World) -> None:
        if world.going_on is not None:
            door = Door(world.tools, log=world.log, clock=world.clock, redact=world.redact)
            past = world.going_on.past
            unknown = {e.fact.call_id for e in past if isinstance(e.fact, ToolResult) and e.fact.code is Code.TOOL_OUTCOME_UNKNOWN}
            for event in past:
                if isinstance(event.fact, ToolStart) and event.fact.call_id in unknown:
                    call = event.fact
                    await door.run(call.name, call.arguments, call_id=call.call_id, signal=_Never(), turn=event.turn, step=event.step)
        await super().run(world)


class _Never:
    is_set = False
    by = None

    async def wait(self) -> None:
        raise AssertionError("nobody waits for it")


def swept(loop: BuiltInLoop | None = None, **fields: Any) -> Sweep:
    return scenario(**{**FIELDS, **fields}).sweep(loop, "kill")


def accused(sweep: Sweep) -> set[str]:
    return {finding.check for cell in sweep.red for finding in cell.findings}


@pytest.mark.conformance("19", "130", "131", "132", "133", "134", "137", "138", "139", "140")
def test_the_built_in_loop_is_clean_behind_every_write() -> None:
    sweep = swept()
    assert sweep.clean, sweep.strip
    signs = [cell.outcome for cell in sweep.cells]
    n_events = len(scenario(**FIELDS).run().trajectory.events)
    assert (len(sweep.cells), {cell.row for cell in sweep.cells}) == (n_events, {"kill"})
    assert signs[0] is CellOutcome.VOID
    assert signs.count(CellOutcome.CLEAN) >= n_events - 3
    assert signs.count(CellOutcome.VOID) <= 3


@pytest.mark.conformance("19", "133", "138", "140")
@pytest.mark.parametrize(
    ("loop", "check"),
    [
        pytest.param(BeginsAnew, "resume_runs_nothing_twice", id="begins-anew"),
        pytest.param(SendsItsTasksAgain, "resume_comes_to_its_end", id="sends-its-tasks-again"),
        pytest.param(ForgetsWhatIsOwed, "resume_comes_to_its_end", id="forgets-what-is-owed"),
        pytest.param(RunsTheUnknownAgain, "resume_runs_nothing_twice", id="runs-the-unknown-again"),
    ],
)
def test_a_loop_that_goes_on_wrongly_is_red_behind_some_write(loop: type[BuiltInLoop], check: str) -> None:
    sweep = swept(loop())
    assert sweep.reference.outcome is CellOutcome.CLEAN, "undisturbed it is sane"
    assert check in accused(sweep), sweep.strip
    assert sweep.smallest is not None
    assert sweep.smallest.killed is not None


def test_a_red_cell_holds_the_file_that_the_dead_process_left(tmp_path: Path) -> None:
    cell = swept(RunsTheUnknownAgain()).smallest
    assert cell is not None
    path = tmp_path / "dead.jsonl"
    path.write_text(cell.reproduction, encoding="utf-8")
    dead = read_trajectory(path)
    assert len(dead.events) == cell.killed
    assert any(isinstance(event.fact, ToolStart) for event in dead)


@pytest.mark.conformance("88", "105", "130", "132", "133")
@pytest.mark.parametrize(
    "name",
    ["children/cancelled-while-a-child-works", "inbox/injected-while-idle", "approval/parked", "streaming/cancelled-in-mid-stream",
     "context/summed-up-by-a-model", "failures/retry-after-a-rate-limit"],
)  # fmt: skip
def test_shipped_scenarios_killed_behind_any_write_come_to_their_end(name: str, repo: Path) -> None:
    sweep = scenario(repo / "scenarios" / f"{name}.yaml").sweep(None, "kill")
    assert sweep.clean, f"{sweep!r}\n{sweep.strip}"


def test_where_turns_end_without_a_word_of_the_model_only_checks_judge() -> None:
    limited = swept(limits={"steps": 1})
    assert limited.clean, limited.strip


# ---------------------------------------------------------------- what a repair says


def cut(n_events: int) -> Trajectory:
    run = scenario(**FIELDS).run().trajectory
    return replace(run, events=run.events[:n_events])


def at_start() -> int:
    return next(event.seq for event in scenario(**FIELDS).run().trajectory if isinstance(event.fact, ToolStart))


@pytest.mark.conformance("131", "132")
@pytest.mark.parametrize(
    ("behind", "wrong"),
    [
        pytest.param(1, Code.TOOL_NOT_STARTED, id="a-body-that-began-is-told-as-not-started"),
        pytest.param(0, Code.TOOL_OUTCOME_UNKNOWN, id="a-body-that-did-not-is-told-as-unknown"),
    ],
)
def test_a_repair_that_says_the_wrong_thing_of_a_call_is_accused(behind: int, wrong: Code) -> None:
    dead = cut(at_start() + behind)
    whole = repaired(dead)
    assert list(repair_owes(dead, whole)) == []
    events = tuple(replace(e, fact=replace(e.fact, code=wrong)) if isinstance(e.fact, ToolResult) else e for e in whole.events)
    assert {one.check for one in repair_owes(dead, replace(whole, events=events))} == {"repair_tells_what_is_unknown"}


@pytest.mark.conformance("139")
def test_a_repair_that_depends_on_the_torn_tail_is_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_kill, "repaired", lambda dead: dead)
    assert "repair_holds" in accused(swept())


# ---------------------------------------------------------------- where it is not swept, and the command


def test_a_function_cannot_start_from_a_log_and_says_so() -> None:
    async def answers(env: Any) -> str:
        answer = await env.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": env.task}])
        return str(answer.choices[0].message.content)

    sweep = scenario(task="x", script=[{"say": "hello"}]).sweep(subject(answers), "kill")
    assert (sweep.cells, sweep.clean) == ((), False)
    assert "kill is not swept: a run of this subject cannot start from an existing log" in sweep.why


def test_the_command_keeps_the_dead_file_and_says_how_to_resume_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loops.py").write_text("from tests.runner.test_sweep_kill import RunsTheUnknownAgain\nloop = RunsTheUnknownAgain()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("scenarios").mkdir()
    file = Path("scenarios/two.yaml")
    file.write_text(json.dumps({"format": "harness-scenario/1", **FIELDS}), encoding="utf-8")
    told = CliRunner().invoke(app, ["sweep", "scenarios", "--kind", "kill", "--subject", "loops:loop", "--out", "out"])
    assert told.exit_code == 1, told.output
    (dead,) = Path("out").rglob("*-red.jsonl")
    assert f"shown again by harness run --resume {dead} --subject loops:loop" in told.output
    again = CliRunner().invoke(app, ["run", "scenarios", "--resume", str(dead), "--subject", "loops:loop", "--out", "resumed"])
    assert (again.exit_code, "although repair had settled it" in again.output) == (1, True), again.output
    clean = CliRunner().invoke(app, ["sweep", "scenarios", "--kind", "kill", "--out", "out"])
    assert clean.exit_code == 0, clean.output
    assert not dead.exists()
