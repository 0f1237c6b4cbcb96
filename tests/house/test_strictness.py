"""The strictness that pyproject.toml asks of the tools is real: each tool is shown a bad file and refuses it."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.house.source import REPO

CONFIG = REPO / "pyproject.toml"
BIN = Path(sys.executable).parent


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        pytest.param("import warnings\n\ndef test_it():\n    warnings.warn('old')\n", "UserWarning: old", id="warning"),
        pytest.param(
            "import pytest\n\n@pytest.mark.xfail\ndef test_it():\n    pass\n", "XPASS(strict)", id="unexpected-pass"
        ),
        pytest.param(
            "import pytest\n\n@pytest.mark.conformence('1')\ndef test_it():\n    pass\n",
            "'conformence' not found",
            id="misspelt-marker",
        ),
    ],
)
def test_pytest_refuses(text: str, word: str, tmp_path: Path) -> None:
    tmp_path.joinpath("test_bad.py").write_text(text, "utf-8")
    done = run(sys.executable, "-m", "pytest", "-c", CONFIG, "-p", "no:cacheprovider", "test_bad.py", cwd=tmp_path)
    assert done.returncode != 0
    assert word in done.stdout + done.stderr


def test_pytest_refuses_a_misspelt_option_of_its_configuration(tmp_path: Path) -> None:
    text = CONFIG.read_text("utf-8").replace("xfail_strict = true", "xfail_strikt = true")
    tmp_path.joinpath("pyproject.toml").write_text(text, "utf-8")
    tmp_path.joinpath("test_good.py").write_text("def test_it():\n    pass\n", "utf-8")
    done = run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_good.py", cwd=tmp_path)
    assert done.returncode != 0
    assert "xfail_strikt" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "word"),
    [
        pytest.param("def f(x):\n    return x\n", "no-untyped-def", id="untyped-function"),
        pytest.param("from typing import Any\n\ndef f(x: Any) -> int:\n    return x\n", "no-any-return", id="any"),
        pytest.param("x: list = []\n", "type-arg", id="bare-generic"),
    ],
)
def test_mypy_refuses(text: str, word: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(text, "utf-8")
    done = run(BIN / "mypy", "--config-file", CONFIG, "--cache-dir", tmp_path / "cache", bad, cwd=tmp_path)
    assert done.returncode == 1
    assert word in done.stdout


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param("x = eval('1')\n", "S307", id="eval"),
        pytest.param("exec('x = 1')\n", "S102", id="exec"),
        pytest.param("try:\n    x = 1\nexcept Exception:\n    pass\n", "S110", id="swallowed-error"),
        pytest.param("try:\n    x = 1\nexcept:\n    x = 2\n", "E722", id="bare-except"),
        pytest.param("import os\n", "F401", id="unused-import"),
        pytest.param("from . import x\n\ny = x\n", "TID252", id="relative-import"),
        pytest.param("def f(x=[]):\n    return x\n", "B006", id="mutable-default"),
    ],
)
def test_ruff_refuses(text: str, rule: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(text, "utf-8")
    done = run(BIN / "ruff", "check", "--no-cache", "--config", CONFIG, bad, cwd=tmp_path)
    assert done.returncode == 1
    assert rule in done.stdout


def test_the_distribution_is_installed_under_its_name_with_its_doors() -> None:
    distribution = metadata.distribution("agent-loop-harness")
    points = {(point.group, point.name): point.value for point in distribution.entry_points}
    assert points == {
        ("console_scripts", "harness"): "harness.cli:main",
        ("pytest11", "harness"): "harness.pytest_plugin",
    }


def test_the_package_tells_type_checkers_that_it_is_typed() -> None:
    assert (REPO / "harness" / "py.typed").is_file()


def test_constraints_are_plain_pins() -> None:
    lines = (REPO / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins
    assert [line for line in pins if line.count("==") != 1 or " " in line or line.startswith("-")] == []
