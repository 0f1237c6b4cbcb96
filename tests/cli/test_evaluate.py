"""`harness evaluate`: one file, one command, and an answer with an exit code."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.endpoint import calls, endpoint, says
from tests.cli.lab import Cli, in_a_process

SERVER = Path(__file__).parents[1] / "tools" / "servers" / "orders.py"
SHOP = """\
format: harness-evaluation/1
tools: {schemas: tools.yaml}
model: {from: "shop_model:answer"}
trials: 2
arms: {now: {}, new: {descriptions: {get_order: Says where an order is.}}}
cases:
  - {ask: "Where is order 7?", expect: {get_order: {id: 7}}, never: [refund_order]}
  - {ask: "Where is order 8?", expect: {get_order: {id: 8}}}
  - {ask: "Thanks, bye", expect: no_call}
"""
TOOLS = """\
- {name: get_order, description: Finds an order., parameters: {type: object, properties: {id: {type: integer}}, required: [id]}}
- {name: refund_order, description: Pays back., parameters: {type: object, properties: {id: {type: integer}}, required: [id]}}
"""
MODEL = """\
import json
from harness.types.script import ScriptCall, ScriptReply

def answer(call):
    with open("ledger", "a") as file:
        file.write(call.messages[-1].content + chr(10))
    words = call.messages[-1].content.split()
    number = words[-1].rstrip("?")
    return ScriptReply(calls=(ScriptCall("get_order", json.dumps({"id": int(number)})),)) if number.isdigit() else "Bye!"
"""


@pytest.fixture
def shop(cli: Cli) -> Cli:
    """The evaluation of a shop, its tools, and a function that always decides well."""
    cli.write("shop.yaml", SHOP)
    cli.write("tools.yaml", TOOLS)
    cli.write("shop_model.py", MODEL)
    sys.modules.pop("shop_model", None)
    return cli


def ledger(cli: Cli) -> int:
    """How often the function was asked."""
    path = cli.folder / "ledger"
    return len(path.read_text().splitlines()) if path.exists() else 0


FOLDER = "reports/evaluations/shop"


def test_everything_is_asked_judged_and_told_in_one_screen(shop: Cli) -> None:
    said = shop("evaluate", "shop.yaml")
    assert (said.code, ledger(shop)) == (0, 12)
    assert "planned 6 = 6 passed + 0 failed + 0 errored + 0 skipped" in said.out
    assert len(said.out.splitlines()) <= 14
    there = {path.name for path in (shop.folder / FOLDER).iterdir()}
    assert there >= {"evaluation.json", "cases.jsonl", "tools.json", "trials.jsonl", "summary.json", "report.md", "run.json"}


def test_run_again_nothing_is_asked_and_the_summary_is_the_same(shop: Cli) -> None:
    shop("evaluate", "shop.yaml")
    before = (shop.folder / FOLDER / "summary.json").read_bytes()
    assert shop("evaluate", "shop.yaml").code == 0
    assert ledger(shop) == 12
    assert (shop.folder / FOLDER / "summary.json").read_bytes() == before


def test_a_folder_is_judged_again_for_nothing(shop: Cli) -> None:
    shop("evaluate", "shop.yaml")
    before = (shop.folder / FOLDER / "summary.json").read_bytes()
    (shop.folder / FOLDER / "summary.json").unlink()
    said = shop("evaluate", FOLDER)
    assert (said.code, ledger(shop)) == (0, 12)
    assert (shop.folder / FOLDER / "summary.json").read_bytes() == before


def test_an_expectation_that_was_corrected_judges_the_stored_answers(shop: Cli) -> None:
    shop.write("shop.yaml", SHOP.replace("expect: {get_order: {id: 8}}", "expect: {get_order: {id: 9}}"))
    assert "2 failed" in shop("evaluate", "shop.yaml").out
    shop.write("shop.yaml", SHOP)
    refused = shop("evaluate", "shop.yaml")
    assert refused.code == 2
    assert "--regrade" in refused.err
    said = shop("evaluate", "shop.yaml", "--regrade")
    assert "6 passed" in said.out
    assert shop("evaluate", "shop.yaml", "--trials", "3").code == 0  # and it can be gone on with
    assert ledger(shop) == 18


def test_answers_to_another_question_are_never_judged(shop: Cli) -> None:
    shop("evaluate", "shop.yaml")
    shop.write("shop.yaml", SHOP.replace("Where is order 8?", "Is order 8 there?"))
    said = shop("evaluate", "shop.yaml", "--regrade")
    assert said.code == 2
    assert "is not asked" in said.err


def test_tools_that_changed_are_named_and_not_mixed(shop: Cli) -> None:
    shop("evaluate", "shop.yaml")
    shop.write("tools.yaml", TOOLS.replace("Pays back.", "Gives the money back."))
    said = shop("evaluate", "shop.yaml")
    assert said.code == 2
    assert "description of tool 'refund_order' changed" in said.err
    assert ledger(shop) == 12


def test_a_dry_run_says_what_would_be_asked_and_asks_nothing(shop: Cli) -> None:
    said = shop("evaluate", "shop.yaml", "--dry-run")
    assert "3 cases x 2 arms x 2 trials = 12 requests to shop_model:answer" in said.out
    assert (said.code, ledger(shop), (shop.folder / FOLDER).exists()) == (0, 0, False)


@pytest.mark.parametrize("arm", ["now", "new"])
def test_one_arm_alone_never_passes_a_gate_that_compares_two(arm: str, shop: Cli) -> None:
    shop.write("shop.yaml", SHOP + "gate: {metric: case_pass_rate, margin: 0.1}\n")
    said = shop("evaluate", "shop.yaml", "--arm", arm, "--json")
    assert (said.code, ledger(shop)) == (4, 6)
    assert (said.json["outcome"], [one["name"] for one in said.json["arms"]]) == ("INVALID", [arm])
    assert "which was not run" in said.json["why"]
    assert "comparison" not in said.json
    again = shop("evaluate", FOLDER)
    assert (again.code, again.out.split()[0]) == (4, "INVALID")
    other = shop("evaluate", "shop.yaml", "--json")  # the other arm is added to it
    assert (ledger(shop), "comparison" in other.json) == (12, True)


def test_json_is_one_object_with_the_exit_code(shop: Cli) -> None:
    said = shop("evaluate", "shop.yaml", "--json")
    assert said.json["exitCode"] == said.code == 0
    assert said.json["arms"][0]["counts"]["passed"] == 6


MANY = SHOP.replace("trials: 2", "trials: 4") + "".join(f'  - {{ask: "Where is order {n}?", expect: {{get_order: {{id: {n}}}}}}}\n' for n in range(10, 50))


def test_a_gate_that_looks_twice_ends_at_the_first_look_that_decides(shop: Cli) -> None:
    shop.write("shop.yaml", MANY + "gate: {margin: 0.2, looks: 2}\n")
    said = shop("evaluate", "shop.yaml", "--json")
    asked = ledger(shop)
    assert said.code == 0
    assert said.json["comparison"]["look"]["stoppedEarly"] is True
    assert asked == 43 * 2 * said.json["comparison"]["look"]["blocks"] < 43 * 2 * 4
    again = shop("evaluate", "shop.yaml", "--json")
    assert (again.code, ledger(shop)) == (0, asked)  # what was decided is not asked on


def test_a_gate_that_looks_once_asks_everything(shop: Cli) -> None:
    shop.write("shop.yaml", MANY + "gate: {margin: 0.2}\n")
    assert shop("evaluate", "shop.yaml").code == 0
    assert ledger(shop) == 43 * 2 * 4


# ---------------------------------------------------------------- the same, however it was run


@pytest.mark.parametrize("jobs", ["2", "3"])
def test_worker_processes_come_to_the_same_bytes(jobs: str, shop: Cli) -> None:
    shop("evaluate", "shop.yaml", "--out", "one")
    assert shop("evaluate", "shop.yaml", "--out", "many", "-j", jobs).code == 0
    assert ledger(shop) == 24
    assert (shop.folder / "many" / "summary.json").read_bytes() == (shop.folder / "one" / "summary.json").read_bytes()
    assert len(list((shop.folder / "many").glob("trials*.jsonl"))) == int(jobs)


def test_four_shards_merged_come_to_the_same_bytes(shop: Cli) -> None:
    shop.write("shop.yaml", SHOP + "".join(f'  - {{ask: "Where is order {n}?", expect: {{get_order: {{id: {n}}}}}}}\n' for n in range(10, 16)))
    shop("evaluate", "shop.yaml", "--out", "one")
    for number in range(1, 5):
        said = shop("evaluate", "shop.yaml", "--shard", f"{number}/4", "--out", f"shard{number}")
        assert said.code == 0
        assert "--merge" in said.out
    said = shop("evaluate", "--merge", *(f"shard{number}" for number in range(1, 5)), "--out", "whole")
    assert said.code == 0
    assert (shop.folder / "whole" / "summary.json").read_bytes() == (shop.folder / "one" / "summary.json").read_bytes()
    assert shop("evaluate", "whole").code == 0  # it stands alone


def test_shards_in_one_folder_are_judged_together(shop: Cli) -> None:
    shop("evaluate", "shop.yaml", "--out", "one")
    for number in (1, 2):
        shop("evaluate", "shop.yaml", "--shard", f"{number}/2", "--out", "both")
    assert shop("evaluate", "both").code == 0
    assert (shop.folder / "both" / "summary.json").read_bytes() == (shop.folder / "one" / "summary.json").read_bytes()


def test_a_missing_shard_shows_as_skipped(shop: Cli) -> None:
    shop("evaluate", "shop.yaml", "--shard", "1/2", "--out", "half")
    said = shop("evaluate", "--merge", "half", "--out", "whole")
    assert said.code == 3
    assert "2 skipped" in said.out


def test_shards_of_different_evaluations_are_not_merged(shop: Cli) -> None:
    shop("evaluate", "shop.yaml", "--shard", "1/2", "--out", "a")
    shop.write("shop.yaml", SHOP.replace("bye", "good bye"))
    shop("evaluate", "shop.yaml", "--shard", "2/2", "--out", "b")
    said = shop("evaluate", "--merge", "a", "b", "--out", "whole")
    assert said.code == 2
    assert "different evaluations" in said.err


def test_a_folder_that_is_named_twice_is_not_merged_with_itself(shop: Cli) -> None:
    shop("evaluate", "shop.yaml", "--shard", "1/2", "--out", "a")
    said = shop("evaluate", "--merge", "a", "./a/../a", "--out", "whole")
    assert said.code == 2
    assert "is named twice" in said.err
    assert not (shop.folder / "whole").exists()


def test_a_trial_that_was_answered_twice_is_found_when_merged(shop: Cli) -> None:
    for name in ("a", "b"):
        shop("evaluate", "shop.yaml", "--shard", "1/2", "--out", name)
    said = shop("evaluate", "--merge", "a", "b", "--out", "whole")
    assert said.code == 4
    assert "answered twice" in said.err


# ---------------------------------------------------------------- live and recorded


def answering(body: dict[str, Any]) -> dict[str, Any]:
    """As the function above does."""
    number = body["messages"][-1]["content"].split()[-1].rstrip("?")
    return calls("get_order", id=int(number)) if number.isdigit() else says("Bye!")


LIVE = SHOP.replace('{from: "shop_model:answer"}', "{name: m, temperature: 0.7}")


def environ(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-2718281828")
    monkeypatch.setenv("OPENAI_BASE_URL", url)


def test_a_live_model_is_asked_once_and_its_recordings_from_then_on(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.write("shop.yaml", LIVE)
    asked: list[dict[str, Any]] = []
    with endpoint(lambda body: (asked.append(body), answering(body))[1]) as url:
        environ(url, monkeypatch)
        said = shop("evaluate", "shop.yaml", "--model", "live", "--record")
    assert (said.code, len(asked)) == (0, 12)
    assert {body["temperature"] for body in asked} == {0.7}
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    again = shop("evaluate", "shop.yaml", "--out", "again", "--json")
    assert again.code == 0
    assert [arm["counts"]["passed"] for arm in again.json["arms"]] == [6, 6]
    written = b"".join(path.read_bytes() for path in shop.folder.rglob("*") if path.is_file())
    assert b"canary-2718281828" not in written


def test_recordings_of_another_description_are_out_of_date_and_say_which(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.write("shop.yaml", LIVE)
    with endpoint(answering) as url:
        environ(url, monkeypatch)
        shop("evaluate", "shop.yaml", "--record")
    shop.write("shop.yaml", LIVE.replace("Says where an order is.", "Tells where an order is."))
    said = shop("evaluate", "shop.yaml", "--out", "again")
    assert said.code == 1
    assert "6 trials have no recording that fits" in said.out
    assert said.out.count("recording out of date") == 1  # one cause, told once
    assert "get_order" in said.out
    assert "Tells where an order is." in said.out


def test_nobody_at_the_endpoint_is_an_error_of_the_world(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.write("shop.yaml", LIVE.replace("trials: 2", "trials: 4\nrunning: {retries: 0}"))
    environ("http://127.0.0.1:9/v1", monkeypatch)
    said = shop("evaluate", "shop.yaml", "--model", "live")
    assert said.code == 5
    assert "in a row" in said.all


def test_without_recordings_the_way_to_them_is_told(shop: Cli) -> None:
    shop.write("shop.yaml", LIVE)
    said = shop("evaluate", "shop.yaml")
    assert said.code == 4
    assert "--record" in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["--shard", "5/4"], "--shard", id="no-shard"),
        pytest.param(["--record", "--model", "cassette"], "--record", id="record-a-recording"),
        pytest.param(["--backend", "slurm"], "local and ray", id="unknown-backend"),
        pytest.param(["--model", "nowhere:f"], "nowhere", id="unknown-function"),
        pytest.param(["--merge"], "--out", id="merge-into-nothing"),
    ],
)
def test_what_cannot_be_done_is_a_usage_error(arguments: list[str], words: str, shop: Cli) -> None:
    said = shop("evaluate", "shop.yaml", *arguments)
    assert said.code == 2
    assert words in said.err
    assert ledger(shop) == 0


# ---------------------------------------------------------------- own tools to a confusion matrix

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
(PATH_OF_THE_README,) = re.findall(r"```yaml\n(format: harness-evaluation/1\n.*?)```", README, re.DOTALL)
(COMMAND_OF_THE_README,) = re.findall(r"^`harness (evaluate [^`]*)`", README, re.MULTILINE)
OWN_TOOLS = """\
def get_order(id: int) -> str:
    \"\"\"Says where an order is.\"\"\"
    raise AssertionError("no tool is called")

def refund_order(id: int) -> str:
    \"\"\"Pays an order back.\"\"\"
    raise AssertionError("no tool is called")

registry = [get_order, refund_order]
"""


def test_own_tools_to_a_confusion_matrix_in_ten_lines_and_one_command(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(PATH_OF_THE_README.splitlines()) <= 10
    shop.write("shop.yaml", PATH_OF_THE_README)
    shop.write("shop_tools.py", OWN_TOOLS)
    sys.modules.pop("shop_tools", None)
    with endpoint(answering) as url:
        environ(url, monkeypatch)
        said = shop(*shlex.split(COMMAND_OF_THE_README))
    assert said.code == 0, said.all
    matrix = said.out[said.out.index("expected") :]
    assert "get_order" in matrix
    assert "(none)" in matrix
    again = shop("evaluate", "shop.yaml", "--out", "again")  # from the recordings
    assert (shop.folder / "again" / "report.md").exists()
    assert again.code == 0


def test_the_same_file_with_a_function_of_ones_own_needs_no_endpoint(shop: Cli) -> None:
    shop.write("shop.yaml", PATH_OF_THE_README.replace("{name: small-model, temperature: 0.7}", '{from: "shop_model:answer"}'))
    shop.write("shop_tools.py", OWN_TOOLS)
    sys.modules.pop("shop_tools", None)
    said = shop("evaluate", "shop.yaml")
    assert said.code == 0
    assert "(none)" in (shop.folder / FOLDER / "report.md").read_text()


def test_the_tools_of_a_live_server_are_offered_and_never_called(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mcp")
    monkeypatch.setenv("CALLED", str(shop.folder / "called"))
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(SERVER))}"
    shop.write("shop.yaml", SHOP.replace("{schemas: tools.yaml}", json.dumps({"mcp": {"command": command, "env": ["CALLED"]}})))
    said = shop("evaluate", "shop.yaml")
    assert said.code == 0, said.all
    assert "planned 6 = 6 passed" in said.out
    assert not (shop.folder / "called").exists()


def counted(shop: Cli, monkeypatch: pytest.MonkeyPatch, **changes: str) -> str:
    """The source of a server that notes each of its starts, and from one of them on offers other tools."""
    pytest.importorskip("mcp")
    for name, value in {"STARTED": str(shop.folder / "started"), "CHANGES_AT": "1000", "DIES_AT": "1000", **changes}.items():
        monkeypatch.setenv(name, value)
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(SERVER.with_name('shop.py')))}"
    return json.dumps({"mcp": {"command": command, "env": ["STARTED", "CHANGES_AT", "DIES_AT"]}})


@pytest.mark.parametrize("trials", ["2", "3"], ids=["all-were-asked", "more-are-asked"])
def test_a_live_list_that_differs_from_the_folders_is_said_and_nothing_is_asked(trials: str, shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.write("shop.yaml", SHOP.replace("{schemas: tools.yaml}", counted(shop, monkeypatch, CHANGES_AT="2")).replace("arms: {now: {}, new: {descriptions: {get_order: Says where an order is.}}}\n", ""))
    assert shop("evaluate", "shop.yaml").code == 0
    said = shop("evaluate", "shop.yaml", "--trials", trials)
    assert (said.code, ledger(shop)) == (2, 6)
    assert "the tools have changed since the trials" in said.err
    assert "tool 'new' was added; description of tool 'get_order' changed" in said.err
    assert "Finds an order." in (shop.folder / FOLDER / "tools.json").read_text()


def test_distractors_that_changed_are_said_too(shop: Cli) -> None:
    shop.write("more.yaml", TOOLS.replace("order", "parcel"))
    crowded = SHOP.replace("new: {descriptions: {get_order: Says where an order is.}}", "new: {distractors: 1}")
    shop.write("shop.yaml", crowded + "distractor_tools: {schemas: more.yaml}\n")
    assert shop("evaluate", "shop.yaml").code == 0
    shop.write("more.yaml", TOOLS.replace("order", "parcel").replace("Finds a", "Looks for a"))
    said = shop("evaluate", "shop.yaml")
    assert (said.code, ledger(shop)) == (2, 12)
    assert "of the distractors: description of tool 'get_parcel' changed" in said.err
    refused = shop("evaluate", "shop.yaml", "--regrade")
    assert "of the distractors" in refused.err
    assert refused.code == 2


# ---------------------------------------------------------------- interrupted

SLOW = MODEL.replace("def answer(call):", "import asyncio, os, signal\n\nasync def answer(call):\n    if os.path.exists('ledger'):\n        os.kill(os.getpid(), signal.SIGINT)\n        await asyncio.sleep(5)")


@pytest.mark.skipif(os.name != "posix", reason="signals of a terminal")
def test_ctrl_c_ends_it_and_it_goes_on_from_there(shop: Cli) -> None:
    shop.write("shop_model.py", SLOW)
    shop.write("shop.yaml", SHOP + "running: {at_once: 1}\n")
    ended = in_a_process("evaluate", "shop.yaml", cwd=shop.folder)
    assert ended.returncode == 130, ended.stderr
    assert b"Traceback" not in ended.stderr
    assert ledger(shop) == 1
    shop.write("shop_model.py", MODEL)
    assert shop("evaluate", "shop.yaml").code == 0
    assert ledger(shop) == 12


def test_whole_runs_of_two_arms_are_recorded_apart_and_replayed(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.write(
        "loop.yaml",
        "format: harness-evaluation/1\ntools: {use: [calculator]}\nexecute: true\nmodel: m\ntrials: 2\n"
        "arms: {now: {}, new: {system: Split it.}}\n"
        'cases:\n  - {id: sum, ask: "What is 6*7?", expect: {calculator: {expression: {$any: true}}}, answer: {contains: "42"}}\n',
    )

    def computing(body: dict[str, Any]) -> dict[str, Any]:
        if body["messages"][-1]["role"] == "tool":
            return says("It is 42.")
        return calls("calculator", expression="6*7" if body["messages"][0]["role"] == "user" else "7*6")

    with endpoint(computing) as url:
        environ(url, monkeypatch)
        recorded = shop("evaluate", "loop.yaml", "--model", "live", "--record")
    assert recorded.code == 0, recorded.err
    replayed = shop("evaluate", "loop.yaml", "--out", "again", "--model", "cassette")
    assert replayed.code == 0, replayed.out + replayed.err
    assert "planned 2 = 2 passed + 0 failed + 0 errored + 0 skipped" in replayed.out
    kept = shop.folder / "cassettes" / "evaluations" / "loop"
    names = {path.relative_to(kept).as_posix() for path in kept.rglob("*.yaml")}
    assert names == {f"{arm}/sum/m{trial}.yaml" for arm in ("now", "new") for trial in ("", ".2")}


WHOLE = """\
from harness.types.messages import ChatTool
from harness.types.script import ScriptCall, ScriptReply

def answer(call):
    last = call.messages[-1]
    if isinstance(last, ChatTool):
        return ScriptReply(say=f"It says: {last.content}")
    return ScriptReply(calls=(ScriptCall("lookup" if '"lookup"' in call.tools else "get_order", '{"id": 7}'),))
"""
WHOLE_SHOP = """\
format: harness-evaluation/1
tools: {schemas: tools.yaml}
execute: true
model: {from: "shop_model:answer"}
trials: 2
arms: {now: {}, new: {rename: {get_order: lookup}, order: reversed}}
cases:
  - {ask: "Where is order 7?", expect: {get_order: {id: 7}}, never: [refund_order], answer: {contains: "get.order 7, call 1"}}
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_where_the_file_says_so_a_live_server_is_called_a_fresh_one_each_trial(jobs: str, shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.write("shop_model.py", WHOLE)
    shop.write("shop.yaml", WHOLE_SHOP.replace("{schemas: tools.yaml}", counted(shop, monkeypatch)))
    said = shop("evaluate", "shop.yaml", "-j", jobs)
    assert said.code == 0, said.all
    assert "planned 2 = 2 passed + 0 failed" in said.out
    assert len((shop.folder / "started").read_text().split()) == 1 + 4


IMPATIENT = """\
import json, os, signal
from harness.types.messages import ChatTool
from harness.types.script import ScriptCall, ScriptReply

def answer(call):
    if isinstance(call.messages[-1], ChatTool):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
    return ScriptReply(calls=(ScriptCall("get_order", '{"id": 7}'),))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of a terminal")
def test_a_second_ctrl_c_in_a_whole_loop_leaves_no_server_behind(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.write("shop_model.py", IMPATIENT)
    shop.write("shop.yaml", SHOP.replace("{schemas: tools.yaml}", counted(shop, monkeypatch)) + "execute: true\n")
    given = {name: os.environ[name] for name in ("STARTED", "CHANGES_AT", "DIES_AT")}
    ended = in_a_process("evaluate", "shop.yaml", cwd=shop.folder, env=given)
    assert ended.returncode == 130, ended.stderr
    pids = (shop.folder / "started").read_text().split()
    assert len(pids) == 2
    for pid in map(int, pids):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_verdict_of_fewer_trials_is_told_beside_the_one_of_more(shop: Cli) -> None:
    shop.write("shop.yaml", MANY + "gate: {margin: 0.2}\n")
    first = shop("evaluate", "shop.yaml", "--trials", "2")
    again = shop("evaluate", "shop.yaml", "--trials", "2")
    assert "before" not in first.out + again.out
    more = shop("evaluate", "shop.yaml", "--trials", "6", "--json")
    (note,) = [line for line in more.json["notes"] if line.startswith("before: ")]
    assert note.startswith("before: judged at 2 of 2 trials: ")
    assert note.endswith("; a look that was not planned")
    folder = shop.folder / "reports" / "evaluations" / "shop"
    assert "- before: judged at 2 of 2 trials" in (folder / "report.md").read_text("utf-8").replace("`", "")
    assert "before" not in json.loads((folder / "summary.json").read_bytes())


def test_a_verdict_by_other_expectations_is_told_beside_the_next(shop: Cli) -> None:
    made = MANY + "gate: {margin: 0.2}\n"
    shop.write("shop.yaml", made)
    shop("evaluate", "shop.yaml")
    shop.write("shop.yaml", made.replace("never: [refund_order]", "never: []", 1))
    said = shop("evaluate", "shop.yaml", "--regrade")
    assert "before  judged at 4 of 4 trials, by other expectations: " in said.out, said.all


def test_judgements_that_cannot_be_read_are_named(shop: Cli) -> None:
    shop.write("shop.yaml", MANY + "gate: {margin: 0.2}\n")
    shop("evaluate", "shop.yaml")
    (shop.folder / "reports" / "evaluations" / "shop" / "judgements.jsonl").write_text("{}\n", "utf-8")
    assert "judgements.jsonl, line 1" in shop("evaluate", "shop.yaml").all
