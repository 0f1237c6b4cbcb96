"""Goal posts that are code: who edits what decides what a run comes to is told, whatever the code does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.runner.bases.repository import Repository
from harness.runner.review.code_posts import with_code_posts
from harness.runner.review.goal_posts import moved_since
from tests.cli.shop import Shop, built

JUDGED = 'format: harness-scenario/1\ntask: x\nscript: [{say: a}]\noutcome: {verifier: "NAME"}\n'
PYTHON = 'from harness.scenarios import scenario\nSCENARIOS = [scenario(id="a", task="x", limits={"steps": 4}, outcome={"verifier": "third:good"})]\n'
JUDGE = 'def good(answer, messages):\n    return "completed" if "paid" in answer else "incomplete"\n'
FILES = {
    "scenarios/a.yaml": JUDGED.replace("NAME", "judge:good"),
    "scenarios/deep/b.yaml": JUDGED.replace("NAME", "shop.judges:good"),
    "scenarios/words.yaml": "about: the verifier of other:good\n",
    "judge.py": JUDGE,
    "src/shop/judges/__init__.py": JUDGE,
    "other.py": JUDGE,
    "third.py": JUDGE,
    "scen.py": PYTHON,
    "more/scen.py": PYTHON,
    "pyproject.toml": '[tool.harness]\nscenarios = ["scenarios", "scen.py"]\n',
}
WEAK = ('"incomplete"', '"completed"')


@pytest.mark.parametrize("inside", ["", "pkg"], ids=["at-the-top", "in-a-folder"])
@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(lambda shop: shop.edit("judge.py", *WEAK), "expectation judge.py outcome.verifier judge:good: edited", id="a-verifier"),
        pytest.param(
            lambda shop: shop.edit("src/shop/judges/__init__.py", *WEAK),
            "expectation src/shop/judges/__init__.py outcome.verifier shop.judges:good: edited",
            id="a-verifier-that-is-a-package",
        ),
        pytest.param(
            lambda shop: (shop.write("lib/judge.py", JUDGE), (shop.folder / "judge.py").unlink()),
            "expectation lib/judge.py outcome.verifier judge:good: renamed from INSIDEjudge.py",
            id="a-verifier-that-moves",
        ),
        pytest.param(
            lambda shop: (shop.edit("judge.py", *WEAK), (shop.folder / "scenarios/a.yaml").unlink()),
            "expectation judge.py outcome.verifier judge:good: edited",
            id="a-verifier-of-a-scenario-that-goes",
        ),
        pytest.param(
            lambda shop: shop.edit("third.py", *WEAK),
            "expectation third.py outcome.verifier third:good: edited",
            id="a-verifier-of-scenarios-in-python",
        ),
        pytest.param(lambda shop: shop.edit("scen.py", "4", "400"), "scenario scen.py in Python: edited", id="scenarios-in-python"),
        pytest.param(lambda shop: (shop.folder / "scen.py").unlink(), "scenario scen.py in Python: deleted", id="scenarios-in-python-that-go"),
        pytest.param(lambda shop: shop.edit("more/scen.py", "4", "400"), "scenario more/scen.py in Python: edited", id="scenarios-that-were-asked-for"),
        pytest.param(lambda shop: shop.edit("other.py", *WEAK), None, id="code-that-judges-nothing"),
        pytest.param(lambda shop: shop.write("lib/judge.py", JUDGE), None, id="a-module-that-is-new"),
    ],
)
def test_code_that_decides_what_a_run_comes_to_is_a_goal_post(
    change: Callable[[Shop], object], told: str | None, inside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = built(tmp_path / "repo", inside, FILES)
    monkeypatch.chdir(shop.folder)
    change(shop)
    moved = with_code_posts(moved_since(Repository.at(Path()), "main"), (), [Path("more/scen.py")])
    assert moved is not None
    posts = [f"{post.kind} {post.file} {post.detail}" for post in moved.posts if post.file.endswith(".py")]
    assert posts == ([] if told is None else [told.replace("INSIDE", f"{inside}/" if inside else "")])
