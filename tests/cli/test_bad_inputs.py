"""What is wrong with an input, as a stranger would read it: exit code, words, never a traceback."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.lab import BAD, GOOD, UNSCRIPTED, Cli, in_a_process

USAGE, FAIL, INVALID, ERROR = 2, 1, 4, 5
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def file(text: str | bytes) -> Callable[[Cli], list[str]]:
    """``run`` of one file with this text."""

    def make(cli: Cli) -> list[str]:
        cli.write("x.yaml", text)
        return ["run", "x.yaml"]

    return make


def command(*arguments: str, **files: str | bytes) -> Callable[[Cli], list[str]]:
    """These arguments, with these files (``__`` is a slash, all are YAML)."""

    def make(cli: Cli) -> list[str]:
        for name, text in files.items():
            cli.write(name.replace("__", "/") + ".yaml", text)
        return list(arguments)

    return make


def folder_as_file(cli: Cli) -> list[str]:
    cli.folder.joinpath("x.yaml").mkdir()
    cli.folder.joinpath("x.yaml", "notes.txt").write_text("nothing here\n", "utf-8")
    return ["run", "x.yaml"]


def file_as_folder(cli: Cli) -> list[str]:
    cli.write("x.yaml", GOOD)
    return ["run", "x.yaml/deeper.yaml"]


def unreadable(cli: Cli) -> list[str]:
    """Nobody may read the memory of a process from its start, not even root."""
    if not Path("/proc/self/mem").exists():
        pytest.skip("this system has no file that nobody can read")
    cli.folder.joinpath("x.yaml").symlink_to("/proc/self/mem")
    return ["run", "x.yaml"]


def foreign_out(cli: Cli) -> list[str]:
    cli.write("x.yaml", GOOD)
    cli.write("precious/notes.txt", "mine")
    return ["run", "x.yaml", "--out", "precious"]


def out_is_a_file(cli: Cli) -> list[str]:
    cli.write("x.yaml", GOOD)
    return ["run", "x.yaml", "--out", "x.yaml"]


ROWS = [
    ("typo-in-a-field", file(GOOD.replace("expect:", "expct:")), USAGE, ["x.yaml:7", "expct", "expect"]),
    ("wrong-type", file(GOOD.replace("steps: 2", "steps: two")), USAGE, ["x.yaml:7", "expect.steps", "whole number", "two"]),
    ("unknown-tool", file(GOOD.replace("[calculator]", "[calculater]")), USAGE, ["x.yaml", "calculater", "calculator"]),
    ("unknown-check", command("run", "a.yaml", "--check", "paring", a=GOOD), USAGE, ["paring", "pairing"]),
    ("unknown-check-in-a-scenario", file(GOOD + "checks: [paring]\n"), USAGE, ["x.yaml", "checks", "paring", "pairing"]),
    ("unknown-subject", command("run", "a.yaml", "--subject", "my_loop", a=GOOD), USAGE, ["my_loop", "built-in"]),
    ("unknown-model", command("run", "a.yaml", "--model", "gpt", a=GOOD), USAGE, ["gpt", "scripted", "live"]),
    ("registry-not-there", file(GOOD.replace("{use: [calculator]}", '{from: "nowhere:registry"}')), USAGE, ["x.yaml", "tools", "nowhere"]),
    ("function-not-there", file(GOOD.replace("say: It is 42.", 'function: "nowhere:reply"')), USAGE, ["x.yaml", "script", "nowhere"]),
    ("empty-file", file(""), USAGE, ["x.yaml", "is empty"]),
    ("folder-without-scenarios", command("run", ".", notes="just: notes\n"), INVALID, ["no scenarios"]),
    ("no-folder-of-scenarios", command("run"), USAGE, ["'scenarios'", "harness init", "[tool.harness]"]),
    ("50-mb", file(b"# " + b"x" * 50_000_000), USAGE, ["x.yaml", "larger than 1,048,576 bytes"]),
    ("alias-bomb", file(BOMB), USAGE, ["x.yaml:1", "anchor", "write the value out"]),
    ("duplicate-key", file(GOOD + "task: Another.\n"), USAGE, ["x.yaml:8", "'task'", "line 2"]),
    ("binary", file(b"\x7fELF\0\0\0"), USAGE, ["x.yaml:1", "binary"]),
    ("not-yaml", file("format: [harness-scenario/1\ntask: x"), USAGE, ["x.yaml", "not YAML"]),
    ("a-folder-with-the-name-of-a-file", folder_as_file, INVALID, ["no scenarios", "x.yaml"]),
    ("a-path-through-a-file", file_as_folder, USAGE, ["x.yaml/deeper.yaml", "no such file or folder"]),
    ("unreadable", unreadable, USAGE, ["x.yaml", "cannot be read"]),
    ("missing-key-for-live", command("run", "a.yaml", "--model", "live", a=UNSCRIPTED), USAGE, ["OPENAI_API_KEY"]),
    ("missing-key-for-record", command("record", "a.yaml", a=UNSCRIPTED), USAGE, ["OPENAI_API_KEY"]),
    ("nothing-to-record", command("record", "a.yaml", a=GOOD), INVALID, ["nothing to record", "script"]),
    ("cassette-missing", command("run", "a.yaml", a=UNSCRIPTED), INVALID, ["cassettes", "record"]),
    ("script-missing", command("run", "a.yaml", "--model", "scripted", a=UNSCRIPTED), USAGE, ["a.yaml", "no script"]),
    ("script-too-short", file(GOOD.replace("  - say: It is 42.\n", "")), FAIL, ["asked for request 2", "its script has 1 reply", "Add a reply"]),
    ("script-too-long", file(GOOD.replace("expect:", "  - say: Again.\nexpect:")), FAIL, ["1 reply unused", "allow_leftovers"]),
    ("script-empty", file(GOOD.split("script:")[0] + "script: []\n"), USAGE, ["x.yaml", "script", "empty"]),
    ("trials-0", command("run", "a.yaml", "--trials", "0", a=GOOD), USAGE, ["trials", "at least 1"]),
    ("trials-minus-1", command("run", "a.yaml", "--trials", "-1", a=GOOD), USAGE, ["trials", "at least 1"]),
    ("trials-a-word", command("run", "a.yaml", "--trials", "many", a=GOOD), USAGE, ["--trials", "integer"]),
    ("jobs-0", command("run", "a.yaml", "-j", "0", a=GOOD), USAGE, ["jobs", "at least 1"]),
    ("filter-fits-nothing", command("run", ".", "-k", "refund", a=GOOD), INVALID, ["no scenarios", "refund"]),
    ("filter-cannot-be-read", command("run", ".", "-k", "a and", a=GOOD), USAGE, ["-k", "column"]),
    ("all-skipped", command("run", ".", a=GOOD + "skip: not yet\n"), INVALID, ["no scenarios", "skipped"]),
    ("one-of-three-fails", command("run", ".", a=GOOD, b=BAD, c=GOOD), FAIL, ["FAIL  b", "expect 3 steps", "2 of 3 passed", "1 failed"]),
    ("two-with-one-id", command("run", ".", a=GOOD + "id: same\n", b=GOOD + "id: same\n"), USAGE, ["'same'", "b.yaml"]),
    ("foreign-folder-for-results", foreign_out, USAGE, ["precious", "not empty", "--out"]),
    ("file-for-results", out_is_a_file, USAGE, ["x.yaml", "--out"]),
    ("option-that-is-none", command("run", "--colour"), USAGE, ["--colour", "harness run --help"]),
    ("verb-that-is-none", command("rnu"), USAGE, ["rnu"]),
    ("check-nothing-there", command("check", "gone.jsonl"), USAGE, ["gone.jsonl", "no such file"]),
    ("check-of-an-unknown-format", command("check", "a.yaml", "--format", "xml", a="x"), USAGE, ["xml", "chat"]),
    ("check-of-no-trajectory", command("check", "a.yaml", a="hello"), INVALID, ["a.yaml"]),
    ("check-of-a-binary", command("check", "a.yaml", a=b"\x7fELF\0\xff\xfe"), INVALID, ["a.yaml"]),
    ("check-of-deep-json", command("check", "a.yaml", a="[" * 100_000), INVALID, ["a.yaml"]),
    ("check-of-a-device", command("check", "/dev/null"), USAGE, ["/dev/null", "neither a file nor a folder"]),
    ("check-of-an-empty-file", command("check", "a.yaml", a=""), INVALID, ["a.yaml"]),
    ("check-of-an-empty-folder", command("check", "."), INVALID, ["no trajectories"]),
    ("show-of-a-folder", command("show", "."), USAGE, ["folder", "name one trajectory"]),
    ("show-in-an-unknown-form", command("show", "a.yaml", "--format", "svg", a="x"), USAGE, ["svg", "mermaid"]),
    ("compare-nothing-there", command("compare", "base", "candidate"), USAGE, ["base", "harness run --out"]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "code", "words"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
@pytest.mark.public_case("PB-042", "PB-050")
def test_a_bad_input_gets_its_exit_code_and_its_words(
    make: Callable[[Cli], list[str]], code: int, words: list[str], cli: Cli
) -> None:
    said = cli(*make(cli))
    assert said.code == code, said.all
    missing = [word for word in words if word not in said.all]
    assert missing == [], said.all
    assert "Traceback" not in said.all
    assert "fault of the harness" not in said.all


@pytest.mark.parametrize(
    ("make", "code", "words"), [pytest.param(*row[1:], id=row[0]) for row in ROWS if row[2] == USAGE]
)
def test_nothing_runs_and_nothing_is_written_after_a_usage_error(
    make: Callable[[Cli], list[str]], code: int, words: list[str], cli: Cli
) -> None:
    arguments = make(cli)
    before = sorted(cli.folder.rglob("*"))
    cli(*arguments)
    assert sorted(cli.folder.rglob("*")) == before


@pytest.mark.parametrize(
    "name", ["unknown-tool", "one-of-three-fails", "all-skipped", "cassette-missing", "option-that-is-none"]
)
def test_with_json_there_is_one_object_whatever_went_wrong(name: str, cli: Cli) -> None:
    make, code = next((row[1], row[2]) for row in ROWS if row[0] == name)
    said = cli(*make(cli), "--json")
    assert said.code == code
    assert said.json["exitCode"] == code


# ---------------------------------------------------------------- the world


def test_an_endpoint_that_is_not_there_is_an_error_of_the_world(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setenv("OPENAI_API_KEY", "not-needed-here")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    cli.write("a.yaml", UNSCRIPTED)
    said = cli("run", "a.yaml", "--model", "live")
    assert said.code == ERROR, said.all
    for word in ("ERROR  a", "endpoint", "TRANSPORT", f"127.0.0.1:{port}", "OPENAI_BASE_URL"):
        assert word in said.all
    assert "not-needed-here" not in said.all


def test_a_full_disk_ends_the_run_as_an_error(tmp_path: Path) -> None:
    tmp_path.joinpath("a.yaml").write_text(GOOD, "utf-8")
    limit = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    )
    done = in_a_process("run", "a.yaml", cwd=tmp_path, before=limit, env={"PYTHONDONTWRITEBYTECODE": "1"})
    said = (done.stdout + done.stderr).decode("utf-8")
    assert done.returncode == ERROR, said
    assert "RECORDING_FAILED" in said
    assert "Traceback" not in said


def test_a_disk_that_is_full_from_the_first_byte_is_an_error_of_that_run(tmp_path: Path) -> None:
    tmp_path.joinpath("a.yaml").write_text(GOOD, "utf-8")
    limit = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))"
    )
    done = in_a_process("run", "a.yaml", cwd=tmp_path, before=limit, env={"PYTHONDONTWRITEBYTECODE": "1"})
    said = (done.stdout + done.stderr).decode("utf-8")
    assert done.returncode == ERROR, said
    assert "RecordingFailed" in said
    assert "File too large" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("options", [(), ("--json",), ("-v",)], ids=["text", "json", "verbose"])
def test_a_full_disk_behind_standard_output_is_an_error_without_traceback(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    tmp_path.joinpath("a.yaml").write_text(GOOD, "utf-8")
    full = "import os\nos.dup2(os.open('/dev/full', os.O_WRONLY), 1)"
    done = in_a_process("run", "a.yaml", *options, cwd=tmp_path, before=full)
    assert done.returncode == ERROR, done.stderr
    assert b"standard output cannot be written: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


# ---------------------------------------------------------------- cassettes

RECORDED = "recorded/multiplication"


@pytest.fixture
def recorded(cli: Cli, repo: Path) -> Path:
    """A shipped recording, copied with its scenario; the cassette's path."""
    source = repo / "scenarios" / f"{RECORDED}.yaml"
    (cassette,) = sorted((repo / "cassettes" / RECORDED).glob("*.yaml"))
    cli.write(f"scenarios/{RECORDED}.yaml", source.read_bytes())
    return cli.write(f"cassettes/{RECORDED}/{cassette.name}", cassette.read_bytes())


def test_a_shipped_recording_replays(cli: Cli, recorded: Path) -> None:
    said = cli("run")
    assert said.code == 0, said.all


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        pytest.param(lambda data: b"", ["empty"], id="emptied"),
        pytest.param(lambda data: data[: len(data) // 2], ["cassettes/recorded"], id="truncated"),
        pytest.param(lambda data: b"hello: there\n", ["cassettes/recorded"], id="something-else"),
    ],
)
def test_a_damaged_cassette_is_invalid(
    damage: Callable[[bytes], bytes], words: list[str], cli: Cli, recorded: Path
) -> None:
    recorded.write_bytes(damage(recorded.read_bytes()))
    said = cli("run")
    assert said.code == INVALID, said.all
    assert [word for word in words if word not in said.all] == [], said.all


def test_one_changed_word_in_the_prompt_makes_the_recording_out_of_date(cli: Cli, recorded: Path) -> None:
    path = cli.folder / "scenarios" / f"{RECORDED}.yaml"
    text = path.read_text("utf-8")
    changed = (
        text.replace("system: ", "system: Please ", 1)
        if "system: " in text
        else text.replace("task: ", "task: Please ", 1)
    )
    path.write_text(changed, "utf-8")
    said = cli("run")
    assert said.code == FAIL, said.all
    for word in ("out of date", "Please", recorded.name, "harness record"):
        assert word in said.all


def test_a_trajectory_damaged_before_its_tail_is_invalid_and_names_its_line(cli: Cli) -> None:
    cli.write("a.yaml", GOOD)
    assert cli("run", "a.yaml").code == 0
    (path,) = cli.folder.rglob("trajectories/**/*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b'{"type":"tool/start"}\n', *lines[4:]]))
    said = cli("check", str(path))
    assert said.code == INVALID
    assert f"{path}:4" in said.all


def test_the_summary_says_what_could_not_run(cli: Cli) -> None:
    cli.write("a.yaml", UNSCRIPTED)
    said = cli("run", ".", "--json")
    assert said.json["notRun"][0]["run"] == "a@default#1"
    assert json.loads((cli.folder / "reports/latest/run.json").read_text("utf-8"))["exitCode"] == INVALID


def test_a_secret_in_what_somebody_elses_module_raises_is_not_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "canary-5f0e1d2c3b"
    monkeypatch.setenv("SHOP_TOKEN", secret)
    cli.write("shop_with_a_token.py", f"raise RuntimeError('cannot connect with {secret}')\n")
    cli.write("a.yaml", GOOD.replace("{use: [calculator]}", '{from: "shop_with_a_token:tools"}'))
    for more in ([], ["--json"]):
        said = cli("run", "a.yaml", *more)
        assert said.code == 2, said.all
        assert "cannot connect with <secret>" in said.err
        assert secret not in said.all
