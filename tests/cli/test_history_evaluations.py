"""``harness history`` over folders of evaluations: cases, arms, cost and flakes, beside scenarios."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.report import Verbosity, history_text
from harness.runner.evaluation.folder import trials_path
from harness.runner.evaluation.judging import judge_trials
from harness.runner.evaluation.order import WHOLE
from harness.runner.evaluation.preparing import prepare, write_frozen
from harness.runner.history import history_of
from harness.store import open_trials
from harness.types.history import History
from harness.types.reasons import Usage
from harness.types.trials import AnswerOrigin, Provenance, TrialsHeader
from tests.cli.lab import GOOD, Cli
from tests.cli.test_history import write_folder
from tests.evaluate.made_evaluation import trials
from tests.report.nasty import NASTY

SHOP = """\
format: harness-evaluation/1
id: shop
tools: {schemas: tools.yaml}
model: m
trials: 3
arms: {now: {}, new: {descriptions: {get_order: Says where an order is.}}}
cases:
- {id: a, ask: Where is order 1?, expect: {get_order: {id: 1}}}
- {id: b, ask: Where is it?, expect: {get_order: {id: 1}}, group: vague}
- {id: c, ask: And now?, expect: {get_order: {id: 1}}, group: vague}
"""
TOOLS = """\
- {name: get_order, description: Finds an order., parameters: {type: object, properties: {id: {type: integer}}}}
- {name: lookup, description: Looks up., parameters: {type: object}}
"""
Table = Mapping[str, Mapping[str, str]]


def write_evaluation(
    folder: Path, table: Table, *, day: int = 1, text: str = SHOP, request: str = "r" * 64, info: Mapping[str, Any] | None = None,
    usage: Usage | None = None,
) -> Path:  # fmt: skip
    """A folder as `harness evaluate` leaves it: one letter a trial, "+" right, "t" wrong, "p" the provider failed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shop.yaml").write_text(text, encoding="utf-8")
    (folder / "tools.yaml").write_text(TOOLS, encoding="utf-8")
    prepared = prepare(folder / "shop.yaml", {})
    made = prepared.evaluation
    write_frozen(prepared, folder)
    arms = tuple(arm.name for arm in made.arms if arm.name in table)
    header = TrialsHeader(made.id, made.digest, prepared.snapshot.digest, "m", arms, 3, made.trials)
    by = Provenance(AnswerOrigin.LIVE, at=f"2026-02-{day:02}T08:00:00Z")
    with open_trials(trials_path(folder, WHOLE), header) as writer:
        for trial in trials(table, by=by, usage=usage):
            writer.append(replace(trial, request=request))
    written = {"format": "harness-evaluation-run/1", "ended": f"2026-02-{day:02}T09:00:00Z", "stopped": "", "interrupted": False}
    (folder / "run.json").write_text(json.dumps({**written, **(info or {})}), encoding="utf-8")
    return folder


def case_of(history: History, case: str, arm: str = "now") -> Any:
    (found,) = (one for one in history.cases if (one.case, one.arm) == (case, arm))
    return found


def test_cases_and_arms_of_evaluations_are_shown_over_folders_in_the_order_of_time(cli: Cli) -> None:
    usage = Usage(input_tokens=10, output_tokens=2, cost_micro_usd=500)
    write_evaluation(Path("e2"), {"now": {"a": "+++", "b": "ttt", "c": "++p"}}, day=2, usage=usage)
    write_evaluation(Path("e1"), {"now": {"a": "+++", "b": "+++", "c": "+t+"}}, day=1, usage=usage)
    said = cli("history", "e2", "e1")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        "  1  2026-02-01T08:00:00Z  e1  evaluation shop, model m  9 planned = 8 passed + 1 failed + 0 other + 0 skipped",
        "  2  2026-02-02T08:00:00Z  e2  evaluation shop, model m  9 planned = 5 passed + 3 failed + 1 other + 0 skipped",
        "by folder: P all passed, F none did, ~ some did, . no run; | the scenario changed",
        "arm now of shop  91.7 % → 66.7 % of units  0.000500 USD a trial  1 → 0 flaky cases",
        "PF  b [vague]  3/6 passed (50 %)  0.000500 USD a trial  BROKE in folder 2, unchanged",
        "~~  c [vague]  4/6 passed (67 %)  0.000500 USD a trial  FLAKY",
        "PP  a  6/6 passed (100 %)  0.000500 USD a trial",
        "2 folders, 3 cases: 1 always passed, 2 passed and failed unchanged",
    ]


@pytest.mark.parametrize(
    ("change", "flaky"),
    [
        pytest.param({}, True, id="nothing-changed"),
        pytest.param({"request": "s" * 64}, False, id="something-else-was-asked"),
        pytest.param({"text": SHOP.replace("Where is order 1?, expect: {get_order: {id: 1}}", "Where is order 1?, expect: {get_order: {id: 2}}")}, False, id="something-else-is-right"),
        pytest.param({"text": SHOP.replace("- {id: a,", "- {id: a, never: [lookup],")}, False, id="a-tool-is-forbidden"),
        pytest.param({"text": SHOP.replace("- {id: a,", "- {id: a, tags: [new],")}, True, id="a-tag-is-no-change"),
        pytest.param({"text": SHOP.replace("{id: b,", "{id: b, never: [lookup],")}, True, id="another-case-changed"),
    ],
)  # fmt: skip
def test_a_case_is_flaky_only_while_what_is_asked_and_what_is_right_stay_the_same(
    tmp_path: Path, change: dict[str, Any], flaky: bool
) -> None:
    one = write_evaluation(tmp_path / "1", {"now": {"a": "+++"}}, day=1)
    two = write_evaluation(tmp_path / "2", {"now": {"a": "ttt"}}, day=2, **change)
    found = history_of([one, two])
    assert case_of(found, "a").flaky is flaky
    assert ("P|F  a" in history_text(found)) is not flaky


def test_trials_that_were_never_asked_count_in_the_folder_and_not_in_their_case(tmp_path: Path) -> None:
    folder = write_evaluation(tmp_path / "1", {"now": {"a": "+.."}, "new": {"a": "+t+", "b": "ppp"}})
    found = history_of([folder])
    row = found.folders[0]
    assert (row.planned, row.passed, row.failed, row.other, row.skipped, row.not_run) == (18, 3, 1, 3, 11, 0)
    assert [(one.case, one.arm, one.runs, one.passed) for one in found.cases] == [("a", "new", 3, 2), ("a", "now", 1, 1), ("b", "new", 3, 0)]
    assert [(one.arm, one.points[0].planned, one.points[0].n_asked) for one in found.arms] == [("new", 9, 6), ("now", 9, 1)]


def test_an_evaluation_that_was_killed_is_unfinished_and_still_counts(tmp_path: Path) -> None:
    whole = write_evaluation(tmp_path / "1", {"now": {"a": "+++"}}, day=1)
    killed = write_evaluation(tmp_path / "2", {"now": {"a": "+"}}, day=2)
    (killed / "run.json").unlink()
    stopped = write_evaluation(tmp_path / "3", {"now": {"a": "+"}}, day=3, info={"stopped": "the key is refused"})
    found = history_of([whole, killed, stopped])
    assert [row.finished for row in found.folders] == [True, False, False]
    assert [point.runs for point in case_of(found, "a").points] == [3, 1, 1]


def test_folders_of_runs_and_of_evaluations_stand_in_one_history(cli: Cli) -> None:
    write_folder(Path("runs"), {"refund": "P"})
    write_evaluation(Path("evaluation"), {"now": {"a": "+++"}})
    lines = cli("history", "runs", "evaluation").out.splitlines()
    assert lines[-2:] == [
        "2 folders, 1 scenario: 1 always passed, 0 passed and failed unchanged",
        "2 folders, 1 case: 1 always passed, 0 passed and failed unchanged",
    ]
    assert "P.  refund  1/1 passed (100 %)  3 steps a run" in lines
    assert ".P  a  3/3 passed (100 %)" in lines
    found = cli("history", "runs", "evaluation", "--json").json
    assert [row.get("evaluation", "") for row in found["folders"]] == ["", "shop"]
    assert (len(found["scenarios"]), len(found["cases"]), len(found["arms"])) == (1, 1, 1)
    assert found["arms"][0]["points"][0]["folder"] == 2


def test_a_recorded_answer_does_not_say_when_its_evaluation_was_run(tmp_path: Path) -> None:
    folder = write_evaluation(tmp_path / "1", {"now": {"a": "+++"}})
    path = trials_path(folder, WHOLE)
    path.write_text(path.read_text().replace('"origin":"live"', '"origin":"recorded"'))
    assert history_of([folder]).folders[0].started_at == "2026-02-01T09:00:00Z"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        pytest.param(lambda folder: (folder / "evaluation.json").unlink(), "it holds no trials of an evaluation", id="no-document"),
        pytest.param(lambda folder: trials_path(folder, WHOLE).unlink(), "it holds no trials of an evaluation", id="no-trials"),
    ],
)
def test_a_folder_without_trials_is_told_and_left_out(tmp_path: Path, make: Any, told: str) -> None:
    good = write_evaluation(tmp_path / "1", {"now": {"a": "+++"}})
    bad = write_evaluation(tmp_path / "2", {"now": {"a": "+++"}})
    make(bad)
    found = history_of([good, bad])
    assert [(one.folder, one.why) for one in found.left_out] == [(str(bad), told)]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.text("+tp.", min_size=1, max_size=3), min_size=1), min_size=1, max_size=3))
def test_every_number_is_that_of_an_independent_count_and_of_the_summary(
    tmp_path_factory: pytest.TempPathFactory, days: list[dict[str, str]]
) -> None:
    root = tmp_path_factory.mktemp("evaluations")
    days = [{**day, "a": "+" + day.get("a", "")[:2]} for day in days]
    paths = [write_evaluation(root / str(n), {"now": day}, day=n) for n, day in enumerate(days, 1)]
    found = history_of(paths[::-1])
    for row, path, day in zip(found.folders, paths, days, strict=True):
        counts = Counter("".join(day.values()))
        assert (row.planned, row.passed, row.failed, row.other) == (9, counts["+"], counts["t"], counts["p"])
        assert row.planned == row.passed + row.failed + row.other + row.skipped
        summary = judge_trials(prepare(path / "shop.yaml", {}), [path], into=root / "judged").summary
        point = found.arms[0].points[row_number(found, row)]
        line = summary.arm("now")
        assert (point.unit_rate, point.n_units, point.n_flaky, point.planned) == (line.unit_rate, line.n_units, line.n_flaky, 9)
    for one in found.cases:
        text = "".join(day.get(one.case, "").replace(".", "") for day in days)
        assert (one.runs, one.passed, one.flaky) == (len(text), text.count("+"), {"+", "t"} <= set(text))
    shutil.rmtree(root)


def row_number(history: History, row: Any) -> int:
    return history.folders.index(row)


@pytest.mark.parametrize("name", [name for name in NASTY if name.strip() and "\ud800" not in name][:12])
def test_a_case_of_any_name_is_one_line(tmp_path: Path, name: str) -> None:
    folder = write_evaluation(tmp_path / "1", {"now": {"a": "+++"}})
    found = history_of([folder])
    named = replace(found, cases=(replace(found.cases[0], case=name, unit=name + "x"),))
    shown = history_text(named, verbosity=Verbosity.VERBOSE)
    assert len(shown.splitlines()) == 5


def test_only_the_first_twenty_cases_are_shown(tmp_path: Path) -> None:
    text = SHOP.split("cases:")[0] + "cases:\n" + "".join(f"- {{id: c{n:02}, ask: x, expect: {{get_order: {{id: 1}}}}}}\n" for n in range(24))
    folder = write_evaluation(tmp_path / "1", {"now": {f"c{n:02}": "+" if n != 23 else "+t" for n in range(24)}}, text=text)
    found = history_of([folder])
    lines = history_text(found).split("\n")
    assert lines[3].startswith("~  c23 ")
    assert "and 4 cases more (-v lists all)" in lines
    assert len(history_text(found, verbosity=Verbosity.VERBOSE).split("\n")) == len(lines) + 3
    assert lines[2] == "arm now of shop  33.3 % (16.4 to 55.3) of units  1 flaky cases"  # of three planned each, one was asked


def test_steps_are_told_of_whole_loops_only(tmp_path: Path) -> None:
    found = history_of([write_evaluation(tmp_path / "1", {"now": {"a": "+++"}})])
    assert "steps a" not in history_text(found)
    case = found.cases[0]
    looped = replace(found, cases=(replace(case, points=(replace(case.points[0], n_steps=7),)),))
    assert "3/3 passed (100 %)  2.3 steps a trial" in history_text(looped)


def test_an_evaluation_that_was_really_run_is_read(cli: Cli) -> None:
    cli.write("shop.yaml", SHOP.replace("model: m", 'model: {from: "shop_history_model:answer"}'))
    cli.write("tools.yaml", TOOLS)
    cli.write("shop_history_model.py", "def answer(call):\n    return 'I do not know.'\n")
    assert cli("evaluate", "shop.yaml", "--out", "one").code == 1
    cli.write("refund.yaml", GOOD)
    cli("run", "refund.yaml", "--out", "two")
    found = cli("history", "one", "two", "--json").json
    assert [row["evaluation"] for row in found["folders"] if "evaluation" in row] == ["shop"]
    assert {(one["case"], one["runs"], one["passed"]) for one in found["cases"]} == {(name, 3, 0) for name in "abc"}
    assert found["folders"][0]["failed"] + found["folders"][1]["failed"] == 18
