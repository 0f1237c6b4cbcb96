"""What one trial takes on average: exact, unknown where a trial does not tell it, and the same in every report."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import compare_runs
from harness.gates import without_gate
from harness.report.amounts import exact_sums, mean, means_of, n_paired, short
from harness.report.html.plots import plots_block
from harness.report.step_summary import step_summary
from harness.types.records import Comparison, RunSummary
from harness.types.review import Review
from tests.compare.made import refund_run, summary

FIELDS = ("steps", "tokens", "cost", "latency")


def run(scenario: str, trial: int, steps: int, tokens: int | None, cost: int | None, ms: int | None) -> RunSummary:
    return summary(scenario, trial=trial, n_steps=steps, input_tokens=tokens, output_tokens=None if tokens is None else 0, cost_micro_usd=cost, duration_ms=ms)


def compared(base: Sequence[RunSummary], candidate: Sequence[RunSummary]) -> Comparison:
    same = refund_run()
    return compare_runs(base, candidate, lambda side, run: same)


amounts = st.tuples(st.integers(0, 9), *[st.none() | st.integers(0, 10**6)] * 3)
sides = st.lists(st.lists(amounts, min_size=1, max_size=4), min_size=1, max_size=3)


def runs(found: Sequence[Sequence[Any]]) -> list[RunSummary]:
    return [run(f"s/{at}", trial, *one) for at, trials in enumerate(found) for trial, one in enumerate(trials, 1)]


@given(sides, sides)
def test_a_row_has_the_means_that_the_plots_of_its_runs_have(one: Any, other: Any) -> None:
    base, candidate = runs(one), runs(other)
    found = compared(base, candidate)
    lines = plots_block(found, found.scenarios, base, candidate)["measures"]
    for row, line in zip(found.scenarios, lines, strict=True):
        for at, name in enumerate(FIELDS):
            assert [side[at] for side in means_of(row)] == line.get(name, [None, None])[:2], name


@given(sides, sides)
def test_exact_sums_are_those_of_the_comparison_before_they_are_rounded(one: Any, other: Any) -> None:
    found = compared(runs(one), runs(other))
    sums = exact_sums(found)
    for name in ("cost", "latency", "tokens"):
        measure = getattr(found, name)
        assert (measure is None) == (name not in sums)
        if measure is not None:
            assert all(abs(value - whole) <= 0.51 for value, whole in zip(sums[name], (measure.base, measure.candidate), strict=True))
    assert n_paired(found) == min(len(one), len(other))


@given(st.lists(st.integers(0, 10**400), min_size=1, max_size=5))
def test_a_mean_is_right_to_three_places_however_large(values: list[int]) -> None:
    found = mean(values)
    assert found is not None
    true = Fraction(sum(values), len(values))
    assert abs(Fraction(found) - true) <= max(Fraction(51, 100_000), Fraction(1, 2) * (true > 2**50))
    assert not isinstance(found, float) or found != int(found)


@pytest.mark.parametrize(("value", "told"), [(2.0, 2), (0.12345, 0.123), (7, 7), (Fraction(1, 3), 0.333), (Fraction(10**400, 3), 10**400 // 3)])
def test_a_number_is_short_and_whole_where_it_is_whole(value: Any, told: Any) -> None:
    assert (short(value), type(short(value))) == (told, type(told))


def test_the_table_of_the_step_summary_has_means_over_trials_and_no_number_of_one_pair() -> None:
    base = [run("s", trial, 3, 60, None, ms) for trial, ms in enumerate((10, 20, 14), 1)]
    candidate = [run("s", trial, 3, 60, cost, ms) for trial, (cost, ms) in enumerate(((9, 4), (None, 60), (9, 61)), 1)]
    found = compared(base, candidate)
    told = step_summary(Review(found, without_gate(found)))
    (line,) = [text for text in told.splitlines() if text.startswith("| passed | same |")]
    assert [cell.strip() for cell in line.strip("|").split("|")][-4:] == ["3", "60", "–", "14.667 → 41.667"]
