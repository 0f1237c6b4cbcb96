"""``harness run --approve``: who is asked about calls."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from tests.cli.lab import Cli

ASKS = """\
format: harness-scenario/1
task: Make the sky blue.
tools: {use: [write_memory], memory: {sky: grey}}
policy: {tools: {write_memory: ask}, approvals: [{answer: allow}]}
script:
  - call: {write_memory: {key: sky, value: blue}}
  - say: Done.
expect: {status: completed, results: [%s]}
"""


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The process's input is a terminal; gives the descriptor that types into it."""
    master, slave = os.openpty()
    with os.fdopen(slave, "r") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        yield master
    os.close(master)


@pytest.mark.conformance("57")
@pytest.mark.parametrize("more", [("scenarios",), ("scenarios/sky.yaml", "--trials", "2")], ids=["scenarios", "trials"])
def test_several_runs_at_once_are_not_to_ask_at_one_terminal(cli: Cli, keyboard: int, more: tuple[str, ...]) -> None:
    cli.write("scenarios/sky.yaml", ASKS % "OK")
    cli.write("scenarios/blue.yaml", ASKS % "OK")
    said = cli("run", "--approve", "terminal", "-j", "2", *more)
    assert said.code == 2, said.all
    assert "2 runs with -j 2 would ask at one terminal" in said.err
    assert not cli.folder.joinpath("reports").exists()


@pytest.mark.parametrize(
    ("typed", "more", "passed"), [(b"y\n", ("-j", "2"), 1), (b"perhaps\nallow\ny\n", ("--trials", "2"), 2)], ids=["one-run", "in-turn"]
)
def test_one_run_after_another_asks_at_the_terminal(
    cli: Cli, keyboard: int, typed: bytes, more: tuple[str, ...], passed: int
) -> None:
    cli.write("scenarios/sky.yaml", ASKS % "OK")
    os.write(keyboard, typed)
    said = cli("run", "--approve", "terminal", *more)
    assert said.code == 0, said.all
    assert f"{passed} of {passed} passed" in said.out
    assert said.err.count("May write_memory run with") == passed


def test_the_end_of_the_input_is_nobody_there_and_ends_the_line_of_the_question(cli: Cli, keyboard: int) -> None:
    cli.write("scenarios/sky.yaml", ASKS % "APPROVAL_UNAVAILABLE")
    os.write(keyboard, b"\x04")
    said = cli("run", "--approve", "terminal")
    assert said.code == 0, said.all
    assert said.err.endswith("[y/n/p] \n")


@pytest.mark.conformance("57")
def test_without_a_terminal_nobody_is_there_to_ask_and_nothing_runs(cli: Cli) -> None:
    cli.write("scenarios/sky.yaml", ASKS % "OK")
    said = cli("run", "-v", "--approve", "terminal")
    assert said.code == 2, said.all
    assert "--approve terminal: the input is no terminal" in said.all
    assert not cli.folder.joinpath("reports").exists()


def test_an_own_approver_is_found_in_the_current_folder(cli: Cli) -> None:
    cli.write(
        "people.py",
        "class No:\n    name = 'no'\n\n    async def ask(self, question, *, signal):\n        return 'reject'\n",
    )
    cli.write("scenarios/sky.yaml", ASKS % "REJECTED")
    said = cli("run", "-v", "--approve", "people:No")
    assert said.code == 0, said.all
    assert "approval rejected by no" in said.out


@pytest.mark.parametrize("name", ["nobody", "people:Nobody"])
def test_whoever_is_not_there_is_told_before_anything_runs(cli: Cli, name: str) -> None:
    cli.write("scenarios/sky.yaml", ASKS % "OK")
    said = cli("run", "--approve", name)
    assert said.code == 2
    assert name in said.all
    assert not cli.folder.joinpath("reports").exists()
