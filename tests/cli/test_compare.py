"""``harness compare``: folders of runs, files of other products, one line where nothing changed, exit codes."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from tests.cli.lab import BAD, GOOD, Cli
from tests.conftest import REPO

TWICE = """\
format: harness-scenario/1
task: Refund order 7.
tools:
  schemas:
    look: {description: "DESCRIPTION", parameters: {type: object, properties: {id: {type: integer}}}}
  stub: {look: {returns: found}}
script:
  - call: {look: {id: 7}}
  - SECOND
  - say: Done.
expect: {status: completed}
"""


def told(lines: str) -> list[str]:
    return lines.rstrip("\n").split("\n")


def two_sets(cli: Cli, first: str, second: str) -> None:
    for name, text in (("base", first), ("new", second)):
        cli.write("refund.yaml", text)
        assert cli("run", "refund.yaml", "--out", name).code in (0, 1)


def test_a_changed_description_is_the_cause_of_another_call(cli: Cli) -> None:
    first = TWICE.replace("SECOND", "call: {look: {id: 8}}").replace("DESCRIPTION", "Looks an order up.")
    second = TWICE.replace("SECOND", "call: {look: {id: 9}}").replace("DESCRIPTION", "Looks up any order.")
    two_sets(cli, first, second)
    said = cli("compare", "base", "new")
    assert said.code == 1
    lines = told(said.out)
    assert lines[0] == "FAIL  without a gate every difference fails: 0 same, 0 worse, 0 missing, 1 changed, 0 better, 0 new"
    assert lines[1].startswith("base       base  1 planned = 1 passed + 0 failed + 0 errored + 0 inconclusive + 0 skipped; 0 out of date")
    assert lines[3] == "changed  refund  step 2 call 1 look arguments.id: 8 → 9  cause: tool description changed (look)"
    assert lines[-1] == "again: harness compare base new"
    assert len(lines) <= 12
    row = cli("compare", "base", "new", "--json").json["comparison"]["scenarios"][0]
    assert row["line"] == "refund  step 2 call 1 look arguments.id: 8 → 9  cause: tool description changed (look)"
    assert row["explanation"]["cause"] == "tool-description"
    assert [segment["kind"] for segment in row["segments"]] == ["equal", "changed", "equal"]
    page = cli("compare", "base", "new", "--format", "markdown").out
    assert "`refund` `step 2 call 1 look arguments.id`: `8` → `9` cause: `tool description changed (look)`" in page


def test_a_recording_that_does_not_hold_what_is_asked_now_is_the_cause_and_is_counted(cli: Cli) -> None:
    name = "recorded/fahrenheit"
    text = (REPO / "scenarios" / f"{name}.yaml").read_text("utf-8")
    shutil.copytree(REPO / "cassettes" / name, f"cassettes/{name}")
    for out, task in (("base", "Convert 22 degrees Celsius to Fahrenheit."), ("new", "How hot is 22 C in F?")):
        cli.write(f"scenarios/{name}.yaml", text.replace("Convert 22 degrees Celsius to Fahrenheit.", task))
        cli("run", "scenarios", "--out", out)
    said = cli("compare", "base", "new")
    assert said.code == 1
    lines = told(said.out)
    assert "; 0 out of date" in lines[1]
    assert "; 1 out of date" in lines[2]
    assert lines[3].startswith(f'worse    {name}  step 1: calculator("22 * 9/5 + 32") → turn/end failed (error CASSETTE_MISS')
    assert "cause: recording out of date (user input)" in lines[3]
    assert told(cli("compare", "base", "base").out) == ["PASS  1 scenario, no difference  (base, base)"]


def test_skipped_scenarios_are_planned_and_counted(cli: Cli) -> None:
    cli.write("a.yaml", GOOD)
    cli.write("b.yaml", GOOD + "skip: not now\n")
    cli("run", "a.yaml", "b.yaml", "--out", "base")
    cli.write("a.yaml", BAD)
    cli("run", "a.yaml", "b.yaml", "--out", "new")
    lines = told(cli("compare", "base", "new").out)
    assert "2 planned = 1 passed + 0 failed + 0 errored + 0 inconclusive + 1 skipped; 0 out of date" in lines[1]
    assert "2 planned = 0 passed + 1 failed + 0 errored + 0 inconclusive + 1 skipped; 0 out of date" in lines[2]


def chat(cli: Cli, name: str, *conversations: list[dict[str, Any]], **beside: Any) -> None:
    rows = [{"task_id": n, "trial": 0, "messages": messages, **beside} for n, messages in enumerate(conversations)]
    cli.write(name, json.dumps(rows))


ASK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Which order?"}]
HELLO = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]


def test_files_of_another_product_are_compared_by_task_whatever_the_files_are_called(cli: Cli) -> None:
    chat(cli, "one/main.json", ASK, ASK)
    chat(cli, "two/branch.json", ASK, HELLO, trial=1)
    for base, candidate in (("one", "two"), ("one/main.json", "two/branch.json")):
        said = cli("compare", base, candidate)
        assert said.code == 1
        assert "1 same, 0 worse, 0 missing, 1 changed" in said.out
        assert "changed  task-1  step 1: Which order? → Hello.  cause: the model chose differently" in said.out


def test_several_files_of_another_product_go_by_their_names_and_places(cli: Cli) -> None:
    for folder in ("one", "two"):
        chat(cli, f"{folder}/x/a.json", ASK)
        chat(cli, f"{folder}/y/a.json", HELLO)
    cli.write("two/notes.json", '{"a": 1}')
    said = cli("compare", "one", "two")
    assert said.code == 0
    assert told(said.out) == ["PASS  2 scenarios, no difference  (one, two)"]
    assert "passed over: 1 file" in said.err
    Path("two/y/a.json").rename("two/y/b.json")
    renamed = cli("compare", "one", "two").out
    assert "missing  y/a/task-0" in renamed
    assert "new      y/b/task-0" in renamed


def test_two_files_with_one_run_each_are_compared_whatever_they_are_called(cli: Cli) -> None:
    two_sets(cli, GOOD, GOOD.replace("It is 42.", "It is 42, surely."))
    files = [str(next(Path(name, "trajectories").rglob("*.jsonl"))) for name in ("base", "new")]
    Path(files[1]).rename("other.jsonl")
    said = cli("compare", files[0], "other.jsonl")
    assert said.code == 1
    assert "step 2: It is 42. → It is 42, surely." in said.out


def test_the_same_task_and_trial_twice_on_a_side_is_invalid(cli: Cli) -> None:
    cli.write("twice.json", json.dumps([{"task_id": 1, "trial": 0, "messages": ASK}] * 2))
    said = cli("compare", "twice.json", "twice.json")
    assert said.code == 4
    assert "the base holds two runs of scenario 'task-1'" in said.err


def test_no_runs_at_all_is_invalid(cli: Cli) -> None:
    cli.write("one/notes.txt", "x")
    assert cli("compare", "one", "one").code == 4


# ------------------------------------------------ real data, recomputed without a line of this package


def said_in(message: dict[str, Any]) -> Any:
    calls = message.get("tool_calls") or []
    called = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]
    return message["role"], message.get("content"), called, message.get("name") if message["role"] == "tool" else None


def parting(base: list[Any], candidate: list[Any]) -> int | None:
    pairs = enumerate(zip_longest(base, candidate))
    return next((at for at, (one, other) in pairs if one != other), None)


def recomputed(base: list[dict[str, Any]], candidate: list[dict[str, Any]]) -> tuple[str, int | None]:
    """Cause and step: the first message that differs says whose it is, the first answer or result that differs where."""
    sides = [[said_in(message) for message in side if message["role"] != "system"] for side in (base, candidate)]
    at = parting(*sides)
    assert at is not None
    roles = {side[at][0] for side in sides if at < len(side)}
    cause = "user-input" if "user" in roles else "model" if "assistant" in roles else "tool"
    done = [[one for one in side if one[0] != "user"] for side in sides]
    place, there = parting(*done), done
    if place is None:
        place, there = at, sides
    side = there[0] if place < len(there[0]) else there[1]
    return cause, sum(one[0] == "assistant" for one in side[: place + 1]) or None


WORDS = {
    "user-input": "user input changed",
    "model": "the model chose differently on the same input",
    "tool": "the tool answered differently",
}
"""How a cause is said on the screen."""


@pytest.mark.parametrize("pair", [(0, 1), (2, 3), (3, 0)], ids=str)
def test_two_trials_of_real_runs_part_where_an_independent_count_says(cli: Cli, shared: Path, pair: tuple[int, int]) -> None:
    """All tasks of every file that is there, as two folders of runs."""
    files = sorted((shared / "data" / "tau-bench").glob("*.json"))
    sides: list[dict[str, Any]] = [{}, {}]
    for path in files:
        for side, name, trial in zip(sides, ("first", "second"), pair, strict=True):
            runs = [run for run in json.loads(path.read_text("utf-8")) if run["trial"] == trial]
            cli.write(f"{name}/{path.name}", json.dumps(runs))
            side |= {f"{path.stem}/task-{run['task_id']}" if len(files) > 1 else f"task-{run['task_id']}": run["traj"] for run in runs}
    said = cli("compare", "first", "second", "--json")
    assert said.code == 1
    rows = said.json["comparison"]["scenarios"]
    expected = {task: recomputed(traj, sides[1][task]) for task, traj in sides[0].items()}
    found = {}
    for row in rows:
        explanation = row["explanation"]
        shown = explanation.get("effect") or explanation["first"]
        found[row["base"]["scenario"]] = (explanation["cause"], shown.get("step"))
    assert len(rows) == len(sides[0]) == len(sides[1]) > 30
    assert found == expected
    assert Counter(row["change"] for row in rows) == {"changed": len(rows)}
    for row in rows:
        for side, trajs in zip(("base", "candidate"), sides, strict=True):
            answers = [m for m in trajs[row["base"]["scenario"]] if m["role"] == "assistant"]
            amounts = [segment[side] for segment in row["segments"] if segment.get(side)]
            assert sum(one.get("nSteps", 0) for one in amounts) == len(answers)
            assert sum(one.get("nCalls", 0) for one in amounts) == sum(len(m.get("tool_calls") or []) for m in answers)
    screen = [line for line in cli("compare", "first", "second", "-v").out.splitlines() if line.startswith("changed  ")]
    assert len(screen) == len(expected)
    for line in screen:
        task = line.split()[1]
        cause, step = expected[task]
        assert re.match(rf"changed  {task}  step {step}\b", line)
        assert f"  cause: {WORDS[cause]}" in line


@pytest.mark.parametrize("trial", [0, 3])
def test_a_trial_of_the_airline_beside_itself_has_no_difference(cli: Cli, shared: Path, trial: int) -> None:
    runs = json.loads((shared / "data/tau-bench/gpt-4o-airline.json").read_text("utf-8"))
    cli.write("one.json", json.dumps([run for run in runs if run["trial"] == trial]))
    cli.write("two.json", json.dumps([run for run in reversed(runs) if run["trial"] == trial], indent=1))
    assert told(cli("compare", "one.json", "two.json").out) == ["PASS  34 scenarios, no difference  (one.json, two.json)"]
