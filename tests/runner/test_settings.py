"""``[tool.harness]``: what is wrong with it is a usage error that names the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConfigurationError
from harness.runner.settings import Settings, settings
from tests.pytest_plugin.lab import project, pytest_in


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("[tool]\nharness = 1\n", "must be a table, not 1", id="no-table"),
        pytest.param("[tool.harness]\nsubjct = 'x:y'\n", "has no key 'subjct'", id="misspelt"),
        pytest.param("[tool.harness]\nscenarios = 1\n", "scenarios must be a path", id="no-path"),
    ],
)
def test_a_wrong_table_is_a_usage_error_and_told_once_by_pytest(tmp_path: Path, text: str, words: str) -> None:
    project(
        tmp_path, pyproject_toml=text, a__x_yaml="a: 1\n", b__y_yaml="b: 1\n", tests__test_a_py="def test(): pass\n"
    )
    with pytest.raises(ConfigurationError, match=words):
        settings(tmp_path)
    done = pytest_in(tmp_path)
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert (done.out + done.err).count(words) == 1
    assert "Traceback" not in done.out + done.err


@pytest.mark.parametrize("text", ["", "tool = 1\n", "[tool.other]\nx = 1\n"])
def test_a_project_without_the_table_has_the_defaults(tmp_path: Path, text: str) -> None:
    project(tmp_path, pyproject_toml=text)
    assert settings(tmp_path) == Settings()
