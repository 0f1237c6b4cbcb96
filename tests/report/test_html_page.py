"""The HTML report as a file: which rows, how many in full, how large, under which policy, made of which files."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.wheel import WheelBuilder

from harness.report.html import Limits, page, shipped_assets
from harness.report.html.assets import LIBRARIES, own_scripts
from harness.report.html.plots import PLOT_STYLE
from harness.runner.review.side_by_side import side_by_side
from harness.types.codes import Outcome
from harness.types.records import ScenarioComparison
from harness.types.review import GateSource, GateVerdict, Held, Quarantined, Review, Rule, RuleResult, Severity
from tests.compare.made import refund_run, summary
from tests.house.source import REPO
from tests.report.html_sample import PLACEHOLDER, made_page, made_review
from tests.report.parsed_page import read_page


def rows_in_order(review: Review, **limits: int) -> list[dict[str, Any]]:
    """The rows of the overview."""
    data = page(review, limits=Limits(**limits) if limits else Limits(), assets=PLACEHOLDER)
    rows: list[dict[str, Any]] = read_page(data).blocks["overview"]["rows"]
    return rows


def test_rows_are_listed_by_what_is_worst_then_by_name() -> None:
    review, _, _ = made_review(0)
    good, bad = summary(), summary(outcome=Outcome.FAIL)
    kinds = [
        ("same", good, good, 1), ("new", None, good, 1), ("same", bad, bad, 0), ("better", bad, good, 1),
        ("changed", good, good, 1), ("new", None, bad, 0), ("missing", good, None, 0), ("worse", good, bad, 0),
    ]  # fmt: skip
    rows = tuple(
        ScenarioComparison(
            f"{name}-{at}", change, base=base, candidate=candidate, base_passed=1, candidate_passed=passed
        )
        for name in "ba"
        for at, (change, base, candidate, passed) in enumerate(kinds)
    )
    comparison = dataclasses.replace(review.comparison, scenarios=rows)
    found = rows_in_order(dataclasses.replace(review, comparison=comparison))
    assert [row["id"] for row in found] == [f"{name}-{at}" for at in (7, 6, 5, 4, 3, 2, 1, 0) for name in "ab"]


def test_with_a_gate_those_that_break_it_come_first_and_what_is_in_quarantine_is_marked() -> None:
    review, _, _ = made_review(40)
    names = [(row.candidate or row.base).scenario for row in review.comparison.scenarios if row.change == "changed"]  # type: ignore[union-attr]
    broken, held = names[-1], names[0]
    verdict = GateVerdict(
        Outcome.FAIL,
        "behaviour",
        rule=Rule.BEHAVIOUR,
        results=(RuleResult(Rule.BEHAVIOUR, Outcome.FAIL, Severity.FAIL, scenarios=(broken,), n_scenarios=1),),
        quarantine=(Quarantined("shop/*", "2027-01-01", "known", held=("behaviour",), held_scenarios=(Held(held, (Rule.BEHAVIOUR,)),)),),
        source=GateSource.FILE,
    )
    rows = rows_in_order(dataclasses.replace(review, verdict=verdict))
    assert (rows[0]["name"], rows[0]["fate"], rows[0]["rules"]) == (broken, "failed", ["behaviour"])
    assert [row["name"] for row in rows if row["quarantined"]] == [held]


def test_two_thousand_scenarios_are_listed_and_the_500_most_interesting_told_in_full() -> None:
    data = made_page(2_000, PLACEHOLDER)
    found = read_page(data)
    overview = found.blocks["overview"]
    assert (len(overview["rows"]), overview["nRows"], overview["nDetails"]) == (2_000, 2_000, 500)
    assert overview["detailsLeftOut"] == {"n": 1_500, "why": "number"}
    assert [row["detail"] for row in overview["rows"]] == [*range(500), *[None] * 1_500]
    assert all(found.blocks[f"detail-{n}"]["row"] == n for n in range(500))
    assert sum(overview["counts"].values()) == 2_000
    assert len(data) < 25_000_000


@pytest.mark.parametrize("n_bytes", [400_000, 150_000, 60_000])
def test_a_file_stays_below_its_limit_and_says_what_it_leaves_out(n_bytes: int) -> None:
    review, loaded, _ = made_review(60)
    long = refund_run(task="</script>" * 500)

    def load(row: ScenarioComparison) -> Any:
        assert row.candidate is not None
        return side_by_side(long, long, row)

    data = page(review, load, limits=Limits(n_bytes=n_bytes, detail_bytes=n_bytes), assets=PLACEHOLDER)
    overview = read_page(data).blocks["overview"]
    assert len(data) <= n_bytes
    assert len(overview["rows"]) == 60
    assert overview["nDetails"] + overview["detailsLeftOut"]["n"] == 60
    assert overview["detailsLeftOut"]["why"] == ("size" if overview["nDetails"] < 60 else "")
    assert loaded


def test_rows_whose_texts_are_all_escapes_do_not_break_the_limit() -> None:
    name = "<" * 5_000
    run = summary(name, reason=name, model=name, subject=name, arm=name)
    rows = tuple(
        ScenarioComparison(f"{at}{name}", "worse", base=run, candidate=run, line=name, candidate_passed=1)
        for at in range(5_000)
    )
    review, _, _ = made_review(0)
    comparison = dataclasses.replace(review.comparison, scenarios=rows)
    named = tuple(f"{at}{name}" for at in range(150))
    results = tuple(RuleResult(rule, Outcome.FAIL, Severity.FAIL, name, named, 150) for rule in Rule)
    verdict = dataclasses.replace(review.verdict, text=name, results=results)
    data = page(dataclasses.replace(review, comparison=comparison, verdict=verdict), assets=PLACEHOLDER)
    overview = read_page(data).blocks["overview"]
    assert len(data) < 25_000_000
    assert overview["review"]["verdict"]["results"][0]["nScenarios"] == 150
    assert 2_000 <= len(overview["rows"]) < 5_000
    assert overview["nRows"] == 5_000


def test_one_pair_of_runs_is_read_at_a_time_and_only_for_rows_told_in_full() -> None:
    review, loaded, _ = made_review(50)
    asked: list[str] = []

    def load(row: ScenarioComparison) -> Any:
        assert row.candidate is not None
        asked.append(row.candidate.scenario)
        return side_by_side(refund_run(), loaded[row.candidate.scenario], row)

    page(review, load, limits=Limits(n_details=7), assets=PLACEHOLDER)
    assert len(asked) == len(set(asked)) == 7


def test_the_policy_allows_exactly_the_scripts_and_styles_that_are_there() -> None:
    found = read_page(made_page(3))
    policy = next(dict(attributes)["content"] for tag, attributes in found.tags if "http-equiv" in dict(attributes))
    rules = dict(part.split(" ", 1) for part in policy.split("; "))

    def hashes(texts: Sequence[str]) -> set[str]:
        return {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts}

    assert rules["default-src"] == "'none'"
    assert set(rules["script-src"].split()) == hashes(found.scripts)
    assert set(rules["style-src"].split()) == hashes([*found.styles, PLOT_STYLE])
    assert "unsafe" not in policy
    assert [tag for tag, _ in found.tags[:4]] == ["html", "head", "meta", "meta"]


def test_the_libraries_are_whole_files_each_with_its_licence_and_no_file_fetches_anything() -> None:
    vendor = REPO / "harness" / "report" / "html" / "vendor"
    for name in LIBRARIES:
        stem = re.split(r"\.(?:min|umd)\b|-hooks", name)[0]
        assert (vendor / f"{stem}.LICENSE").read_text("utf-8").strip(), name
    assert [asset.name for asset in shipped_assets().scripts][: len(LIBRARIES)] == list(LIBRARIES)


@pytest.mark.parametrize(
    ("names", "order"),
    [
        pytest.param(["main.js", "a.js", "base.js", "x.css"], ["base.js", "a.js", "main.js"], id="first-and-last"),
        pytest.param(["z.js", "base.js", "b.js", "main.js"], ["base.js", "b.js", "z.js", "main.js"], id="by-name"),
    ],
)
def test_scripts_stand_in_one_order(names: list[str], order: list[str]) -> None:
    assert own_scripts(names) == order


def test_the_same_review_gives_the_same_bytes() -> None:
    assert made_page(20, PLACEHOLDER) == made_page(20, PLACEHOLDER)


def test_a_page_of_nothing_but_plots_is_whole() -> None:
    review, _, _ = made_review(0)
    found = read_page(page(review, plots=lambda rows, contexts: {"n": len(rows) + len(contexts)}, assets=PLACEHOLDER))
    assert (found.blocks["plots"], found.blocks["overview"]["rows"]) == ({"n": 0}, [])


def test_the_wheel_holds_every_script_style_library_and_licence_of_the_page() -> None:
    home = REPO / "harness" / "report" / "html"
    needed = {
        path.relative_to(REPO).as_posix() for path in home.rglob("*") if path.suffix in (".js", ".css", ".LICENSE")
    }
    packed = {file.distribution_path for file in WheelBuilder(str(REPO)).recurse_included_files()}
    assert {file.name for file in shipped_assets().scripts} <= {Path(name).name for name in needed}
    assert needed <= packed
