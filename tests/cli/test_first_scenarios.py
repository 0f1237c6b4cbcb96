"""The change that brings the first scenarios: the base is empty, which is told, and nothing else is taken for that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.lab import BAD, GOOD, UNSCRIPTED, Cli
from tests.cli.shop import Shop, built

GATE = "format: harness-gate/1\n"
BEFORE = {".gitignore": "/reports/\n__pycache__/\n", "README.md": "words\n"}
NEW = "the merge base has no scenario, so nothing was compared"


@pytest.fixture
def project(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Any:
    def project(files: dict[str, str], inside: str = "") -> Shop:
        shop = built(cli.folder / "repo", inside, files)
        shop.git("checkout", "-q", "-b", "change")
        monkeypatch.chdir(shop.folder)
        return shop

    return project


@pytest.mark.parametrize(
    ("before", "arguments", "told"),
    [
        pytest.param(BEFORE, [], f"{NEW}: 2 new scenarios pass their own checks", id="without-a-gate"),
        pytest.param(BEFORE, ["--gate", "gate.yaml"], f"{NEW}: 2 new scenarios pass their own checks", id="with-the-gate-of-the-change"),
        pytest.param({**BEFORE, "gate.yaml": GATE}, ["--gate", "gate.yaml"], "2 new scenarios pass their own checks", id="with-a-gate-that-was-there"),
        pytest.param(BEFORE, ["--scenarios", "scenarios"], "2 new scenarios pass their own checks", id="by-name"),
        pytest.param({**BEFORE, "scenarios/README.md": "soon\n"}, [], "2 new scenarios pass their own checks", id="a-folder-without-scenarios"),
        pytest.param(
            {**BEFORE, "words.yaml": f"about: |\n{' ' * 2}format: harness-scenario/1\n"}, [], "2 new scenarios pass their own checks", id="words-about-scenarios"
        ),
        pytest.param({**BEFORE, "pyproject.toml": "[project]\nname = 'x'\n"}, [], "2 new scenarios pass their own checks", id="a-project-of-before"),
    ],
)
def test_the_first_scenarios_pass_where_each_passes(project: Any, cli: Cli, before: dict[str, str], arguments: list[str], told: str) -> None:
    shop = project(before)
    shop.write("gate.yaml", GATE)
    shop.write("scenarios/a.yaml", GOOD)
    shop.write("scenarios/b.yaml", GOOD)
    said = cli("compare", "--against", "main", *arguments, "--reports", "reports/here")
    assert said.code == 0, said.all
    assert "has no scenario: the base is empty, and every scenario is new" in said.err
    first, *_ = said.out.splitlines()
    assert first.startswith("PASS  ")
    assert told in first
    assert "2 new" in said.out
    review = json.loads(Path("reports/here/comparison.json").read_text("utf-8"))
    assert [row["change"] for row in review["comparison"]["scenarios"]] == ["new", "new"]
    assert "2 new" in Path("reports/here/comparison.md").read_text("utf-8")


@pytest.mark.parametrize("gate", [[], ["--gate", "gate.yaml"]], ids=["no-gate", "gate"])
@pytest.mark.parametrize(
    ("other", "code"),
    [pytest.param(BAD, 1, id="one-that-fails"), pytest.param(UNSCRIPTED, 1, id="one-that-cannot-begin")],
)
def test_the_first_scenarios_do_not_pass_where_one_does_not(project: Any, cli: Cli, gate: list[str], other: str, code: int) -> None:
    shop = project({**BEFORE, "gate.yaml": GATE})
    shop.write("scenarios/a.yaml", GOOD)
    shop.write("scenarios/b.yaml", other)
    said = cli("compare", "--against", "main", *gate)
    assert said.code == code, said.all
    assert not said.out.startswith("PASS")


@pytest.mark.parametrize(
    ("before", "arguments"),
    [
        pytest.param({**BEFORE, "old/a.yaml": GOOD}, [], id="a-folder-that-is-renamed"),
        pytest.param({**BEFORE, "old/a.yaml": GOOD}, ["--scenarios", "scenarios"], id="a-renamed-folder-by-name"),
        pytest.param(
            {**BEFORE, "old/a.yaml": "task: x\n", "pyproject.toml": "[tool.harness]\nscenarios = 'old'\n"}, [], id="a-setting-that-moves"
        ),
        pytest.param({**BEFORE, "pyproject.toml": "[tool.harness]\nscenario = 'x'\n"}, [], id="settings-that-are-wrong"),
        pytest.param({**BEFORE, ".ci/scenarios/a.yaml": GOOD}, [], id="a-hidden-folder"),
        pytest.param({**BEFORE, "old/.a.yml": GOOD}, ["--scenarios", "scenarios"], id="a-hidden-file"),
        pytest.param(
            {**BEFORE, "old/a.yaml": "task: x\n", "pyproject.toml": "[tool.harness]\nscenarios = 'old'\n"},
            ["--scenarios", "scenarios"],
            id="what-its-own-settings-say-whatever-is-asked-for",
        ),
        pytest.param(
            {**BEFORE, "old.py": "SCENARIOS = []\n", "pyproject.toml": "[tool.harness]\nscenarios = 'old.py'\n"},
            ["--scenarios", "scenarios"],
            id="python-that-its-own-settings-name",
        ),
        pytest.param({**BEFORE, "old/a.yaml": "# words\n" * 1_000 + GOOD}, [], id="what-it-is-said-late"),
        pytest.param({**BEFORE, "old/a.yaml": '{"task": "x", "format": "harness-scenario/1"}\n'}, [], id="on-one-line"),
        pytest.param({**BEFORE, "scenarios/a.yaml": "format: harness-scenario/1\nnonsense: 1\n"}, [], id="a-scenario-that-does-not-load"),
    ],
)
def test_a_base_that_had_scenarios_is_never_taken_for_an_empty_one(project: Any, cli: Cli, before: dict[str, str], arguments: list[str]) -> None:
    shop = project(before)
    for name in before:
        if name.endswith((".yaml", ".yml", ".py")):
            shop.git("rm", "-q", name)
    shop.write("pyproject.toml", "")
    shop.write("scenarios/a.yaml", GOOD)
    said = cli("compare", "--against", "main", *arguments)
    assert said.code not in {0, 1}, said.all
    assert "the base is empty" not in said.err
    for name in (name for name, text in before.items() if arguments and "harness-scenario/1" in text):
        assert f"the base has none of the scenarios scenarios, and has others, such as {name}" in said.err


def test_two_folders_without_a_scenario_in_common_are_still_nothing_compared(cli: Cli) -> None:
    cli.write("scenarios/a.yaml", GOOD)
    assert cli("run", "--out", "one").code == 0
    Path("scenarios/a.yaml").rename("scenarios/b.yaml")
    assert cli("run", "--out", "two").code == 0
    assert cli("compare", "one", "two").code == 1, "what is missing fails"
    Path("none").mkdir()
    assert cli("compare", "none", "two").code == 4


def test_the_second_change_is_compared_with_the_first(project: Any, cli: Cli) -> None:
    shop = project(BEFORE)
    shop.write("scenarios/a.yaml", GOOD)
    assert cli("compare", "--against", "main").code == 0
    shop.commit("the first")
    shop.git("branch", "-f", "main")
    shop.git("checkout", "-q", "-b", "next")
    shop.edit("scenarios/a.yaml", "It is 42.", "It is 42!")
    said = cli("compare", "--against", "main", "--reuse-base")
    assert (said.code, "1 changed" in said.out) == (1, True), said.all
