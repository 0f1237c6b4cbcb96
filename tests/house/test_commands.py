"""`make` installs again exactly when what says so has changed, and CI's program can be run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
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


TOOLS = ("bash", "cat", "dirname", "env", "grep", "id", "mktemp", "rm", "tail", "tee", "timeout")
CLOSING = "===== 7 passed in 0.10s ====="


def run_ci(folder: Path, programs: Mapping[str, str], **environ: str) -> tuple[int, str]:
    """CI's program on a machine that has only these programs and what every machine has; gives its code and output."""
    place = folder / "bin"
    place.mkdir()
    real = {name: f'exec "{shutil.which(name)}" "$@"' for name in TOOLS}
    for name, text in {**real, "python3": f'exec "{sys.executable}" "$@"', "git": "", "curl": "", **programs}.items():
        (place / name).write_text(f"#!{shutil.which('bash')}\n{text}\n")
        (place / name).chmod(0o755)
    done = subprocess.run(
        [str(place / "bash"), str(REPO / ".ci" / "run")], env={"PATH": str(place), "HOME": str(folder), **environ}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


MAKE = {"make": f"echo '{CLOSING}'"}
APT = {"apt-get": 'echo "apt-get $*"', "sudo": 'shift; exec "$@"'}


def asked_of_apt(said: str) -> list[str]:
    """What was installed, without the options."""
    lines = [line.split() for line in said.splitlines() if line.startswith("apt-get install")]
    return [word for line in lines for word in line[2:] if not word.startswith("-")]


@pytest.mark.skipif(sys.platform != "linux", reason="CI's program is for Debian")
@pytest.mark.parametrize(
    ("there", "environ", "wanted"),
    [
        pytest.param({}, {}, True, id="no-browser"),
        pytest.param({"chromium": ""}, {}, False, id="chromium"),
        pytest.param({"google-chrome": ""}, {}, False, id="another-name"),
        pytest.param({}, {"HARNESS_CHROMIUM": "/opt/chrome"}, False, id="named-by-the-environment"),
    ],
)
def test_ci_installs_a_browser_exactly_where_none_is(tmp_path: Path, there: dict[str, str], environ: dict[str, str], wanted: bool) -> None:
    code, said = run_ci(tmp_path, {**MAKE, **APT, **there}, **environ)
    assert (code, said.splitlines()[-1]) == (0, CLOSING)
    assert ("chromium" in asked_of_apt(said)) is wanted


@pytest.mark.skipif(sys.platform != "linux", reason="CI's program is for Debian")
def test_ci_fails_where_what_is_missing_cannot_be_installed(tmp_path: Path) -> None:
    code, said = run_ci(tmp_path, {**MAKE, **APT, "apt-get": "exit 100"})
    assert (code, CLOSING in said) == (100, False)


@pytest.mark.skipif(sys.platform != "linux", reason="CI's program is for Debian")
def test_ci_ends_as_the_tests_do_and_says_their_closing_line_last(tmp_path: Path) -> None:
    code, said = run_ci(tmp_path, {**APT, "chromium": "", "make": f"echo '{CLOSING}'; echo later; exit 2"})
    assert (code, said.splitlines()[-1]) == (2, CLOSING)
