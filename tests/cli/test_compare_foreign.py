"""``harness compare`` on files of other products: which files are looked at, and what their runs are called."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ForeignFormatError
from harness.formats import SUFFIXES
from harness.runner.review.comparing import RunSet
from harness.store import find_runs
from tests.cli.lab import GOOD, Cli
from tests.conftest import REPO

HELLO = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
BYE = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Bye."}]


def atif(session: str, answer: str, *embedded: dict[str, Any]) -> dict[str, Any]:
    steps = [
        {"step_id": 1, "source": "user", "message": "Hi"},
        {"step_id": 2, "source": "agent", "message": answer},
    ]
    document = {
        "schema_version": "ATIF-v1.6",
        "session_id": session,
        "agent": {"name": "a", "version": "1"},
        "steps": steps,
    }
    return {**document, "subagent_trajectories": list(embedded)} if embedded else document


def changes(cli: Cli, *more: str) -> dict[str, str]:
    rows = cli("compare", "one", "two", "--json", *more).json["comparison"]["scenarios"]
    return {row.get("candidate", row.get("base"))["scenario"]: row["change"] for row in rows}


@pytest.mark.parametrize("suffix", [one for one in SUFFIXES if one != ".eval"])
def test_every_file_that_check_reads_in_a_folder_is_compared(suffix: str, cli: Cli) -> None:
    for folder, answer in (("one", HELLO), ("two", BYE)):
        cli.write(f"{folder}/a.json", json.dumps({"messages": HELLO}))
        cli.write(f"{folder}/b{suffix}", json.dumps({"messages": answer}))
    assert sorted(changes(cli).values()) == ["changed", "same"]
    assert "2 trajectories" in cli("check", "two").out
    Path(f"two/b{suffix}").unlink()
    assert sorted(changes(cli).values()) == ["missing", "same"], "the file that is left goes by its name still"


def test_runs_with_an_id_of_their_session_go_by_their_file(cli: Cli) -> None:
    for folder in ("one", "two"):
        for name in ("t1", "t2"):
            cli.write(f"{folder}/{name}.json", json.dumps(atif(f"{folder}-{name}", "Yo.")))
    assert changes(cli) == {"t1/run-1": "same", "t2/run-1": "same"}
    assert cli("compare", "one", "two").code == 0
    cli.write("two/t2.json", json.dumps(atif("two-t2", "No.")))
    assert changes(cli) == {"t1/run-1": "same", "t2/run-1": "changed"}
    assert changes(cli, "--read-as", "atif") == {"t1/run-1": "same", "t2/run-1": "changed"}


def test_a_side_of_one_file_is_found_in_a_side_of_two_and_files_of_one_each_need_no_name_in_common(cli: Cli) -> None:
    cli.write("one/t1.json", json.dumps(atif("x", "Yo.")))
    for name in ("t1", "t2"):
        cli.write(f"two/{name}.json", json.dumps(atif(name, "Yo.")))
    assert changes(cli) == {"t1/run-1": "same", "t2/run-1": "new"}
    Path("two/t1.json").unlink()
    assert changes(cli) == {"run-1": "same"}


LINES = "\n".join(json.dumps({"messages": messages}) for messages in (HELLO, BYE))


@pytest.mark.parametrize("place", ["x.jsonl", "sub/x.jsonl", "sub/deep/x.jsonl"])
@pytest.mark.parametrize(("text", "n"), [(LINES, 2), (json.dumps({"messages": HELLO}), 1)], ids=["two-runs", "one-run"])
def test_the_only_file_of_each_side_needs_no_name_in_common_wherever_it_lies(
    place: str, text: str, n: int, cli: Cli
) -> None:
    cli.write(f"one/{place}", text)
    cli.write("two/y.jsonl", text)
    for sides in (("one", "two"), ("two", "one")):
        said = cli("compare", *sides)
        assert (said.code, f"PASS  {n} scenario" in said.out) == (0, True), said.all


def test_a_file_that_changes_while_it_is_compared_is_an_error_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(LINES, "utf-8")
    found = RunSet.read(file)
    file.write_text(LINES.splitlines()[0], "utf-8")
    with pytest.raises(ForeignFormatError, match=r"x\.jsonl: the run .* is gone: the file was changed"):
        found.load(found.runs[1])


def test_a_trajectory_of_ours_with_spaces_in_its_header_is_read_as_ours(cli: Cli) -> None:
    cli.write("one.yaml", GOOD)
    cli("run", "one.yaml", "--out", "runs")
    (written,) = find_runs(Path("runs"))
    text = written.read_text("utf-8")
    spaced = text.replace('{"type":"trajectory/header",', '{ "type": "trajectory/header", ', 1)
    assert spaced != text
    for folder in ("one", "two"):
        cli.write(f"{folder}/a.jsonl", spaced)
    assert list(changes(cli).values()) == ["same"]
    assert "1 trajectory" in cli("check", "one").out
    assert cli("check", "one/a.jsonl").code == cli("check", "one").code


def test_several_runs_of_one_session_in_a_file_are_told_apart_by_their_number(cli: Cli) -> None:
    for folder, answer in (("one", "Yes."), ("two", "No.")):
        cli.write(f"{folder}/a.json", json.dumps(atif(folder, "Yo.", atif(folder, answer))))
        cli.write(f"{folder}/b.json", json.dumps(atif(folder, "Yo.")))
    assert changes(cli) == {"a/run-1": "same", "a/run-2": "changed", "b/run-1": "same"}
    assert "step 1: Yes. → No." in cli("compare", "one", "two").out


def test_a_run_of_ours_kept_as_another_format_goes_by_its_own_name(cli: Cli) -> None:
    for folder in ("one", "two"):
        own = atif(folder, "Yo.") | {"extra": {"harness": {"runId": "shop/refund@default#1"}}}
        cli.write(f"{folder}/a.json", json.dumps(own))
        cli.write(f"{folder}/b.json", json.dumps(atif(folder, "Yo.")))
    assert changes(cli) == {"shop/refund": "same", "b/run-1": "same"}


def test_session_logs_whose_ids_are_no_names_are_compared_by_their_places(cli: Cli, shared: Path) -> None:
    folder = str(shared / "data" / "deepseek-harness" / "jsonrpc-agent")
    said = cli("compare", folder, folder)
    assert said.code == 0
    assert said.out.startswith("PASS")


def test_rewards_that_a_reader_keeps_in_notes_are_not_compared_and_the_page_says_so(cli: Cli) -> None:
    for folder, reward in (("one", 1.0), ("two", 0.0)):
        cli.write(f"{folder}/a.json", json.dumps([{"task_id": 1, "trial": 0, "reward": reward, "traj": HELLO}]))
    assert changes(cli) == {"task-1": "same"}
    assert "with all rewards of tau-bench turned round nothing differs" in (REPO / "docs" / "compare.md").read_text(
        "utf-8"
    )


def packed(name: str, files: dict[str, str]) -> None:
    with zipfile.ZipFile(name, "w") as archive:
        for inside, text in files.items():
            archive.writestr(inside, text)


def test_what_is_wrong_with_an_archive_is_told_by_its_name(cli: Cli) -> None:
    cli.write("one/a.json", json.dumps({"messages": HELLO}))
    packed("nul.zip", {"x/notes.txt": "", "x/more.txt": ""})
    packed("bad.zip", {"x/a.json": "{", "x/b.json": "{}"})
    packed("some.zip", {"x/a.json": json.dumps({"messages": HELLO}), "x/b.json": "{}"})
    for name, said in (("nul.zip", "nul.zip/x holds no runs"), ("bad.zip", "bad.zip/x/a.json")):
        for sides in ((name, "one"), ("one", name)):
            ran = cli("compare", *sides)
            assert ran.code == 4
            assert said in ran.err
            assert "harness-runs-" not in ran.err
    ran = cli("compare", "some.zip", "one")
    assert "some.zip/b.json first" in ran.err
    assert ran.code == 0


def test_no_report_is_written_over_a_file_of_a_side(cli: Cli) -> None:
    cli.write("one.yaml", GOOD)
    assert cli("run", "one.yaml", "--out", "base").code == 0
    cli.write("two/a.json", json.dumps({"messages": HELLO}))
    cli.write("two/comparison.json", json.dumps({"messages": HELLO}))
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    for more in (
        ("base", "base", "--out", "base/run.json"),
        ("base", "base", "--out", "base/../base/run.json"),
        ("two", "two", "--out", "two/a.json"),
        ("two/a.json", "two/a.json", "--out", "two/a.json"),
        ("two", "two", "--reports", "two"),
    ):
        said = cli("compare", *more)
        assert said.code == 2
        assert "is a file of " in said.err
    assert before == {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    for _ in range(2):
        assert cli("compare", "base", "base", "--out", "base/report.json", "--reports", "base").code == 0
        assert cli("compare", "two", "two", "--out", "two/report.md").code == 0


def inspect_log(task: str, *answers: str) -> str:
    samples = [
        {"id": n, "epoch": 1, "messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": answer}]}
        for n, answer in enumerate(answers, start=1)
    ]
    return json.dumps({"version": 2, "status": "success", "eval": {"task": task, "model": "m"}, "samples": samples})


def test_logs_of_inspect_go_by_task_and_sample_since_their_files_are_called_by_time_and_chance(cli: Cli) -> None:
    cli.write("one/2025-01-01_alpha_AbC.json", inspect_log("alpha", "a", "b"))
    cli.write("one/2025-01-01_beta_DeF.json", inspect_log("beta", "c"))
    cli.write("two/2025-02-02_alpha_GhI.json", inspect_log("alpha", "a", "B"))
    cli.write("two/2025-02-02_beta_JkL.json", inspect_log("beta", "c"))
    assert changes(cli) == {"alpha/1": "same", "alpha/2": "changed", "beta/1": "same"}
    assert "b → B" in cli("compare", "one", "two").out
    cli.write("two/2025-02-02_alpha_MnO.json", inspect_log("alpha", "a"))
    assert cli("compare", "two", "two").code == 0, "two logs of one task are told apart by their files"


def test_a_line_that_is_no_conversation_keeps_its_number(cli: Cli) -> None:
    lines = [
        json.dumps({"messages": [{"role": "user", "content": f"q{n}"}, {"role": "assistant", "content": "a"}]})
        for n in range(4)
    ]
    cli.write("one/a.jsonl", "\n".join(lines) + "\n")
    cli.write("two/a.jsonl", "\n".join([lines[0], '{"error":"rate limited"}', *lines[2:]]) + "\n")
    assert changes(cli) == {
        "conversation-1": "same",
        "conversation-2": "changed",
        "conversation-3": "same",
        "conversation-4": "same",
    }
    said = cli("check", "two/a.jsonl")
    assert (said.code, said.out.count("there is nothing in it to judge")) == (4, 1)
    assert "3 of 4 passed" in said.out
