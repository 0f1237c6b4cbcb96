"""``harness check`` where a file is torn, damaged, or holds nothing to judge: nothing of it is silent, nothing green."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.lab import GOOD, Cli

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
GOOD_TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
BAD_TALK = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "user", "content": "?"},
    {"role": "assistant", "content": "Hello."},
]
LINE = json.dumps({"messages": GOOD_TALK})


@pytest.mark.parametrize("more", [(), ("-v",)], ids=["short", "verbose"])
def test_a_torn_tail_of_another_products_file_is_told(cli: Cli, more: tuple[str, ...]) -> None:
    cli.write("a.jsonl", f"{LINE}\n{LINE}\n{LINE[:20]}")
    said = cli("check", "a.jsonl", *more)
    tail = (
        f"torn tail  a.jsonl  conversation-2@default#1: line 3 is unfinished, 20 bytes from byte {2 * len(LINE) + 2} on"
    )
    assert tail in said.out
    assert said.out.count("torn tail") == 1
    one, two = cli("check", "a.jsonl", "--json").json["trajectories"]
    assert "torn" not in one
    assert two["torn"] == {"line": 3, "offset": 2 * len(LINE) + 2, "nBytes": 20}


def test_a_torn_tail_of_a_run_of_ours_is_told(cli: Cli) -> None:
    cli.write("one.yaml", GOOD)
    cli("run", "one.yaml", "--out", "runs")
    (written,) = Path("runs/trajectories").rglob("*.jsonl")
    written.write_bytes(written.read_bytes() + b'{"seq":')
    assert "torn tail  " in cli("check", "runs").out


def test_a_torn_tail_is_told_where_files_are_compared(cli: Cli) -> None:
    cli.write("one.jsonl", f"{LINE}\n{LINE}\n")
    cli.write("two.jsonl", f"{LINE}\n{LINE}\n{LINE[:20]}")
    said = cli("compare", "one.jsonl", "two.jsonl")
    assert "two.jsonl: line 3 is unfinished, 20 bytes from byte" in said.err
    assert "one.jsonl" not in said.err


def test_a_torn_export_of_spans_says_so_too(cli: Cli) -> None:
    attributes = [
        {"key": key, "value": {"stringValue": value}}
        for key, value in (("gen_ai.operation.name", "chat"), ("gen_ai.request.model", "m"))
    ]
    span = {
        "traceId": "t",
        "spanId": "s",
        "name": "chat",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": attributes,
    }
    line = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    cli.write("a.jsonl", f"{line}\n{line}\n{line[:9]}")
    assert "torn tail  a.jsonl" in cli("check", "a.jsonl").out


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"conversations":[],"settings":{}}', id="another-file-with-that-name-in-it"),
        pytest.param('{"messages":[]}', id="no-messages"),
        pytest.param('{"messages":[],"tools":[]}', id="nothing-but-tools"),
    ],
)
def test_a_file_with_nothing_to_judge_never_passes(cli: Cli, text: str) -> None:
    cli.write("a.json", text)
    said = cli("check", "a.json")
    assert said.code == 4
    assert "INVALID  a.json  conversation-1@default#1: there is nothing in it to judge" in said.out
    assert said.out.rstrip().endswith("INVALID  0 of 1 passed")
    (row,) = cli("check", "a.json", "--json").json["trajectories"]
    assert row["nothingInIt"] is True


def test_one_damaged_file_hides_no_verdict_of_the_others(cli: Cli) -> None:
    cli.write("mix/b.json", '{"messages": [')
    cli.write("mix/c.json", LINE)
    said = cli("check", "mix")
    assert said.code == 4
    assert "INVALID  not read: mix/b.json:1: " in said.out
    assert said.out.rstrip().endswith("INVALID  1 of 1 passed, 1 file not read")
    cli.write("mix/a.json", json.dumps({"messages": BAD_TALK}))
    said = cli("check", "mix")
    assert said.code == 1, "what fails comes before what could not be read"
    assert said.out.rstrip().endswith("FAIL  1 of 2 passed, 1 file not read")
    told = cli("check", "mix/a.json", "mix/b.json", "mix/c.json", "--json").json
    assert (told["outcome"], len(told["trajectories"]), len(told["unread"])) == ("FAIL", 2, 1)


def test_damage_in_the_middle_of_a_file_hides_nothing_before_it(cli: Cli) -> None:
    cli.write("a.jsonl", f'{LINE}\n{{"messages":[{{"role":"tool","content":5}}]}}\n')
    said = cli("check", "a.jsonl")
    assert (said.code, "1 of 1 passed, 1 file not read" in said.out) == (4, True)


def test_a_damaged_file_alone_is_an_error_as_before(cli: Cli) -> None:
    cli.write("b.json", '{"messages": [')
    said = cli("check", "b.json")
    assert (said.code, said.out) == (4, "")
    assert "b.json:1" in said.err


def test_what_fails_in_a_file_of_many_runs_names_the_run(cli: Cli) -> None:
    bad = json.dumps({"messages": BAD_TALK})
    cli.write("a.jsonl", f"{LINE}\n{bad}\n{bad}\n")
    said = cli("check", "a.jsonl")
    headings = [line for line in said.out.splitlines() if line.startswith("FAIL  pairing")]
    assert headings == [f"FAIL  pairing  a.jsonl  conversation-{n}@default#1" for n in (2, 3)]
