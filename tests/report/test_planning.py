"""A plan in words and as a table."""

import json

import pytest

from harness.report.planning import plan_plain, plan_text, plan_words
from harness.statistics.planning import Price, plan
from harness.statistics.rules import Sample
from harness.statistics.spread import Spread, spread_assumed
from harness.types.evaluation import GateSpec, Metric

GATE = GateSpec("now", "new", 0.10)
SPREAD = spread_assumed(0.85, 0.6, 0.15)


def words(n_cases: int, trials: int = 5, *, gate: GateSpec = GATE, spread: Spread = SPREAD, difference: float = 0.0) -> str:
    sample = Sample(n_cases, n_cases, trials)
    found = plan(gate, sample, spread, difference=difference, cases=(n_cases,), trials=(trials,))
    return "\n".join(plan_words(found))


def test_the_table_has_a_line_a_size_and_marks_the_declared_one() -> None:
    found = plan(GATE, Sample(60, 60, 5), SPREAD, Price(800, 300), cases=(30, 60), trials=(1, 5))
    lines = plan_text(found, title="shop", believed=["from somewhere"]).split("\n")
    assert lines[:3] == ["shop", "from somewhere", ""]
    assert lines[3].split() == ["cases", "trials", "requests", "power", "margin", "tokens", "money"]
    assert [line.split()[:3] for line in lines[4:7]] == [["30", "1", "60"], ["30", "5", "300"], ["60", "1", "120"]]
    assert lines[7].split() == ["*", "60", "5", "600", "0.84", "0.094", "480,000", "$0.18"]
    assert len({len(line) for line in lines[4:8]}) == 1


def test_what_nobody_told_has_no_column() -> None:
    lines = plan_text(plan(GATE, Sample(60, 60, 5), SPREAD), title="", believed=[]).split("\n")
    assert lines[2].split() == ["cases", "trials", "requests", "power", "margin"]


def test_too_few_cases_are_told_with_the_margin_that_they_can_show() -> None:
    told = words(20)
    assert "Too small: with 20 cases at 5 trials no margin below 0.195 can be shown with a power of 0.8." in told
    assert "However many trials: with 20 cases none below 0.187." in told
    assert "Fewest cases for a power of 0.8: 53 cases at 5 trials, 530 requests." in told


def test_a_margin_that_is_said_to_be_out_of_reach_is() -> None:
    found = plan(GATE, Sample(20, 20, 5), SPREAD)
    told = float(words(20).split("no margin below ")[1].split(" ")[0])
    assert 0 <= told - found.declared.smallest_margin < 0.001


def test_cases_that_need_only_more_trials_are_told_so() -> None:
    told = words(70, 1, spread=Spread(0.0, 0.2, 0.2, 0.8))
    assert "More trials of the same 70 cases would do." in told


@pytest.mark.parametrize(
    ("n_cases", "word"), [pytest.param(6, "Under 10 cases rates", id="few"), pytest.param(2, "can show no margin at all", id="next-to-none")]
)
def test_next_to_no_cases_are_told_what_they_lack(n_cases: int, word: str) -> None:
    assert word in words(n_cases, 1)


def test_enough_cases_are_told_no_shortage() -> None:
    told = words(400)
    assert "with a probability of > 0.99." in told
    assert "Too small" not in told


def test_a_pilot_is_doubted_where_it_promises_enough() -> None:
    spread = Spread(0.02, 0.05, 0.05, 0.85, n_units=12)
    assert "The pilot's 12 units know the spread only roughly" in words(100, spread=spread)
    assert "roughly" not in words(20, spread=spread)
    assert "roughly" not in words(100)


def test_looks_are_told_with_their_levels() -> None:
    told = words(60, gate=GateSpec("now", "new", 0.10, looks=2))
    assert "Looked at after whole blocks 3 (at 9" in told
    assert "O'Brien-Fleming-like spending" in told


def test_a_worse_candidate_is_told_to_be_out_of_reach() -> None:
    told = words(60, difference=-0.1)
    assert "a candidate that is 0.1 worse than the base passes" in told
    assert "No number of cases shows a margin of 0.1" in told


def test_a_gate_on_cases_that_always_pass_promises_nothing_of_more_trials() -> None:
    assert "However many trials" not in words(20, gate=GateSpec("now", "new", 0.10, metric=Metric.PASS_HAT_K))


def test_the_plain_values_are_json_with_nothing_infinite() -> None:
    plain = plan_plain(plan(GATE, Sample(1, 1, 5), SPREAD, Price(800)), believed=["assumed"])
    text = json.dumps(plain, allow_nan=False)
    assert "smallestMargin" not in json.loads(text)["declared"]
    assert json.loads(text)["declared"]["nRequests"] == 10
    assert {"trials", "nCases", "power"} <= set(json.loads(text)["needed"][0])


def test_a_difference_under_cases_that_always_pass_is_told_to_be_one_of_trials() -> None:
    told = words(60, gate=GateSpec("now", "new", 0.10, metric=Metric.PASS_HAT_K), difference=-0.03)
    assert "a candidate that is 0.03 worse than the base in the share of trials that pass passes" in told
