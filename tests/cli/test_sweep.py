"""``harness sweep``: a strip for each scenario, red cells with their file, exit codes."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import RecordingFailed
from tests.cli.lab import GOOD, UNSCRIPTED, Cli

LOOPS = """\
import asyncio
import signal
from tests.runner.sweep_lab import AsksOnceMore, DiesOfATool, TellsTheModel

n_runs = 0

async def sane(env):
    return await TellsTheModel(env).run()

async def asks_once_more(env):
    return await AsksOnceMore(env).run()

async def dies(env):
    return await DiesOfATool(env).run()

async def counts(env):
    global n_runs
    n_runs += 1
    loop = TellsTheModel(env)
    loop.messages[0]["content"] = f"run {n_runs}"
    return await loop.run()

async def interrupts(env):
    if env.scenario.id == "six":
        signal.raise_signal(signal.SIGINT)
    return await TellsTheModel(env).run()

async def one_task(env):
    return env.task
"""


@pytest.fixture
def shop(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A folder with two scenarios and a module of loops."""
    cli.write("scenarios/six.yaml", GOOD)
    cli.write("scenarios/seven.yaml", GOOD.replace("6 * 7", "7 * 7").replace("42", "49"))
    cli.write("loops_of_the_sweep.py", LOOPS)
    monkeypatch.delitem(sys.modules, "loops_of_the_sweep", raising=False)
    return cli


def test_a_clean_sweep_says_a_strip_for_each_scenario_and_exits_with_0(shop: Cli) -> None:
    said = shop("sweep")
    assert said.code == 0, said.all
    lines = said.out.splitlines()
    assert lines[0].startswith("PASS  seven  ")
    assert "  cancel inside                .19 -1" in lines
    assert "  tool-error                   .1" in lines
    assert lines[-1].startswith("2 of 2 scenarios swept: ")
    assert " 0 red, 0 flaky, " in lines[-1]
    assert not (shop.folder / "reports").exists(), "nothing is red, nothing is written"


def test_a_red_cell_is_told_with_its_finding_and_a_file_that_shows_it_again(shop: Cli) -> None:
    by = ("--subject", "loops_of_the_sweep:asks_once_more")
    said = shop("sweep", "--kind", "cancel", "-k", "six", "--out", "red", *by)
    assert said.code == 1, said.all
    assert "FAIL  six" in said.out
    assert "cancel_no_model_request: cancel, " in said.out
    assert "shown again by red/six-red.yaml" in said.out
    again = shop("run", "red/six-red.yaml", *by)
    assert again.code == 1
    assert "cancel_no_model_request" in again.out
    assert shop("sweep", "--kind", "cancel", "-k", "six", "--out", "red").code == 0
    assert not (shop.folder / "red/six-red.yaml").exists(), "what is not red any more is not shown again"


def test_only_the_named_kinds_are_swept_and_ticks_on_demand(shop: Cli) -> None:
    rows = [{line.split("  ")[0] for line in sweep["strip"]} for sweep in shop("sweep", "--kind", "tool-error", "--json").json["sweeps"]]
    assert rows == [{"tool-error"}] * 2
    said = shop("sweep", "--kind", "cancel", "--ticks", "--json").json
    assert all(any(line.startswith("cancel tick") for line in sweep["strip"]) for sweep in said["sweeps"])


@pytest.mark.parametrize(
    ("subject", "outcome", "code"),
    [
        pytest.param("dies", "FAIL", 1, id="red"),
        pytest.param("counts", "INCONCLUSIVE", 3, id="flaky"),
        pytest.param("sane", "PASS", 0, id="clean"),
    ],
)
def test_the_exit_code_and_the_json_follow_the_cells(subject: str, outcome: str, code: int, shop: Cli) -> None:
    said = shop("sweep", "--kind", "tool-error", "-k", "six", "--json", "--subject", f"loops_of_the_sweep:{subject}")
    assert (said.code, said.json["exitCode"]) == (code, code)
    (one,) = said.json["sweeps"]
    assert (one["scenario"], one["outcome"], one["clean"]) == ("six", outcome, code == 0)
    assert bool(one["reproduction"]) == (code == 1)
    assert {cell["outcome"] for cell in one["cells"]} == {1: {"red"}, 3: {"flaky"}, 0: set()}[code]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        pytest.param(["sweep", "--kind", "cancle"], 2, "cancle", id="unknown-kind"),
        pytest.param(["sweep", "--subject", "loops_of_the_sweep:gone"], 2, "gone", id="unknown-subject"),
        pytest.param(["sweep", "-j", "0"], 2, "jobs is 0", id="no-jobs"),
        pytest.param(["sweep", "unscripted.yaml"], 4, "no scenarios", id="no-script"),
        pytest.param(["sweep", "-k", "gone"], 4, "no scenarios", id="none-left"),
        pytest.param(["sweep", "two.yaml", "--subject", "loops_of_the_sweep:one_task"], 4, "has 2 tasks", id="cannot-take-it"),
        pytest.param(["sweep", "words.yaml", "--kind", "tool-error"], 4, "0 cells", id="no-boundary"),
    ],
)  # fmt: skip
def test_where_nothing_is_swept_it_says_why(arguments: list[str], code: int, words: str, shop: Cli) -> None:
    shop.write("unscripted.yaml", UNSCRIPTED)
    shop.write("two.yaml", "format: harness-scenario/1\ntasks: [a, b]\nscript: [say: x]\nallow_leftovers: true\n")
    shop.write("words.yaml", "format: harness-scenario/1\ntask: a\nscript: [say: x]\n")
    said = shop(*arguments)
    assert (said.code, words in said.all) == (code, True), said.all


def test_two_processes_sweep_what_one_does(shop: Cli) -> None:
    alone, shared = shop("sweep", "--json").json, shop("sweep", "-j", "2", "--json").json
    by_name = sorted(shared["sweeps"], key=lambda one: str(one["scenario"]))
    assert by_name == alone["sweeps"]


def test_an_interrupted_sweep_says_how_many_scenarios_were_planned_and_how_many_are_done(shop: Cli) -> None:
    by = ("--kind", "tool-error", "--subject", "loops_of_the_sweep:interrupts")
    said = shop("sweep", *by)
    assert said.code == 130
    assert said.out.splitlines()[-1].startswith("1 of 2 scenarios swept, 1 not begun or not ended: ")
    told = shop("sweep", "--json", *by)
    assert (told.code, told.json["planned"], len(told.json["sweeps"]), told.json["finished"]) == (130, 2, 1, False)
    whole = shop("sweep", "--json", "--kind", "tool-error").json
    assert (whole["planned"], len(whole["sweeps"]), whole["finished"]) == (2, 2, True)


# ---------------------------------------------------------------- one HTML file


def blocks_of(path: Path) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="([a-z0-9-]+)">(.*?)</script>', path.read_text("utf-8"))
    return {name: json.loads(text) for name, text in found}


def test_the_page_shows_the_strip_the_red_cells_and_what_shows_them_again(shop: Cli) -> None:
    said = shop("sweep", "--kind", "cancel", "--subject", "loops_of_the_sweep:asks_once_more", "--html", "out/sweep.html")
    assert said.code == 1, said.all
    found = blocks_of(shop.folder / "out" / "sweep.html")
    sweeps = found["plots"]["sweeps"]
    assert [one["scenario"] for one in sweeps] == ["seven", "six"]
    for one in sweeps:
        assert (one["outcome"], one["reproduction"]) == ("FAIL", f"reports/sweep/{one['scenario']}-red.yaml")
        assert sum("X" in row["signs"] for row in one["rows"]) > 0
        assert one["cells"][0]["findings"][0]["check"].startswith("cancel_no_")
    review = found["overview"]["review"]
    assert (review["verdict"]["outcome"], review["verdict"]["text"]) == ("FAIL", said.out.splitlines()[-1])
    assert review["command"] == "harness sweep --kind cancel --subject loops_of_the_sweep:asks_once_more --html out/sweep.html"


def test_the_command_of_the_page_says_where_files_went_and_makes_the_same_page_again(shop: Cli) -> None:
    by = ("sweep", "--kind", "cancel", "--subject", "loops_of_the_sweep:asks_once_more", "--out", "my red", "--html", "out/sweep.html")
    assert shop(*by).code == 1
    command = blocks_of(shop.folder / "out" / "sweep.html")["overview"]["review"]["command"]
    assert shlex.split(command) == ["harness", *by]
    before = sorted(path.name for path in (shop.folder / "my red").iterdir())
    assert before
    for path in (shop.folder / "my red").iterdir():
        path.unlink()
    assert shop(*shlex.split(command)[1:]).code == 1
    assert sorted(path.name for path in (shop.folder / "my red").iterdir()) == before


def test_the_same_results_lie_beside_the_page_as_json(shop: Cli) -> None:
    said = shop("sweep", "--kind", "tool-error", "--html", "sweep.html", "--json")
    written = json.loads((shop.folder / "sweep.json").read_text("utf-8"))
    assert written == {"format": "harness-sweeps/1", **said.json}


@pytest.mark.parametrize(
    ("place", "word"),
    [pytest.param("out.json", "end in .html", id="no-page"), pytest.param("six.html/x.html", "no folder", id="no-folder")],
)
def test_a_place_where_no_page_can_lie_is_refused_before_anything_is_swept(shop: Cli, place: str, word: str) -> None:
    shop.write("six.html", "a file")
    said = shop("sweep", "--html", place)
    assert said.code == 2
    assert word in said.err
    assert "PASS" not in said.out


def test_a_page_that_cannot_be_written_changes_nothing_about_the_exit_code(
    shop: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, chunks: Any) -> None:
        raise RecordingFailed(f"{path}: cannot be written: no space left on device")

    monkeypatch.setattr("harness.store.replace_file", full)
    said = shop("sweep", "--kind", "tool-error", "--html", "sweep.html")
    assert said.code == 0, said.all
    assert said.err.count("no space left on device") == 2
