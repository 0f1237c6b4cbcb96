"""Scenarios out of recorded runs: what is made of a run runs as it did, or says why it does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import NothingToRunError
from harness.formats import read_foreign, read_if_known
from harness.mutants import MUTANTS, originals
from harness.runner import LiftedRun, RunOptions, RunSpec, execute, lift_run
from harness.scenarios import collect, parse_scenario, scenario
from harness.types.codes import ClockKind
from harness.types.events import Trajectory
from harness.types.scenario import Scenario
from tests.conftest import REPO

SHIPPED = collect([REPO / "scenarios"], configured=[str(REPO / "scenarios")])

NOT_IN_THE_FILE = {
    "approval/a-childs-calls-pass-the-same-gate": "who answered about a call",
    "approval/whoever-is-asked-throws": "who answered about a call",
    "articles/login-covered-button": "found nothing",
    "articles/same-empty-search": "found nothing",
    "context/folded-by-rule": "history was replaced",
    "context/overflow-then-retried-once": "shorter history",
    "context/overflow-twice": "shorter history",
    "context/refused-where-it-grows": "history was replaced",
    "context/summariser-fails": "history was replaced",
    "context/summed-up-by-a-model": "history was replaced",
    "context/window": "a window of the conversation",
    "inbox/concluded-by-a-tool": "a tool concluded a turn",
    "memory/nothing-under-that-key": "found nothing",
    "recorded/memory_missing_key": "found nothing",
    "tool-work/fails-the-run": "a failing tool ended the run",
    "tool-work/long-result-is-cut": "was cut",
    "tool-work/long-result-is-summed-up": "was summed up by a model",
}
"""Shipped scenarios whose run a lifted one leaves, and the sentence in which that is told."""


def ran(one: Scenario) -> Trajectory:
    return execute(RunSpec(one, RunOptions(cassettes=REPO / "cassettes"))).trajectory


def made_of(**fields: Any) -> LiftedRun:
    return lift_run(ran(scenario(id="made", **fields)))


def again(lifted: LiftedRun) -> Scenario:
    return parse_scenario(lifted.text, "again.yaml")


@pytest.mark.parametrize("one", [pytest.param(one, id=one.id) for one in SHIPPED[::6]])
def test_a_run_of_a_shipped_scenario_becomes_one_that_runs_alike(one: Scenario) -> None:
    lifted = lift_run(ran(one))
    if one.id in NOT_IN_THE_FILE:
        assert any(NOT_IN_THE_FILE[one.id] in text for text in lifted.lost), lifted.lost
    else:
        assert (lifted.passes, lifted.problem, lifted.differs) == (True, "", "")


@pytest.mark.parametrize("one", [pytest.param(one, id=one.id) for one in SHIPPED if one.id in NOT_IN_THE_FILE])
def test_what_a_file_does_not_tell_is_said(one: Scenario) -> None:
    lifted = lift_run(ran(one))
    assert lifted.problem or lifted.differs
    assert any(NOT_IN_THE_FILE[one.id] in text for text in lifted.lost), lifted.lost
    assert all(f"# - {text}"[:60] in lifted.text for text in lifted.lost)


def test_the_written_file_is_the_scenario_that_was_run() -> None:
    lifted = made_of(task="Hello", script=[{"say": "Hi."}], expect={"steps": 1})
    assert again(lifted).script == lifted.scenario.script
    assert execute(RunSpec(again(lifted), RunOptions())).passed


def test_two_runs_of_the_written_file_give_the_same_bytes(tmp_path: Path) -> None:
    lifted = made_of(task="Add.", tools=["calculator"], script=[{"call": {"calculator": {"expression": "1+1"}}}, {"say": "2"}])
    files = []
    for number in (1, 2):
        options = RunOptions(folder=tmp_path / str(number))
        result = execute(RunSpec(again(lifted), options))
        assert result.path is not None
        files.append(result.path.read_bytes().split(b"\n", 1)[1])
    assert files[0] == files[1]


def test_results_by_argument_become_cases_and_others_a_sequence() -> None:
    tool = {"stub": {"look": {"cases": [{"when": {"id": 1}, "returns": "one"}, {"when": {"id": 2}, "returns": "two"}]}, "next": {"sequence": ["a", "b"]}}}
    script = [{"call": {"look": {"id": 1}, "next": {}}}, {"call": {"look": {"id": 2}, "next": {}}}, {"say": "done"}]
    stubs = dict(made_of(task="Look.", tools=tool, script=script).scenario.tools.stubs)
    assert stubs["look"].cases == (('{"id":1}', '"one"'), ('{"id":2}', '"two"'))
    assert stubs["next"].sequence == ('"a"', '"b"')


def test_arguments_that_are_part_of_others_still_get_their_own_result() -> None:
    tool = {"stub": {"look": {"cases": [{"when": {"id": 1, "all": True}, "returns": "every"}, {"when": {"id": 1}, "returns": "one"}]}}}
    script = [{"call": {"look": {"id": 1}}}, {"call": {"look": {"id": 1, "all": True}}}, {"say": "done"}]
    lifted = made_of(task="Look.", tools=tool, script=script)
    assert (lifted.passes, lifted.differs) == (True, "")


def test_a_body_that_failed_once_fails_at_its_own_call() -> None:
    inject = [{"at": {"kind": "tool/start", "nth": 2}, "do": {"fault": {"code": "PERMISSION_DENIED", "message": "no"}}}]
    script = [{"call": {"calculator": {"expression": "1"}}}, {"call": {"calculator": {"expression": "2"}}}, {"say": "."}]
    lifted = made_of(task="Add.", tools=["calculator"], script=script, inject=inject)
    assert (lifted.passes, lifted.differs) == (True, "")
    assert [one.at.call for one in lifted.scenario.inject] == ["call_2_0"]


def test_how_long_bodies_took_is_kept_where_time_was_virtual() -> None:
    tools = {"use": ["probe_slow"], "options": {"probe_slow": {"ms": 70}}}
    lifted = made_of(task="Wait.", tools=tools, script=[{"call": "probe_slow"}, {"say": "."}])
    assert dict(lifted.scenario.tools.stubs)["probe_slow"].delay_ms == 70


def test_a_cancel_comes_back_at_its_boundary() -> None:
    tools = {"use": ["probe_slow"], "options": {"probe_slow": {"ms": 5000}}}
    at = {"kind": "tool/start", "when": {"after_ms": 50}}
    lifted = made_of(task="Wait.", tools=tools, script=[{"call": "probe_slow"}], inject=[{"at": at, "do": "cancel"}])
    (one,) = lifted.scenario.inject
    assert (one.at.kind, one.at.tool, one.at.after_ms) == ("tool/start", "probe_slow", 50)
    assert (lifted.passes, lifted.differs) == (True, "")


def test_a_cancel_in_the_next_tick_is_found_by_trying() -> None:
    at = {"kind": "model/request", "when": "next-tick"}
    script = [{"say": "Late.", "delay_ms": 10}]
    lifted = made_of(task="Wait.", script=script, inject=[{"at": at, "do": "cancel"}])
    assert (lifted.passes, lifted.differs) == (True, "")


CUT = ("articles/weather", "cancellation/first-of-three-is-stopped", "children/one-child", "failures/retry-then-another-model")


@pytest.mark.parametrize("one", [pytest.param(one, id=one.id) for one in SHIPPED if one.id in CUT])
def test_a_run_that_died_anywhere_becomes_a_scenario_that_passes(one: Scenario) -> None:
    whole = ran(one)
    problems = {}
    for n_events in range(9, len(whole.events)):
        lifted = lift_run(replace(whole, events=whole.events[:n_events]))
        if not lifted.passes:
            problems[n_events] = lifted.problem
    assert problems == {}


BROKEN = [
    (f"{name}-{mutant.name}", broken)
    for name, original in originals().items()
    for mutant in list(MUTANTS.values())[::23]
    if (broken := mutant.mutate(original)) is not None
]


def test_a_broken_trajectory_becomes_a_scenario_or_is_refused_and_nothing_else_happens() -> None:
    assert len(BROKEN) > 50
    n_passing = 0
    for _, broken in BROKEN:
        lifted = lift_run(broken)
        assert bool(lifted.problem) is not lifted.passes
        n_passing += lifted.passes
    assert 0 < n_passing < len(BROKEN)


def test_a_run_without_answers_is_refused() -> None:
    run = ran(scenario(id="made", task="x", script=[{"say": "."}]))
    with pytest.raises(NothingToRunError, match="no input"):
        lift_run(replace(run, events=()))


def test_times_of_a_real_clock_are_left_out() -> None:
    run = ran(scenario(id="made", task="x", tools={"use": ["probe_slow"]}, script=[{"call": "probe_slow"}, {"say": "."}]))
    lifted = lift_run(replace(run, header=replace(run.header, clock=ClockKind.SYSTEM)))
    assert dict(lifted.scenario.tools.stubs)["probe_slow"].delay_ms == 0


# ---------------------------------------------------------------- other products' files


@pytest.mark.parametrize(
    ("before", "beside", "system"),
    [
        pytest.param([("system", "Be kind.")], {}, "Be kind.", id="tools-not-known"),
        pytest.param([("system", "Be kind.")], {"tools": []}, "Be kind.", id="tools-known"),
        pytest.param([("system", "Be kind."), ("user", "hi"), ("system", "Now.")], {}, "Be kind.\n\nNow.", id="another-behind-the-task"),
        pytest.param([("user", "hi"), ("system", "Now.")], {}, "Now.", id="only-behind-the-task"),
        pytest.param([("user", "hi")], {"temperature": 0}, None, id="none"),
    ],
)  # fmt: skip
def test_the_system_text_of_a_file_of_another_product_is_that_of_the_scenario(before: list[tuple[str, str]], beside: dict[str, Any], system: str | None, tmp_path: Path) -> None:
    said = before if any(role == "user" for role, _ in before) else [*before, ("user", "hi")]
    messages = [{"role": role, "content": text} for role, text in [*said, ("assistant", "Hello.")]]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"messages": messages, **beside}), "utf-8")
    (read,) = read_foreign(path)
    lifted = lift_run(read)
    assert (lifted.scenario.system, lifted.passes) == (system, True)


def test_every_conversation_of_tau_bench_becomes_a_scenario_that_passes(shared: Path) -> None:
    runs = list(read_foreign(shared / "data" / "tau-bench" / "gpt-4o-airline.json"))
    assert len(runs) == 136
    assert [run.header.run_id for run in runs[::8] if not lift_run(run).passes] == []


REFUSED = {
    "acp-agent/subagent-continuable/session.1.jsonl": "asked for request 3 but its script has 2",
    "acp-agent/subagent-max-tokens-partial/session.1.jsonl": "EMPTY_RESPONSE",
    "headless-agent/compaction-recovery/session.jsonl": "CONTEXT_OVERFLOW",
    "headless-agent/semantic-checkpoint-tool-outcome-unknown/session.expected.jsonl": "SCRIPT_EXHAUSTED",
}
"""Sessions that our loop cannot make again: a turn that never asked, an empty cut answer, a compaction, a gap."""


def test_sessions_of_deepseek_harness_become_scenarios_or_say_why_not(shared: Path) -> None:
    folder = shared / "data" / "deepseek-harness"
    counts = {"pass": 0, "nothing": 0}
    problems = {}
    for path in sorted(one for one in folder.rglob("*.jsonl")):
        for run in read_if_known(path):
            try:
                lifted = lift_run(run)
            except NothingToRunError:
                counts["nothing"] += 1
                continue
            if lifted.passes:
                counts["pass"] += 1
            else:
                problems[path.relative_to(folder).as_posix()] = lifted.problem
    assert counts == {"pass": 82, "nothing": 22}
    assert problems.keys() == REFUSED.keys()
    assert all(REFUSED[name] in text for name, text in problems.items()), problems
