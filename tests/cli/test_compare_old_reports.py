"""Reports of an earlier comparison are gone before the next begins, and no report is written over what a side is read from."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from harness.runner.review.reporting import places
from tests.cli.lab import GOOD, Cli
from tests.house.source import REPO

OTHER = GOOD.replace("It is 42.", "It is 42!")


@pytest.fixture
def two(cli: Cli) -> Cli:
    """Two folders of runs of one scenario, with a change."""
    cli.write("scenarios/same.yaml", GOOD)
    assert cli("run", "--out", "base").code == 0
    cli.write("scenarios/same.yaml", OTHER)
    assert cli("run", "--out", "new").code == 0
    return cli


def files(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["compare", "nowhere", "new"], 2, id="no-such-folder"),
        pytest.param(["compare", "empty", "new"], 4, id="no-runs"),
        pytest.param(["compare", "base", "new", "--gate", "bad.yaml"], 2, id="a-gate-that-cannot-be-read"),
        pytest.param(["compare", "base"], 2, id="one-side-only"),
        pytest.param(["compare", "--against", "main"], 2, id="no-repository"),
    ],
)
def test_a_comparison_without_an_end_leaves_no_report_of_an_earlier_one(two: Cli, arguments: list[str], code: int) -> None:
    Path("empty").mkdir()
    two.write("bad.yaml", "format: nonsense\n")
    assert two("compare", "base", "base", "--reports", "st", "--out", "st/other.xml").code == 0
    two.write("st/mine.md", "kept")
    assert two(*arguments, "--reports", "st", "--out", "st/other.xml").code == code
    assert files("st") == ["mine.md"]


def test_where_a_report_leads_to_another_place_that_one_is_old_too(two: Cli) -> None:
    two.write("elsewhere.md", "PASS of last time")
    Path("st").mkdir()
    Path("st/comparison.md").symlink_to("../elsewhere.md")
    assert two("compare", "nowhere", "new", "--reports", "st").code == 2
    assert not Path("elsewhere.md").exists()
    assert two("compare", "base", "new", "--reports", "st").code == 1
    assert "FAIL" in Path("elsewhere.md").read_text("utf-8")


def test_an_old_report_that_cannot_be_removed_is_told_and_changes_no_verdict(two: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert two("compare", "base", "base", "--reports", "st").code == 0

    def refused(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refused)
    said = two("compare", "nowhere", "new", "--reports", "st")
    assert said.code == 2
    assert "st/comparison.md is of an earlier comparison and stays: " in said.err


def test_the_script_of_the_action_removes_the_same_files() -> None:
    text = (REPO / "docs" / "ci" / "compare.sh").read_text("utf-8")
    (names,) = re.findall(r"^for name in (comparison\.md .*); do$", text, re.MULTILINE)
    assert set(names.split()) == {path.name for path in places((), Path("x"))} | {"pull-request.txt"}


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["--out", "base/run.json"], id="the-base"),
        pytest.param(["--out", "new/run.json"], id="the-candidate"),
        pytest.param(["--out", "./x/../base/run.json"], id="by-another-way"),
        pytest.param(["--out", "link/run.json"], id="through-a-link"),
        pytest.param(["--out", "base/trajectories/report.json"], id="beside-trajectories"),
        pytest.param(["--reports", "base/trajectories"], id="a-folder-of-reports-among-trajectories"),
    ],
)
def test_no_report_is_written_over_the_runs_of_a_side(two: Cli, options: list[str]) -> None:
    Path("link").symlink_to("base")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    said = two("compare", "base", "new", *options)
    assert (said.code, "which is compared: write the report somewhere else" in said.err) == (2, True), said.all
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("out", "refused"),
    [
        pytest.param("one/c.json", True, id="over-a-file-of-it"),
        pytest.param("one/deep/new.json", True, id="where-it-would-be-one-next-time"),
        pytest.param("one/report.md", False, id="no-file-that-is-read"),
        pytest.param("other.json", False, id="beside-it"),
    ],
)
def test_a_folder_of_other_products_files_keeps_them(cli: Cli, out: str, refused: bool) -> None:
    chat = '[{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}]'
    cli.write("one/c.json", chat)
    shutil.copytree("one", "two")
    said = cli("compare", "one", "two", "--out", out)
    assert (said.code == 2, "which is compared: write" in said.err) == (refused, refused), said.all
    assert Path("one/c.json").read_text("utf-8") == chat
    assert cli("compare", "one/c.json", "two/c.json", "--out", "two/c.json").code == 2


def test_reports_may_lie_beside_the_runs_of_a_side(two: Cli) -> None:
    assert two("compare", "base", "new", "--reports", "new").code == 1
    assert two("compare", "base", "new", "--reports", "new", "--out", "new/other.json").code == 1
