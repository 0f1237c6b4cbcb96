"""Checks of the project's own in a comparison: each side's verdicts are by its own code, and who edits a check is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.checks import CHECKS
from tests.cli.lab import GOOD, Cli
from tests.cli.shop import Shop, built

RULES = """\
from harness import Finding, Outcome, Verdict


class NoWord:
    name = "no_word"
    needs = ()
    rules = ()

    def __call__(self, trajectory):
        if "WORD" in repr(trajectory.events):
            return Verdict(self.name, Outcome.FAIL, (Finding(self.name, "it says so"),))
        return Verdict(self.name, Outcome.PASS)


no_word = NoWord()
"""
ASKED = GOOD + "checks: ['shop_rules:no_word']\n"
LEAKS = ASKED.replace("It is 42.", "It is 42. 4111")


@pytest.fixture
def shop(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A project whose check lies in ``src``, which this interpreter does not import from."""
    files = {
        ".gitignore": "/reports/\n__pycache__/\n",
        "gate.yaml": "format: harness-gate/1\nexact: {behaviour: pass}\n",
        "scenarios/a.yaml": ASKED,
        "src/shop_rules.py": RULES.replace("WORD", "4111"),
    }
    shop = built(cli.folder / "repo", files=files)
    shop.git("checkout", "-q", "-b", "change")
    monkeypatch.chdir(shop.folder)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return shop


def compared(cli: Cli) -> tuple[int, list[str], list[str]]:
    """The exit code, what became of the scenarios, and the goal posts that are told."""
    said = cli("compare", "--against", "main", "--gate", "gate.yaml", "--json")
    assert said.out, said.err
    posts = [f"{post['kind']} {post['file']} {post['detail']}" for post in said.json.get("goalPosts", [])]
    return said.code, [row["change"] for row in said.json["comparison"]["scenarios"]], posts


def test_a_check_in_a_src_layout_needs_no_import_path_to_be_compared(shop: Shop, cli: Cli) -> None:
    assert compared(cli) == (0, ["same"], [])


def test_a_check_that_is_made_stricter_does_not_judge_the_base(shop: Shop, cli: Cli) -> None:
    shop.edit("src/shop_rules.py", "4111", "It is")
    told = "check src/shop_rules.py shop_rules:no_word: edited"
    assert compared(cli) == (1, ["worse"], [told])
    text = cli("compare", "--against", "main", "--gate", "gate.yaml").out
    assert "moved: this change edits 1 check" in text
    assert "(same trajectory, PASS → FAIL (no_word))" in text


def test_a_check_that_is_weakened_with_the_leak_that_it_was_for_is_told(shop: Shop, cli: Cli) -> None:
    shop.edit("src/shop_rules.py", "4111", "nothing of the kind")
    shop.write("scenarios/a.yaml", LEAKS)
    code, changes, posts = compared(cli)
    assert (code, changes) == (0, ["changed"])
    assert posts == ["check src/shop_rules.py shop_rules:no_word: edited"]


NAMES = ["no_word", "answer", "pairing", "expected_end", "recording", "asked_checks"]


@pytest.mark.parametrize("name", NAMES)
def test_a_check_may_be_called_like_another_one_and_judges_its_own_side_only(name: str, shop: Shop, cli: Cli) -> None:
    rules = RULES.replace("WORD", "4111").replace('"no_word"', f'"{name}"')
    shop.write("src/shop_rules.py", rules)
    shop.git("branch", "-f", "main", shop.commit())
    assert compared(cli)[:2] == (0, ["same"])
    base = json.loads(Path("reports/compare/base/summary.jsonl").read_text("utf-8"))
    (own,) = (one for one in base["verdicts"] if one.get("asked") == "shop_rules:no_word")
    assert (own["check"], own["outcome"]) == (name, "PASS")
    assert len([one for one in base["verdicts"] if one["check"] == name]) == 1 + (name in CHECKS)
    shop.edit("src/shop_rules.py", "4111", "It is")
    assert compared(cli)[:2] == (1, ["worse"]), "what is stricter now does not judge the base"


def test_summaries_of_an_older_version_do_not_say_by_which_name_a_check_was_asked_for(shop: Shop, cli: Cli) -> None:
    assert compared(cli)[0] == 0
    for side in ("base", "candidate"):
        path = Path("reports/compare", side, "summary.jsonl")
        summary = json.loads(path.read_text("utf-8"))
        assert sum(one.pop("asked", "") == "shop_rules:no_word" for one in summary["verdicts"]) == 1
        path.write_text(json.dumps(summary) + "\n", "utf-8")
    assert cli("compare", "reports/compare/base", "reports/compare/candidate").code == 0
    Path("src/shop_rules.py").write_text("raise SystemExit('nobody needs it')\n", "utf-8")
    assert cli("compare", "reports/compare/base", "reports/compare/candidate").code == 0


def test_a_check_whose_module_is_renamed_is_compared(shop: Shop, cli: Cli) -> None:
    shop.git("mv", "src/shop_rules.py", "src/rules.py")
    shop.edit("scenarios/a.yaml", "shop_rules:no_word", "rules:no_word")
    code, _, posts = compared(cli)
    assert code == 0
    assert "check src/rules.py rules:no_word: renamed from src/shop_rules.py" in posts


def test_what_a_check_does_not_share_with_its_name_moves_nothing(shop: Shop, cli: Cli) -> None:
    shop.write("src/my_shop_rules.py", "x = 1\n")
    shop.commit("another module")
    shop.git("branch", "-f", "main")
    shop.write("src/my_shop_rules.py", "x = 2\n")
    assert compared(cli) == (0, ["same"], [])


def test_a_folder_without_summaries_is_judged_by_the_check_as_it_lies_here(
    shop: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(shop.folder / "src"))
    assert compared(cli)[0] == 0
    base, candidate = Path("reports/compare/base"), Path("reports/compare/candidate")
    lines = (base / "summary.jsonl").read_text("utf-8")
    forged = json.loads(lines)
    forged["verdicts"] = [one for one in forged["verdicts"] if one["check"] != "no_word"]
    (base / "summary.jsonl").write_text(json.dumps(forged) + "\n", "utf-8")
    assert cli("compare", str(base), str(candidate)).code == 0
    (base / "summary.jsonl").unlink()
    assert cli("compare", str(base), str(candidate)).code == 0
    (candidate / "summary.jsonl").write_text(lines[:-1], "utf-8")
    broken = cli("compare", str(base), str(candidate))
    assert (broken.code, "summary.jsonl" in broken.err) == (4, True), broken.all


def test_a_weakened_verifier_and_scenarios_in_python_are_told_and_fail_nothing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = 'scenario(id="a", task="x", script=[{"say": "paid"}], limits={"steps": 4}, outcome={"verifier": "judge:good"})'
    files = {
        ".gitignore": "/reports/\n__pycache__/\n",
        "gate.yaml": "format: harness-gate/1\n",
        "scen.py": f"from harness.scenarios import scenario\nSCENARIOS = [{scenario}]\n",
        "judge.py": 'def good(answer, messages):\n    return "completed" if "paid" in answer else "incomplete"\n',
        "pyproject.toml": '[tool.harness]\nscenarios = ["scen.py"]\n',
    }
    shop = built(cli.folder / "repo", files=files)
    shop.git("checkout", "-q", "-b", "change")
    monkeypatch.chdir(shop.folder)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    shop.edit("judge.py", "incomplete", "completed")
    shop.edit("scen.py", '"steps": 4', '"steps": 400')
    code, _, posts = compared(cli)
    assert code == 0
    assert posts == ["expectation judge.py outcome.verifier judge:good: edited", "scenario scen.py in Python: edited"]
