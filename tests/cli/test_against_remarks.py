"""What makes a comparison with a merge base tell less than it seems to, and who may not run beside whom."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.runner.bases.repository import Repository
from harness.runner.bases.side_path import PATH_PREFIX
from harness.runner.bases.side_runs import Asked, is_of, run_side
from harness.store import locked
from tests.cli.lab import GOOD, Cli
from tests.cli.shop import Shop, built

IGNORED = "/reports/\n__pycache__/\nprompt.local\n"
READS = """\
from pathlib import Path
from harness.testing import subject


async def run(env):
    return Path("prompt.local").read_text()


my_loop = subject(run)
"""
SAYS = "format: harness-scenario/1\ntask: Who?\nscript: [{say: x}]\nallow_leftovers: true\n"


@pytest.fixture
def shop(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Shop:
    shop = built(cli.folder / "repo", files={".gitignore": IGNORED, "scenarios/a.yaml": GOOD, "gate.yaml": "format: harness-gate/1\n"})
    shop.git("checkout", "-q", "-b", "change")
    monkeypatch.chdir(shop.folder)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return shop


def notes(out: str) -> list[str]:
    return [line.removeprefix("note: ") for line in out.splitlines() if line.startswith("note: ")]


def test_the_same_code_on_both_sides_is_said(shop: Shop, cli: Cli) -> None:
    said = cli("compare", "--against", "main", "--reports", "reports/pages")
    told = "both sides are the same code: HEAD is the merge base with main, and nothing is changed here"
    assert (said.code, notes(said.out)) == (0, [told])
    assert f"- **note**: `{told}`" in Path("reports/pages/comparison.md").read_text("utf-8")
    shop.edit("scenarios/a.yaml", "steps: 2", "steps: 2 ")
    assert notes(cli("compare", "--against", "main", "--reuse-base").out) == []
    shop.commit()
    assert cli("compare", "--against", "main", "--reuse-base", "--json").json.get("remarks") is None


def test_runs_of_another_commit_than_head_are_told(shop: Shop, cli: Cli) -> None:
    assert cli("run", "--out", "reports/mine").code == 0
    old = shop.git("rev-parse", "HEAD")
    shop.edit("scenarios/a.yaml", "It is 42.", "42!")
    new = shop.commit()
    said = cli("compare", "--against", "main", "reports/mine")
    told = f"the candidate's runs are of commit {old[:12]}, and HEAD is {new[:12]}: what changed since was not run"
    assert (said.code, notes(said.out)) == (0, [told]), said.all


@pytest.mark.parametrize(
    ("source", "told"),
    [
        pytest.param(READS, "FileNotFoundError", id="a-file-is-not-there"),
        pytest.param(READS.replace('Path("prompt.local").read_text()', "1 / (len(__file__) * 0)"), "no run of the base passed", id="none-passed"),
    ],
)
def test_a_base_that_may_have_failed_for_want_of_a_file_is_told(source: str, told: str, shop: Shop, cli: Cli) -> None:
    shop.write("loop.py", source)
    shop.write("scenarios/a.yaml", SAYS)
    shop.commit()
    shop.git("branch", "-f", "main")
    shop.write("prompt.local", "x")
    shop.edit("loop.py", "async", "# other\nasync")
    said = cli("compare", "--against", "main", "--subject", "loop:my_loop", "--gate", "gate.yaml")
    (note,) = notes(said.out)
    assert told in note
    assert "files that are untracked or ignored here are not in it" in note


def test_two_comparisons_do_not_write_their_runs_into_one_folder(shop: Shop, cli: Cli) -> None:
    Path("reports/compare").mkdir(parents=True)
    with locked("reports/compare"):
        said = cli("compare", "--against", "main")
        assert (said.code, "reports/compare: another comparison is writing its runs there" in said.err) == (2, True)
        assert not Path("reports/compare/base").exists()
        assert cli("compare", "--against", "main", "--runs", "reports/other").code == 0
    assert cli("compare", "--against", "main").code == 0


def test_runs_of_a_folder_are_not_those_of_another_folder_of_the_repository(shop: Shop, cli: Cli) -> None:
    for name in ("one", "two"):
        shop.write(f"{name}/scenarios/a.yaml", GOOD if name == "one" else GOOD.replace("It is 42.", "42!"))
    shop.commit()
    shop.git("branch", "-f", "main")
    for name in ("one", "two"):
        os.chdir(shop.folder / name)
        said = cli("compare", "--against", "main", "--reuse-base", "--runs", "../reports/both")
        assert (said.code, "as they were made before" in said.err) == (0, False), said.all
    asked = Asked(inside="two", scenarios=())
    here = shop.git("rev-parse", "HEAD")
    assert is_of(Path("../reports/both/base"), here, asked)
    assert not is_of(Path("../reports/both/base"), here, Asked(inside="one"))


def test_a_message_about_the_folder_of_runs_names_its_option(shop: Shop, cli: Cli) -> None:
    shop.write("used/base/mine.txt", "x")
    said = cli("compare", "--against", "main", "--runs", "used")
    assert (said.code, "name another folder with --runs" in said.err, "--out" in said.err) == (2, True, False)


def test_what_a_killed_process_left_goes_and_nothing_else(
    shop: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = cli.folder / "temporary"
    for name in ("old", "held", "young", "file"):
        place = temporary / f"{PATH_PREFIX}{name}"
        if name == "file":
            place.write_text("mine", "utf-8")
        else:
            place.mkdir(parents=True)
            (place / "harness").symlink_to(temporary)
        if name != "young":
            os.utime(place, (1, 1))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    here = Repository.at(Path())
    with locked(temporary / f"{PATH_PREFIX}held"):
        run_side("candidate", here, here.top, Asked(), Path("reports/x"))
    assert sorted(one.name.removeprefix(PATH_PREFIX) for one in temporary.iterdir()) == ["file", "held", "young"]


def test_a_committed_link_to_a_place_of_the_repository_is_each_sides_own(shop: Shop, cli: Cli) -> None:
    shop.git("mv", "scenarios", "data")
    os.symlink(shop.top / "data", shop.top / "scenarios")
    shop.commit("linked")
    shop.git("branch", "-f", "main")
    shop.edit("data/a.yaml", "It is 42.", "42, I say.")
    said = cli("compare", "--against", "main")
    assert (said.code, "It is 42. → 42, I say." in said.out) == (1, True), said.all
    assert "the base's link" not in said.err
    outside = cli.folder / "outside"
    (shop.top / "data").rename(outside)
    Path("scenarios").unlink()
    Path("scenarios").symlink_to(outside)
    shop.commit("linked elsewhere")
    shop.git("branch", "-f", "main")
    said = cli("compare", "--against", "main")
    assert (said.code, f"the base's link 'scenarios' leads to {outside}, out of its work tree" in said.err) == (0, True), said.all
