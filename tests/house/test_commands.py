"""`make` installs again exactly when what says so has changed, and CI's program can be run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.source import REPO

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed here")


def is_up_to_date(folder: Path) -> bool:
    done = subprocess.run(["make", "-q", "env"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode == 0


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the environment depends on, with a stamp that is newer than all of it."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(REPO / name, tmp_path / name)
        os.utime(tmp_path / name, (1_000, 1_000))
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / ".installed").touch()
    os.utime(tmp_path / ".venv" / ".installed", (2_000, 2_000))
    return tmp_path


def test_an_installed_environment_is_left_alone(checkout: Path) -> None:
    assert is_up_to_date(checkout)


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_changed_file_is_installed(name: str, checkout: Path) -> None:
    os.utime(checkout / name, (3_000, 3_000))
    assert not is_up_to_date(checkout)


def test_a_clean_clone_is_installed(checkout: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    assert not is_up_to_date(checkout)


def test_the_program_of_ci_is_executable_and_parses() -> None:
    program = REPO / ".ci" / "run"
    assert os.access(program, os.X_OK)
    subprocess.run(["bash", "-n", program], check=True, timeout=60)
