"""A side whose process died before all was run: no base to pass against, and no candidate that passes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.runner.bases.side_runs import BASE, CANDIDATE, _made
from tests.cli.lab import BAD, GOOD, Cli
from tests.cli.shop import Shop, built

LOOK = """\
import os
from pathlib import Path


def look() -> str:
    if DIES:
        os.kill(os.getpid(), 9)
    return "x"


REGISTRY = {"look": look}
"""
LOOKS = """\
format: harness-scenario/1
task: Look.
tools: {from: "tools:REGISTRY"}
script: [{call: {look: {}}}, {say: done}]
"""
DIES, LIVES = LOOK.replace("DIES", "True"), LOOK.replace("DIES", "False")
FILES = {
    "src/tools.py": DIES,
    "scenarios/a.yaml": GOOD,
    "scenarios/k.yaml": LOOKS,
    "scenarios/z.yaml": GOOD,
    "gate.yaml": "format: harness-gate/1\n",
    ".gitignore": "/reports/\n__pycache__/\n",
}


@pytest.fixture
def shop(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A project whose second scenario kills the process that runs it; the change mends that, and alters the third."""
    shop = built(cli.folder / "repo", "", FILES)
    shop.git("checkout", "-q", "-b", "change")
    monkeypatch.chdir(shop.folder)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    shop.write("src/tools.py", LIVES)
    shop.edit("scenarios/z.yaml", "It is 42.", "42!")
    return shop


@pytest.mark.parametrize("gate", [(), ("--gate", "gate.yaml")], ids=["no-gate", "gate"])
def test_a_base_that_died_half_way_is_no_base(gate: tuple[str, ...], shop: Shop, cli: Cli) -> None:
    said = cli("compare", "--against", "main", *gate)
    assert (said.code, said.out) == (5, ""), said.all
    assert "the base broke off" in said.err
    assert "(exit code -9)" in said.err


def test_its_folder_holds_no_new_scenarios_but_such_as_were_not_run(shop: Shop, cli: Cli) -> None:
    assert cli("compare", "--against", "main").code == 5
    info = json.loads(Path("reports/compare/base/run.json").read_text("utf-8"))
    assert info["pending"] == ["a@default#1", "k@default#1", "z@default#1"]
    folders = ("compare", "reports/compare/base", "reports/compare/candidate")
    said = cli(*folders, "--gate", "gate.yaml")
    assert said.code == 3, said.all
    assert "not run" in said.out.splitlines()[1]
    assert "new      z  (in the candidate only, the base planned it and did not run it: " in said.out
    assert cli(*folders).code == 1, "k is whole in the candidate only, and without a gate every difference fails"


def test_a_candidate_that_died_half_way_is_told_and_does_not_pass(shop: Shop, cli: Cli) -> None:
    shop.write("src/tools.py", LIVES)
    shop.git("branch", "-f", "main", shop.commit())
    shop.write("src/tools.py", DIES)
    said = cli("compare", "--against", "main", "--gate", "gate.yaml")
    assert said.code == 1, said.all
    assert "the candidate broke off, and what it had still to run is missing (exit code -9)" in said.err
    assert "missing  z" in said.out


def test_a_finished_folder_says_nothing_is_pending_and_an_interrupted_one_what_is(cli: Cli) -> None:
    cli.write("scenarios/a.yaml", GOOD)
    assert cli("run", "--out", "runs").code == 0
    assert "pending" not in json.loads(Path("runs/run.json").read_text("utf-8"))
    assert "pending" not in cli("run", "--out", "runs", "--json").json


@pytest.mark.parametrize("name", [BASE, CANDIDATE])
def test_runs_of_which_more_left_no_file_than_did_are_runs(name: str, cli: Cli) -> None:
    for one in "abc":
        cli.write(f"scenarios/{one}.yaml", BAD)
    assert cli("run", "--out", "runs").code == 1
    folder = Path("runs")
    info = json.loads((folder / "run.json").read_text("utf-8"))
    lost = [{"run": f"{one}@default#1", "error": "x"} for one in "defg"]
    write(folder, {**info, "planned": 7, "notRun": lost})
    made = _made(name, folder, 5, "last words", [])
    assert len([line for line in made.told if "did not run" in line]) == 4
    write(folder, {**info, "planned": 3, "notRun": [{"run": f"{one}@default#1", "error": "x"} for one in "abc"]})
    with pytest.raises(HarnessError, match=f"the {name} could not be run .exit code 5.: last words"):
        _made(name, folder, 5, "last words", [])
    shutil.rmtree(folder / "trajectories")
    with pytest.raises(HarnessError, match="it said nothing"):
        _made(name, folder, 5, "", [])


def write(folder: Path, info: dict[str, Any]) -> None:
    (folder / "run.json").write_text(json.dumps(info), "utf-8")
