"""The evaluations that README and docs/evaluating.md begin with run as they stand there, with the code beside them."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.lab import Cli

REPO = Path(__file__).parents[2]
NAMED = re.compile(r"^```python\n(# (\w+)\.py.*?)^```$", re.MULTILINE | re.DOTALL)
EVALUATION = re.compile(r"^```yaml\n(format: harness-evaluation/1\n.*?)^```$", re.MULTILINE | re.DOTALL)


def files(page: str) -> dict[str, str]:
    """The modules that a page shows, by name of their file."""
    return {f"{name}.py": code for code, name in NAMED.findall((REPO / page).read_text("utf-8"))}


@pytest.fixture
def shown(cli: Cli, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    """A folder with the evaluation of a page and the modules beside it; what was imported is forgotten afterwards."""
    page = request.param
    monkeypatch.syspath_prepend(str(cli.folder))
    modules = files(page)
    for name, code in modules.items():
        cli.write(name, code)
    (document,) = EVALUATION.findall((REPO / page).read_text("utf-8"))
    cli.write("shop.yaml", document)
    yield cli
    for name in modules:
        sys.modules.pop(name.removesuffix(".py"), None)


@pytest.mark.parametrize("shown", ["README.md", "docs/evaluating.md"], indirect=True)
def test_the_first_evaluation_fits_the_tools_that_stand_beside_it(shown: Cli) -> None:
    said = shown("dataset", "check", "shop.yaml")
    assert said.code == 0, said.all
    assert "2 tools: everything fits" in said.out


@pytest.mark.parametrize("shown", ["docs/evaluating.md"], indirect=True)
def test_the_function_of_the_page_answers_its_evaluation(shown: Cli) -> None:
    said = shown("evaluate", "shop.yaml", "--model", "answers:answer")
    assert said.code == 0, said.all
    assert "2 passed" in said.out
