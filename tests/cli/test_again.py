"""The command that makes something again is that command, whatever its files are called."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from harness.cli.against import Wanted
from harness.cli.sweep_results import sweep_command


@pytest.mark.parametrize("name", ["a b", "--gate", "-", "--", "it's", "-x/y"])
def test_a_path_is_no_option_of_the_command_that_is_told(name: str) -> None:
    path = Path(name)
    wanted = Wanted((path, path), scenarios=(path,), gate=path, runs=path)
    for command in (wanted.command, sweep_command([path], {"--html": None})):
        words = shlex.split(command)[2:]
        options = {"--scenarios", "--runs", "--gate"}
        paths = [word for at, word in enumerate(words) if word not in options or words[at - 1] in options]
        assert [Path(word) for word in paths] == [path] * len(paths)
        assert [word for word in paths if word.startswith("-")] == []
        assert len(paths) in (1, 5)
