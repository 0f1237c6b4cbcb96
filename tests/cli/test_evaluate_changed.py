"""What was changed after the answers is named, and what had to be declared before them is refused."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from tests.cli.lab import Cli

TOOLS = """\
- {name: get_order, description: Finds an order., parameters: {type: object, properties: {id: {type: integer}}, required: [id]}}
- {name: refund_order, description: Pays back., parameters: {type: object, properties: {id: {type: integer}}, required: [id]}}
"""
SHOP = """\
format: harness-evaluation/1
tools: {schemas: tools.yaml}
model: {from: "shop_model:answer"}
trials: 1
arms: {now: {}, new: {system: Be quick.}}
gate: {margin: 0.1}
cases:
"""
SHOP += "".join(f'  - {{ask: "Where is order {n}?", expect: {{get_order: {{id: {n}}}}}}}\n' for n in range(12))
MODEL = """\
import json
from harness.types.script import ScriptCall, ScriptReply

def answer(call):
    number = call.messages[-1].content.split()[-1].rstrip("?")
    return ScriptReply(calls=(ScriptCall("get_order", json.dumps({"id": int(number)})),))

other = answer
"""
FOLDER = "reports/evaluations/shop"


@pytest.fixture
def shop(cli: Cli) -> Cli:
    """An evaluation with a gate that was run."""
    cli.write("shop.yaml", SHOP)
    cli.write("tools.yaml", TOOLS)
    cli.write("shop_model.py", MODEL)
    sys.modules.pop("shop_model", None)
    cli("evaluate", "shop.yaml")
    return cli


CHANGES = [
    pytest.param("margin: 0.1", "margin: 0.9", "gate.margin was 0.1 and is 0.9", id="margin"),
    pytest.param("margin: 0.1", "margin: 0.1, alpha: 0.2", "gate.alpha was not there and is 0.2", id="alpha"),
    pytest.param("margin: 0.1", "margin: 0.1, estimand: these cases", "gate.estimand", id="estimand"),
    pytest.param("margin: 0.1", "margin: 0.1, base: new, candidate: now", "gate.base", id="turned-round"),
    pytest.param("gate: {margin: 0.1}\n", "", "gate was", id="gate-gone"),
    pytest.param('order 3?"', 'order 3?", group: mine', "group of case", id="units"),
    pytest.param('order 3?"', 'order 3?", split: held-out', "split of case", id="split"),
    pytest.param("shop_model:answer", "shop_model:other", "model", id="model"),
    pytest.param("gate:", "stubs: {get_order: {returns: 1}, refund_order: {returns: 2}}\ngate:", "stubs", id="stubs"),
]


@pytest.mark.parametrize(("old", "new", "words"), CHANGES)
def test_what_was_declared_before_the_answers_is_not_changed_behind_them(old: str, new: str, words: str, shop: Cli) -> None:
    before = (shop.folder / FOLDER / "summary.json").read_bytes()
    shop.write("shop.yaml", SHOP.replace(old, new))
    said = shop("evaluate", "shop.yaml", "--regrade")
    assert (said.code, said.out) == (2, "")
    assert "changed after the answers" in said.err
    assert words in said.err
    assert (shop.folder / FOLDER / "summary.json").read_bytes() == before


def test_other_expectations_are_taken_and_the_exit_code_is_told_anew(shop: Cli) -> None:
    shutil.rmtree(shop.folder / FOLDER)
    plain = SHOP.replace("gate: {margin: 0.1}\n", "")
    shop.write("shop.yaml", plain)
    shop("evaluate", "shop.yaml")
    path = shop.folder / FOLDER / "run.json"
    before = json.loads(path.read_bytes())
    wrong = plain
    for n in range(12):
        wrong = wrong.replace(f"{{id: {n}}}", "{id: 99}")
    shop.write("shop.yaml", wrong)
    said = shop("evaluate", "shop.yaml", "--regrade")
    assert "0 passed + 12 failed" in said.out
    after = json.loads(path.read_bytes())
    assert (before["exitCode"], after["exitCode"], said.code) == (0, 1, 1)
    assert after["trialsNow"] == before["trialsNow"]


@pytest.mark.parametrize("model", [pytest.param(None, id="the-files-function"), pytest.param("cassette", id="recordings-that-are-not-there")])
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        *CHANGES[:5],
        pytest.param("{id: 3}", "{id: 33}", "expect of case", id="expectation"),
        pytest.param("Where is order 3?", "Is order 3 there?", "case 'is-order-3-there' is new", id="question"),
        pytest.param("Be quick.", "Be slow.", 'arms.new.system was "Be quick." and is "Be slow."', id="arm"),
        pytest.param("cases:\n", 'cases:\n  - {ask: "Where is order 77?", expect: {get_order: {id: 77}}}\n', "there were 12 cases and are 13", id="one-more"),
    ],
)
def test_a_folder_of_another_evaluation_says_what_differs(old: str, new: str, words: str, model: str | None, shop: Cli) -> None:
    shop.write("shop.yaml", SHOP.replace(old, new))
    said = shop("evaluate", "shop.yaml", *(("--model", model) if model else ()))
    assert said.code == 2
    assert words in said.err
    assert "--regrade" in said.err


def test_how_it_is_run_may_change(shop: Cli) -> None:
    shop.write("shop.yaml", SHOP.replace("gate:", "title: Other\nrunning: {at_once: 2}\ngate:"))
    assert "PASS" in shop("evaluate", "shop.yaml").out
