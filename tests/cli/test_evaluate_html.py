"""``harness evaluate --html FILE``: an evaluation as one page, now or from the folder of one that was run."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InvalidValueError
from tests.cli.lab import Cli
from tests.cli.test_evaluate import FOLDER, MODEL, SHOP, TOOLS, ledger

WRONG = SHOP.replace("expect: {get_order: {id: 8}}", "expect: {get_order: {id: 9}}")


@pytest.fixture
def shop(cli: Cli) -> Cli:
    """The evaluation of a shop, its tools, and a function that always decides well."""
    cli.write("shop.yaml", SHOP)
    cli.write("tools.yaml", TOOLS)
    cli.write("shop_model.py", MODEL)
    sys.modules.pop("shop_model", None)
    return cli


def blocks_of(path: Path) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="([a-z0-9-]+)">(.*?)</script>', path.read_text("utf-8"))
    return {name: json.loads(text) for name, text in found}


def test_the_page_holds_what_the_summary_says_and_the_cases_that_fail(shop: Cli) -> None:
    shop.write("shop.yaml", WRONG)
    said = shop("evaluate", "shop.yaml", "--html", "shop.html")
    assert said.code == 1, said.all
    plots = blocks_of(shop.folder / "shop.html")["plots"]
    summary = json.loads((shop.folder / FOLDER / "summary.json").read_text("utf-8"))
    assert [arm["passed"] for arm in plots["evaluation"]["arms"]] == [arm["counts"]["passed"] for arm in summary["arms"]]
    cells = sum(n for matrix in plots["confusion"] for row in matrix["cells"] for n in row)
    assert cells == sum(cell["n"] for cell in summary["confusion"]) > 0
    (only,) = plots["cases"]["cases"]
    assert only["ask"] == "Where is order 8?"
    assert only["arms"][0]["trials"][0]["chosen"] == 'get_order({"id": 8})'
    assert only["arms"][0]["trials"][0]["misfits"] == [["wrong value", "calls[1].arguments.id", "expected 9, was 8"]]


def test_a_folder_that_was_run_gives_the_same_page_for_nothing(shop: Cli) -> None:
    shop("evaluate", "shop.yaml", "--html", "one.html")
    (shop.folder / "shop_model.py").unlink()
    assert shop("evaluate", FOLDER, "--html", "one-again.html").code == 0
    one, again = (blocks_of(shop.folder / f"{name}.html") for name in ("one", "one-again"))
    assert one["plots"] == again["plots"]
    assert again["overview"]["review"]["command"] == f"harness evaluate {FOLDER} --html one-again.html"


def test_shards_that_are_judged_together_give_one_page(shop: Cli) -> None:
    for number in (1, 2):
        shop("evaluate", "shop.yaml", "--shard", f"{number}/2", "--out", f"share{number}")
    assert shop("evaluate", "share1", "share2", "--merge", "--out", "whole", "--html", "whole.html").code == 0
    plots = blocks_of(shop.folder / "whole.html")["plots"]
    assert [arm["planned"] for arm in plots["evaluation"]["arms"]] == [6, 6]


@pytest.mark.parametrize(
    "options",
    [pytest.param(["--dry-run"], id="dry-run"), pytest.param(["--shard", "1/2"], id="shard")],
)
def test_where_nothing_is_judged_a_page_is_refused(shop: Cli, options: list[str]) -> None:
    said = shop("evaluate", "shop.yaml", "--html", "shop.html", *options)
    assert said.code == 2
    assert "--html" in said.err
    assert not (shop.folder / FOLDER).exists()


def test_a_place_that_is_a_folder_is_refused_before_anything_is_asked(shop: Cli) -> None:
    (shop.folder / "shop.html").mkdir()
    said = shop("evaluate", "shop.yaml", "--html", "shop.html")
    assert said.code == 2
    assert "shop.html is a folder" in said.err
    assert ledger(shop) == 0


def test_a_page_that_cannot_be_made_changes_nothing_about_the_verdict(
    shop: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> bytes:
        raise InvalidValueError("a report cannot hold this value")

    monkeypatch.setattr("harness.runner.evaluation.paging.evaluation_page", broken)
    said = shop("evaluate", "shop.yaml", "--html", "shop.html")
    assert said.code == 0, said.all
    assert "shop.html not written: a report cannot hold this value" in said.err
