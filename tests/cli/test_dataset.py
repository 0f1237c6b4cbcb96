"""``harness dataset`` as a stranger uses it: every command, what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.documents import read_document
from harness.scenarios.evaluation_loading import load_evaluation
from harness.scenarios.evaluation_schema import evaluation_schema
from tests.cli.lab import GOOD, Cli
from tests.tools.sourcing import SERVERS

TOOLS = """\
- name: get_order
  description: Call this whenever the user asks where an order is.
  parameters: {type: object, properties: {id: {type: integer, description: The number of the order.}}, required: [id]}
- name: refund_order
  description: Call this only when the user asks for money back.
  parameters: {type: object, properties: {id: {type: integer, description: The number of the order.}}, required: [id]}
"""
SHOP = """\
format: harness-evaluation/1
tools: {schemas: tools.yaml}
arms: {now: {}, new: {descriptions: {get_order: Finds an order.}}}
cases:
  - {ask: "Where is order 7?", expect: {get_order: {id: 7}}, never: [refund_order]}
  - {ask: "Thanks, bye", expect: no_call}
gate: {metric: case_pass_rate, margin: 0.10}
"""


@pytest.fixture
def shop(cli: Cli) -> Cli:
    cli.write("tools.yaml", TOOLS)
    cli.write("shop.yaml", SHOP)
    return cli


# ---------------------------------------------------------------- check


def test_an_evaluation_that_fits_says_so(shop: Cli) -> None:
    said = shop("dataset", "check", "shop.yaml")
    assert (said.code, said.out, said.err) == (0, "2 cases, 2 units, 2 arms, 2 tools: everything fits\n", "")


def test_what_does_not_fit_is_listed_with_its_place(shop: Cli) -> None:
    shop.write("bad.yaml", SHOP.replace("{get_order: {id: 7}}", "{get_order: {nr: 7}}").replace("[refund_order]", "[refund]").replace("{get_order: Finds", "{get_ordr: Finds"))
    said = shop("dataset", "check", "bad.yaml")
    assert said.code == 1
    assert said.out.splitlines() == [
        "arms.new.descriptions: no tool 'get_ordr'; did you mean 'get_order'?",
        "case 'where-is-order-7' (line 5), never: no tool 'refund'; did you mean 'refund_order'?",
        "case 'where-is-order-7' (line 5), expect.get_order: leaves out 'id', which 'get_order' requires; give a value, or {$any: true}",
        "case 'where-is-order-7' (line 5), expect.get_order: 'get_order' has no argument 'nr'; there are 'id'",
        "2 cases, 2 units, 2 arms, 2 tools: 4 problems",
    ]


def test_checking_gives_one_json_object(shop: Cli) -> None:
    shop.write("bad.yaml", SHOP.replace("no_call", "no_cal"))
    said = shop("dataset", "check", "bad.yaml", "--json")
    assert said.code == said.json["exitCode"] == 1
    assert said.json["problems"] == [
        {"place": "case 'thanks-bye' (line 6)", "field": "expect", "message": "no tool 'no_cal'; did you mean 'no_call'?", "fatal": True}
    ]
    assert said.json["toolsDigest"].startswith("sha256:")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(SHOP.replace("cases:", "caes:"), "bad.yaml:4, field 'caes': unknown field 'caes'; did you mean 'cases'?", id="typo"),
        pytest.param(SHOP.replace("tools.yaml", "nowhere.yaml"), "nowhere.yaml", id="no-tools"),
        pytest.param(SHOP.replace("0.10", "0"), "field 'gate.margin'", id="gate"),
        pytest.param(GOOD, "must be 'harness-evaluation/1'", id="a-scenario"),
    ],
)
def test_what_cannot_be_loaded_is_exit_code_2(text: str, words: str, shop: Cli) -> None:
    shop.write("bad.yaml", text)
    said = shop("dataset", "check", "bad.yaml")
    assert (said.code, said.out) == (2, "")
    assert words in said.err


def test_a_server_is_listed_and_none_of_its_tools_is_called(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLED", str(shop.folder / "called.txt"))
    import sys

    text = SHOP.replace("{schemas: tools.yaml}", json.dumps({"mcp": {"command": f"{sys.executable} {SERVERS / 'orders.py'}", "env": ["CALLED"]}}))
    shop.write("mcp.yaml", text)
    said = shop("dataset", "check", "mcp.yaml")
    assert (said.code, said.out.splitlines()[-1]) == (0, "2 cases, 2 units, 2 arms, 3 tools: everything fits"), said.all
    assert not shop.folder.joinpath("called.txt").exists()


def test_what_cannot_be_judged_is_never_asked(shop: Cli) -> None:
    shop.write("answers.py", "def answer(call):\n    open('asked', 'w').close()\n    return 'Bye!'\n")
    bad = SHOP.replace("arms:", 'model: {from: "answers:answer"}\narms:').replace("no_call", "no_cal").replace("[refund_order]", "[refund]")
    shop.write("bad.yaml", bad)
    said = shop("evaluate", "bad.yaml")
    assert (said.code, said.out, shop.folder.joinpath("asked").exists()) == (2, "", False)
    assert said.err.splitlines() == [
        "error: bad.yaml does not fit its tools:",
        "case 'where-is-order-7' (line 6), never: no tool 'refund'; did you mean 'refund_order'?",
        "case 'thanks-bye' (line 7), expect: no tool 'no_cal'; did you mean 'no_call'?",
    ]


def test_what_no_call_can_meet_is_told_and_asked_all_the_same(shop: Cli) -> None:
    shop.write("answers.py", "def answer(call):\n    return 'Bye!'\n")
    shop.write("odd.yaml", SHOP.replace("arms:", 'model: {from: "answers:answer"}\narms:').replace("{id: 7}", '{id: "7"}').replace("gate:", "running: {at_once: 1}\ngate:"))
    said = shop("evaluate", "odd.yaml")
    assert said.code in (0, 1, 3, 4), said.all
    assert "note: what is expected does not fit the tools (1 times), as in case 'where-is-order-7'" in said.err


STUBBED = SHOP.replace("arms:", "stubs: {get_order: {returns: on its way}, refund_order: {returns: done}}\narms:")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        pytest.param(STUBBED.replace(", refund_order: {returns: done}", ""), "tool 'refund_order' has no stub", id="no-stub"),
        pytest.param(SHOP.replace("arms:", "execute: true\narms:"), "tool 'get_order' has no stub", id="no-body"),
        pytest.param(STUBBED.replace("new: {", "new: {history_turns: 1, ").replace("arms:", "padding: [{user: Hi}, {assistant: Hi}]\narms:"), "arm 'new' has 'history_turns'", id="padded-loop"),
        pytest.param(STUBBED.replace("expect: no_call", "expect: no_call, history: [{user: Hi}, {assistant: Hi}]"), "begins with a conversation", id="loop-with-a-history"),
    ],
)
def test_what_an_evaluation_would_be_refused_for_is_a_problem_of_the_check(text: str, word: str, shop: Cli) -> None:
    shop.write("answers.py", "def answer(call):\n    return 'Bye!'\n")
    shop.write("loop.yaml", text.replace("arms:", 'model: {from: "answers:answer"}\narms:'))
    checked, run = shop("dataset", "check", "loop.yaml"), shop("evaluate", "loop.yaml")
    assert (checked.code, run.code) == (1, 2), checked.all + run.all
    assert word in checked.out
    assert word in run.err


def test_a_whole_loop_that_can_be_run_fits(shop: Cli) -> None:
    shop.write("loop.yaml", STUBBED)
    assert shop("dataset", "check", "loop.yaml").out.endswith("everything fits\n")


# ---------------------------------------------------------------- init


def test_a_skeleton_is_an_evaluation_whose_cases_are_to_be_filled_in(shop: Cli) -> None:
    said = shop("dataset", "init", "--schemas", "tools.yaml", "-o", "evals/mine.yaml")
    assert (said.code, said.out.splitlines()[0]) == (0, "written  evals/mine.yaml: 2 tools, 3 cases to fill in"), said.all
    value = load_evaluation(shop.folder / "evals/mine.yaml")
    assert [case.id for case in value.cases] == ["get_order", "refund_order", "no-tool"]
    assert read_document(shop.folder / "evals/mine.yaml").value["tools"] == {"schemas": "../tools.yaml"}
    checked = shop("dataset", "check", "evals/mine.yaml")
    assert checked.code == 1
    assert checked.out.count("begins with 'FILL IN'") == 3


def test_a_skeleton_that_is_filled_in_fits(shop: Cli) -> None:
    shop("dataset", "init", "--schemas", "tools.yaml", "-o", "mine.yaml")
    text = shop.folder.joinpath("mine.yaml").read_text("utf-8")
    shop.write("mine.yaml", text.replace("FILL IN: ", ""))
    assert shop("dataset", "check", "mine.yaml").out.endswith("everything fits\n")


def test_a_tool_that_asks_gives_a_case_that_asks_back(shop: Cli) -> None:
    shop.write("tools.yaml", TOOLS + "- {name: ask_user, description: Call this when something is missing.}\n")
    assert shop("dataset", "init", "--schemas", "tools.yaml", "-o", "mine.yaml").code == 0
    assert "expect: ask_user" in shop.folder.joinpath("mine.yaml").read_text("utf-8").split("cases:")[1]


def test_a_file_that_is_there_stays(shop: Cli) -> None:
    said = shop("dataset", "init", "--schemas", "tools.yaml", "-o", "shop.yaml")
    assert said.code == 2
    assert "shop.yaml is there already: name another file with -o" in said.err
    assert shop.folder.joinpath("shop.yaml").read_text("utf-8") == SHOP


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param([], "name the tools: --mcp, --openapi, --from, --schemas or --use", id="no-tools"),
        pytest.param(["--env", "X", "--use", "calculator"], "it goes with --mcp", id="environment-of-nothing"),
        pytest.param(["--use", "calculatr"], "calculatr", id="no-such-built-in"),
        pytest.param(["--schemas", "nowhere.yaml"], "nowhere.yaml", id="no-such-file"),
        pytest.param(["--from", "registry"], "package.module:name", id="registry-without-module"),
    ],
)
def test_tools_that_cannot_be_listed_are_refused_and_nothing_is_written(arguments: list[str], words: str, shop: Cli) -> None:
    said = shop("dataset", "init", *arguments, "-o", "mine.yaml")
    assert said.code == 2
    assert words in said.err
    assert not shop.folder.joinpath("mine.yaml").exists()


# ---------------------------------------------------------------- lint


@pytest.mark.article("39")
def test_descriptions_are_looked_through(shop: Cli) -> None:
    assert shop("dataset", "lint", "shop.yaml").out == "2 tools: nothing is wrong\n"
    shop.write("tools.yaml", TOOLS.replace("Call this whenever the user asks where an order is.", ""))
    said = shop("dataset", "lint", "shop.yaml")
    assert said.code == 1
    assert said.out.splitlines()[0].startswith("get_order: ")
    assert said.out.splitlines()[-1] == "2 tools: 1 finding"


def test_tools_can_be_looked_through_without_an_evaluation(shop: Cli) -> None:
    said = shop("dataset", "lint", "--use", "calculator", "--json")
    assert (said.code, said.json) == (0, {"nTools": 1, "findings": [], "exitCode": 0})


@pytest.mark.parametrize("arguments", [[], ["shop.yaml", "--use", "calculator"]], ids=["nothing", "both"])
def test_one_thing_is_looked_through_at_a_time(arguments: list[str], shop: Cli) -> None:
    said = shop("dataset", "lint", *arguments)
    assert said.code == 2
    assert "name an evaluation, or tools with" in said.err


# ---------------------------------------------------------------- from


@pytest.fixture
def runs(cli: Cli) -> Cli:
    cli.write("scenarios/sums.yaml", GOOD)
    assert cli("run", "--out", "runs").code == 0
    return cli


def test_runs_become_an_evaluation_that_can_be_checked(runs: Cli) -> None:
    said = runs("dataset", "from", "runs", "-o", "mine.yaml")
    assert (said.code, said.out.splitlines()[0]) == (0, "written  mine.yaml: 1 case in 1 unit"), said.all
    (case,) = load_evaluation(runs.folder / "mine.yaml").cases
    assert (case.ask, case.accept[0].calls[0].arguments) == ("What is 6 * 7?", '{"expression":"6 * 7"}')
    assert runs("dataset", "check", "mine.yaml").code == 0


def test_decisions_behind_results_become_cases_on_demand(runs: Cli) -> None:
    assert runs("dataset", "from", "runs", "-o", "mine.yaml", "--decisions", "every").code == 0
    assert [case.ask for case in load_evaluation(runs.folder / "mine.yaml").cases] == ["What is 6 * 7?", ""]


def test_a_large_set_of_cases_stands_in_a_file_of_lines(cli: Cli) -> None:
    turns = [{"role": "user", "content": f"Question {n}: " + "words " * 500} if kind == 0 else {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{n}", "type": "function", "function": {"name": "get", "arguments": "{}"}}]} if kind == 1 else {"role": "tool", "tool_call_id": f"c{n}", "content": "x"} for n in range(30) for kind in (0, 1, 2)]
    cli.write("chat.json", json.dumps({"messages": turns}))
    said = cli("dataset", "from", "chat.json", "-o", "big.yaml")
    assert said.code == 0, said.all
    assert sorted(path.name for path in cli.folder.glob("big*")) == ["big-cases.jsonl", "big-tools.json", "big.yaml"]
    assert len(load_evaluation(cli.folder / "big.yaml").cases) == 30
    assert cli("dataset", "check", "big.yaml").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        pytest.param(["runs", "-o", "mine.json"], 2, "name a .yaml file", id="suffix"),
        pytest.param(["runs", "-o", "taken.yaml"], 2, "is there already", id="taken"),
        pytest.param(["runs", "-o", "mine.yaml", "--decisions", "al"], 2, "there are 'every', 'first', 'turn'", id="decisions"),
        pytest.param(["nowhere", "-o", "mine.yaml"], 2, "no such file or folder", id="no-runs"),
        pytest.param(["empty", "-o", "mine.yaml"], 4, "there are no runs", id="empty"),
    ],
)
def test_what_cannot_be_made_is_refused(arguments: list[str], code: int, words: str, runs: Cli) -> None:
    runs.write("taken.yaml", "mine")
    runs.folder.joinpath("empty").mkdir()
    said = runs("dataset", "from", *arguments)
    assert said.code == code
    assert words in said.err
    assert runs.folder.joinpath("taken.yaml").read_text("utf-8") == "mine"


def test_a_file_is_written_over_where_somebody_says_so(runs: Cli) -> None:
    runs.write("mine.yaml", "old")
    assert runs("dataset", "from", "runs", "-o", "mine.yaml", "--force").code == 0
    assert load_evaluation(runs.folder / "mine.yaml").cases[0].ask == "What is 6 * 7?"


# ---------------------------------------------------------------- import

ROW: dict[str, Any] = {
    "id": "simple_python_0", "question": [[{"role": "user", "content": "Area of a triangle, base 10, height 5?"}]],
    "function": [{"name": "area.triangle", "description": "Area.", "parameters": {"type": "dict", "properties": {"base": {"type": "integer"}, "height": {"type": "integer"}, "unit": {"type": "string"}}, "required": ["base", "height"]}}],
}  # fmt: skip
ANSWER = {"id": "simple_python_0", "ground_truth": [{"area.triangle": {"base": [10], "height": [5], "unit": ["units", ""]}}]}


@pytest.fixture
def bench(cli: Cli) -> Cli:
    cli.write("bfcl/BFCL_v4_simple_python.json", json.dumps(ROW) + "\n")
    cli.write("bfcl/possible_answer/BFCL_v4_simple_python.json", json.dumps(ANSWER) + "\n")
    return cli


@pytest.mark.parametrize("grading", ["matchers", "bfcl"])
def test_items_of_the_benchmark_become_an_evaluation_that_fits_its_tools(grading: str, bench: Cli) -> None:
    said = bench("dataset", "import", "bfcl", "bfcl", "-o", "b.yaml", "--grading", grading)
    assert (said.code, said.out) == (0, "written  b.yaml, b-tools.json, b-cases.jsonl: 1 case\n"), said.all
    value = load_evaluation(bench.folder / "b.yaml")
    assert (value.grading.value, value.cases[0].tools) == (grading, ("area_triangle",))
    assert (value.cases[0].bfcl is None) is (grading == "matchers")
    assert bench("dataset", "check", "b.yaml").out == "1 case, 1 unit, 1 arm, 1 tool: everything fits\n"


def test_another_grading_is_refused(bench: Cli) -> None:
    said = bench("dataset", "import", "bfcl", "bfcl", "-o", "b.yaml", "--grading", "model")
    assert (said.code, bench.folder.joinpath("b.yaml").exists()) == (2, False)
    assert "unknown value 'model'; there are 'bfcl', 'matchers'" in said.err


def test_a_file_beside_that_is_there_stays(bench: Cli) -> None:
    bench.write("b-cases.jsonl", "mine")
    said = bench("dataset", "import", "bfcl", "bfcl", "-o", "b.yaml")
    assert (said.code, bench.folder.joinpath("b.yaml").exists()) == (2, False)
    assert "b-cases.jsonl is there already" in said.err


# ---------------------------------------------------------------- schema


def test_the_schema_is_printed_as_published(cli: Cli) -> None:
    assert json.loads(cli("dataset", "schema").out) == evaluation_schema()


def test_a_place_that_is_none_is_refused(shop: Cli) -> None:
    shop.write("afile", "mine")
    for arguments in (["init", "--use", "calculator", "-o", "afile/x.yaml"], ["from", "shop.yaml", "-o", "afile/x.yaml"]):
        said = shop("dataset", *arguments)
        assert said.code == 2
        assert "afile" in said.err
    assert Path(shop.folder / "afile").read_text("utf-8") == "mine"
