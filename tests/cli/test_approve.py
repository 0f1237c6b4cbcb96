"""``harness run --approve``: who is asked about calls."""

from __future__ import annotations

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
