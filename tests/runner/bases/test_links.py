"""Committed links in the work tree of a base: to its own files where it has them, told where they lead out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.runner.bases.links import MOST, keep_links_inside
from harness.runner.bases.repository import Repository
from harness.runner.bases.worktrees import worktree
from tests.cli.shop import built

FILES = {"data/scenarios/a.yaml": "base\n", ".gitignore": "/left/\n"}


@pytest.mark.parametrize(
    ("link", "target", "read", "n_told"),
    [
        pytest.param("scenarios", "TOP/data/scenarios", "base", 0, id="a-folder-of-the-callers"),
        pytest.param("deep/a", "TOP/data/scenarios", "base", 0, id="below-another-folder"),
        pytest.param("scenarios", "data/scenarios", "base", 0, id="a-link-inside"),
        pytest.param("scenarios", "TOP/left", "left", 1, id="what-is-not-committed"),
        pytest.param("scenarios", "OUT", "out", 1, id="out-of-the-repository"),
        pytest.param("scenarios", "TOP/nothing", None, 1, id="nowhere"),
        pytest.param("all", "TOP", None, 0, id="the-whole-of-it"),
    ],
)
def test_a_committed_link_leads_to_the_bases_own_files_or_is_told(
    link: str, target: str, read: str | None, n_told: int, tmp_path: Path
) -> None:
    shop = built(tmp_path / "repo", files=FILES)
    shop.write("left/a.yaml", "left\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a.yaml").write_text("out\n", "utf-8")
    (shop.top / link).parent.mkdir(parents=True, exist_ok=True)
    os.symlink(target.replace("TOP", str(shop.top)).replace("OUT", str(tmp_path / "out")), shop.top / link)
    commit = shop.commit("linked")
    shop.write("data/scenarios/a.yaml", "candidate\n")
    here = Repository.at(shop.top)
    with worktree(here, commit) as tree:
        told = keep_links_inside(here, tree)
        assert len(told) == n_told
        assert all(f"the base's link {link!r} leads to " in line for line in told)
        assert n_told or os.path.realpath(tree / link).startswith(str(tree))
        if read is not None:
            assert (tree / link / "a.yaml").read_text("utf-8") == f"{read}\n"
    assert os.readlink(shop.top / link).startswith((str(tmp_path), "data")), "the caller's own stays as it is"


def test_of_many_links_the_first_are_told(tmp_path: Path) -> None:
    shop = built(tmp_path / "repo", files=FILES)
    for n in range(MOST + 2):
        os.symlink("/nowhere", shop.top / f"link{n}")
    here = Repository.at(shop.top)
    with worktree(here, shop.commit("linked")) as tree:
        told = keep_links_inside(here, tree)
    assert (len(told), told[-1]) == (MOST + 1, "and 2 more links")
