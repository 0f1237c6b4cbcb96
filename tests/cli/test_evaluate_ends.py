"""What ends an evaluation is told in one message, and never decides its verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import read_evaluation
from tests.cli.lab import in_a_process

TOOLS = "- {name: get_order, description: Finds an order., parameters: {type: object, properties: {id: {type: integer}}, required: [id]}}\n"
HEAD = 'format: harness-evaluation/1\ntools: {schemas: tools.yaml}\nmodel: {from: "shop_model:answer"}\ntrials: 5\nrunning: {at_once: 2}\n'
CASES = "cases:\n" + "".join(f'  - {{ask: "Where is order {n}?", expect: {{get_order: {{id: {n}}}}}}}\n' for n in range(8))
WHOLE_LOOP = HEAD + "stubs: {get_order: {returns: ok}}\n" + CASES


def shop(folder: Path, function: str, text: str = HEAD + CASES) -> None:
    """An evaluation of 40 trials whose model is this function."""
    (folder / "shop.yaml").write_text(text)
    (folder / "tools.yaml").write_text(TOOLS)
    (folder / "shop_model.py").write_text(function)


RAISING = "import asyncio, sys\nclass Odd(BaseException): pass\n{0}def answer(call):\n    {1}\n"
BODIES = [
    pytest.param("", "sys.exit(0)", "sys.exit(0)", id="exit-0"),
    pytest.param("", "raise SystemExit(3)", "sys.exit(3)", id="exit-3"),
    pytest.param("async ", "sys.exit('bye')", "sys.exit('bye')", id="exit-in-a-coroutine"),
    pytest.param("", "raise Odd('strange')", "Odd: strange", id="no-exception"),
    pytest.param("async ", "raise asyncio.CancelledError('mine')", "CancelledError: mine", id="cancelled-by-itself"),
]


@pytest.mark.parametrize("text", [pytest.param(HEAD + CASES, id="first-decision"), pytest.param(WHOLE_LOOP, id="whole-loop")])
@pytest.mark.parametrize(("kind", "body", "words"), BODIES)
def test_a_function_that_ends_the_process_decides_nothing(kind: str, body: str, words: str, text: str, tmp_path: Path) -> None:
    shop(tmp_path, RAISING.format(kind, body), text)
    said = in_a_process("evaluate", "shop.yaml", cwd=tmp_path)
    told = (said.stdout + said.stderr).decode()
    assert said.returncode == 5, told
    assert words in told
    assert "Traceback" not in told
    assert "never retrieved" not in told


def test_a_module_that_ends_the_process_decides_nothing(tmp_path: Path) -> None:
    shop(tmp_path, "import sys\nsys.exit(0)\n")
    said = in_a_process("evaluate", "shop.yaml", cwd=tmp_path)
    assert said.returncode == 2
    assert b"SystemExit" in said.stderr


INTERRUPTED = """\
import json, os, signal
N = [0]
def answer(call):
    N[0] += 1
    if N[0] in {0}:
        {1}
    return "Bye!"
"""


@pytest.mark.parametrize("text", [pytest.param(HEAD + CASES, id="first-decision"), pytest.param(WHOLE_LOOP, id="whole-loop")])
@pytest.mark.parametrize(
    ("at", "body"),
    [
        pytest.param("(3,)", "os.kill(os.getpid(), signal.SIGINT)", id="ctrl-c-in-a-call"),
        pytest.param("(3,)", "[os.kill(os.getpid(), signal.SIGINT) for _ in '12']", id="twice"),
        pytest.param("(3,)", "raise KeyboardInterrupt", id="raised"),
    ],
)
def test_an_interrupt_ends_it_soon_and_quietly_and_it_can_be_gone_on_with(at: str, body: str, text: str, tmp_path: Path) -> None:
    shop(tmp_path, INTERRUPTED.format(at, body), text)
    said = in_a_process("evaluate", "shop.yaml", cwd=tmp_path)
    told = (said.stdout + said.stderr).decode()
    assert said.returncode == 130, told
    assert "Traceback" not in told
    assert "never retrieved" not in told
    folder = tmp_path / "reports" / "evaluations" / "shop"
    n_lines = len((folder / "trials.jsonl").read_text().splitlines()) - 1
    assert 1 <= n_lines <= 5
    shop(tmp_path, 'def answer(call):\n    return "Bye!"\n', text)
    again = in_a_process("evaluate", "shop.yaml", cwd=tmp_path)
    assert again.returncode == 1, (again.stdout + again.stderr).decode()
    assert json.loads((folder / "run.json").read_text())["trialsNow"] == 40 - n_lines


REDS = "raise {0}(chr(27) + '[31mred' + chr(13) + 'over' + chr(0x9b) + '2J'{1})"


@pytest.mark.parametrize("option", [pytest.param((), id="text"), pytest.param(("-v",), id="verbose"), pytest.param(("--json",), id="json")])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(REDS.format("ValueError", ""), id="function"),
        pytest.param("from harness.errors import ModelError; from harness.types.codes import Code; " + REDS.format("ModelError", ", code=Code.AUTH"), id="key"),
        pytest.param("import sys; sys.exit(chr(27) + '[31mred')", id="exit"),
    ],
)
def test_what_a_function_says_when_it_fails_moves_nothing_on_the_screen(body: str, option: tuple[str, ...], tmp_path: Path) -> None:
    shop(tmp_path, f"def answer(call):\n    {body}\n")
    said = in_a_process("evaluate", "shop.yaml", *option, cwd=tmp_path)
    told = (said.stdout + said.stderr).decode()
    assert "[31mred" in told
    assert not set(told) & {chr(code) for code in (*range(10), *range(11, 32), *range(127, 160))}
    if option == ("--json",):
        assert "\x1b[31mred" in str(json.loads(said.stdout)).replace("\\x1b", "\x1b")


def test_a_module_that_fails_when_it_is_imported_moves_nothing_on_the_screen(tmp_path: Path) -> None:
    shop(tmp_path, "raise ValueError(chr(27) + '[31mred')\n")
    said = in_a_process("evaluate", "shop.yaml", cwd=tmp_path)
    assert b"\\x1b[31mred" in said.stderr
    assert b"\x1b" not in said.stderr


REFUSALS = [
    pytest.param("raise ModelError('bad key', code=Code.AUTH)", "bad key", id="key"),
    pytest.param("raise ModelError('no such model', code=Code.INVALID_REQUEST)", "no such model", id="request"),
    pytest.param("raise ValueError('mine')", "ValueError: mine", id="function"),
]
RAISES = """\
from harness.errors import ModelError
from harness.types.codes import Code
N = [0]
def answer(call):
    N[0] += 1
    if N[0] > {0}:
        {1}
    return 'Bye!'
"""
GATED = HEAD + "arms: {now: {}, new: {system: Be quick.}}\ngate: {margin: 0.9}\n" + CASES


@pytest.mark.parametrize("text", [pytest.param(GATED, id="first-decision"), pytest.param(WHOLE_LOOP, id="whole-loop")])
@pytest.mark.parametrize(("body", "words"), REFUSALS)
def test_where_all_is_refused_the_reason_is_told_and_nothing_is_judged(body: str, words: str, text: str, tmp_path: Path) -> None:
    shop(tmp_path, RAISES.format(0, body), text)
    said = in_a_process("evaluate", "shop.yaml", cwd=tmp_path)
    assert (said.returncode, said.stdout) == (5, b"")
    assert said.stderr.decode().startswith("error: ")
    assert words in said.stderr.decode()
    folder = tmp_path / "reports" / "evaluations" / "shop"
    info = json.loads((folder / "run.json").read_text())
    assert (info["exitCode"], words in info["stopped"]) == (5, True)
    assert not [name for name in ("summary.json", "report.md") if (folder / name).exists()]
    told = in_a_process("evaluate", "shop.yaml", "--json", cwd=tmp_path)
    assert json.loads(told.stdout)["exitCode"] == 5
    assert words in json.loads(told.stdout)["error"]


@pytest.mark.parametrize(("margin", "verdict"), [pytest.param("0.2", "INVALID", id="invalid"), pytest.param("0.9", "PASS", id="pass")])
def test_what_stopped_it_stands_first_where_it_decides_the_exit_code(margin: str, verdict: str, tmp_path: Path) -> None:
    """The code of the verdict alone is another."""
    right = GATED.replace("0.9", margin).replace("expect: {get_order", "expect: {any_of: [no_call, {get_order").replace("}}}\n", "}}]}}\n")
    shop(tmp_path, RAISES.format(20, "raise ModelError('bad key', code=Code.AUTH)"), right)
    said = in_a_process("evaluate", "shop.yaml", cwd=tmp_path)
    first, second, *_ = said.stdout.decode().splitlines()
    assert (said.returncode, first[:6], second.split()[0]) == (5, "ERROR ", verdict), said
    assert "bad key" in first
    assert said.stdout.decode().count("bad key") == 1


def test_a_folder_that_holds_more_than_was_asked_for_says_so(tmp_path: Path) -> None:
    text = HEAD + "arms: {now: {}, new: {system: Be quick.}}\n" + CASES
    shop(tmp_path, "def answer(call):\n    return 'Bye!'\n", text)
    assert b"note:" not in in_a_process("evaluate", "shop.yaml", "--trials", "2", cwd=tmp_path).stdout
    said = in_a_process("evaluate", "shop.yaml", "--trials", "1", "--arm", "new", cwd=tmp_path).stdout.decode()
    assert "note: --trials 1, but the folder holds 2 of each case: all are judged" in said
    assert "note: the folder holds the arms 'now' too: all are judged" in said
    told = json.loads(in_a_process("evaluate", "shop.yaml", "--trials", "1", "--json", cwd=tmp_path).stdout)
    assert [note for note in told["notes"] if note.startswith("note: --trials 1")]


def test_a_function_that_was_named_on_the_command_line_is_named_on_the_first_line(tmp_path: Path) -> None:
    shop(tmp_path, "def answer(call):\n    return 'Bye!'\n")
    (tmp_path / "mine.py").write_text("def other(call):\n    return 'Hello!'\n")
    said = in_a_process("evaluate", "shop.yaml", "--model", "mine:other", "--trials", "1", cwd=tmp_path).stdout.decode()
    assert said.splitlines()[0].endswith(", mine:other")
    folder = tmp_path / "reports" / "evaluations" / "shop"
    assert "model `mine:other`" in (folder / "report.md").read_text("utf-8")
    written = (folder / "summary.json").read_bytes()
    assert json.loads(written)["model"] == "mine:other"
    again = in_a_process("evaluate", str(folder), cwd=tmp_path).stdout.decode()
    assert again.splitlines()[0].endswith(", mine:other")
    assert (folder / "summary.json").read_bytes() == written == read_evaluation(folder).summary.to_json().encode() + b"\n"
