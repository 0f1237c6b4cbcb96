"""``harness compare --gate``: exit codes, what is refused, and one line where nothing changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from harness.scenarios.gates import gate_schema
from tests.cli.lab import BAD, GOOD, Cli
from tests.conftest import REPO

OTHER = GOOD.replace("It is 42.", "It is 42, surely.")
GATE = "format: harness-gate/1\n"


def two_sets(cli: Cli, first: str, second: str) -> None:
    for name, text in (("base", first), ("new", second)):
        cli.write("sums.yaml", text)
        assert cli("run", "sums.yaml", "--out", name).code in (0, 1)


def lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n")


@pytest.mark.parametrize(
    ("candidate", "gate", "code", "first"),
    [
        pytest.param(GOOD, "", 0, "PASS  1 scenario, no difference", id="equal"),
        pytest.param(BAD, "", 1, "FAIL  checks: 1 scenario fails a check more often than in the base (expected_counts)", id="fails-now"),
        pytest.param(BAD, "exact: {checks: warn}\n", 0, "PASS  no rule is broken", id="fails-now-and-only-warns"),
        pytest.param(OTHER, "", 1, "FAIL  behaviour: 1 scenario behaves differently", id="behaves-differently"),
        pytest.param(OTHER, "exact: {behaviour: warn}\n", 0, "PASS  no rule is broken", id="behaves-differently-and-only-warns"),
        pytest.param(BAD, "quarantine: [{scenario: sums, until: 2999-12-31, why: x}]\n", 1, "FAIL  checks:", id="no-expiry"),
        pytest.param(BAD, "quarantine: [{scenario: sums, until: 2001-01-01, why: x}]\n", 1, "FAIL  checks:", id="expired"),
        pytest.param(
            GOOD, "exact: {checks: warn, cancel: warn, pairing: warn, stale: warn, missing: warn, new: warn, behaviour: warn}\n",
            4, "INVALID  the gate cannot fail: every rule that it asks only warns or passes", id="cannot-fail",
        ),
    ],
)  # fmt: skip
def test_the_gate_gives_the_exit_code(cli: Cli, candidate: str, gate: str, code: int, first: str) -> None:
    two_sets(cli, GOOD, candidate)
    cli.write("gate.yaml", GATE + gate)
    said = cli("compare", "base", "new", "--gate", "gate.yaml")
    assert said.code == code
    assert said.out.startswith(first)
    assert (len(lines(said.out)) == 1) is (candidate == GOOD and code == 0)
    told = cli("compare", "base", "new", "--gate", "gate.yaml", "--json")
    assert told.code == code
    verdict = told.json["verdict"]
    assert (verdict["source"], verdict["file"]) == ("file", "gate.yaml")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        pytest.param(
            ["--gate", "gone.yaml"], "--gate gone.yaml: there is no such file; a first gate is one line", id="no-file"
        ),
        pytest.param(["--gate", "."], "--gate .: ", id="a-folder"),
        pytest.param(
            ["--gate", "bad.yaml"],
            "bad.yaml:2, field 'exact.chekcs': unknown field 'chekcs'; did you mean 'checks'",
            id="a-typing-error",
        ),
        pytest.param(
            ["--inconclusive", "warn"], "--inconclusive is for the rules of a gate: name one with --gate", id="no-gate"
        ),
        pytest.param(["--gate", "good.yaml", "--inconclusive", "maybe"], "'maybe' is not one of", id="another-word"),
    ],
)
def test_a_gate_that_cannot_be_read_is_refused_before_anything_is_compared(
    cli: Cli, arguments: list[str], what: str
) -> None:
    cli.write("good.yaml", GATE)
    cli.write("bad.yaml", GATE + "exact: {chekcs: fail}\n")
    said = cli("compare", "nowhere", "neither", *arguments)
    assert said.code == 2
    assert what in said.err
    assert "nowhere" not in said.err


def undecided(cli: Cli) -> None:
    """Eight scenarios: too few to say anything of a rate."""
    for name in ("base", "new"):
        for n in range(8):
            cli.write(f"s/{n}.yaml", GOOD)
        cli("run", "s", "--out", name)
    cli.write("gate.yaml", GATE + "statistical: {pass-rate: {margin: 5 %}}\n")


@pytest.mark.parametrize(("option", "code"), [([], 0), (["fail"], 3), (["warn"], 0), (["pass"], 0)])
def test_what_cannot_be_decided_is_what_the_option_says(cli: Cli, option: list[str], code: int) -> None:
    undecided(cli)
    arguments = ["--inconclusive", *option] if option else []
    said = cli("compare", "base", "new", "--gate", "gate.yaml", *arguments)
    assert said.code == code
    if code:
        assert lines(said.out)[0].startswith(
            "INCONCLUSIVE  pass-rate: pass rate 100.0 % → 100.0 %, +0.0 points (95 % interval"
        )
        assert lines(said.out)[-1] == "again: harness compare base new --gate gate.yaml --inconclusive fail"
    elif option == ["pass"]:
        assert lines(said.out) == ["PASS  8 scenarios, no difference  (base, new)"]
    else:
        assert lines(said.out) == ["PASS  8 scenarios, no difference; pass-rate not decided  (base, new)"]


def test_verbose_lists_every_rule_also_where_nothing_changed(cli: Cli) -> None:
    undecided(cli)
    told = lines(cli("compare", "base", "new", "--gate", "gate.yaml", "-v").out)
    assert told[1] == "judged by the gate gate.yaml as it lies here"
    rules = ["checks", "cancel", "pairing", "stale", "missing", "new", "behaviour", "details", "pass-rate"]
    assert [line.split()[1].rstrip(":") for line in told[2:]] == rules
    assert "           PASS           checks: 0 of 8 scenarios" in told
    assert "           NOT_APPLICABLE new (fail" not in "\n".join(told)


def test_recordings_out_of_date_are_a_rule_of_their_own(cli: Cli) -> None:
    name = "recorded/fahrenheit"
    text = (REPO / "scenarios" / f"{name}.yaml").read_text("utf-8")
    shutil.copytree(REPO / "cassettes" / name, f"cassettes/{name}")
    for out, task in (("base", "Convert 22 degrees Celsius to Fahrenheit."), ("new", "How hot is 22 C in F?")):
        cli.write(f"scenarios/{name}.yaml", text.replace("Convert 22 degrees Celsius to Fahrenheit.", task))
        cli("run", "scenarios", "--out", out)
    cli.write("gate.yaml", GATE)
    said = cli("compare", "base", "new", "--gate", "gate.yaml")
    assert said.code == 1
    assert lines(said.out)[0].startswith(
        "FAIL  stale: 1 scenario has a recording out of date (user input), 0 leading steps still agree; if that is meant: harness record --stale: "
    )
    verdict = cli("compare", "base", "new", "--gate", "gate.yaml", "--json").json["verdict"]
    assert [one["rule"] for one in verdict["results"] if one["outcome"] == "FAIL"] == ["stale"], (
        "one cause is one failure"
    )


def test_the_code_is_that_of_the_gate_whatever_is_shown(cli: Cli) -> None:
    two_sets(cli, GOOD, BAD)
    cli.write("gate.yaml", GATE)
    for arguments in ([], ["-v"], ["--json"], ["--format", "markdown"], ["--out", "x.md"]):
        assert cli("compare", "base", "new", "--gate", "gate.yaml", *arguments).code == 1


def test_the_schema_is_printed_without_anything_to_compare(cli: Cli) -> None:
    said = cli("compare", "--gate-schema")
    assert said.code == 0
    schema: Any = json.loads(said.out)
    assert schema == gate_schema()
    jsonschema_rs.validator_for(schema).validate({"format": "harness-gate/1"})


def test_a_gate_is_read_as_it_stands_on_disk_whatever_its_name(cli: Cli) -> None:
    two_sets(cli, GOOD, BAD)
    path = Path("ci/räuber gate.yaml")
    cli.write(str(path), GATE)
    said = cli("compare", "base", "new", "--gate", str(path))
    assert said.code == 1
    assert lines(said.out)[-1] == "again: harness compare base new --gate 'ci/räuber gate.yaml'"
