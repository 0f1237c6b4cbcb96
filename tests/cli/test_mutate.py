"""``harness scenario mutate``: what a scenario would not notice, what would, exit codes."""

from __future__ import annotations

import re

import pytest

from tests.cli.lab import BAD, GOOD, UNSCRIPTED, Cli
from tests.conftest import REPO

TIGHT = GOOD.replace(
    'answer: {contains: "42"}', 'calls: [{calculator: {expression: 6 * 7}}], results: [OK], answer: {contains: "42"}'
)
LOOSE = GOOD.replace(', steps: 2, answer: {contains: "42"}', "")


def test_a_scenario_that_notices_everything_exits_with_0(cli: Cli) -> None:
    cli.write("scenarios/tight.yaml", TIGHT)
    said = cli("scenario", "mutate")
    assert said.code == 0, said.all
    assert said.out.splitlines()[0].startswith("PASS  tight  ")
    assert " 0 not" in said.out
    assert "not noticed" not in said.out


def test_what_is_not_noticed_comes_first_with_before_after_and_the_field_that_would(cli: Cli) -> None:
    cli.write("scenarios/loose.yaml", LOOSE)
    said = cli("scenario", "mutate")
    assert said.code == 1
    lines = said.out.splitlines()
    assert lines[0].startswith("FAIL  loose  ")
    place = lines.index("  not noticed: the final answer says something else (turn 1, step 2, event 16)")
    change, hint = "It is 42.  ->  I do not know.", "would be noticed by  expect: {answer: {contains: '42'}}"
    assert lines[place + 1] == f"    {change}    {hint}"
    assert place < next(i for i, line in enumerate(lines) if line.startswith("  answer "))


def test_the_advice_written_into_the_file_makes_it_pass(cli: Cli) -> None:
    cli.write("scenarios/loose.yaml", LOOSE)
    (row,) = cli("scenario", "mutate", "--json").json["scenarios"]
    text = LOOSE.replace("expect: {status: completed}\n", "")
    advice = row["advice"].removeprefix("expect:").strip("\n")
    cli.write("scenarios/loose.yaml", f"{text}expect:\n  status: completed\n{advice}\n")
    said = cli("scenario", "mutate")
    assert said.code == 0, said.all


def test_a_scenario_that_fails_is_not_mutated_and_gives_its_own_exit_code(cli: Cli) -> None:
    cli.write("scenarios/bad.yaml", BAD)
    said = cli("scenario", "mutate")
    assert said.code == 1
    assert said.out.splitlines() == [
        "FAIL  bad  the run itself came to FAIL, so nothing was mutated",
        "  expected_counts: expect 3 steps: there were 2",
        "  A scenario must pass before it is mutated.",
    ]


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        pytest.param(UNSCRIPTED, (), 4, id="no-cassette"),
        pytest.param(TIGHT, ("-k", "none"), 4, id="no-scenario"),
        pytest.param(TIGHT, ("--allow", "calls,answer"), 2, id="no-kind"),
        pytest.param(TIGHT, ("--limit", "0"), 2, id="no-mutants"),
        pytest.param(TIGHT, ("--at-least", "90"), 2, id="no-part"),
        pytest.param(TIGHT, ("--subject", "nowhere:loop"), 2, id="no-subject"),
        pytest.param(LOOSE, ("--at-least", "0.2"), 0, id="a-part-is-enough"),
        pytest.param(LOOSE, ("--at-least", "0.9"), 1, id="a-part-is-not-enough"),
        pytest.param(
            LOOSE,
            ("--allow", "calls", "--allow", "arguments", "--allow", "results", "--allow", "answer"),
            0,
            id="allowed",
        ),
        pytest.param(LOOSE + "checks: [quiescence]\n", ("--limit", "1000"), 1, id="with-a-check"),
    ],
)
def test_the_exit_code_says_what_happened(cli: Cli, text: str, arguments: tuple[str, ...], code: int) -> None:
    cli.write("scenarios/one.yaml", text)
    assert cli("scenario", "mutate", *arguments).code == code


def test_a_failure_counts_more_than_a_missing_cassette_and_all_are_summed_up(cli: Cli) -> None:
    for name, text in (("loose", LOOSE), ("tight", TIGHT), ("unscripted", UNSCRIPTED)):
        cli.write(f"scenarios/{name}.yaml", text)
    said = cli("scenario", "mutate", "-j", "2")
    assert said.code == 1
    assert said.out.splitlines()[-1].startswith("2 of 3 scenarios mutated: ")


def test_what_is_left_out_by_the_bound_is_said(cli: Cli) -> None:
    cli.write("scenarios/tight.yaml", TIGHT)
    said = cli("scenario", "mutate", "--limit", "3")
    assert said.code == 0
    assert "beyond the bound (--limit)" in said.out


def test_verbose_tells_what_notices_each_mutant(cli: Cli) -> None:
    cli.write("scenarios/tight.yaml", TIGHT)
    said = cli("scenario", "mutate", "-v")
    assert "  noticed: 'calculator' is not called (turn 1, step 1, event 8): " in said.out


def test_a_long_hint_of_a_kind_that_is_allowed_is_shown_on_request(cli: Cli) -> None:
    long = " ".join(["so much to say"] * 10)
    text = f"format: harness-scenario/1\ntask: go\nscript: [say: {long}]\nexpect: {{status: completed}}\n"
    cli.write("scenarios/long.yaml", text)
    asked, allowed = cli("scenario", "mutate"), cli("scenario", "mutate", "--allow", "answer")
    assert (asked.code, allowed.code) == (1, 0)
    assert "would be noticed by  answer (below)" in asked.out
    assert "not noticed (allowed): the final answer says something else" in allowed.out
    assert "would be noticed by  answer (-v shows it)" in allowed.out
    assert f"answer: {long}\n" in cli("scenario", "mutate", "--allow", "answer", "-v").out


def test_nothing_is_written(cli: Cli) -> None:
    cli.write("scenarios/loose.yaml", LOOSE)
    cli("scenario", "mutate")
    assert sorted(path.name for path in cli.folder.iterdir()) == ["scenarios"]


def test_the_scenario_that_init_writes_notices_everything(cli: Cli) -> None:
    assert cli("init").code == 0
    said = cli("scenario", "mutate")
    assert said.code == 0, said.all


def test_the_page_shows_what_its_example_comes_to(cli: Cli) -> None:
    page = (REPO / "docs" / "mutation.md").read_text(encoding="utf-8")
    blocks = dict(reversed(re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)))
    cli.write("refund.yaml", blocks["yaml"])
    said = cli("scenario", "mutate", "refund.yaml")
    assert said.out == blocks["text"]
    advice = blocks["text"].split("same name):\n")[1].replace("    expect:\n", "").replace("\n    ", "\n").removeprefix("    ")
    kept = blocks["yaml"].split("expect:")[0]
    cli.write("refund.yaml", f"{kept}expect:\n  status: completed\n  steps: 3\n{advice}")
    assert cli("scenario", "mutate", "refund.yaml").code == 0
