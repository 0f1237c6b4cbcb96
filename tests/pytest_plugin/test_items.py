"""Each scenario file is a test item; findings stand where a traceback would."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.pytest_plugin import _is_marked
from harness.scenarios import is_scenario_file
from tests.cli.lab import BAD, GOOD, UNSCRIPTED
from tests.pytest_plugin.lab import junit, project, pytest_in, scenarios_in_three_folders

pytestmark = pytest.mark.filterwarnings("error")


def test_good_bad_skipped_and_unrunnable_scenarios_each_get_their_report(tmp_path: Path) -> None:
    project(
        tmp_path,
        scenarios__good_yaml=GOOD + "tags: [quick]\n",
        scenarios__bad_yaml=BAD,
        scenarios__skipped_yaml=GOOD + "skip: waits for the new shop\n",
        scenarios__unrecorded_yaml=UNSCRIPTED,
        scenarios__unknown_yaml=GOOD.replace("[calculator]", "[calculater]"),
        other_yaml="just: notes\n",
    )
    session = pytest_in(tmp_path, "-rs", "--junit-xml=junit.xml", "-W", "error")
    assert session.code == 1
    assert session.counts == "3 failed, 1 passed, 1 skipped"
    assert "FAIL expected_counts" in session.out
    assert "expect 3 steps: there were 2" in session.out
    assert "waits for the new shop" in session.out
    assert "CassetteError: " in session.out
    assert "calculater" in session.out
    assert "Traceback" not in session.out
    assert "executing.py" not in session.out
    assert "pytest_plugin.py" not in session.out.replace("harness/pytest_plugin.py", "")
    cases = {case.get("name"): case for case in junit(tmp_path / "junit.xml").iter("testcase")}
    assert set(cases) == {"good", "bad", "skipped", "unrecorded", "unknown"}
    told = {p.get("name"): p.get("value") for p in cases["bad"].iter("property")}
    assert told == {"harness_outcome": "FAIL", "harness_status": "completed"}
    failure = cases["bad"].find("failure")
    assert failure is not None
    assert "expected_counts" in (failure.text or "")
    assert cases["good"].find("failure") is None
    assert cases["skipped"].find("skipped") is not None


def test_items_are_chosen_by_name_and_by_tag_and_failed_ones_again(tmp_path: Path) -> None:
    project(tmp_path, scenarios__shop__good_yaml=GOOD + "tags: [quick]\n", scenarios__shop__bad_yaml=BAD)
    assert pytest_in(tmp_path, "-k", "quick").counts == "1 passed, 1 deselected"
    assert pytest_in(tmp_path, "cacheprovider").counts == "1 failed, 1 passed"
    assert pytest_in(tmp_path, "cacheprovider", "--lf").counts == "1 failed"


def test_a_scenario_that_cannot_be_loaded_is_a_collection_error_without_traceback(tmp_path: Path) -> None:
    project(tmp_path, broken_yaml=GOOD.replace("expect:", "expct:"))
    session = pytest_in(tmp_path)
    assert session.code == 2
    assert "broken.yaml:7" in session.out
    assert "expct" in session.out
    assert "Traceback" not in session.out
    assert "collecting.py" not in session.out


def test_under_a_configured_path_every_file_must_be_a_scenario(tmp_path: Path) -> None:
    project(
        tmp_path,
        pyproject_toml='[tool.harness]\nscenarios = "cases"\n\n[tool.pytest.ini_options]\naddopts = "--strict-config"\n',
        cases__shop__good_yaml=GOOD,
        cases__notes_yaml="just: notes\n",
    )
    session = pytest_in(tmp_path)
    assert session.code == 2
    assert "notes.yaml" in session.out
    assert "is no scenario" in session.out
    assert pytest_in(tmp_path, "cases/shop", "--collect-only").ids == ["cases/shop/good.yaml::shop/good"]


def test_an_evaluation_under_a_configured_path_is_no_test_item(tmp_path: Path) -> None:
    project(
        tmp_path,
        pyproject_toml='[tool.harness]\nscenarios = "cases"\n\n[tool.pytest.ini_options]\naddopts = "--strict-config"\n',
        cases__shop__good_yaml=GOOD,
        cases__tools_yaml="format: harness-evaluation/1\ncases: []\n",
    )
    session = pytest_in(tmp_path, "--collect-only")
    assert session.ids == ["cases/shop/good.yaml::shop/good"]


def test_another_subject_model_and_folder_can_be_named(tmp_path: Path) -> None:
    project(
        tmp_path,
        myloop_py="async def loop(env):\n    reply = await env.openai().chat.completions.create("
        "model='m', messages=[{'role': 'user', 'content': env.task}])\n    return reply.choices[0].message.content\n",
        hello_yaml="format: harness-scenario/1\ntask: Hello\nscript: [{say: Hi.}]\nexpect: {status: completed, answer: Hi.}\n",
    )
    session = pytest_in(tmp_path, "--harness-subject=myloop:loop", "--harness-out=kept", "hello.yaml::hello")
    assert session.counts == "1 passed", session.out
    assert b'"subject":"myloop:loop"' in (tmp_path / "kept/trajectories/hello@default#1.jsonl").read_bytes()


@pytest.mark.parametrize(
    "text",
    [GOOD, "{format: harness-scenario/1, task: x}", "\ufeff" + GOOD, '"format" : "harness-scenario/1"\n', "x: 1\n", "", "# format: harness-scenario/1\n"],
    ids=["plain", "braces", "byte-order-mark", "quotes", "other", "empty", "in-a-comment"],
)  # fmt: skip
def test_the_idle_plugin_and_the_command_line_agree_on_what_is_a_scenario_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    assert _is_marked(path) is is_scenario_file(str(path))


# ---------------------------------------------------------------- stable collection

_REVERSED = "import os\n\n_scandir = os.scandir\n\nclass _Backwards(list):\n    def __enter__(self):\n        return self\n    def __exit__(self, *e):\n        return None\n    def close(self):\n        pass\n\ndef scandir(path='.'):\n    with _scandir(path) as found:\n        return _Backwards(sorted(found, key=lambda e: e.name, reverse=True))\n\nos.scandir = scandir\n"
_PYTHON = (
    "import pytest\nfrom harness.testing import scenario\n\n"
    "ONE = scenario(task='x', tags={'slow', 'api', 'nightly'}, script=[{'say': 'x'}])\n\n"
    "@pytest.mark.parametrize('tag', ONE.scenario.tags)\ndef test_tag(tag):\n    assert ONE.run().passed\n"
)


@pytest.mark.public_case("PB-043")
def test_collection_is_the_same_for_every_hash_seed_and_order_of_the_folder(tmp_path: Path) -> None:
    scenarios_in_three_folders(tmp_path)
    project(tmp_path, test_tags_py=_PYTHON, backwards_py=_REVERSED)
    variants = [("0", ()), ("1", ("-p", "backwards")), ("2", ())]
    listed = [
        pytest_in(tmp_path, "--collect-only", *options, env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(tmp_path)}).ids
        for seed, options in variants
    ]
    assert len(listed[0]) == 15
    assert listed[0] == listed[1] == listed[2]
    assert not any("0x" in one for one in listed[0])


@pytest.mark.public_case("PB-043")
def test_two_workers_agree_on_what_there_is(tmp_path: Path) -> None:
    scenarios_in_three_folders(tmp_path)
    session = pytest_in(tmp_path, "-n", "2", "-W", "error")
    assert session.code == 0, session.out
    assert "Different tests were collected" not in session.out
    assert session.counts == "12 passed"
