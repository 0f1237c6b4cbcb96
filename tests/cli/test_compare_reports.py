"""``harness compare --out`` and ``--reports``: which files come of it, that their numbers are those of the
trajectories, and that none of them changes the verdict."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import junitparser
import pyarrow.parquet as pq
import pytest

from harness.runner import ReviewOptions, review_paths
from harness.runner.review import comparing, reporting
from harness.store import comparison_schema
from tests.cli.lab import GOOD, Cli, clean_environment
from tests.cli.test_locale import PLAIN_C, UTF8
from tests.conftest import REPO

FILES = ["annotations.txt", "comparison.json", "comparison.md", "comparison.parquet", "junit.xml", "summary.md"]
OTHER = GOOD.replace("call: {calculator: {expression: 6 * 7}}", "call: {calculator: {expression: 7 * 6}}")


@pytest.fixture
def two(cli: Cli) -> Cli:
    """Two folders of runs: one scenario the same, one changed."""
    cli.write("scenarios/shop/refund.yaml", GOOD)
    cli.write("scenarios/same.yaml", GOOD)
    assert cli("run", "--out", "base").code == 0
    cli.write("scenarios/shop/refund.yaml", OTHER)
    assert cli("run", "--out", "new").code == 0
    return cli


# ------------------------------------------------ which files


def test_a_folder_of_reports_holds_all_of_them_and_text_is_still_told(two: Cli) -> None:
    said = two("compare", "base", "new", "--reports", "deep/reports")
    assert (said.code, said.err) == (1, "")
    assert said.out.startswith("FAIL  ")
    names = sorted(path.name for path in Path("deep/reports").iterdir())
    assert [name for name in names if name != "comparison.html"] == FILES
    page = Path("deep/reports/comparison.md").read_text("utf-8")
    assert page.startswith("<!-- harness-comparison -->\n### FAIL")
    assert page.count("```mermaid") == 1
    assert Path("deep/reports/annotations.txt").read_text("utf-8").startswith("::error file=scenarios/shop/refund.yaml,line=1,title=shop/refund%3A changed::")


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        pytest.param("a.md", b"<!-- harness-comparison -->\n", id="markdown"),
        pytest.param("a.txt", b"FAIL  ", id="text"),
        pytest.param("a.xml", b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites ", id="junit"),
        pytest.param("a.json", b'{"format":"harness-comparison/1",', id="json"),
        pytest.param("a.parquet", b"PAR1", id="parquet"),
        pytest.param("A.JSON", b'{"format":', id="suffix-in-capitals"),
    ],
)
def test_the_suffix_says_which_report(name: str, begins: bytes, two: Cli) -> None:
    assert two("compare", "base", "new", "--out", name).code == 1
    assert Path(name).read_bytes().startswith(begins)


def test_several_reports_are_written_at_once_and_json_is_the_same_document(two: Cli) -> None:
    said = two("compare", "base", "new", "--out", "a.json", "--out", "b.md", "--out", "c.xml", "--json")
    assert Path("a.json").read_text("utf-8") == said.out
    assert said.json["exitCode"] == said.code == 1
    assert Path("b.md").exists()
    assert Path("c.xml").exists()


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.md.bak", ".md"])
def test_an_unknown_suffix_is_refused_with_those_that_are_known_before_anything_is_compared(name: str, cli: Cli) -> None:
    said = cli("compare", "gone", "gone", "--out", "good.md", "--out", name)
    assert said.code == 2
    assert re.search(r"the suffix says which: (\.html, )?\.json, \.md, \.parquet, \.txt, \.xml\n", said.err)
    assert list(cli.folder.iterdir()) == []


def test_jobs_tell_their_comments_apart_by_a_key(two: Cli) -> None:
    said = two("compare", "base", "new", "--comment-key", "nightly-3.11", "--format", "markdown", "--out", "a.md")
    assert said.out.startswith("<!-- harness-comparison nightly-3.11 -->\n")
    assert Path("a.md").read_text("utf-8") == said.out


@pytest.mark.parametrize("key", ["a--b", "-->", "a b", "x" * 61, "\n", "é", "-a"])
def test_a_key_that_could_end_the_marker_is_refused(key: str, two: Cli) -> None:
    said = two("compare", "base", "new", f"--comment-key={key}", "--reports", "out")
    assert said.code == 2
    assert "--comment-key" in said.err
    assert not Path("out").exists()


def test_nothing_changed_is_one_line_behind_the_marker_and_no_annotation(two: Cli) -> None:
    assert two("compare", "base", "base", "--reports", "out").code == 0
    marker, line, rest = Path("out/comparison.md").read_text("utf-8").split("\n")
    assert (marker, rest) == ("<!-- harness-comparison -->", "")
    assert line.startswith("PASS  2 scenarios, no difference")
    assert Path("out/annotations.txt").read_bytes() == b""
    (suite,) = junitparser.JUnitXml.fromfile("out/junit.xml")
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (2, 0, 0, 0)


def test_lines_are_looked_up_where_one_says(two: Cli) -> None:
    Path("scenarios").rename("elsewhere")
    two("compare", "base", "new", "--reports", "out")
    assert Path("out/annotations.txt").read_text("utf-8").startswith("::error title=")
    (source,) = two("compare", "base", "new", "--json", "--scenarios", "elsewhere").json["sources"]
    assert source == {"scenario": "shop/refund", "file": "elsewhere/shop/refund.yaml", "line": 1}


# ------------------------------------------------ a report that cannot be written


def test_a_report_that_cannot_be_written_is_told_and_the_verdict_stands(two: Cli) -> None:
    Path("out/junit.xml").mkdir(parents=True)  # a folder is in the way of one of them
    said = two("compare", "base", "new", "--reports", "out")
    assert said.code == 1
    assert said.err == "out/junit.xml was not written: out/junit.xml is a folder: name a file to write to\n"
    assert said.out.startswith("FAIL  ")
    assert sorted(path.name for path in Path("out").iterdir() if path.is_file() and path.suffix != ".html") == [name for name in FILES if name != "junit.xml"]
    assert two("compare", "base", "base", "--reports", "out").code == 0


UNWRITABLE = """\
import os, resource, signal, sys
sys.dont_write_bytecode = True  # it would be cut short too, and be taken for whole
from harness.cli.main import run_app
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
sys.exit(run_app(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
def test_a_full_disk_leaves_no_half_of_a_report_and_the_exit_code_of_the_verdict(two: Cli) -> None:
    """A limit on the size of files fails a write in the middle, as a full disk does."""
    Path("out").mkdir()
    Path("out/comparison.json").write_text("old", "utf-8")
    for base, code in (("base", 1), ("new", 0)):
        done = subprocess.run(
            [sys.executable, "-c", UNWRITABLE, "compare", base, "new", "--reports", "out"],
            env=clean_environment({"NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}),
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert b"out/comparison.json was not written: " in done.stderr
        assert b"out/junit.xml was not written: " in done.stderr
        assert b"Traceback" not in done.stderr
        assert not Path("out/comparison.json").exists(), "what is of another comparison does not stay"
        assert not [path for path in Path("out").iterdir() if path.suffix == ".tmp"]


@pytest.fixture
def priced(two: Cli) -> Callable[[int], Cli]:
    """Both folders as before, but that a model of the candidate reports input tokens of so many digits."""

    def with_digits(n_digits: int) -> Cli:
        for folder, text in (("base", GOOD), ("new", OTHER)):
            two.write("scenarios/shop/refund.yaml", re.sub("(?m)^  - ", "  - usage: {input: 20, output: 8}\n    ", text))
            assert two("run", "--out", folder).code == 0
        (path,) = Path("new/trajectories/shop").iterdir()
        text, n = re.subn(r'"inputTokens":20\b', f'"inputTokens":{"9" * n_digits}', path.read_text("utf-8"))
        assert n == 2
        path.write_text(text, "utf-8")
        return two

    return with_digits


@pytest.mark.parametrize("n_digits", [20, 400])
def test_a_number_of_any_size_changes_no_exit_code(n_digits: int, priced: Callable[[int], Cli]) -> None:
    cli = priced(n_digits)
    for given in ((), ("--json",), ("--format", "markdown"), ("--reports", "r")):
        said = cli("compare", "base", "new", *given)
        assert (said.code, said.err) == (1, "")


def test_a_comparison_that_cannot_be_shown_keeps_its_exit_code_and_says_so(priced: Callable[[int], Cli]) -> None:
    """So many digits are read, and a sum of two such numbers is not written out."""
    said = priced(4_300)("compare", "base", "new")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("the comparison cannot be shown: ")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="a folder that this user may not write to")
def test_a_folder_that_may_not_be_written_to_changes_nothing_about_the_code(two: Cli) -> None:
    Path("out").mkdir(mode=0o500)
    said = two("compare", "base", "new", "--reports", "out", "--out", "out/a.md")
    assert said.code == 1
    assert said.err.count("was not written") == len(FILES) + 1


def test_parquet_without_its_library_is_refused_by_name_and_left_out_of_a_folder(two: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr("harness.report.comparison_frame.find_spec", lambda name: None)
    said = two("compare", "base", "new", "--out", "a.parquet")
    assert said.code == 2
    assert "agent-loop-harness[evaluate]" in said.err
    assert two("compare", "base", "new", "--reports", "out").err == ""
    assert not Path("out/comparison.parquet").exists()
    assert Path("out/junit.xml").exists()


def test_runs_that_are_gone_meanwhile_cost_the_diagram_and_not_the_comment(two: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    load = comparing.RunSet.load

    def gone(self: comparing.RunSet, run: Any) -> Any:
        shutil.rmtree("new/trajectories", ignore_errors=True)
        return load(self, run)

    reviewed = review_paths(Path("base"), Path("new"), ReviewOptions())
    monkeypatch.setattr(comparing.RunSet, "load", gone)
    assert "the runs cannot be read again" in reporting.markdown_of(reviewed)


# ------------------------------------------------ numbers, from the lines of the files alone


def counted(path: Path) -> dict[str, Any]:
    """A run counted from the lines of its file, with nothing of this package."""
    header, *events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    main = [event for event in events if "agent" not in event]
    told = [one for one in events if one["type"] == "assistant/message" or (one["type"] == "model/error" and one.get("usage"))]
    usages = [event.get("usage") or {} for event in told]

    def total(key: str) -> int | None:
        known = [usage.get(key) for usage in usages]
        return sum(known) if known and None not in known else None

    ends = [event for event in events if event["type"] == "run/end"]
    return {
        "scenario": header["scenario"]["id"],
        "n_steps": sum(event["type"] == "assistant/message" and not event.get("interrupted") for event in main),
        "n_turns": sum(event["type"] == "turn/start" for event in main),
        "n_requests": sum(event["type"] == "model/request" for event in events),
        "n_calls": sum(len(event.get("toolCalls", ())) for event in events if event["type"] == "assistant/message"),
        "input_tokens": total("inputTokens"),
        "output_tokens": total("outputTokens"),
        "duration_ms": events[-1].get("time"),
        "status": ends[-1]["status"] if ends else None,
    }


def folder_of(name: str) -> dict[str, dict[str, Any]]:
    found = [counted(path) for path in Path(name, "trajectories").rglob("*.jsonl")]
    return {run["scenario"]: run for run in found}


@pytest.fixture
def shipped(cli: Cli) -> Cli:
    """Real shipped scenarios run twice; between the two one is gone, one is new, some say something else."""
    for family in ("tool-work", "streaming", "children", "failures"):
        shutil.copytree(REPO / "scenarios" / family, f"scenarios/{family}")
    assert cli("run", "scenarios", "--out", "base").code == 0
    scenarios = sorted(Path("scenarios").rglob("*.yaml"))
    for path in scenarios[::4]:
        text = path.read_text("utf-8")
        path.write_text(re.sub(r"(?m)^  - say: (\S.*)$", r"  - say: Well. \1", text), "utf-8")
    scenarios[1].unlink()
    shutil.copy(scenarios[2], "scenarios/streaming/brand-new.yaml")
    cli("run", "scenarios", "--out", "new")
    return cli


@pytest.mark.public_case("PB-045", "PB-047")
def test_every_number_in_every_report_is_that_of_the_files(shipped: Cli) -> None:
    said = shipped("compare", "base", "new", "--reports", "out")
    assert said.code == 1
    sides = {"base": folder_of("base"), "candidate": folder_of("new")}
    document = json.loads(Path("out/comparison.json").read_text("utf-8"))
    rows = {(row.get("candidate") or row.get("base"))["scenario"]: row for row in document["comparison"]["scenarios"]}
    table = {row["scenario"]: row for row in pq.read_table("out/comparison.parquet").to_pylist()}
    summary = table_of(Path("out/summary.md").read_text("utf-8"))
    (suite,) = junitparser.JUnitXml.fromfile("out/junit.xml")
    cases = {case.name: case for case in suite}
    assert set(rows) == set(table) == set(summary) == set(cases) == {*sides["base"], *sides["candidate"]}
    assert len(rows) > 30
    for side, runs in sides.items():
        for name, run in runs.items():
            told = rows[name][side]
            assert {key: told.get(camel(key)) for key in run if key not in ("scenario", "n_calls")} == {k: v for k, v in run.items() if k not in ("scenario", "n_calls")}
            assert len(told["calls"]) == run["n_calls"]
            assert {key: table[name][f"{side}_{key}"] for key in run if key != "scenario"} == {k: v for k, v in run.items() if k != "scenario"}
            at = -1 if side == "candidate" else 0
            assert summary[name]["steps"].split(" → ")[at] == str(run["n_steps"])
            assert summary[name]["ms"].split(" → ")[at] == ("–" if run["duration_ms"] is None else str(run["duration_ms"]))
            tokens = None if run["input_tokens"] is None else run["input_tokens"] + (run["output_tokens"] or 0)
            assert summary[name]["tokens"].split(" → ")[at] == ("–" if tokens is None else str(tokens))
    for name, run in sides["candidate"].items():
        assert cases[name].time == pytest.approx((run["duration_ms"] or 0) / 1000)
    check_counts(sides, rows, suite)


def check_counts(sides: dict[str, dict[str, Any]], rows: dict[str, Any], suite: junitparser.TestSuite) -> None:
    """How many of each change, in every report: missing and new from the names, the others add up."""
    missing, new = sides["base"].keys() - sides["candidate"].keys(), sides["candidate"].keys() - sides["base"].keys()
    n = Counter(row["change"] for row in rows.values())
    assert {name for name, row in rows.items() if row["change"] == "missing"} == missing
    assert {name for name, row in rows.items() if row["change"] == "new"} == new
    assert (len(missing), len(new)) == (1, 1)
    assert n["changed"] + n["worse"] > 3
    words = f"{n['same']} same, {n['worse']} worse, {n['missing']} missing, {n['changed']} changed, {n['better']} better, {n['new']} new"
    for name in ("comparison.md", "summary.md"):
        assert f"- {words}\n" in Path("out", name).read_text("utf-8")
    assert suite.failures + suite.errors == n["worse"] + n["missing"] + n["changed"] + n["better"]
    assert suite.tests == sum(n.values())
    told = len(Path("out/annotations.txt").read_text("utf-8").splitlines())
    assert told == min(suite.failures + suite.errors, 10) + (suite.failures + suite.errors > 10)


def table_of(page: str) -> dict[str, dict[str, str]]:
    lines = [line for line in page.split("\n") if line.startswith("|")]
    head, rows = cells(lines[0]), [cells(line) for line in lines[2:]]
    return {row[head.index("scenario")].strip("`"): dict(zip(head, row, strict=True)) for row in rows}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# ------------------------------------------------ everywhere the same bytes


@pytest.mark.public_case("PB-048")
def test_reports_are_the_same_bytes_in_every_locale(two: Cli) -> None:
    name = "模型 🚀 äß"
    two.write(f"scenarios/{name}.yaml", GOOD.replace("What is", name))
    assert two("run", "--out", "more").code == 0
    made: list[dict[str, bytes]] = []
    for locale in (PLAIN_C, UTF8):
        done = subprocess.run(
            [sys.executable, "-c", "from harness.cli import main; main()", "compare", "base", "more", "--reports", "out"],
            env=clean_environment({**locale, "NO_COLOR": "1"}), capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 1, done.stderr
        made.append({path.name: path.read_bytes() for path in sorted(Path("out").iterdir())})
    assert made[0] == made[1]
    assert name.encode() in made[0]["summary.md"]
    assert all(b"\r" not in data for key, data in made[0].items() if not key.endswith((".parquet", ".html")))


def test_the_documents_that_are_printed_keep_to_the_schema(shipped: Cli) -> None:
    validator = jsonschema_rs.validator_for(comparison_schema())
    for base, candidate in (("base", "new"), ("new", "base"), ("base", "base")):
        assert list(validator.iter_errors(shipped("compare", base, candidate, "--json").json)) == []


HALF = """\
format: harness-scenario/1
task: Say it.
tools:
  schemas: {echo: {description: Echoes., parameters: {type: object, properties: {t: {type: string}}}}}
  stub: {echo: {returns: done}}
script:
  - calls: [{name: echo, arguments: '{"t":"x\\ud83dTAIL"}'}]
  - say: Done.
"""


@pytest.mark.public_case("PB-015")
def test_half_a_character_in_arguments_spoils_no_report(cli: Cli) -> None:
    for folder, tail in (("base", "a"), ("new", "b")):
        cli.write("half.yaml", HALF.replace("TAIL", tail))
        assert cli("run", "half.yaml", "--out", folder).code == 0
    assert cli("compare", "base", "new", "--reports", "out", "--out", "out/a.txt").code == 1
    pages = {path.name: path.read_bytes().decode("utf-8") for path in Path("out").iterdir() if path.suffix != ".parquet"}
    assert all("x" in page for page in pages.values())
    assert "\ufffd" in json.loads(pages["comparison.json"])["comparison"]["scenarios"][0]["divergence"]["base"]
    assert "\ufffd" in pq.read_table("out/comparison.parquet")["base"].to_pylist()[0]
    assert all("\ufffd" in pages[name] for name in ("comparison.md", "junit.xml", "summary.md", "annotations.txt", "a.txt"))
