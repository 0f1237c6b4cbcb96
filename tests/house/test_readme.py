"""The README tells the truth: its example is the shipped one, its commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.types.sweeps import SweepKind


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def readme(repo: Path) -> str:
    return (repo / "README.md").read_text(encoding="utf-8")


def test_the_scenario_in_the_readme_is_the_one_that_the_example_ships(repo: Path, readme: str) -> None:
    scenarios = [block for block in blocks(readme, "yaml") if block.startswith("format: harness-scenario/1")]
    assert scenarios == [(repo / "docs/examples/own_loop/scenarios/refund.yaml").read_text(encoding="utf-8")]


def test_the_example_of_a_users_own_loop_passes_as_it_is_shipped(repo: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=repo / "docs/examples/own_loop",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def test_every_command_that_the_readme_lists_exists_and_no_other(readme: str) -> None:
    listed = set(re.findall(r"^\| `harness ([a-z]+)", readme, flags=re.MULTILINE))
    done = subprocess.run(
        [sys.executable, "-m", "harness", "--help"], capture_output=True, text=True, check=False
    )
    offered = set(re.findall(r"^  ([a-z]+) ", done.stdout.split("Commands:")[1], flags=re.MULTILINE))
    assert listed == offered


def test_the_options_that_the_readme_lists_for_a_command_are_its_own(readme: str) -> None:
    for command, row in re.findall(r"^\| `harness ([a-z]+(?: [a-z]+)?)[^|]*\|(.*)\|$", readme, flags=re.MULTILINE):
        done = subprocess.run(
            [sys.executable, "-m", "harness", *command.split(), "--help"], capture_output=True, text=True, check=False
        )
        unknown = [option for option in re.findall(r"`(--?[a-z-]+)", row) if option not in done.stdout]
        assert unknown == [], command


def test_the_row_of_sweeps_names_every_kind_and_axis_and_nothing_of_it_is_said_to_come(readme: str) -> None:
    (row,) = [line for line in readme.splitlines() if line.startswith("| `harness sweep ")]
    stems = {SweepKind.TOOL_ERROR: "fail", SweepKind.MODEL_ERROR: "fail"}
    assert [kind for kind in SweepKind if stems.get(kind, kind.value) not in row] == []
    assert "`--axis`" in row
    (line,) = [part for part in re.split(r"\n\n", readme) if part.startswith("Not yet")]
    assert "sweep" not in line
    assert [kind for kind in SweepKind if re.search(rf"\b{kind}s?\b", line)] == []


@pytest.mark.article("43")
@pytest.mark.parametrize("what", ["planning", "vector memory", "sandboxing"])
def test_what_is_out_of_scope_is_said_with_its_reason(readme: str, what: str) -> None:
    (line,) = [part for part in re.split(r"\n\n", readme) if part.startswith("Out of scope")]
    assert re.search(rf"\*{what}\*[^*]*\(", line), f"{what} has no reason"


def test_the_two_commands_are_targets_of_the_makefile(repo: Path, readme: str) -> None:
    makefile = (repo / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test"):
        assert f"make {target}" in readme
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
