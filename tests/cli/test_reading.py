"""``check``, ``show``, ``compare`` and ``scenario schema``: what they say of what is there."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import jsonschema_rs
import pytest

from harness.documents import load_document
from harness.formats import FORMATS
from tests.cli.lab import BAD, GOOD, Cli, Said


@pytest.fixture
def run(cli: Cli) -> Path:
    """A folder of one good run; the path of its trajectory."""
    cli.write("a.yaml", GOOD)
    assert cli("run", "a.yaml", "--out", "out").code == 0
    (path,) = (cli.folder / "out/trajectories").rglob("*.jsonl")
    return path.relative_to(cli.folder)


# ---------------------------------------------------------------- check


def test_runs_of_the_airline_have_their_known_counts(cli: Cli, shared: Path) -> None:
    said = cli("check", str(shared / "data/tau-bench/gpt-4o-airline.json"))
    assert said.code == 0, said.all
    assert said.out.startswith("136 trajectories, 784 calls, 784 results, 0 unpaired, 48 reused ids (information)\n")


def test_all_logs_of_another_harness_are_read_and_other_files_passed_over(cli: Cli, shared: Path) -> None:
    said = cli("check", str(shared / "data/deepseek-harness"), "--json")
    assert said.code == 0, said.all
    told = said.json
    assert (told["nTrajectories"], told["nCalls"], told["nResults"], told["nUnpaired"]) == (108, 111, 111, 0)
    assert "154 files" in said.err
    cancelled = [one for one in told["trajectories"] if "cancel-tool-calls" in one["source"]]
    verdicts = {verdict["check"]: verdict["outcome"] for verdict in cancelled[0]["verdicts"]}
    assert verdicts["cancel_no_tool_start"] == "NOT_APPLICABLE"


def test_one_named_check_is_open_where_nothing_can_show_it(cli: Cli, shared: Path) -> None:
    said = cli("check", str(shared / "data/tau-bench/gpt-4o-airline.json"), "--check", "cancel_settled")
    assert said.code == 3
    assert "not observed" in said.out


def test_a_broken_trajectory_fails_with_its_event_numbers(cli: Cli, run: Path) -> None:
    path = cli.folder / run
    lines = [line for line in path.read_text("utf-8").splitlines() if '"type":"tool/result"' not in line]
    renumbered = [lines[0]]
    for seq, line in enumerate(lines[1:]):
        renumbered.append(json.dumps({**json.loads(line), "seq": seq}, separators=(",", ":"), ensure_ascii=False))
    cli.write("broken.jsonl", "\n".join(renumbered) + "\n")
    said = cli("check", "broken.jsonl")
    assert said.code == 1, said.all
    assert "FAIL  pairing" in said.out
    assert "(events 8, 14)" in said.out


@pytest.mark.article("14")
def test_a_torn_file_is_read_and_told_as_interrupted(cli: Cli, run: Path) -> None:
    path = cli.folder / run
    path.write_bytes(path.read_bytes()[:-900])
    said = cli("show", str(run))
    assert said.code == 0
    assert "interrupted" in said.out
    assert "torn tail" in said.out
    assert "Last closed boundary" in said.out


def test_check_says_which_provider_would_refuse_a_history_and_why(cli: Cli) -> None:
    call = {"id": "", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "", "content": "x"}]
    cli.write("a.json", json.dumps({"messages": messages}))
    said = cli("check", "a.json")
    assert said.code == 0
    assert "a provider would refuse  a/conversation-1@default#1: openai (a call of 'f' without an id), anthropic (a call of 'f' without an id)" in said.out
    (row,) = cli("check", "a.json", "--json").json["trajectories"]
    assert row["refusedBy"][0] == {"provider": "openai", "why": ["a call of 'f' without an id"], "events": [1]}


# ---------------------------------------------------------------- show


@pytest.mark.article("12")
def test_a_run_is_shown_step_by_step_and_ends_with_its_counts(cli: Cli, run: Path) -> None:
    said = cli("show", str(run))
    assert said.code == 0
    for piece in ("turn 1", "step 2", 'calculator {"expression":"6 * 7"}', "42", "It is 42."):
        assert piece in said.out
    assert said.out.splitlines()[-1] == "2 steps, 4 messages, 0 ms"


@pytest.mark.article("13")
def test_a_run_is_drawn_for_markdown(cli: Cli, run: Path) -> None:
    said = cli("show", str(run), "--format", "mermaid")
    assert said.code == 0
    assert said.out.startswith("sequenceDiagram\n")


def test_one_of_many_trajectories_in_a_file_is_chosen_by_number(cli: Cli, shared: Path) -> None:
    file = str(shared / "data/tau-bench/gpt-4o-airline.json")
    assert cli("show", file, "-n", "2").out != cli("show", file).out
    gone = cli("show", file, "-n", "137")
    assert gone.code == 2
    assert "holds 136" in gone.err


# ---------------------------------------------------------------- written for other products


def test_a_run_is_written_for_other_products_and_read_again(cli: Cli, run: Path) -> None:
    for form in ("chat", "atif"):
        said = cli("show", str(run), "--format", form, "--out", f"{form}.json")
        assert (said.code, said.out) == (0, "")
        assert f"not carried by {form}: " in said.err
        assert "model/request: 2" in said.err
        judged = cli("check", f"{form}.json")
        assert judged.code == 0, judged.all
        assert "1 trajectory, 1 call, 1 result, 0 unpaired" in judged.out


def test_what_is_written_can_go_to_a_pipe_too(cli: Cli, run: Path) -> None:
    document = json.loads(cli("show", str(run), "--format", "atif").out)
    assert document["schema_version"] == "ATIF-v1.8"
    assert [step["source"] for step in document["steps"]] == ["user", "agent", "agent"]


@pytest.mark.parametrize("form", ["text", "mermaid", "chat", "atif"])
def test_a_file_that_is_there_is_never_overwritten(cli: Cli, run: Path, form: str) -> None:
    cli.write("there.json", "mine")
    said = cli("show", str(run), "--format", form, "--out", "there.json")
    assert said.code == 2
    assert "is there already" in said.err
    assert (cli.folder / "there.json").read_text("utf-8") == "mine"


def test_a_place_that_cannot_be_written_is_refused(cli: Cli, run: Path) -> None:
    said = cli("show", str(run), "--out", "no/such/folder.txt")
    assert said.code == 2
    assert "cannot be written" in said.err


def test_the_help_of_check_names_every_format(cli: Cli) -> None:
    words = " ".join(cli("check", "--help").out.replace("│", " ").split())
    assert all(name in words for name in FORMATS)


# ---------------------------------------------------------------- compare


def two_sets(cli: Cli, first: str, second: str) -> None:
    for name, text in (("base", first), ("new", second)):
        cli.write("a.yaml", text)
        cli("run", "a.yaml", "--out", name)


def test_the_same_runs_have_no_difference(cli: Cli) -> None:
    two_sets(cli, GOOD, GOOD)
    said = cli("compare", "base", "new")
    assert said.code == 0
    assert "no difference" in said.out


def test_another_answer_is_named_as_the_first_divergence_and_fails(cli: Cli) -> None:
    two_sets(cli, GOOD, GOOD.replace("It is 42.", "It is 42, surely."))
    said = cli("compare", "base", "new", "--out", "report.md")
    assert said.code == 1
    assert "It is 42, surely." in said.out
    assert "step 2" in said.out
    report = cli.folder.joinpath("report.md").read_bytes()
    assert b"It is 42, surely." in report
    assert report == cli("compare", "base", "new", "--format", "markdown").out.encode("utf-8")


def test_a_run_that_got_worse_is_told_so(cli: Cli) -> None:
    two_sets(cli, GOOD, BAD)
    told = cli("compare", "base", "new", "--json").json["comparison"]
    assert told["outcome"] == "FAIL"
    assert told["scenarios"][0]["change"] == "worse"


def test_a_folder_without_runs_is_invalid(cli: Cli) -> None:
    cli.folder.joinpath("base").mkdir()
    said = cli("compare", "base", "base")
    assert said.code == 4
    assert "holds no runs" in said.err


# ---------------------------------------------------------------- schema, terminal


def test_the_schema_accepts_a_good_scenario_and_refuses_a_typo(cli: Cli) -> None:
    schema = json.loads(cli("scenario", "schema").out)
    validator = jsonschema_rs.validator_for(schema)
    assert validator.is_valid(load_document(GOOD, "x").value)
    assert not validator.is_valid(load_document(GOOD.replace("expect:", "expct:"), "x").value)


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self) -> bool:
        return True


def on_a_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Said:
    from harness.cli.main import run_app

    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    return Said(run_app(list(arguments)), out.getvalue(), err.getvalue())


@pytest.mark.parametrize("no_colour", [False, True], ids=["colour", "NO_COLOR"])
def test_on_a_terminal_there_is_colour_unless_it_is_not_wanted_and_a_counter_that_goes(
    no_colour: bool, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    if no_colour:
        monkeypatch.setenv("NO_COLOR", "1")
    for name in "ab":
        cli.write(f"{name}.yaml", GOOD)
    said = on_a_terminal(cli, monkeypatch, "run", ".")
    assert ("\x1b[32mPASS" in said.out) is not no_colour
    assert "\r0/2 runs" in said.err
    assert "\r1/2 runs" in said.err
    assert said.err.endswith("\r\x1b[K")


def test_without_a_terminal_there_is_neither_colour_nor_counter(cli: Cli) -> None:
    for name in "ab":
        cli.write(f"{name}.yaml", GOOD)
    said = cli("run", ".")
    assert "\x1b" not in said.all
    assert said.err == ""
