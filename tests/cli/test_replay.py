"""`harness replay` and `harness scenario from`: what a stranger sees, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import ReplayDiffers, read_trajectory
from harness.models import ReplayModel
from harness.store import find_runs
from tests.cli.lab import GOOD, Cli

RUN = "reports/latest/trajectories/good@default#1.jsonl"


@pytest.fixture
def recorded(cli: Cli) -> Cli:
    """A folder with one scenario and one recorded run of it."""
    cli.write("scenarios/good.yaml", GOOD)
    assert cli("run", "scenarios").code == 0
    return cli


def test_a_run_is_followed_and_written_as_runs_are(recorded: Cli) -> None:
    said = recorded("replay", RUN)
    assert said.code == 0
    assert said.out.splitlines() == [
        "PASS  good@default#1  followed 2 of 2 steps  (recorded tools, scenario scenarios/good.yaml)",
        "PASS  1 of 1 run followed to the end, 2 of 2 steps, in reports/replay",
    ]
    (path,) = find_runs(recorded.folder / "reports" / "replay")
    assert dict(read_trajectory(path).header.models) == {"main": "replay"}
    assert recorded("check", "reports/replay").code == 0


def test_the_first_difference_is_shown_with_both_sides(recorded: Cli) -> None:
    recorded.write("scenarios/good.yaml", GOOD.replace("6 * 7?", "6 * 8?"))
    said = recorded("replay", "reports/latest")
    assert said.code == 1
    assert said.out.splitlines() == [
        "FAIL  good@default#1  followed 0 of 2 steps  (recorded tools, scenario scenarios/good.yaml)",
        "  first difference: request 1 (turn 1, step 1): message 1 (user) (messages[0].content)",
        '    recorded: "What is 6 * 7?"',
        '    now:      "What is 6 * 8?"',
        "FAIL  0 of 1 run followed to the end, 0 of 2 steps, in reports/replay",
    ]


@pytest.mark.parametrize("pattern", ["nonsense[[[", "", "a..b", ".a", "a.", "messages[*", "messages*]name", "[]", "a[0]b"])
def test_a_place_to_ignore_that_does_not_parse_is_a_usage_error_and_nothing_is_replayed(
    recorded: Cli, pattern: str
) -> None:
    said = recorded("replay", RUN, "--ignore", pattern)
    assert said.code == 2
    assert f"--ignore {pattern!r}" in said.err
    assert not (recorded.folder / "reports/replay").exists()


def test_a_place_to_ignore_that_no_request_has_is_told(recorded: Cli) -> None:
    options = ("--ignore", "nothing.here", "--ignore", "messages[*].content", "--ignore", "tools[0]")
    said = recorded("replay", RUN, *options)
    assert said.code == 0
    assert said.err.splitlines() == ["--ignore 'nothing.here': no request that was compared has that place"]
    told = json.loads(recorded("replay", RUN, *options, "--json").out)
    assert told["ignoredNothing"] == ["nothing.here"]
    assert "ignoredNothing" not in json.loads(recorded("replay", RUN, "--json").out)


def test_json_is_one_object(recorded: Cli) -> None:
    recorded.write("scenarios/good.yaml", GOOD.replace("6 * 7?", "6 * 8?"))
    said = recorded("replay", RUN, "--json")
    told = json.loads(said.out)
    assert (said.code, told["outcome"]) == (1, "FAIL")
    assert (told["runs"][0]["nFollowed"], told["runs"][0]["nSteps"]) == (0, 2)
    assert told["runs"][0]["recorded"] == '"What is 6 * 7?"'


def test_a_scenario_that_is_gone_is_made_of_the_recording(recorded: Cli) -> None:
    (recorded.folder / "scenarios" / "good.yaml").unlink()
    said = recorded("replay", RUN)
    assert said.code == 0
    assert "(recorded tools, scenario made of the recording)" in said.out


WRONG = [
    pytest.param(("nowhere.jsonl",), 2, "nowhere.jsonl: there is no such file or folder", id="no-such-file"),
    pytest.param((RUN, "--tools", "fake"), 2, "--tools 'fake': say recorded or real", id="unknown-tools"),
    pytest.param((RUN, "--out", "reports"), 2, "lies in reports, where the replayed runs go: name another folder with --out", id="out-holds-the-run"),
    pytest.param((RUN, "--scenario", "scenarios/none.yaml"), 2, "none.yaml", id="no-such-scenario"),
    pytest.param((RUN, "--subject", "nobody"), 2, "'nobody'", id="no-such-loop"),
    pytest.param(("empty",), 4, "no trajectories in empty", id="an-empty-folder"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG)
def test_what_cannot_be_replayed_is_said(recorded: Cli, arguments: tuple[str, ...], code: int, message: str) -> None:
    (recorded.folder / "empty").mkdir()
    said = recorded("replay", *arguments)
    assert said.code == code
    assert message in said.err
    assert "Traceback" not in said.err


def test_a_run_that_asked_no_model_is_nothing_to_replay(recorded: Cli) -> None:
    lines = (recorded.folder / RUN).read_bytes().split(b"\n")
    recorded.write("cut.jsonl", b"\n".join([*lines[:5], b""]))
    said = recorded("replay", "cut.jsonl")
    assert said.code == 4
    assert "nothing to replay: the run asked no model" in said.out


def test_real_tools_run_and_need_the_scenario(recorded: Cli) -> None:
    assert recorded("replay", RUN, "--tools", "real").code == 0
    (recorded.folder / "scenarios" / "good.yaml").unlink()
    said = recorded("replay", RUN, "--tools", "real")
    assert said.code == 4 or said.code == 2
    assert "scenario" in said.err


def test_the_error_is_a_public_name_with_a_code_of_its_own() -> None:
    assert ReplayDiffers("x").code == "REPLAY_DIFFERS"
    assert ReplayDiffers.exit_code == 1
    assert ReplayModel.name == "replay"


# ---------------------------------------------------------------- a scenario from a run


def test_a_scenario_from_a_run_runs(recorded: Cli) -> None:
    said = recorded("scenario", "from", RUN, "-o", "scenarios/again.yaml")
    assert (said.code, said.out) == (0, "")
    assert said.err.splitlines() == ["wrote scenarios/again.yaml: runs as recorded"]
    assert recorded("run", "scenarios/again.yaml").code == 0


def test_without_a_file_it_goes_to_standard_output(recorded: Cli) -> None:
    said = recorded("scenario", "from", RUN)
    assert said.code == 0
    assert said.out.startswith("# Made by `harness scenario from` of the run good@default#1 (good@default#1.jsonl).\n")
    assert "\nformat: harness-scenario/1\n" in said.out
    recorded.write("scenarios/again.yaml", said.out)
    assert recorded("run", "scenarios/again.yaml").code == 0


def test_a_file_that_is_there_stays_unless_it_is_forced(recorded: Cli) -> None:
    said = recorded("scenario", "from", RUN, "-o", "scenarios/good.yaml")
    assert said.code == 2
    assert "scenarios/good.yaml is there already" in said.err
    assert (recorded.folder / "scenarios" / "good.yaml").read_text("utf-8") == GOOD
    assert recorded("scenario", "from", RUN, "-o", "scenarios/good.yaml", "--force").code == 0
    assert (recorded.folder / "scenarios" / "good.yaml").read_text("utf-8") != GOOD


def test_several_runs_need_a_name_or_a_folder(recorded: Cli) -> None:
    assert recorded("run", "scenarios", "--trials", "2").code == 0
    said = recorded("scenario", "from", "reports/latest")
    assert said.code == 2
    assert "holds 2 runs: name one with --run" in said.err
    assert recorded("scenario", "from", "reports/latest", "--run", "good@default#2", "-o", "two.yaml").code == 0
    said = recorded("scenario", "from", "reports/latest", "-o", "made")
    assert said.code == 0
    assert said.out.splitlines() == ["2 scenarios in made: 2 pass, 0 do not, 0 runs left out"]
    assert recorded("run", "made", "--out", "o").code == 0


def test_a_scenario_that_cannot_pass_is_written_and_says_why(cli: Cli, shared: Path) -> None:
    run = shared / "data" / "deepseek-harness" / "headless-agent" / "compaction-recovery" / "session.jsonl"
    said = cli("scenario", "from", str(run), "-o", "x.yaml")
    assert said.code == 1
    assert "wrote x.yaml: does not pass: " in said.err
    text = (cli.folder / "x.yaml").read_text("utf-8")
    assert "# A run of this scenario does not pass: expect status completed" in text
    assert "# - history was replaced" in text
    assert str(shared) not in text
