"""Recordings that a change put out of date: told once a cause, and recorded again, exactly those."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.testing import scenario, served
from tests.cli.endpoint import calls, endpoint, says
from tests.cli.lab import Cli

N_SCENARIOS = 40
CHANGED = 30
ASKS = """\
format: harness-scenario/1
system: {system}
task: What is {number} * 7?
tools: [calculator]
model: local-model
expect: {{status: completed, steps: 2, calls: [calculator]}}
"""


class Provider:
    """A model that multiplies; ``asked`` are the requests it got."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.word = "It is"

    def answer(self, body: dict[str, Any]) -> dict[str, Any] | int:
        self.asked.append(body)
        last = body["messages"][-1]
        if last["role"] == "tool":
            return says(f"{self.word} {last['content']}.")
        return calls("calculator", expression=last["content"].removeprefix("What is ").removesuffix("?"))


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    made = Provider()
    with endpoint(made.answer) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-local-0123456789abcdef")
        yield made


def write(cli: Cli, number: int, system: str) -> None:
    text = json.dumps(f"Be exact.\n{system}\nUse the calculator.")
    cli.write(f"scenarios/s{number:02}.yaml", ASKS.format(system=text, number=number))


def bytes_of(cli: Cli) -> dict[str, bytes]:
    root = cli.folder / "cassettes"
    return {path.relative_to(root).parts[0]: path.read_bytes() for path in root.rglob("*.yaml")}


def test_a_prompt_edit_is_one_message_and_exactly_its_recordings_are_made_again(cli: Cli, provider: Provider) -> None:
    cli.write("pyproject.toml", "[tool.harness.prices]\nm = {input = 1000000, output = 100000000}\n")
    for number in range(N_SCENARIOS):
        write(cli, number, "Say it kindly.")
    assert cli("record", "-k", "s").code == 0
    before = bytes_of(cli)
    assert len(before) == N_SCENARIOS
    for number in range(CHANGED):
        write(cli, number, "Say it tersely.")
    provider.asked.clear()

    told = cli("run", "-j", "2")
    assert told.code == 1
    assert provider.asked == []
    assert told.out.count("recording out of date: system prompt, line 2: 30 recordings (s00, s01, s02, s03, s04 and 25 more)") == 1
    assert '"Say it kindly." was recorded, "Say it tersely." was sent; 0 leading steps still agree' in told.out
    assert "harness record --stale asks about 60 requests, 600 tokens, about 0.02 USD" in told.out

    again = cli("record", "--stale")
    assert again.code == 0, again.all
    assert "asks about 60 requests, 600 tokens, about 0.02 USD" in again.out
    assert len(provider.asked) == 2 * CHANGED
    after = bytes_of(cli)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {f"s{number:02}" for number in range(CHANGED)}
    assert cli("run").code == 0
    none = cli("record", "--stale")
    assert none.code == 0
    assert "no recording is out of date: 40 looked at" in none.out
    assert len(provider.asked) == 2 * CHANGED


def test_the_scripted_server_stands_in_for_the_provider_as_well(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    script = [{"call": {"calculator": {"expression": "6 * 7"}}}, {"say": "It is 42."}]
    stand_in = scenario(task="any", tools=["calculator"], script=script, allow_leftovers=True)
    monkeypatch.setenv("OPENAI_API_KEY", "local-0123456789")
    with served(stand_in) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
        for number in range(N_SCENARIOS):
            write(cli, number, "Say it kindly.")
        assert cli("record").code == 0
        assert len(provider.requests) == 2 * N_SCENARIOS
        before = bytes_of(cli)
        for number in range(CHANGED):
            write(cli, number, "Say it tersely.")
        told = cli("run")
        assert told.out.count("recording out of date: system prompt, line 2: 30 recordings") == 1
        assert told.out.count("harness record --stale asks about 60 requests") == 1
        assert cli("record", "--stale").code == 0
        assert len(provider.requests) == 2 * N_SCENARIOS + 2 * CHANGED
    changed = {name for name, data in bytes_of(cli).items() if before[name] != data}
    assert changed == {f"s{number:02}" for number in range(CHANGED)}
    assert cli("run").code == 0


@pytest.mark.parametrize(
    ("edit", "cause"),
    [
        pytest.param(("task: What is 1 * 7?", "task: What is 2 * 7?"), "task", id="task"),
        pytest.param(("tools: [calculator]", "tools: [calculator, get_weather]"), "tool 'get_weather'", id="tool-added"),
        pytest.param(("tools: [calculator]", "tools: {use: [calculator], stub: {calculator: {returns: 8}}}"), "tool result of calculator", id="tool-result"),
        pytest.param(("model: local-model", "model: {name: local-model, parameters: {temperature: 1}}"), "parameter 'temperature'", id="parameter"),
    ],
)  # fmt: skip
def test_each_kind_of_change_is_named_as_what_it_is_to_the_model(
    edit: tuple[str, str], cause: str, cli: Cli, provider: Provider
) -> None:
    text = ASKS.format(system="Use the calculator.", number=1)
    cli.write("scenarios/one.yaml", text)
    assert cli("record").code == 0
    cli.write("scenarios/one.yaml", text.replace(*edit))
    assert f"recording out of date: {cause}: 1 recording (one)" in cli("run").out


def test_a_run_that_streams_otherwise_than_it_was_recorded_is_told_to_say_so_both_times(
    cli: Cli, provider: Provider
) -> None:
    cli.write("scenarios/one.yaml", ASKS.format(system="Use the calculator.", number=1))
    assert cli("record").code == 0
    words = "run and record with the same --stream"
    assert words in cli("run", "--stream").out
    cli.write("scenarios/one.yaml", ASKS.format(system="Use it.", number=1))
    assert words not in cli("run").out


def test_a_described_tool_is_one_cause_wherever_it_stands_in_the_list(cli: Cli, provider: Provider) -> None:
    for number, use in enumerate(("get_weather", "calculator, get_weather")):
        tools = f"tools: {{use: [{use}], options: {{get_weather: {{description: Old.}}}}}}"
        text = ASKS.format(system="Be exact.", number=number).replace("tools: [calculator]", tools)
        cli.write(f"scenarios/s{number}.yaml", text.replace("expect: {status: completed, steps: 2, calls: [calculator]}", "expect: {steps: 2}"))
    assert cli("record").code == 0
    for path in (cli.folder / "scenarios").iterdir():
        path.write_text(path.read_text("utf-8").replace("Old.", "New."), "utf-8")
    assert "recording out of date: tool 'get_weather' description: 2 recordings (s0, s1)" in cli("run").out


def test_a_run_that_asks_less_than_was_recorded_is_out_of_date_too(cli: Cli, provider: Provider) -> None:
    text = ASKS.format(system="Be exact.", number=1)
    cli.write("scenarios/one.yaml", text)
    assert cli("record").code == 0
    cli.write("scenarios/one.yaml", text.replace("model:", "limits: {steps: 1}\nmodel:"))
    told = cli("run")
    assert "recording out of date: the run asks less than was recorded: 1 recording (one)" in told.out
    assert "1 leading step still agrees" in told.out


def test_once_asks_only_about_what_has_no_recording(cli: Cli, provider: Provider) -> None:
    write(cli, 1, "Old.")
    assert cli("record").code == 0
    before = bytes_of(cli)
    write(cli, 1, "New.")
    write(cli, 2, "New.")
    provider.asked.clear()
    said = cli("record", "--mode", "once")
    assert said.code == 0, said.all
    assert len(provider.asked) == 2
    assert bytes_of(cli)["s01"] == before["s01"]
    nothing = cli("record", "--mode", "once")
    assert nothing.code == 4
    assert "each of 2 scenarios has its recording" in nothing.err


def test_refresh_keeps_what_still_fits_and_asks_for_the_rest(cli: Cli, provider: Provider) -> None:
    text = ASKS.format(system="Be exact.", number=1)
    cli.write("scenarios/one.yaml", text)
    assert cli("record").code == 0
    cassette = cli.folder / "cassettes/one/local-model.yaml"
    before = cassette.read_bytes()
    provider.asked.clear()
    again = cli("record", "--mode", "refresh")
    assert again.code == 0
    assert "kept      cassettes/one/local-model.yaml (nobody was asked)" in again.out
    assert "recorded  " not in again.out
    assert provider.asked == []
    assert cassette.read_bytes() == before, "nothing was asked, so nothing is newer"
    cli.write("scenarios/one.yaml", text.replace("tools: [calculator]", "tools: {use: [calculator], stub: {calculator: {returns: 8}}}"))
    partly = cli("record", "--mode", "refresh")
    assert partly.code == 0
    assert "recorded  cassettes/one/local-model.yaml (1 of 2 answers kept)" in partly.out
    assert [body["messages"][-1]["role"] for body in provider.asked] == ["tool"], "the first answer was kept"
    now = cassette.read_text("utf-8")
    assert "kept: 1" in now
    assert "kept_from:" in now
    assert cli("run").code == 0


@pytest.mark.parametrize("mode", ["all", "refresh"])
def test_a_recording_that_fails_leaves_the_older_one_byte_for_byte(
    mode: str, cli: Cli, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(cli, 1, "Old.")
    assert cli("record").code == 0
    before = bytes_of(cli)
    write(cli, 1, "New.")
    with endpoint(lambda body: 500 if body["messages"][-1]["role"] == "tool" else calls("calculator", expression="7")) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        assert cli("record", "--mode", mode, "--stale").code == 5
    assert bytes_of(cli) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--stale", "--mode", "once"), "give one"),
        (("--stale", "--trials", "2"), "leave --trials out"),
        (("--mode", "sometimes"), "'sometimes' is not one of"),
    ],
)
def test_what_cannot_go_together_is_a_usage_error(
    arguments: tuple[str, ...], words: str, cli: Cli, provider: Provider
) -> None:
    write(cli, 1, "Old.")
    said = cli("record", *arguments)
    assert said.code == 2
    assert words in said.err
    assert provider.asked == []
    assert not (cli.folder / "cassettes").exists()


def test_a_recording_that_is_missing_is_not_out_of_date_and_is_told(cli: Cli, provider: Provider) -> None:
    write(cli, 1, "Old.")
    assert cli("record").code == 0
    write(cli, 2, "Old.")
    said = cli("record", "--stale")
    assert said.code == 0
    assert "without a recording: s02 (harness record --mode once)" in said.out
    assert not (cli.folder / "cassettes/s02").exists()


DAMAGED = [
    pytest.param(b"", "is empty", id="empty"),
    pytest.param(b"interactions: [", "is damaged", id="torn"),
    pytest.param(b"\xff\xfe", "is damaged", id="not-text"),
    pytest.param(b"interactions: []\nversion: 1\n", "", id="no-exchange"),
]


@pytest.mark.parametrize(("data", "words"), DAMAGED)
def test_a_recording_that_cannot_be_read_is_made_anew_by_once_and_by_nothing_else(
    data: bytes, words: str, cli: Cli, provider: Provider
) -> None:
    write(cli, 1, "Old.")
    write(cli, 2, "Old.")
    assert cli("record").code == 0
    before = bytes_of(cli)
    cli.write("cassettes/s01/local-model.yaml", data)
    provider.asked.clear()
    stale = cli("record", "--stale")
    assert stale.code == 4, stale.all
    assert "cannot be replayed: s01: CassetteError: cassette 'cassettes/s01/local-model.yaml'" in stale.out
    assert words in stale.out
    assert "harness record --mode once asks about those that cannot be read" in stale.out
    assert "no recording that can be replayed is out of date: 1 looked at" in stale.out
    as_json = cli("record", "--stale", "--json")
    assert (as_json.code, as_json.json["exitCode"], as_json.json["notReplayed"]) == (4, 4, ["s01"])
    assert provider.asked == []
    once = cli("record", "--mode", "once")
    assert once.code == 0, once.all
    assert "recorded anew: cassette 'cassettes/s01/local-model.yaml'" in once.out
    assert len(provider.asked) == 2
    assert bytes_of(cli)["s02"] == before["s02"]
    assert cli("record", "--stale").code == 0


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
def test_what_is_out_of_date_is_recorded_beside_what_cannot_be_read_and_the_exit_code_tells(
    more: tuple[str, ...], cli: Cli, provider: Provider
) -> None:
    write(cli, 1, "Old.")
    write(cli, 2, "Old.")
    assert cli("record").code == 0
    write(cli, 1, "New.")
    cli.write("cassettes/s02/local-model.yaml", b"")
    provider.asked.clear()
    said = cli("record", "--stale", *more)
    assert said.code == 4, said.all
    assert len(provider.asked) == 2
    assert bytes_of(cli)["s02"] == b""
    if more:
        assert (said.json["exitCode"], said.json["notReplayed"]) == (4, ["s02"])


@pytest.mark.parametrize(
    "text",
    ["prices = 3", "prices = {m = 3}", "prices = {m = {input = 1}}", "prices = {m = {input = -1, output = 2}}", "prices = {m = {input = 1.5, output = 2}}"],
)
def test_a_price_that_is_none_is_a_configuration_error(text: str, tmp_path: Path) -> None:
    from harness.errors import ConfigurationError
    from harness.runner.settings import settings

    (tmp_path / "pyproject.toml").write_text(f"[tool.harness]\n{text}\n", "utf-8")
    with pytest.raises(ConfigurationError, match=r"tool\.harness\.prices"):
        settings(tmp_path)
