"""What git knows of a folder: real git, names of any bytes, subfolders, work trees, shallow clones."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from harness.runner.bases.repository import ChangedFile, Repository, RepositoryError, git, revision_of
from harness.runner.bases.worktrees import PREFIX, remove_left_behind, worktree
from harness.types.review import Revision
from tests.cli.lab import clean_environment
from tests.cli.shop import Shop, built

ODD = os.fsdecode(b"b\xff \n\"x'.yaml")
FILES = {"a.txt": "one\n", "in/side/b.yaml": "x: 1\n"}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A repository with one commit on main."""
    return built(tmp_path / "repo", files=FILES)


def test_a_revision_is_commit_branch_and_whether_tracked_files_were_changed(shop: Shop) -> None:
    commit = shop.git("rev-parse", "HEAD")
    assert revision_of(shop.top / "in") == Revision(commit, "main", dirty=False)
    shop.write("new.txt", "untracked")
    assert revision_of(shop.top) == Revision(commit, "main", dirty=False)
    shop.write("a.txt", "two\n")
    assert revision_of(shop.top) == Revision(commit, "main", dirty=True)
    shop.git("checkout", "-q", "--detach", "-f")
    assert revision_of(shop.top) == Revision(commit, "", dirty=False)


def test_nothing_is_known_outside_of_a_repository_and_before_the_first_commit(tmp_path: Path) -> None:
    assert revision_of(tmp_path) == Revision()
    subprocess.run(["git", "init", "-q", tmp_path / "empty"], check=True)
    assert revision_of(tmp_path / "empty") == Revision()
    with pytest.raises(RepositoryError, match="there is no commit yet"):
        Repository.at(tmp_path / "empty").commit_of("HEAD")


def test_no_git_is_nothing_known_and_an_error_for_who_needs_it(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert revision_of(shop.top) == Revision()
    with pytest.raises(RepositoryError, match="git is not installed"):
        Repository.at(shop.top)


def test_what_the_environment_says_of_another_repository_is_not_listened_to(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = built(tmp_path / "other", files={"x": "y"})
    monkeypatch.setenv("GIT_DIR", str(other.top / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.top))
    assert Repository.at(shop.top).top == shop.top.resolve()
    assert revision_of(shop.top).commit != other.git("rev-parse", "HEAD")


def test_hooks_and_monitors_of_the_repository_do_not_run(shop: Shop, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for hook in ("post-checkout", "post-index-change", "fsmonitor"):
        path = shop.write(f".git/hooks/{hook}", f"#!/bin/sh\necho {hook} >> '{ran}'\n")
        path.chmod(0o755)
    shop.git("config", "core.fsmonitor", str(shop.top / ".git/hooks/fsmonitor"))
    with worktree(Repository.at(shop.top), shop.git("rev-parse", "HEAD")):
        revision_of(shop.top)
    assert not ran.exists()
    subprocess.run(["git", "checkout", "-q", "-b", "x"], cwd=shop.top, check=True)
    assert ran.exists(), "otherwise this proves nothing"


def test_a_folder_of_a_repository_knows_its_top_and_where_paths_lie_in_it(shop: Shop, tmp_path: Path) -> None:
    found = Repository.at(shop.top / "in/side")
    assert (found.top, found.inside) == (shop.top.resolve(), "in/side")
    assert found.path_of(Path("b.yaml")) == "in/side/b.yaml"
    assert found.path_of(Path("../../a.txt")) == "a.txt"
    assert found.path_of(shop.top / "a.txt") == "a.txt"
    assert found.path_of(tmp_path / "elsewhere") is None
    (tmp_path / "link").symlink_to(shop.top)
    assert found.path_of(tmp_path / "link/a.txt") == "a.txt"
    with pytest.raises(RepositoryError, match="in no repository that git can read"):
        Repository.at(tmp_path)


def test_the_merge_base_is_where_the_branch_left(shop: Shop) -> None:
    left = shop.git("rev-parse", "HEAD")
    shop.git("checkout", "-q", "-b", "change")
    shop.write("a.txt", "changed\n")
    shop.commit()
    shop.git("checkout", "-q", "main")
    shop.write("c.txt", "later\n")
    shop.commit()
    shop.git("checkout", "-q", "change")
    here = Repository.at(shop.top)
    assert here.merge_base("main") == left
    assert here.merge_base("main", "main") == shop.git("rev-parse", "main")
    assert here.bytes_at(left, "a.txt") == b"one\n"
    assert here.changed_since(left) == (ChangedFile("a.txt", "a.txt"),)


@pytest.mark.parametrize("ref", ["nothing", "--help", "-x", ""])
def test_a_ref_that_there_is_not_is_refused_with_what_to_do(ref: str, shop: Shop) -> None:
    with pytest.raises(RepositoryError, match="fetch it"):
        Repository.at(shop.top).merge_base(ref)


def test_a_branch_that_only_the_remote_has_is_found(shop: Shop, tmp_path: Path) -> None:
    shop.git("branch", "release")
    clone = tmp_path / "clone"
    shop.git("clone", "-q", "--branch", "main", str(shop.top), str(clone))
    assert Repository.at(clone).merge_base("release") == shop.git("rev-parse", "HEAD")


def test_a_shallow_clone_says_to_fetch_more_history(shop: Shop, tmp_path: Path) -> None:
    shop.git("checkout", "-q", "-b", "change")
    for n in (1, 2):
        shop.write("a.txt", f"{n}\n")
        shop.commit()
    clone, url = tmp_path / "clone", shop.top.as_uri()
    shop.git("clone", "-q", "--depth", "1", "--no-single-branch", "--branch", "change", url, str(clone))
    here = Repository.at(clone)
    for ref in ("main", "v1"):
        with pytest.raises(RepositoryError, match=r"fetch more history \(fetch-depth: 0"):
            here.merge_base(ref)


def test_histories_that_never_met_have_no_merge_base(shop: Shop) -> None:
    shop.git("checkout", "-q", "--orphan", "other")
    shop.commit()
    with pytest.raises(RepositoryError, match="no commit in common"):
        Repository.at(shop.top).merge_base("main")


@pytest.mark.parametrize("name", [ODD, "*.txt", ":(glob)x", "-z", "é\t.md", "a\\b", "with space"])
def test_names_of_any_bytes_are_what_they_are(name: str, shop: Shop) -> None:
    shop.write(name, "before\n")
    commit = shop.commit()
    here = Repository.at(shop.top)
    assert here.bytes_at(commit, name) == b"before\n"
    assert here.files_at(commit, [name, "a.txt", "none"]) == {name: b"before\n", "a.txt": b"one\n"}
    shop.write(name, "now\n")
    assert here.changed_since(commit) == (ChangedFile(name, name),)


def test_files_moved_without_git_are_found_by_few_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = built(tmp_path / "repo", "", {f"a/{n}.yaml": f"number {n}\n" for n in range(30)} | {'a/"q.yaml': "q"})
    for n in range(30):
        to = f"b/{n}.yaml" if n < 20 else f"b/{n}.txt"
        shop.write(to, f"number {n}\n")
        (shop.folder / f"a/{n}.yaml").unlink()
    shop.write("b/same-as-0.yaml", "number 0\n")
    shop.write('b/"odd.yaml', "number 28\n")
    shop.write('"odd.yaml', "number 29\n")
    calls, real = tmp_path / "calls", shutil.which("git")
    stand_in = tmp_path / "bin" / "git"
    stand_in.parent.mkdir()
    stand_in.write_text(f"#!/bin/sh\necho x >> '{calls}'\nexec '{real}' \"$@\"\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}")
    here = Repository.at(shop.top)
    commit = here.commit_of("HEAD")
    calls.unlink()
    found = {one.now: one.before for one in here.changed_since(commit) if one.now is not None}
    assert found == {
        **{f"b/{n}.yaml": f"a/{n}.yaml" for n in range(20)},
        **{f"b/{n}.txt": None for n in range(20, 30)},
        "b/same-as-0.yaml": None,
        'b/"odd.yaml': "a/28.yaml",
        '"odd.yaml': "a/29.yaml",
    }
    assert len(calls.read_text().splitlines()) <= 4


def test_deleted_added_renamed_and_untracked_files_are_told(shop: Shop) -> None:
    for n in range(4):
        shop.write(f"f{n}.yaml", f"{n}\n" * 20)
    shop.write(".gitignore", "ignored\n")
    commit = shop.commit()
    shop.git("mv", "f0.yaml", "moved.yaml")
    shop.git("rm", "-q", "f1.yaml")
    (shop.top / "f2.yaml").rename(shop.top / "by-hand.yaml")
    shop.git("rm", "-q", "--cached", "f3.yaml")
    shop.write("in/new.yaml", "new\n")
    shop.write("ignored", "x")
    assert set(Repository.at(shop.top / "in").changed_since(commit)) == {
        ChangedFile("f0.yaml", "moved.yaml"),
        ChangedFile("f1.yaml", None),
        ChangedFile("f2.yaml", "by-hand.yaml"),
        ChangedFile("f3.yaml", "f3.yaml"),
        ChangedFile(None, "in/new.yaml"),
    }


def test_a_file_that_is_none_at_a_commit_is_nothing(shop: Shop) -> None:
    (shop.top / "link").symlink_to("a.txt")
    commit = shop.commit()
    here = Repository.at(shop.top)
    assert [here.bytes_at(commit, name) for name in ("in", "nothing", "link")] == [None, None, None]
    with pytest.raises(RepositoryError):
        here.bytes_at("0" * 40, "a.txt")


# ---------------------------------------------------------------- work trees


def places(shop: Shop) -> list[str]:
    return [line for line in shop.git("worktree", "list", "--porcelain").splitlines() if PREFIX in line]


def test_a_work_tree_is_there_while_it_is_needed_and_holds_what_was_committed(shop: Shop) -> None:
    commit = shop.git("rev-parse", "HEAD")
    shop.write("untracked", "x")
    with suppress(KeyboardInterrupt), worktree(Repository.at(shop.top), commit) as tree:
        assert (tree / "a.txt").read_text() == "one\n"
        assert not (tree / "untracked").exists()
        assert Repository.at(tree).merge_base("main") == commit
        (tree / "made.txt").write_text("by a run")
        raise KeyboardInterrupt
    assert not tree.parent.exists()
    assert places(shop) == []


def test_a_commit_that_cannot_be_checked_out_leaves_nothing(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(RepositoryError, match="cannot be checked out"), worktree(Repository.at(shop.top), "0" * 40):
        pass
    assert [one.name for one in tmp_path.iterdir()] == ["repo"]


HOLDING = """
import sys
from contextlib import suppress
from pathlib import Path
from harness.runner.bases.repository import Repository
from harness.runner.bases.worktrees import worktree
with worktree(Repository.at(Path(sys.argv[1])), sys.argv[2]) as tree:
    print(tree, flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_left_behind_is_removed_by_the_next_and_not_while_it_lives(shop: Shop) -> None:
    commit, here = shop.git("rev-parse", "HEAD"), Repository.at(shop.top)
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(shop.top), commit],
        env=clean_environment({}), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    tree = Path(os.fsdecode(process.stdout.readline().rstrip(b"\n")))
    remove_left_behind(here)
    assert tree.is_dir(), "its process is alive"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert tree.is_dir(), "nobody could clean up"
    with worktree(here, commit):
        assert not tree.parent.exists()
        assert len(places(shop)) == 1
    assert places(shop) == []


def test_work_trees_of_others_stay(shop: Shop, tmp_path: Path) -> None:
    for name in ("theirs", f"{PREFIX}like"):
        shop.git("worktree", "add", "-q", "--detach", str(tmp_path / name))
    with worktree(Repository.at(tmp_path / "theirs"), shop.git("rev-parse", "HEAD")):
        pass
    assert (tmp_path / "theirs" / "a.txt").exists()
    assert (tmp_path / f"{PREFIX}like" / "a.txt").exists()


def test_git_that_hangs_is_an_error(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(RepositoryError, match="more than 1 s"):
        git(shop.top, "status", timeout_s=1)


@pytest.mark.parametrize(
    ("ref", "meant"),
    [
        pytest.param("main", "refs/heads/main", id="a-branch-before-a-tag"),
        pytest.param("origin/main", "refs/remotes/origin/main", id="a-remote-branch-before-a-tag"),
        pytest.param("far", "refs/remotes/origin/far", id="a-branch-of-origin-before-a-tag"),
        pytest.param("refs/tags/main", "refs/tags/main", id="a-tag-that-is-named-whole"),
        pytest.param("only", "refs/tags/only", id="a-tag-without-a-branch"),
        pytest.param("HEAD", "refs/heads/change", id="head-is-not-that-of-origin"),
        pytest.param("HEAD~1", "refs/heads/change~1", id="nor-what-leads-on-from-it"),
        pytest.param("main~1", "refs/heads/main~1", id="what-leads-on-from-a-branch"),
    ],
)
def test_a_branch_is_meant_before_a_tag_of_its_name(ref: str, meant: str, shop: Shop) -> None:
    commits = [shop.commit(str(number)) for number in range(6)]
    shop.git("branch", "-f", "change", commits[5])
    shop.git("checkout", "-q", "change")
    shop.git("branch", "-f", "main", commits[1])
    names = ("refs/remotes/origin/main", "refs/remotes/origin/far", "refs/remotes/origin/HEAD", "refs/tags/only")
    for at, name in enumerate(names):
        shop.git("update-ref", name, commits[at])
    for tag in ("main", "origin/main", "far"):
        shop.git("update-ref", f"refs/tags/{tag}", commits[4])
    assert Repository.at(shop.top).commit_of(ref) == shop.git("rev-parse", f"{meant}^{{commit}}")
