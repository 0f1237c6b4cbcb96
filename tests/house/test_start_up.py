"""`import harness` and the idle plugin load nothing heavy; each judged in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.source import REPO

HEAVY = ("openai", "pandas", "vcr", "typer", "pydantic", "mcp")
FIND_HEAVY = f"import sys, json; print(json.dumps(sorted(set(sys.modules) & set({HEAVY!r}))))"


def heavy_after(code: str, *, cwd: Path) -> list[str]:
    """Which heavy packages a fresh interpreter has loaded once it has run the code in that folder."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{FIND_HEAVY}"],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=60,
        check=True,
    )
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def pytest_session(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A project that has never heard of us, run with our plugin installed; its one test looks at what is loaded."""
    folder.joinpath("test_foreign.py").write_text(
        f"import sys\n\ndef test_light():\n    assert sorted(set(sys.modules) & set({HEAVY!r})) == []\n"
        "\ndef test_plugin():\n    assert 'harness.pytest_plugin' in sys.modules\n",
        "utf-8",
    )
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
        check=False,
    )


def test_import_harness_loads_nothing_heavy() -> None:
    assert heavy_after("import harness", cwd=REPO) == []


@pytest.mark.parametrize("package", HEAVY)
def test_a_package_that_imports_something_heavy_is_seen(package: str, tmp_path: Path) -> None:
    tmp_path.joinpath("harness.py").write_text(f"import {package}\n", "utf-8")
    assert package in heavy_after("import harness", cwd=tmp_path)


def test_the_idle_plugin_loads_nothing_heavy_in_a_foreign_session(tmp_path: Path) -> None:
    done = pytest_session(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_heavy_plugin_is_seen(tmp_path: Path) -> None:
    tmp_path.joinpath("heavy_plugin.py").write_text("import typer\n", "utf-8")
    done = pytest_session(tmp_path, "-p", "heavy_plugin")
    assert done.returncode == 1
    assert "typer" in done.stdout


@pytest.mark.parametrize("package", ["asyncio", "openai", "pandas", "vcr", "pydantic", "dotenv", "h11"])
def test_the_command_lines_help_loads_nothing_that_a_command_needs(package: str) -> None:
    code = f"import harness.cli.main, json, sys; print(json.dumps({package!r} in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPO, timeout=60, check=True)
    assert json.loads(done.stdout) is False
