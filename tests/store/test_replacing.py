"""A file is replaced whole; what is no file is never replaced by one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from harness.cassettes import replace as cassette
from harness.errors import ConfigurationError
from harness.store import replace_file


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "reports" / "r.md"
    replace_file(path, [b"one\n"])
    replace_file(path, [b"sec", b"ond\n"])
    assert path.read_bytes() == b"second\n"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("there", [True, False], ids=["to-a-file", "to-nothing-yet"])
def test_through_a_link_its_target_is_written(tmp_path: Path, there: bool) -> None:
    target, link = tmp_path / "kept" / "target.md", tmp_path / "link.md"
    target.parent.mkdir()
    if there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    replace_file(link, [b"new"])
    assert (link.is_symlink(), target.read_bytes()) == (True, b"new")
    cassette.replace_file(link, b"newer")
    assert (link.is_symlink(), target.read_bytes()) == (True, b"newer")


def test_a_pipe_and_a_folder_are_refused_and_stay(tmp_path: Path) -> None:
    pipe, folder, link = tmp_path / "pipe", tmp_path / "folder", tmp_path / "link"
    os.mkfifo(pipe)
    folder.mkdir()
    link.symlink_to(pipe)
    for path in (pipe, folder, link):
        with pytest.raises(ConfigurationError, match="name a file to write to"):
            replace_file(path, [b"x"])
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert folder.is_dir()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "link", "pipe"]
