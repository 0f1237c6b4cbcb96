"""The numbers behind the plots of the HTML report are those of the runs, recomputed here from their files."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import statistics
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.folds import limits_to_json
from harness.report.html import Context, page
from harness.report.html.embed import json_bytes
from harness.report.html.plot_context import MOST_POINTS, context_side, thinned
from harness.report.html.plot_rates import MOST_FAMILIES, MOST_SCENARIOS
from harness.report.html.plots import MOST_ROWS, PLOT_STYLE, plots_block
from harness.report.html.rows import by_interest
from harness.runner import ReviewOptions, review_paths
from harness.runner.review.reporting_html import html_report
from harness.runner.review.reviewing import Reviewed, without_gate
from harness.statistics import wilson
from harness.types.codes import Outcome
from harness.types.exchange import AssistantMessage
from harness.types.records import Comparison, RunSummary, ScenarioComparison
from harness.types.review import Review
from harness.types.scenario import Limits
from tests.cli.lab import in_a_process
from tests.compare.made import header, refund_run, summary, with_facts
from tests.report.nasty import NASTY

PASS, FAIL = Outcome.PASS, Outcome.FAIL
SLOW = """\
format: harness-scenario/1
task: go
tools: {{stub: {{look: {{delay_ms: {ms}, returns: "a result of some length"}}}}}}
script:
{calls}
  - {{say: done, usage: {{input: {tokens}, output: 3}}}}
"""


def compared(*rows: ScenarioComparison) -> Comparison:
    return Comparison("base", "candidate", rows, FAIL)


def row(base: RunSummary | None, candidate: RunSummary | None) -> ScenarioComparison:
    some = candidate or base
    assert some is not None
    return ScenarioComparison(some.run_id, "changed", base=base, candidate=candidate)


def block(base: list[RunSummary], candidate: list[RunSummary]) -> dict[str, Any]:
    """The plots of rows made of the first trial of each scenario."""
    firsts: dict[str, list[RunSummary | None]] = {}
    for at, side in enumerate((base, candidate)):
        for run in side:
            pair = firsts.setdefault(run.scenario, [None, None])
            pair[at] = pair[at] or run
    rows = [row(*pair) for pair in firsts.values()]
    return plots_block(compared(*rows), rows, base, candidate)


def trials(name: str, numbers: list[int], **more: Any) -> list[RunSummary]:
    return [summary(name, trial=at, duration_ms=ms, **more) for at, ms in enumerate(numbers, 1)]


# ---------------------------------------------------------------- from real files


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Reviewed:
    """Three scenarios under the command line, two trials each; one of them slower and longer in the candidate."""
    place = tmp_path_factory.mktemp("plots")
    for side, ms, n_calls in (("base", 20, 2), ("candidate", 70, 4)):
        for name, slow in (("a/one", False), ("a/two", True), ("b/three", False)):
            calls = n_calls if slow else 2
            text = "\n".join(f'  - {{call: {{look: {{}}}}, usage: {{input: {50 + 40 * at}, output: 2}}}}' for at in range(calls))
            path = place / f"scenarios-{side}" / f"{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SLOW.format(ms=ms if slow else 20, calls=text, tokens=50 + 40 * calls), "utf-8")
        done = in_a_process("run", f"scenarios-{side}", "--out", side, "--trials", "2", cwd=place)
        assert done.returncode == 0, done.stdout + done.stderr
    return review_paths(place / "base", place / "candidate", ReviewOptions())


def lines_of(reviewed: Reviewed, side: str, scenario: str) -> list[list[dict[str, Any]]]:
    """The raw lines of each trial's file."""
    runs = reviewed.base if side == "base" else reviewed.candidate
    paths = sorted((runs.root / "trajectories").rglob(f"{Path(scenario).name}@*.jsonl"))
    return [[json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in paths]


def blocks_of(html: bytes) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="([a-z0-9-]+)">(.*?)</script>', html.decode("utf-8"))
    return {name: json.loads(text) for name, text in found}


def test_measures_in_the_page_are_those_of_the_files(reviewed: Reviewed) -> None:
    found = blocks_of(html_report(reviewed))
    rows, plots = found["overview"]["rows"], found["plots"]
    assert len(plots["measures"]) == len(rows) == 3
    for line in plots["measures"]:
        name = rows[line["row"]]["name"]
        for at, side in enumerate(("base", "candidate")):
            runs = lines_of(reviewed, side, name)
            assert line["trials"][at] == len(runs) == 2
            answers = [[one for one in run if one["type"] == "assistant/message"] for run in runs]
            usages = [sum(one["usage"]["inputTokens"] + one["usage"]["outputTokens"] for one in run) for run in answers]
            assert line["latency"][at] == statistics.mean(run[-1]["time"] for run in runs)
            assert line["steps"][at] == statistics.mean(map(len, answers))
            assert line["tokens"][at] == statistics.mean(usages)
    slow = next(line for line in plots["measures"] if rows[line["row"]]["name"] == "a/two")
    assert slow["latency"][1] > slow["latency"][0]
    assert slow["steps"][:2] == [3, 5]


@pytest.mark.article("22")
def test_context_sizes_in_the_page_are_what_the_provider_counted(reviewed: Reviewed) -> None:
    found = blocks_of(html_report(reviewed))
    names = {one["detail"]: one["name"] for one in found["overview"]["rows"]}
    assert len(found["plots"]["context"]) == found["overview"]["nDetails"] > 0
    for entry in found["plots"]["context"]:
        for side in ("base", "candidate"):
            run = lines_of(reviewed, side, names[entry["detail"]])[0]
            counted = [one["usage"]["inputTokens"] for one in run if one["type"] == "assistant/message"]
            assert entry[side]["tokens"] == counted
            assert entry[side]["n"] == entry[side]["told"] == len(counted)


def test_strips_of_a_sweep_that_lies_beside_the_runs_are_in_the_page(reviewed: Reviewed) -> None:
    swept = {"scenario": "a/one", "subject": "built-in", "outcome": "FAIL", "nCells": 3, "nJudged": 3, "nRuns": 6, "why": "",
             "strip": ["cancel inside  .2 X1"], "reproduction": "red.yaml", "cells": []}  # fmt: skip
    path = reviewed.candidate.root / "sweep.json"
    path.write_text(json.dumps({"format": "harness-sweeps/1", "sweeps": [swept]}), "utf-8")
    try:
        (found,) = blocks_of(html_report(reviewed))["plots"]["sweeps"]
    finally:
        path.unlink()
    assert (found["side"], found["rows"]) == ("candidate", [{"name": "cancel inside", "signs": "..X"}])


def test_totals_are_those_of_the_comparison(reviewed: Reviewed) -> None:
    comparison = reviewed.review.comparison
    found = plots_block(comparison, comparison.scenarios, reviewed.base.runs, reviewed.candidate.runs)["totals"]
    for name in ("latency", "tokens"):
        measure = getattr(comparison, name)
        assert found[name] == {
            "base": measure.base, "candidate": measure.candidate, "noise": measure.noise, "nScenarios": measure.n_scenarios,
        }  # fmt: skip


# ---------------------------------------------------------------- measures


def test_a_row_has_the_means_of_all_its_trials_and_two_standard_errors_of_their_difference() -> None:
    base, candidate = [10, 20, 40], [30, 35]
    found = block(trials("a", base), trials("a", candidate))["measures"]
    variance = statistics.variance(base) / 3 + statistics.variance(candidate) / 2
    assert found[0]["latency"] == [round(statistics.mean(base), 3), 32.5, round(2 * math.sqrt(variance), 3)]
    assert found[0]["trials"] == [3, 2]


@pytest.mark.parametrize(
    ("base", "candidate", "latency"),
    [
        pytest.param([10], [30, 40], [10, 35, None], id="noise-needs-trials-on-both-sides"),
        pytest.param([], [30], [None, 30, None], id="no-base"),
        pytest.param([10], [], [10, None, None], id="no-candidate"),
    ],
)
def test_what_is_not_known_is_null_and_never_nothing(base: list[int], candidate: list[int], latency: list[Any]) -> None:
    (found,) = block(trials("a", base), trials("a", candidate))["measures"]
    assert found["latency"] == latency
    assert "cost" not in found  # no run told one


def test_arms_are_told_apart_where_a_side_has_several() -> None:
    base = [summary("a", arm=arm, duration_ms=ms) for arm, ms in (("x", 10), ("y", 90))]
    rows = [row(run, run) for run in base]
    found = plots_block(compared(*rows), rows, base, base)["measures"]
    assert [line["latency"][:2] for line in found] == [[10, 10], [90, 90]]


def test_rows_that_are_left_out_are_counted() -> None:
    runs = [summary(f"s{at}") for at in range(3)]
    rows = [row(run, run) for run in runs]
    found = plots_block(compared(*rows), rows[:2], runs, runs)
    assert (len(found["measures"]), found["nRows"]) == (2, 3)


def test_ten_thousand_runs_a_side_make_a_bounded_block() -> None:
    runs = [summary(f"family-{at % 90}/s{at:05}", trial=trial, duration_ms=at) for at in range(5_100) for trial in (1, 2)]
    found = block(runs, runs)
    assert len(found["measures"]) == MOST_ROWS
    assert found["nRows"] == 5_100
    groups = [line["group"] for line in found["rates"]]
    assert (groups.count("all"), groups.count("family"), groups.count("scenario")) == (1, MOST_FAMILIES, MOST_SCENARIOS)
    assert found["ratesLeftOut"] == {"families": 90 - MOST_FAMILIES, "scenarios": 5_100 - MOST_SCENARIOS}
    assert len(json_bytes(found)) < 1_500_000


# ---------------------------------------------------------------- rates


def test_rates_are_over_scenarios_with_wilsons_interval_and_paired_differences() -> None:
    base = [run for at in range(12) for run in (summary(f"f/{at}"), summary(f"f/{at}", trial=2))]
    candidate = [run for at in range(12) for run in (summary(f"f/{at}", FAIL if at < 6 else PASS), summary(f"f/{at}", trial=2))]
    whole = block(base, candidate)["rates"][0]
    interval = wilson(9.0, 12)
    assert interval is not None
    assert whole["candidate"] == {"rate": 0.75, "n": 18, "of": 24, "units": 12, "low": round(interval.low, 6), "high": round(interval.high, 6)}
    assert whole["base"]["rate"] == 1.0
    assert whole["difference"]["mean"] == -0.25
    assert whole["difference"]["units"] == 12
    assert -1 <= whole["difference"]["low"] < -0.25 < whole["difference"]["high"] <= 1


@pytest.mark.parametrize(("n", "there"), [pytest.param(9, False, id="nine"), pytest.param(10, True, id="ten")])
def test_under_ten_scenarios_there_is_no_interval(n: int, there: bool) -> None:
    runs = [summary(f"a{at}") for at in range(n)]
    side = block(runs, runs)["rates"][0]["candidate"]
    assert (side["low"] is not None, side["high"] is not None) == (there, there)


def test_scenarios_with_trials_come_by_how_far_they_moved() -> None:
    base = [summary(name, trial=trial) for name in ("same", "worse", "half") for trial in (1, 2)]
    fails = {("worse", 1), ("worse", 2), ("half", 1)}
    candidate = [summary(run.scenario, FAIL if (run.scenario, run.trial) in fails else PASS, trial=run.trial) for run in base]
    found = [line for line in block(base, candidate)["rates"] if line["group"] == "scenario"]
    assert [(line["name"], line["candidate"]["n"], line["candidate"]["of"]) for line in found] == [("worse", 0, 2), ("half", 1, 2), ("same", 2, 2)]


def test_families_are_the_folders_of_ids_and_one_family_is_none() -> None:
    runs = [summary(name) for name in ("a/1", "a/2", "b/c/1", "d")]
    found = block(runs, runs)["rates"]
    assert [line["name"] for line in found if line["group"] == "family"] == ["a", "", "b/c"]
    assert [line["group"] for line in block(runs[:2], runs[:2])["rates"]] == ["all"]


# ---------------------------------------------------------------- context


@pytest.mark.article("22")
def test_a_size_that_no_provider_told_is_estimated_and_said_to_be() -> None:
    run = refund_run()

    def untold(fact: Any) -> Any:
        return replace(fact, usage=None) if isinstance(fact, AssistantMessage) else fact

    told, estimated = context_side(run), context_side(with_facts(run, untold))
    assert told is not None
    assert estimated is not None
    assert told == {"n": 3, "told": 3, "tokens": [10, 20, 30]}
    assert estimated["told"] == 0
    assert len(estimated["tokens"]) == 3
    assert estimated["tokens"] == sorted(estimated["tokens"])
    assert estimated["tokens"][0] > 10


@pytest.mark.article("22")
def test_the_limit_on_the_context_stands_beside_it() -> None:
    limited = refund_run(head=header(limits=limits_to_json(Limits(context_tokens=400))))
    found = context_side(limited)
    assert found is not None
    assert found["limit"] == 400


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=400), st.integers(4, 130))
def test_thinning_keeps_the_ends_and_the_peak_in_order(values: list[int], most: int) -> None:
    kept = thinned(values, most)
    assert len(kept) == min(len(values), most)
    assert kept == sorted(set(kept))
    assert (kept[0], kept[-1]) == (0, len(values) - 1)
    assert max(values[at] for at in kept) == max(values)


def test_a_long_run_is_thinned_and_says_how_long_it_was() -> None:
    look = ([("lookup_order", '{"id":7}')], None)
    found = context_side(refund_run(answers=[look] * 300, results=["ok"] * 300))
    assert found is not None
    assert (found["n"], found["told"], len(found["tokens"]), found["steps"][-1]) == (300, 300, MOST_POINTS, 300)
    assert found["tokens"] == [10 * step for step in found["steps"]]


# ---------------------------------------------------------------- whatever the names say


def hostile() -> Iterator[RunSummary]:
    return (summary(f"{text}/{at}", FAIL if at % 2 else PASS, arm=text) for at, text in enumerate(NASTY))


def test_no_name_ends_the_block_or_is_lost() -> None:
    runs = list(hostile())
    comparison = compared(*(row(run, run) for run in runs))
    rows = [one.scenario for one in by_interest(Review(comparison, without_gate(comparison)))]
    found = plots_block(compared(*rows), rows, runs, runs)
    text = json_bytes(found).decode("ascii", "replace")
    assert "<" not in text
    assert ">" not in text
    again = json.loads(json_bytes(found))
    assert [line["row"] for line in again["measures"]] == list(range(len(NASTY)))


def test_the_page_holds_the_block_and_allows_the_one_style_of_the_library() -> None:
    run = summary("a")
    rows = [row(run, run)]

    def plots(rows: Any, contexts: list[Context]) -> dict[str, Any]:
        return plots_block(compared(*rows), rows, [run], [run])

    html = page(Review(compared(*rows), without_gate(compared(*rows))), plots=plots).decode()
    assert blocks_of(html.encode())["plots"]["measures"][0]["row"] == 0
    digest = hashlib.sha256(PLOT_STYLE.encode()).digest()
    assert f"'sha256-{base64.b64encode(digest).decode()}'" in html


# ---------------------------------------------------------------- libraries

VENDOR = files("harness.report.html") / "vendor"
PUBLISHED = {"d3.min.js": "912111098ea99503a6f4967361d2bbdc9dbf58cf9c678c8e27e5b02d1a07f0c1", "plot.umd.min.js": "4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb"}


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_a_library_is_as_it_was_published_and_names_no_registry(name: str) -> None:
    data = (VENDOR / name).read_bytes()
    assert hashlib.sha256(data).hexdigest() == PUBLISHED[name]
    assert set(re.findall(rb"https?://([a-z0-9.-]+)", data)) <= {b"www.w3.org", b"d3js.org"}
    licence = (VENDOR / f"{name.partition('.')[0]}.LICENSE").read_text("utf-8")
    assert licence.startswith("Copyright")
    assert "Permission to use, copy, modify" in licence


def test_the_style_that_the_policy_allows_is_that_of_the_library() -> None:
    source = (VENDOR / "plot.umd.min.js").read_text("utf-8").replace("\\n", "\n")
    (found,) = re.findall(r"`(:where\(\.\$\{\w+\}\) \{\n  --plot-background.*?)`", source, re.DOTALL)
    assert re.sub(r"\$\{\w+\}", "harness-plot", found) == PLOT_STYLE
