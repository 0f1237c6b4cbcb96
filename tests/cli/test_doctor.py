"""``doctor``: a look at the installation, and at what an endpoint can do."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.types.codes import FinishReason
from harness.types.doors import Answer, AnsweredCall
from harness.types.reasons import Usage
from tests.cli.endpoint import calls, endpoint, says
from tests.cli.lab import GOOD, UNSCRIPTED, Cli, Said
from tests.cli.streaming_endpoint import streaming

ENDPOINT = "http://127.0.0.1:9/v1"
KEY = "sk-canary-0123456789abcdefghij"
Body = dict[str, Any]


def two_calls() -> Body:
    response = calls("get_weather", city="Oslo")
    message = response["choices"][0]["message"]
    message["tool_calls"].append({**message["tool_calls"][0], "id": "c2"})
    return response


def able(body: Body) -> Body | int:
    """Does all that is asked for."""
    task = body["messages"][-1]["content"]
    if "tools" not in body or body.get("tool_choice") == "none":
        return says("OK.")
    return two_calls() if "Lima" in task else calls("get_weather", city="Oslo")


def chatty(_: Body) -> Body | int:
    """Answers everything with text."""
    return says("How can I help?")


def toolless(body: Body) -> Body | int:
    """Refuses requests with tools."""
    return 400 if "tools" in body else says("OK.")


def wrong_arguments(body: Body) -> Body | int:
    """Calls, but not what the schema says."""
    return calls("get_weather", town="Oslo") if "tools" in body else says("OK.")


def unfinished(_: Body) -> Body | int:
    """Never says why it ended."""
    response = says("OK.")
    response["choices"][0]["finish_reason"] = None
    return response


def forgetful() -> Any:
    """Gives another answer each time, without counting tokens or naming calls."""
    n_asked = 0

    def answer(body: Body) -> Body | int:
        nonlocal n_asked
        n_asked += 1
        response = calls("get_weather", city="Oslo") if "tools" in body else says(f"answer {n_asked}")
        del response["usage"]
        for call in response["choices"][0]["message"].get("tool_calls", ()):
            del call["id"]
        return response

    return answer


def states(said: Said) -> dict[str, str]:
    return {one["name"]: one["state"] for one in said.json["endpoint"]}


LACKS_ALL = {"tools": "lacks", "call ids": "unknown", "parallel calls": "lacks", "required choice": "lacks", "forced choice": "lacks"}
FINE = dict.fromkeys(("answers", "usage", "tools", "call ids", "parallel calls", "required choice", "forced choice", "call forbidden", "seed"), "ok")


@pytest.mark.article("35")
@pytest.mark.parametrize(
    ("answer", "code", "expected"),
    [
        pytest.param(able, 0, FINE, id="able"),
        pytest.param(chatty, 1, FINE | LACKS_ALL, id="chatty"),
        pytest.param(toolless, 1, FINE | LACKS_ALL | {"call forbidden": "lacks"}, id="toolless"),
        pytest.param(wrong_arguments, 1, FINE | LACKS_ALL | {"call ids": "ok", "call forbidden": "lacks"}, id="wrong-arguments"),
        pytest.param(forgetful(), 0, FINE | {"usage": "lacks", "call ids": "lacks", "parallel calls": "lacks", "call forbidden": "lacks", "seed": "lacks"}, id="forgetful"),
        pytest.param(unfinished, 5, {"answers": "fault", "usage": "ok"}, id="no-finish-reason"),
        pytest.param(lambda _: 401, 5, {"answers": "fault"}, id="wrong-key"),
    ],
)  # fmt: skip
def test_each_ability_of_an_endpoint_is_asked_and_told(
    answer: Any, code: int, expected: dict[str, str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.write("scenarios/good.yaml", GOOD)
    with endpoint(answer) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        said = cli("doctor", "--model", "local-model", "--json")
    found = states(said)
    assert {name: found.get(name) for name in expected} == expected
    assert said.code == code == said.json["exitCode"]
    assert KEY not in said.all


def test_an_endpoint_that_is_not_there_is_one_finding_and_exit_5(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write("scenarios/good.yaml", GOOD)
    monkeypatch.setenv("OPENAI_BASE_URL", ENDPOINT)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    said = cli("doctor", "--model", "m")
    assert said.code == 5
    assert "endpoint 127.0.0.1:9, model m" in said.out
    assert "cannot talk to 127.0.0.1:9" in said.out


def test_without_a_key_nothing_is_asked(cli: Cli) -> None:
    said = cli("doctor", "--model", "m")
    assert said.code == 2
    assert "a live model needs a key" in said.err


def local(said: Said) -> dict[str, dict[str, str]]:
    return {one["name"]: one for one in said.json["installation"]}


def test_a_sound_installation_is_exit_0(cli: Cli) -> None:
    cli.write("scenarios/good.yaml", GOOD)
    said = cli("doctor", "--json")
    assert said.code == 0, said.all
    found = local(said)
    assert found["scenarios"]["seen"] == "1 in scenarios"
    assert "openai 3" in found["libraries"]["seen"]
    assert said.json["endpoint"] == []


def distribution(folder: Path, name: str, version: str) -> None:
    place = folder / f"{name}-{version}.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")


@pytest.mark.parametrize(
    ("name", "version", "finding", "words"),
    [("harness", "9.9", "distribution", "another distribution 'harness' 9.9"), ("openai", "2.9.0", "openai", "2.9.0, which is outside")],
)
def test_what_is_installed_beside_it_or_too_old_is_a_fault(
    name: str, version: str, finding: str, words: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution(cli.folder / "site", name, version)
    monkeypatch.syspath_prepend(str(cli.folder / "site"))
    cli.write("scenarios/good.yaml", GOOD)
    said = cli("doctor", "--json")
    assert said.code == 2
    assert local(said)[finding]["state"] == "fault"
    assert words in local(said)[finding]["seen"]
    assert local(said)[finding]["hint"]


def test_another_command_of_that_name_on_the_path_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    other = cli.write("bin/harness", "#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    found = local(cli("doctor", "--json"))["command"]
    assert found["state"] == "warning"
    assert str(other) in found["seen"]
    assert "python -m harness" in found["hint"]


@pytest.mark.parametrize(
    ("files", "finding", "words"),
    [
        pytest.param({"pyproject.toml": '[tool.harness]\nscenarios = "nope"\n'}, "scenarios", "nope (named in [tool.harness] scenarios) is not there", id="scenarios-missing"),
        pytest.param({"scenarios/bad.yaml": "format: harness-scenario/1\n"}, "scenarios", "bad.yaml", id="scenario-broken"),
        pytest.param({"pyproject.toml": "[tool.harness]\nnope = 1\n"}, "configuration", "no key 'nope'", id="configuration"),
        pytest.param({"reports": "a file"}, "reports", "cannot be written to", id="reports"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_project_is_a_fault_with_its_place(
    files: dict[str, str], finding: str, words: str, cli: Cli
) -> None:
    for name, text in files.items():
        cli.write(name, text)
    said = cli("doctor", "--json")
    assert said.code == 2
    assert local(said)[finding]["state"] == "fault"
    assert words in local(said)[finding]["seen"]


def test_a_recording_that_cannot_be_read_is_named(cli: Cli) -> None:
    cli.write("scenarios/good.yaml", GOOD)
    folder = cli.write("cassettes/a.yaml", "x").parent
    (folder / "gone.yaml").symlink_to(folder / "nowhere.yaml")
    found = local(cli("doctor", "--json"))["cassettes"]
    assert found["state"] == "fault"
    assert "gone.yaml cannot be read" in found["seen"]


OTHER_WAYS = ("streaming", "responses", "responses stream")


def test_an_endpoint_that_knows_neither_streams_nor_responses_lacks_them(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write("scenarios/good.yaml", GOOD)
    with endpoint(able) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        said = cli("doctor", "--model", "m", "--json")
    told = {one["name"]: one for one in said.json["endpoint"]}
    assert [told[name]["state"] for name in OTHER_WAYS] == ["lacks"] * 3
    assert told["streaming"]["seen"] == "a whole answer came, and no pieces"
    assert said.code == 0


def obliging(body: Body) -> Answer:
    """Does all that is asked for, in either dialect."""
    usage = Usage(input_tokens=7, output_tokens=3)
    if "tools" not in body or body.get("tool_choice") == "none":
        return Answer("OK.", finish_reason=FinishReason.STOP, usage=usage)
    cities = ("Oslo", "Lima") if "Lima" in json.dumps(body) else ("Oslo",)
    made = tuple(AnsweredCall("get_weather", json.dumps({"city": city}), f"call_{city}") for city in cities)
    return Answer(None, made, finish_reason=FinishReason.TOOL_CALLS, usage=usage)


@pytest.mark.article("35")
def test_streams_and_responses_are_asked_and_told_where_they_are_there(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write("scenarios/good.yaml", GOOD)
    with streaming(obliging, []) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        said = cli("doctor", "--model", "m", "--json")
    told = {one["name"]: one for one in said.json["endpoint"]}
    assert {name: told[name]["state"] for name in (*FINE, *OTHER_WAYS)} == FINE | dict.fromkeys(OTHER_WAYS, "ok")
    assert told["streaming"]["seen"].startswith("in ")
    assert told["responses"]["seen"].startswith("whole: get_weather")
    assert said.code == 0


@pytest.mark.article("35")
def test_proxies_are_told_as_what_only_live_runs_honour(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://user:pass@proxy:1")
    said = cli("doctor", "--json")
    assert "honoured by live runs, never by replays" in local(said)["proxies"]["seen"]
    assert "pass@" not in said.all


SHAPELESS = "canary/0123456789+abcdefghij=="
"""A key that only its variable's name gives away."""


def repeats(body: Body) -> Body:
    """Says the key in everything that it can say, late enough to be cut in the middle."""
    said = says(f"You are asking with the key {SHAPELESS}")
    if "tools" not in body:
        return said
    return {**calls("get_weather", city=SHAPELESS), "id": SHAPELESS}


def repeats_in_names(body: Body) -> Body:
    called = calls(f"get_{SHAPELESS}", city="Oslo") if "tools" in body else says("OK.")
    called["choices"][0]["finish_reason"] = f"because of {SHAPELESS}"
    for call in called["choices"][0]["message"].get("tool_calls", ()):
        call["id"] = SHAPELESS
    return called


def refuses_by_name(body: Body) -> tuple[int, Body]:
    return 401, {"error": {"message": f"{'x' * 20} wrong key: {SHAPELESS}", "code": SHAPELESS}}


def refuses_at_length(body: Body) -> tuple[int, Body]:
    return 401, {"error": {"message": f"{'x ' * 240}{SHAPELESS} is no key for this {SHAPELESS}"}}


def refuses_tools_by_name(body: Body) -> Body | tuple[int, Body]:
    return refuses_by_name(body) if "tools" in body else says("OK.")


@pytest.mark.parametrize("answer", [repeats, repeats_in_names, refuses_by_name, refuses_at_length, refuses_tools_by_name])
@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("from_file", [True, False], ids=["env-file", "environment"])
def test_no_piece_of_a_key_that_the_endpoint_repeats_is_shown(
    answer: Any, as_json: tuple[str, ...], from_file: bool, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.write("scenarios/good.yaml", GOOD)
    with endpoint(answer) as url:
        if from_file:
            cli.write("my.env", f"OPENAI_BASE_URL={url}\nOPENAI_API_KEY={SHAPELESS}\n")
        else:
            monkeypatch.setenv("OPENAI_BASE_URL", url)
            monkeypatch.setenv("OPENAI_API_KEY", SHAPELESS)
        said = cli("doctor", "--model", "m", *(("--env-file", "my.env") if from_file else ()), *as_json)
    assert ("<secret>" in said.out) != (answer is refuses_at_length)
    assert SHAPELESS[:8] not in said.all


@pytest.mark.parametrize("command", ["doctor", "run", "record"])
def test_a_key_that_stands_in_the_wrong_line_of_the_file_is_not_shown(command: str, cli: Cli) -> None:
    cli.write("scenarios/ask.yaml", UNSCRIPTED)
    cli.write("my.env", f"OPENAI_BASE_URL={ENDPOINT}\nOPENAI_API_KEY={SHAPELESS}\nHARNESS_API={SHAPELESS}\n")
    live = {"doctor": ("--model", "m"), "run": ("--model", "live"), "record": ()}[command]
    said = cli(command, "--env-file", "my.env", *live)
    assert said.code, said.all
    assert SHAPELESS[:8] not in said.all


def test_what_the_installation_shows_holds_no_secret_either(cli: Cli) -> None:
    cli.write("scenarios/bad.yaml", f"format: harness-scenario/1\n{SHAPELESS.rstrip('=')}: 1\n")
    cli.write("my.env", f"OPENAI_API_KEY={SHAPELESS.rstrip('=')}\n")
    said = cli("doctor", "--env-file", "my.env")
    assert "<secret>" in said.out
    assert SHAPELESS[:8] not in said.all


# ---------------------------------------------------------------- --env-file


@pytest.mark.article("35")
def test_variables_come_from_a_file_only_where_it_is_named_and_below_those_that_are_set(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.write("scenarios/good.yaml", GOOD)
    with endpoint(able) as url:
        cli.write(".env", f"# local\nOPENAI_BASE_URL={url}\nexport OPENAI_API_KEY='{KEY}'\n")
        assert cli("doctor", "--model", "m").code == 2, "no file is read unasked"
        said = cli("doctor", "--model", "m", "--env-file", ".env")
        assert said.code == 0, said.all
        assert KEY not in said.all
        monkeypatch.setenv("OPENAI_BASE_URL", ENDPOINT)
        assert cli("doctor", "--model", "m", "--env-file", ".env").code == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(None, "--env-file my.env: cannot be read", id="missing"),
        pytest.param("OPENAI_API_KEY\n", "my.env, line 1: 'OPENAI_API_KEY' has no value", id="no-value"),
        pytest.param("A=b\n\n# more\n\nthe key = is what\n", "my.env, line 5: cannot be read; allowed are lines KEY=value", id="no-line"),
        pytest.param("A=b\n'never closed\n", "my.env, line 2: cannot be read", id="quote"),
        pytest.param(f"{SHAPELESS}\n", "my.env, line 1: cannot be read", id="key-alone"),
        pytest.param("canary0123456789\n", "my.env, line 1: a name has no value", id="plain-key-alone"),
    ],
)
@pytest.mark.parametrize("command", ["doctor", "record", "run"])
def test_a_file_of_variables_that_is_none_is_a_usage_error(command: str, text: str | None, words: str, cli: Cli) -> None:
    cli.write("scenarios/good.yaml", GOOD)
    if text is not None:
        cli.write("my.env", text)
    said = cli(command, "--env-file", "my.env")
    assert said.code == 2
    assert words in said.err
    assert "canary" not in said.all
    assert "python-dotenv" not in said.all
    assert not (cli.folder / "reports").exists()


def test_a_recording_takes_its_key_from_the_file_and_shows_it_nowhere(cli: Cli) -> None:
    cli.write("scenarios/ask.yaml", "format: harness-scenario/1\ntask: Hello\nmodel: local-model\nexpect: {status: completed, steps: 1}\n")
    with endpoint(lambda _: says(f"my key is {KEY}")) as url:
        cli.write("my.env", f"OPENAI_BASE_URL={url}\nOPENAI_API_KEY={KEY}\n")
        said = cli("record", "--env-file", "my.env")
    kept = [path for path in cli.folder.rglob("*") if path.is_file() and path.name != "my.env"]
    assert kept
    assert all(KEY not in path.read_text("utf-8", "replace") for path in kept)
    assert KEY not in said.all


def test_python_dash_m_gives_the_same_look(cli: Cli) -> None:
    import subprocess

    cli.write("scenarios/good.yaml", GOOD)
    done = subprocess.run([sys.executable, "-m", "harness", "doctor", "--json"], capture_output=True, text=True, check=False, cwd=cli.folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["exitCode"] == 0
