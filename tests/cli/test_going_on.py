"""``harness run --resume`` and ``--fork``."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.protocols import Signal
from harness.store import read_trajectory, write_trajectory
from harness.testing import scenario
from harness.types.events import Trajectory
from harness.types.lifecycle import ApprovalAsked
from harness.types.policy import ApprovalReply, Question
from tests.cli.lab import Cli
from tests.resume.lab import asking, parked

TEXT = """\
format: harness-scenario/1
tasks: [Add up., And now?]
tools: {use: [calculator]}
script:
  - calls: [{calculator: {expression: 1+1}}, {calculator: {expression: 2+2}}]
  - say: Two and four.
  - say: Nothing more.
allow_leftovers: true
"""


@pytest.fixture
def two(cli: Cli) -> Path:
    """A scenario's run in the default folder; gives its trajectory."""
    cli.write("scenarios/two.yaml", TEXT)
    assert cli("run").code == 0
    return cli.folder / "reports/latest/trajectories/two@default#1.jsonl"


def die(path: Path, kind: str) -> Trajectory:
    """Cut the file behind the first event of a kind."""
    whole = read_trajectory(path)
    end = next(event.seq for event in whole.events if kind == event.fact.TYPE) + 1
    write_trajectory(path, Trajectory(whole.header, whole.events[:end]))
    return read_trajectory(path)


def test_a_run_that_died_is_repaired_in_place_and_goes_on_in_a_folder_of_its_own(cli: Cli, two: Path) -> None:
    died = die(two, "tool/start")
    said = cli("run", "--resume", str(two), "-v")
    assert said.code == 0, said.all
    assert "1 of 1 passed" in said.out
    assert [event.fact.TYPE for event in read_trajectory(two).events[len(died.events) :]] == [
        "tool/result", "tool/result", "step/end", "turn/end", "run/end", "run/quiescent",
    ]  # fmt: skip
    (child,) = (cli.folder / "reports/resumed").rglob("*#1.jsonl")
    assert child.relative_to(cli.folder).parts[2] == "two@default#1-1"
    shown = cli("show", str(child))
    assert "goes on from two@default#1 event" in shown.out
    assert cli("check", str(child), str(two)).code == 0
    again = cli("run", "--resume", str(two))
    assert again.code == 2
    assert "was resumed before, as 'two@default#1+resume'" in again.err
    once_more = cli("run", "--resume", str(child))
    assert (once_more.code, "--task" in once_more.err) == (2, True)


def test_a_parked_call_is_answered_on_the_command_line(cli: Cli, tmp_path: Path) -> None:
    cli.write("scenarios/resume/two-turns.yaml", TEXT.replace("Nothing more.", "That is all."))
    path = parked(asking(), tmp_path / "runs")
    (call,) = [event.fact.call_id for event in read_trajectory(path).events if isinstance(event.fact, ApprovalAsked)]
    silent = cli("run", "--resume", str(path))
    assert silent.code == 2
    assert f"--answer {call}=allow" in silent.err
    said = cli("run", "--resume", str(path), "--answer", f"{call}=reject", "--json")
    assert said.json["runs"][0]["calls"][0]["code"] == "REJECTED"
    assert "has changed since that run" in said.err


class Says:
    """An approver that has made up its mind."""

    name = "somebody"

    def __init__(self, reply: str) -> None:
        self.reply, self.asked = reply, []

    async def ask(self, question: Question, *, signal: Signal) -> ApprovalReply:
        self.asked.append(question)
        if self.reply == "throw":
            raise ConnectionError("no line")
        return ApprovalReply(self.reply)


ALLOWS, REJECTS, PARKS, THROWS, SILENT = map(Says, ("allow", "reject", "park", "throw", "unavailable"))
HERE = "tests.cli.test_going_on:"


@pytest.fixture
def parked_run(cli: Cli, tmp_path: Path) -> Path:
    cli.write("scenarios/resume/two-turns.yaml", TEXT)
    return parked(asking(), tmp_path / "runs")


@pytest.mark.conformance("57")
@pytest.mark.parametrize(("who", "code"), [("ALLOWS", "OK"), ("REJECTS", "REJECTED")])
def test_whoever_is_named_is_asked_about_the_parked_call(cli: Cli, parked_run: Path, who: str, code: str) -> None:
    (asked,) = [event.fact.call_id for event in read_trajectory(parked_run).events if isinstance(event.fact, ApprovalAsked)]
    said = cli("run", "--resume", str(parked_run), "--approve", HERE + who, "--json")
    assert (said.json["runs"][0]["calls"][0]["code"] or "OK") == code, said.all
    question = globals()[who].asked[-1]
    assert (question.call_id, question.tool) == (asked, "calculator")


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("PARKS", "somebody leaves it parked"),
        ("THROWS", "somebody gave no answer (whoever is asked cannot answer: "),
        ("SILENT", "somebody gave no answer. "),
    ],
)
def test_a_parked_call_without_an_answer_stays_parked_and_can_be_answered_later(
    cli: Cli, parked_run: Path, who: str, words: str
) -> None:
    before = parked_run.read_bytes()
    said = cli("run", "--resume", str(parked_run), "--approve", HERE + who)
    assert said.code == 2, said.all
    assert words in said.err
    assert parked_run.read_bytes() == before
    assert cli("run", "--resume", str(parked_run), "--approve", HERE + "ALLOWS", "--json").json["planned"] == 1
    again = len(ALLOWS.asked)
    assert cli("run", "--resume", str(parked_run), "--approve", HERE + "ALLOWS").code == 2
    assert len(ALLOWS.asked) == again, "nobody is asked about what was answered before"


def test_a_fork_goes_another_way_and_names_the_boundaries_that_there_are(cli: Cli, two: Path) -> None:
    before = two.read_bytes()
    whole = read_trajectory(two)
    end = next(event.seq for event in whole.events if event.fact.TYPE == "turn/end")
    said = cli("run", "--fork", str(two), "--at", str(end), "--task", "Again?", "--out", "forked")
    assert said.code == 0, said.all
    (child,) = (cli.folder / "forked").rglob("*#1.jsonl")
    assert read_trajectory(child).events[: end + 1] == whole.events[: end + 1]
    refused = cli("run", "--fork", str(two), "--at", "7")
    assert refused.code == 2
    assert f"event 7 is no closed boundary (a turn is open there, or the run has not begun). The nearest are 0, 1, {end}." in refused.err
    assert two.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["--resume", "x", "--fork", "x", "--at", "1"], "exclude each other", id="both"),
        pytest.param(["--answer", "c1=allow"], "give its trajectory with --resume", id="answer-alone"),
        pytest.param(["--fork", "x"], "belong together", id="fork-without-at"),
        pytest.param(["--at", "3"], "belong together", id="at-alone"),
        pytest.param(["--task", "x"], "--task goes with", id="task-alone"),
        pytest.param(["--resume", "x", "--trials", "2"], "make one run", id="trials"),
        pytest.param(["--resume", "none.jsonl"], "there is no such file", id="no-file"),
    ],
)
def test_options_that_do_not_go_together_are_refused(cli: Cli, arguments: list[str], words: str) -> None:
    cli.write("scenarios/two.yaml", TEXT)
    said = cli("run", *arguments)
    assert said.code == 2
    assert words in said.err


@pytest.mark.parametrize("how", [("--resume",), ("--fork", "--at", "1")], ids=["resume", "fork"])
@pytest.mark.parametrize(
    ("name", "words"), [("none.jsonl", "none.jsonl: there is no such file"), ("folder", "folder is a folder: name one trajectory in it")]
)
def test_what_is_no_file_is_told_before_anything_about_scenarios_here_and_in_python(
    cli: Cli, how: tuple[str, ...], name: str, words: str
) -> None:
    cli.folder.joinpath("folder").mkdir()
    said = cli("run", how[0], name, *how[1:])
    assert (said.code, said.err) == (2, f"error: {words}{' (trajectories/*.jsonl)' if name == 'folder' else ''}\n")
    loop = scenario(task="Hello", script=[{"say": "Hello."}])
    with pytest.raises(UsageError, match=words) as raised:
        loop.resume(name) if how[0] == "--resume" else loop.fork(name, at=1)
    assert raised.value.exit_code == said.code


def test_an_answer_is_allow_or_reject(cli: Cli, two: Path) -> None:
    die(two, "tool/start")
    said = cli("run", "--resume", str(two), "--answer", "c1=maybe")
    assert (said.code, "CALL=allow or CALL=reject" in said.err) == (2, True)


def test_the_folder_of_the_parent_is_never_emptied(cli: Cli, two: Path) -> None:
    die(two, "tool/start")
    said = cli("run", "--resume", str(two), "--out", "reports/latest")
    assert (said.code, "holds the run that is gone on from" in said.err) == (2, True)
    assert two.exists()


def test_a_workspace_is_kept_from_run_to_run(cli: Cli) -> None:
    cli.write(
        "scenarios/keep.yaml",
        "format: harness-scenario/1\ntasks: [Keep it., And?]\ntools: {use: [write_memory, read_memory]}\n"
        "script:\n  - call: {write_memory: {key: colour, value: green}}\n  - say: Kept.\n"
        "  - call: {read_memory: {key: colour}}\n  - say: Green.\n",
    )
    assert cli("run", "--workspace", "desk").code == 0
    path = cli.folder / "reports/latest/trajectories/keep@default#1.jsonl"
    die(path, "turn/end")
    said = cli("run", "--resume", str(path), "--workspace", "desk", "-v")
    assert said.code == 0, said.all
    assert "green" in said.out
