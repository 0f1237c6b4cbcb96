"""``record`` against a live endpoint, and replay of what it kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.endpoint import calls, endpoint, says
from tests.cli.lab import GOOD, Cli

CANARY = "sk-canary-0123456789abcdefghij"
ASKS = """\
format: harness-scenario/1
system: Use the tools.
task: What is 6 * 7?
tools: [calculator]
model: local-model
expect: {status: completed, steps: 2, calls: [calculator], answer: {contains: "42"}}
"""


def answer(body: dict[str, Any]) -> dict[str, Any] | int:
    if body["messages"][-1]["role"] == "tool":
        return says(f"It is {body['messages'][-1]['content']}.")
    return calls("calculator", expression="6 * 7")


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The endpoint, named by the environment with a key that may be seen nowhere."""
    with endpoint(answer) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        yield url


def test_what_was_recorded_is_replayed_without_key_and_network(
    cli: Cli, live: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.write("scenarios/maths/ask.yaml", ASKS)
    cli.write("scenarios/maths/scripted.yaml", GOOD)
    said = cli("record")
    assert said.code == 0, said.all
    assert "recorded  cassettes/maths/ask/local-model.yaml" in said.out
    assert "1 of 1 passed" in said.out
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    again = cli("run")
    assert again.code == 0, again.all
    assert "2 of 2 passed" in again.out


def test_the_key_is_in_no_file_and_in_nothing_that_was_said(cli: Cli, live: str) -> None:
    cli.write("scenarios/ask.yaml", ASKS)
    said = [cli("record"), cli("run", "--model", "live"), cli("run", "-v")]
    assert [one.code for one in said] == [0, 0, 0]
    assert all(CANARY not in one.all for one in said)
    files = [path for path in cli.folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []


def test_a_changed_prompt_is_told_once_for_all_its_runs_and_recorded_again_on_request(cli: Cli, live: str) -> None:
    for name in "ab":
        cli.write(f"scenarios/{name}.yaml", ASKS)
    assert cli("record").code == 0
    for name in "ab":
        cli.write(f"scenarios/{name}.yaml", ASKS.replace("Use the tools.", "Always use the tools."))
    stale = cli("run")
    assert stale.code == 1, stale.all
    assert "recording out of date: system prompt, line 1: 2 recordings (a, b)" in stale.out
    assert "if that is meant: harness record --stale asks about 4 requests, 40 tokens" in stale.out
    assert "cassettes/a/local-model.yaml" in stale.out
    assert "Always use the tools." in stale.out
    assert "FAIL expected" not in stale.out
    assert cli("record", "-k", "a or b").code == 0
    assert cli("run").code == 0


def test_a_run_that_fails_leaves_the_older_cassette(cli: Cli, live: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write("scenarios/ask.yaml", ASKS)
    assert cli("record").code == 0
    cassette = cli.folder / "cassettes/ask/local-model.yaml"
    before = cassette.read_bytes()
    with endpoint(lambda body: 503) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        said = cli("record")
    assert said.code == 5, said.all
    assert "ERROR endpoint" in said.out
    assert "recorded  " not in said.out
    assert cassette.read_bytes() == before


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param((200, {}), "DAMAGED_RESPONSE", id="no-answer"),
        pytest.param((200, {"choices": [{"message": {"content": "x"}}]}), "NO_FINISH_REASON", id="no-finish-reason"),
        pytest.param((307, {}), "UNKNOWN", id="redirect"),
        pytest.param((999, {}), "UNKNOWN", id="no-status-of-http"),
        pytest.param((200, {"choices": [{"message": {}, "finish_reason": "stop"}]}), "", id="a-model-that-says-nothing"),
    ],
)
def test_what_an_endpoint_does_wrong_is_not_the_loops_fault(cli: Cli, live: str, monkeypatch: pytest.MonkeyPatch, reply: Any, code: str) -> None:
    cli.write("scenarios/ask.yaml", ASKS)
    with endpoint(lambda body: reply) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        recorded, ran = cli("record"), cli("run", "--model", "live")
    for said in (recorded, ran):
        assert (said.code, "ERROR endpoint" in said.out) == ((5, True) if code else (1, False)), said.all
        assert code in said.out


@pytest.mark.public_case("PB-049")
def test_ids_that_look_like_paths_are_recorded_into_files_of_their_own_and_found_again(cli: Cli, live: str) -> None:
    ids = ["foo/bar", "../foo/bar", "/etc/x", "a:b", "a*b?", "trail.", "trail "]
    for number, name in enumerate(ids):
        cli.write(f"scenarios/{number}.yaml", ASKS + f"id: {name!r}\n")
    said = cli("record", "--json")
    assert said.code == 0, said.all
    assert [run["scenario"] for run in said.json["runs"]] == ids
    root = cli.folder / "cassettes"
    files = [path.relative_to(root) for path in root.rglob("*.yaml")]
    assert len(files) == len(ids)
    parts = [part for path in files for part in path.parts]
    assert all(not part.endswith((".", " ")) and not set(part) & set('<>:"\\|?*') for part in parts)
    assert sorted(path.name for path in cli.folder.iterdir()) == ["cassettes", "reports", "scenarios"]
    again = cli("run", "--json")
    assert again.code == 0, again.all
    assert len(again.json["runs"]) == len(ids)
    assert _swapped(root, files) == 4, "a cassette of another scenario is refused"


def _swapped(root: Path, files: list[Path]) -> int:
    """What a replay of ``a:b`` with the cassette of ``foo/bar`` comes to."""
    from harness.cassettes import cassette_path
    from harness.runner import RunOptions, plan, run_one
    from harness.scenarios import parse_scenario

    target = cassette_path(root, "a:b", "local-model")
    target.write_bytes(cassette_path(root, "foo/bar", "local-model").read_bytes())
    (spec,) = plan([parse_scenario(ASKS, "x.yaml", "a:b")], RunOptions(cassettes=root))
    return run_one(spec).exit_code


def test_an_own_loop_is_recorded_by_its_name(cli: Cli, live: str) -> None:
    cli.write(
        "mine.py",
        "async def loop(env):\n"
        "    asks = env.openai().chat.completions.create\n"
        "    answer = await asks(model='m', messages=[{'role': 'user', 'content': env.task}])\n"
        "    return str(answer.choices[0].message.tool_calls)\n",
    )
    cli.write("scenarios/ask.yaml", "format: harness-scenario/1\ntask: What is 6 * 7?\nmodel: local-model\n")
    said = cli("record", "--subject", "mine:loop", "--json")
    assert said.json["subject"] == "mine:loop"
    assert [run["subject"] for run in said.json["runs"]] == ["mine:loop"]
    assert (cli.folder / "cassettes/ask/local-model.yaml").exists()
