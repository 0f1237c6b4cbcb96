"""Plans: one spec a scenario and trial, everything named looked up first; and how results add up."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigurationError, NothingToRunError, ScenarioError, UnknownNameError, UsageError
from harness.runner import ModelSource, Ran, RunOptions, exit_code_of, plan, run_specs, source_of
from harness.runner.settings import settings
from harness.scenarios import load_scenario, scenario
from harness.types.messages import RunId

ONE = scenario(id="shop/one", task="x", script=[{"say": "x"}])
TWO = scenario(id="shop/two", task="x", script=[{"say": "x"}])
SKIPPED = scenario(id="shop/later", task="x", script=[{"say": "x"}], skip="later")
UNSCRIPTED = scenario(id="shop/live", task="x")


def test_runs_are_planned_scenario_by_scenario_and_trial_by_trial() -> None:
    specs = plan([ONE, SKIPPED, TWO], RunOptions(trials=2, arm="b", folder=Path("out")))
    assert [spec.run_id for spec in specs] == ["shop/one@b#1", "shop/one@b#2", "shop/two@b#1", "shop/two@b#2"]
    assert specs[1].path == Path("out/trajectories/shop/one@b#2.jsonl")


@pytest.mark.parametrize(
    ("chosen", "wanted"), [(ONE, ModelSource.SCRIPTED), (UNSCRIPTED, ModelSource.CASSETTE)], ids=["script", "none"]
)
def test_the_model_is_the_script_where_there_is_one_else_the_cassette(chosen: object, wanted: ModelSource) -> None:
    (spec,) = plan([chosen], RunOptions())  # type: ignore[list-item]
    assert spec.source is wanted


@pytest.mark.public_case("PB-042")
@pytest.mark.parametrize("trials", [0, -1])
def test_no_trials_are_no_plan(trials: int) -> None:
    with pytest.raises(ConfigurationError, match="trials"):
        plan([ONE], RunOptions(trials=trials))


@pytest.mark.public_case("PB-042")
@pytest.mark.parametrize("scenarios", [[], [SKIPPED]], ids=["none", "all-skipped"])
def test_nothing_to_run_is_never_a_good_plan(scenarios: list[object]) -> None:
    with pytest.raises(NothingToRunError, match="no scenarios"):
        plan(scenarios, RunOptions())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"tools": ["calculater"]}, "'shop/x', field 'tools'.*calculater", id="tool"),
        pytest.param({"tools": {"from": "gone:registry"}}, "field 'tools'.*gone", id="registry"),
        pytest.param({"checks": ["paring"]}, "field 'checks'.*paring.*pairing", id="check"),
        pytest.param({"script": [{"function": "gone:reply"}]}, "field 'script'.*gone", id="function"),
        pytest.param({"script": [{"branch": [{"when": {"function": "gone:asks"}, "script": [{"say": "x"}]}]}]}, "field 'script'.*gone", id="condition"),
    ],
)  # fmt: skip
def test_a_name_in_a_scenario_that_leads_nowhere_is_found_before_anything_runs(
    fields: dict[str, object], words: str
) -> None:
    bad = scenario(**{"id": "shop/x", "task": "x", "script": [{"say": "x"}], **fields})
    with pytest.raises(ScenarioError, match=words):
        plan([ONE, bad], RunOptions())


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        pytest.param(RunOptions(subject="my_loop"), UnknownNameError, "my_loop", id="subject"),
        pytest.param(RunOptions(subject="os:sep"), UsageError, "neither a subject nor a function", id="no-subject"),
        pytest.param(RunOptions(checks=("paring",)), UnknownNameError, "paring.*pairing", id="check"),
        pytest.param(RunOptions(source=ModelSource.OWN, model="gpt"), UnknownNameError, "gpt.*scripted", id="model"),
        pytest.param(RunOptions(source=ModelSource.LIVE), ConfigurationError, "OPENAI_API_KEY", id="key"),
        pytest.param(RunOptions(source=ModelSource.RECORD), ConfigurationError, "OPENAI_API_KEY", id="key-to-record"),
        pytest.param(
            RunOptions(source=ModelSource.LIVE, environ=(("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "ftp://x"))),
            ConfigurationError, "OPENAI_BASE_URL", id="url",
        ),
    ],
)  # fmt: skip
def test_an_option_that_leads_nowhere_is_found_before_anything_runs(
    options: RunOptions, error: type[UsageError], words: str
) -> None:
    with pytest.raises(error, match=words):
        plan([ONE], options)


def test_a_scripted_run_needs_a_script() -> None:
    with pytest.raises(ScenarioError, match=r"shop/live.*no script"):
        plan([UNSCRIPTED], RunOptions(source=ModelSource.SCRIPTED))


def test_words_for_models_are_sources_and_other_words_are_names_of_own_ones() -> None:
    assert source_of("cassette") == (ModelSource.CASSETTE, None)
    assert source_of("mine") == (ModelSource.OWN, "mine")
    assert source_of("record") == (ModelSource.OWN, "record")


# ---------------------------------------------------------------- the pool


def test_results_keep_the_order_of_the_plan_and_each_end_is_told() -> None:
    told: list[str] = []
    results = run_specs(plan([TWO, ONE], RunOptions()), jobs=1, tell=lambda ran: told.append(ran.run_id))
    assert [ran.scenario for ran in results] == ["shop/two", "shop/one"]
    assert told == [ran.run_id for ran in results]
    assert all(ran.summary is not None and ran.exit_code == 0 for ran in results)


def test_a_run_that_cannot_run_does_not_stop_the_others(tmp_path: Path) -> None:
    results = run_specs(plan([UNSCRIPTED, ONE], RunOptions(cassettes=tmp_path)), jobs=1, tell=lambda ran: None)
    assert [ran.exit_code for ran in results] == [4, 0]
    assert "CassetteError" in (results[0].error or "")


@pytest.mark.parametrize(
    ("codes", "wanted"),
    [
        pytest.param([0, 0], 0, id="good"),
        pytest.param([], 4, id="nothing"),
        pytest.param([0, 3], 3, id="open"),
        pytest.param([3, 4], 4, id="invalid-before-open"),
        pytest.param([4, 5, 3], 5, id="error-before-invalid"),
        pytest.param([5, 1, 4, 0], 1, id="failure-before-error"),
        pytest.param([1, 2], 2, id="usage-first"),
    ],
)
def test_exit_codes_of_many_runs_have_one_order(codes: list[int], wanted: int) -> None:
    assert exit_code_of([Ran(RunId(str(i)), "s", None, None, code) for i, code in enumerate(codes)]) == wanted


# ---------------------------------------------------------------- settings


def test_a_project_without_settings_has_the_defaults(tmp_path: Path) -> None:
    assert settings(tmp_path).scenarios == ()
    assert settings(tmp_path).cassettes == "cassettes"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("[tool.harness]\nscenaros = 'x'\n", "no key 'scenaros'; known: cassettes, prices, scenarios, subject", id="typo"),
        pytest.param("[tool.harness]\nscenarios = 3\n", "scenarios must be", id="type"),
        pytest.param("[tool.harness\n", "cannot be read", id="no-toml"),
    ],
)  # fmt: skip
def test_settings_that_are_wrong_name_file_and_key(text: str, words: str, tmp_path: Path) -> None:
    tmp_path.joinpath("pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=words) as caught:
        settings(tmp_path)
    assert "pyproject.toml" in str(caught.value)


def test_settings_are_read(tmp_path: Path) -> None:
    text = '[tool.harness]\nscenarios = ["a", "b"]\ncassettes = "tapes"\nsubject = "mine:loop"\n'
    tmp_path.joinpath("pyproject.toml").write_text(text, encoding="utf-8")
    found = settings(tmp_path)
    assert (found.scenarios, found.cassettes, found.subject) == (("a", "b"), "tapes", "mine:loop")


# ---------------------------------------------------------------- what a loop may do to its run

LOOPS = """
import sys

async def leaves(env):
    sys.exit(0)

def leaves_its_thread(env):
    sys.exit(3)

def is_no_coroutine(env):
    raise ValueError("made wrong")

async def raises(env):
    raise RuntimeError("boom")
"""


@pytest.mark.parametrize(
    ("loop", "code", "words"),
    [
        pytest.param("leaves", 5, "sys.exit(0)", id="sys-exit"),
        pytest.param("leaves_its_thread", 5, "sys.exit(3)", id="sys-exit-of-plain-code"),
        pytest.param("is_no_coroutine", 1, "made wrong", id="no-coroutine"),
        pytest.param("raises", 1, "boom", id="exception"),
    ],
)
def test_a_loop_that_misbehaves_fails_its_own_run_and_no_other(
    loop: str, code: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_path.joinpath("bad_loops.py").write_text(LOOPS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    expecting = scenario(id="shop/x", task="x", script=[{"say": "x"}], expect={"status": "completed"})
    specs = plan([expecting, ONE], RunOptions(subject=f"bad_loops:{loop}"))
    results = run_specs(specs, jobs=1, tell=lambda ran: None)
    assert len(results) == 2
    assert results[0].exit_code == code, results[0]
    assert words in (results[0].error or str(results[0].summary))
    gc.collect()
    assert [one.getMessage() for one in caplog.records if one.name == "asyncio"] == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"policy": {"tools": {"calculater": "deny"}}}, "field 'policy.tools.calculater': it names the tool 'calculater'", id="rule"),
        pytest.param(
            {"policy": {"tools": {"calculator": "ask"}, "approvals": [{"tool": "nope", "answer": "allow"}]}},
            r"field 'policy.approvals\[0\].tool': it names the tool 'nope'",
            id="answer",
        ),
        pytest.param({"outcome": {"verifier": "os:nope"}}, "field 'outcome.verifier'", id="verifier"),
        pytest.param(
            {"limits": {"repeats": {"same": 3, "exclude": ["calculator", "nope"]}}},
            r"field 'limits.repeats.exclude\[1\]': it names the tool 'nope', .* there are: calculator", id="excluded-from-repeats",
        ),
        pytest.param(
            {"agents": {"a": {"description": "A.", "limits": {"repeats": {"exclude": ["nope"]}}}}},
            r"field 'agents.a.limits.repeats.exclude\[0\]': it names the tool 'nope'", id="excluded-for-an-agent",
        ),
        pytest.param({"tools": {"use": ["calculator"], "allowed": ["nope"]}}, r"field 'tools.allowed\[0\]'", id="allowed"),
        pytest.param({"expect": {"effects": {"nope": {"at_most": 1}}}}, "field 'expect.effects.nope'", id="effect"),
        pytest.param(
            {"expect": {"provenance": {"arguments": {"nope": ["x"]}}}}, "field 'expect.provenance.arguments.nope'", id="evidence",
        ),
        pytest.param(
            {
                "agents": {"a": {"description": "A.", "tools": ["calculator"]}}, "tools": {"use": ["calculator"], "visible": ["a"]},
                "policy": {"tools": {"calculator": "ask"}, "approvals": [{"tool": "calculator", "answer": "park"}]},
            },
            r"field 'policy.approvals\[0\]': only child agents call 'calculator', .* cannot be parked", id="parked-in-a-child",
        ),
    ],
)  # fmt: skip
def test_what_a_scenario_names_for_its_policy_and_judge_is_looked_up_before_anything_runs(
    fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(ScenarioError, match=words):
        plan([scenario(**{"task": "x", "tools": ["calculator"], "script": [{"say": "x"}], **fields})], RunOptions())


def test_a_loop_that_brings_its_own_tools_is_asked_about_them() -> None:
    expect = {"effects": {"refund": {"at_most": 1}}, "provenance": {"arguments": {"refund": ["order"]}}}
    (spec,) = plan([scenario(task="x", script=[{"say": "x"}], expect=expect)], RunOptions())
    assert spec.scenario.expect.effects


def test_what_is_refused_before_anything_runs_names_its_file_line_and_field(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "format: harness-scenario/1\ntask: x\ntools: [calculator]\nscript:\n  - say: x\npolicy:\n  read_only: true\n"
        "  tools:\n    calculator: ask\n    nope: deny\n",
        encoding="utf-8",
    )
    loaded = load_scenario(file)
    with pytest.raises(ScenarioError, match=r"x\.yaml:10, field 'policy\.tools\.nope': it names the tool 'nope'"):
        plan([loaded], RunOptions())
    file.unlink()
    with pytest.raises(ScenarioError, match=r"x\.yaml, field 'policy\.tools\.nope': it names the tool 'nope'"):
        plan([loaded], RunOptions())
