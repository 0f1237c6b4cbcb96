"""``run``, ``init`` and what they leave behind."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.lab import BAD, GOOD, Cli, clean_environment, in_a_process
from tests.conftest import REPO

HANGING = """\
format: harness-scenario/1
task: Wait.
clock: system
script:
  - say: Done at last.
    delay_ms: 600000
"""


def test_help_shows_every_command_with_a_whole_line(cli: Cli) -> None:
    said = cli("--help")
    assert said.code == 0
    commands = said.out.partition("Commands:")[2].splitlines()
    lines = [line for line in commands if re.match(r"  \w", line)]
    assert len(lines) >= 15
    for line in lines:
        assert line.endswith((".", "?"))
        assert not line.endswith("...")


def test_no_command_shows_the_help_and_is_a_usage_error(cli: Cli) -> None:
    said = cli()
    assert said.code == 2
    assert "Commands:" in said.err


def test_a_newcomer_s_first_scenario_runs(cli: Cli) -> None:
    written = cli("init")
    assert written.code == 0
    assert "Next: harness run" in written.out
    said = cli("run", "-v")
    assert said.code == 0, said.all
    for piece in ("get_weather", '{"city":"London"}', "Take an umbrella with you.", "1 of 1 passed"):
        assert piece in said.out
    assert "TOOL_FAILED" not in said.out


def test_the_first_test_passes_under_pytest(cli: Cli) -> None:
    cli("init")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "-W", "error"],
        cwd=cli.folder, env=clean_environment({}), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_init_changes_no_file_that_exists(cli: Cli) -> None:
    mine = cli.write("scenarios/first/umbrella.yaml", "mine")
    said = cli("init")
    assert said.code == 0
    assert "kept" in said.out
    assert mine.read_text("utf-8") == "mine"


def test_a_folder_of_runs_stands_alone(cli: Cli) -> None:
    cli.write("scenarios/shop/a.yaml", GOOD)
    cli.write("scenarios/shop/b.yaml", GOOD + "skip: not yet\n")
    assert cli("run", "--out", "out").code == 0
    info = json.loads(cli.folder.joinpath("out/run.json").read_text("utf-8"))
    assert info["planned"] == 2
    assert info["skipped"] == [{"scenario": "shop/b", "why": "not yet"}]
    assert info["finished"] is True
    (line,) = cli.folder.joinpath("out/summary.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["file"] == "trajectories/shop/a@default#1.jsonl"
    cli.folder.joinpath("scenarios").rename(cli.folder / "gone")
    assert cli("check", "out").code == 0


def test_a_second_set_of_runs_replaces_the_first_and_leaves_other_files_alone(cli: Cli) -> None:
    cli.write("a.yaml", GOOD)
    cli.write("b.yaml", GOOD)
    assert cli("run", "a.yaml", "b.yaml").code == 0
    note = cli.write("reports/latest/note.txt", "mine")
    own = cli.write("reports/latest/trajectories/mine/picture.svg", "mine")
    assert cli("run", "b.yaml").code == 0
    names = sorted(path.name for path in cli.folder.joinpath("reports/latest").rglob("*.jsonl"))
    assert names == ["b@default#1.jsonl", "summary.jsonl"]
    assert note.exists()
    assert own.exists()


def test_a_link_to_somebody_else_s_folder_is_not_emptied(cli: Cli) -> None:
    cli.write("a.yaml", GOOD)
    assert cli("run", "a.yaml").code == 0
    foreign = cli.write("precious/data.jsonl", "mine")
    trajectories = cli.folder / "reports/latest/trajectories"
    trajectories.rename(cli.folder / "old")
    trajectories.symlink_to(foreign.parent, target_is_directory=True)
    said = cli("run", "a.yaml")
    assert said.code == 2
    assert "link" in said.err
    assert foreign.read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("expression", "n"), [("a", 1), ("slow", 1), ("not slow", 1), ("a or slow", 2)], ids=["id", "tag", "not", "or"]
)
def test_scenarios_are_chosen_by_words_in_ids_and_tags(expression: str, n: int, cli: Cli) -> None:
    cli.write("a.yaml", GOOD)
    cli.write("b.yaml", GOOD + "tags: [slow]\n")
    assert len(cli("run", ".", "-k", expression, "--json").json["runs"]) == n


def test_trials_are_runs_of_their_own(cli: Cli) -> None:
    cli.write("a.yaml", GOOD)
    told = cli("run", "a.yaml", "--trials", "3", "--json").json
    assert [run["trial"] for run in told["runs"]] == [1, 2, 3]


def _bytes_in(folder: Path) -> dict[str, bytes]:
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: _without_volatile(data) if name.startswith("traj") else data for name, data in files.items()}


def _without_volatile(data: bytes) -> bytes:
    first, _, rest = data.partition(b"\n")
    header = json.loads(first)
    header.pop("volatile", None)
    return json.dumps(header).encode() + rest


def test_two_processes_give_the_same_files_as_one(cli: Cli) -> None:
    for name in "abc":
        cli.write(f"{name}.yaml", BAD if name == "b" else GOOD)
    one = in_a_process("run", ".", "--out", "one", cwd=cli.folder)
    two = in_a_process("run", ".", "--out", "two", "-j", "2", cwd=cli.folder)
    assert one.returncode == two.returncode == 1
    assert _bytes_in(cli.folder / "one") == _bytes_in(cli.folder / "two")


def test_a_process_that_dies_is_an_error_of_its_run_and_no_hang(cli: Cli) -> None:
    cli.write("dying.py", "import os\n\ndef leave(call):\n    os._exit(3)\n")
    cli.write("a.yaml", "format: harness-scenario/1\ntask: x\nscript: [{function: 'dying:leave'}]\n")
    cli.write("b.yaml", GOOD)
    done = in_a_process("run", "a.yaml", "b.yaml", "-j", "2", cwd=cli.folder)
    assert done.returncode == 5, done.stdout
    assert b"a worker process died" in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("jobs", "counted"),
    [
        pytest.param("1", b"2 planned = 1 passed + 1 failed + ", id="here-where-it-ends-cancelled"),
        pytest.param("2", b"1 not run", id="in-a-worker-which-is-ended"),
    ],
)
def test_interrupted_it_keeps_and_summarises_what_has_run(jobs: str, counted: bytes, cli: Cli) -> None:
    cli.write("a.yaml", GOOD)
    cli.write("b.yaml", HANGING)
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "run", "a.yaml", "b.yaml", "-j", jobs],
        cwd=cli.folder, env=clean_environment({"PYTHONUNBUFFERED": "1"}),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    first = process.stdout.readline()
    waiting = cli.folder / "reports/latest/trajectories/b@default#1.jsonl"
    while not (waiting.exists() and b'"type":"model/request"' in waiting.read_bytes()):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (first, out, err)
    assert b"interrupted" in err
    assert b"Traceback" not in err
    assert counted in out
    lines = cli.folder.joinpath("reports/latest/summary.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["scenario"] for line in lines] == ["a", "b"]
    assert json.loads(cli.folder.joinpath("reports/latest/run.json").read_text("utf-8"))["finished"] is False


INTERRUPTED_AS_IT_STARTS = """\
import os, signal, sys

def interrupt(event, args):
    if event == "import" and args[0] == "harness.runner.pool":
        os.kill(os.getpid(), signal.SIGINT)

if any("spawn_main" in part for part in sys.orig_argv):
    sys.addaudithook(interrupt)
"""


def test_an_interrupt_that_meets_a_worker_which_is_still_starting_is_left_to_its_parent(cli: Cli) -> None:
    for name in ("a", "b", "c"):
        cli.write(f"{name}.yaml", GOOD)
    cli.write("early/sitecustomize.py", INTERRUPTED_AS_IT_STARTS)
    paths = os.pathsep.join([str(cli.folder / "early"), str(REPO)])
    process = subprocess.run(
        [sys.executable, "-m", "harness", "run", "a.yaml", "b.yaml", "c.yaml", "-j", "2"],
        cwd=cli.folder, env=clean_environment({"PYTHONPATH": paths}), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (process.returncode, process.stderr) == (0, b""), process.stdout
    assert b"3 of 3 passed" in process.stdout


def test_what_follows_an_interrupt_at_a_terminal_begins_a_line_of_its_own(cli: Cli) -> None:
    cli.write("b.yaml", HANGING)
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness", "run", "b.yaml"],
            cwd=cli.folder, env=clean_environment({}), stdout=subprocess.PIPE, stderr=theirs,
        )  # fmt: skip
        waiting = cli.folder / "reports/latest/trajectories/b@default#1.jsonl"
        while not (waiting.exists() and b'"type":"model/request"' in waiting.read_bytes()):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        os.close(theirs)
        assert process.returncode == 130
        assert terminal.read(100).startswith(b"\r\n")


def test_a_reader_that_goes_away_is_no_error(cli: Cli) -> None:
    cli.write("a.yaml", GOOD)
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "run", "a.yaml"],
        cwd=cli.folder, env=clean_environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0, err
    assert err == b""
