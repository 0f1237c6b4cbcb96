"""A sample of `make coverage-of-intervals`, and that it would see an interval that is too narrow."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness.statistics import mean_difference, within_cases
from tests.laws import coverage_of_intervals as law
from tests.laws import known_samples as samples

SAMPLE = tuple(
    cell for cell in samples.GRID if cell.rate in (0.7, 0.97) and cell.correlation in (0.3, 1.0) and cell.n_trials in (1, 5) and cell.n_units < 200
)


def test_intervals_hold_and_gates_keep_still_over_a_sample_of_the_grid() -> None:
    found = list(law.rows(SAMPLE, n_samples=600, n_again=3000))
    assert len(found) == len(SAMPLE) * 8 + sum(cell.n_units >= 10 for cell in SAMPLE)
    assert law.violations(found) == []


@pytest.mark.parametrize(
    ("change", "truth"), [(samples.NONE, 0.0), (samples.CHANGED, 0.0), (samples.BREAK_3, -0.03), (samples.BREAK_10, -0.10)]
)
def test_the_samples_have_the_mean_that_is_called_their_truth(change: str, truth: float) -> None:
    for cell in samples.GRID:
        chances = samples.differences(cell, change)
        values = np.arange(-cell.n_trials, cell.n_trials + 1) / cell.n_trials
        assert chances.sum() == pytest.approx(1.0)
        assert chances @ values == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("cell", [cell for cell in samples.GRID if cell.n_units == 60 and cell.rate == 0.7])
def test_the_trials_of_a_case_agree_as_much_as_the_cell_says(cell: samples.Cell) -> None:
    k, arm, n = np.arange(cell.n_trials + 1), samples.one_arm(cell), cell.n_trials
    variance = arm @ (k / n - cell.rate) ** 2
    assert arm @ k / n == pytest.approx(cell.rate)
    assert variance == pytest.approx(cell.rate * (1 - cell.rate) * (1 + (n - 1) * cell.correlation) / n)


def test_bounds_of_many_samples_are_those_of_the_public_functions() -> None:
    chance = np.random.default_rng(11)
    values = np.arange(-5, 6) / 5
    counts = chance.multinomial(25, [0.02] * 4 + [0.8] + [0.02] * 6, size=20)
    for row, low, high in zip(counts, *samples.ours(counts.astype(float), values), strict=True):
        interval = mean_difference(np.repeat(values, row).tolist())
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)
    base, candidate = chance.binomial(5, 0.9, (20, 12)), chance.binomial(5, 0.7, (20, 12))
    for before, after, low, high in zip(base, candidate, *samples._within(base, candidate, 5, 0.0), strict=True):
        interval = within_cases([(int(c), 5) for c in before], [(int(c), 5) for c in after])
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(
    ("bounds", "cell", "change"),
    [
        pytest.param(samples.textbook_t, samples.Cell(25, 0.93, 0.8, 5), samples.BREAK_3, id="t-where-nearly-all-is-0"),
        pytest.param(lambda *given: _narrower(*given), samples.Cell(60, 0.7, 0.3, 5), samples.NONE, id="a-fifth-too-narrow"),
    ],
)
def test_an_interval_that_is_too_narrow_is_a_violation(
    bounds: Callable[..., Any], cell: samples.Cell, change: str
) -> None:
    measured = samples.measure(cell, change, bounds, 2000)
    (said,) = [line for line in law.violations([law.Row(law.PROMPTS, change, cell, measured)]) if "covers" in line]
    assert str(cell) in said


def _narrower(counts: Any, values: Any, truth: float) -> tuple[Any, Any]:
    lows, highs = samples.ours(counts, values, truth)
    middle, half = (lows + highs) / 2, 0.4 * (highs - lows)
    return middle - half, middle + half


def test_a_gate_that_alarms_too_often_is_a_violation() -> None:
    cell = samples.Cell(60, 0.7, 0.3, 5)
    alarms = samples.Measured(coverage=0.95, worse=0.066, passes=0.0, width=0.2)
    passes = samples.Measured(coverage=0.95, worse=0.9, passes=0.066, width=0.2)
    assert len(law.violations([law.Row(law.PROMPTS, samples.CHANGED, cell, alarms)])) == 1
    assert len(law.violations([law.Row(law.PROMPTS, samples.BREAK_10, cell, passes)])) == 1
    assert law.violations([law.Row(law.PROMPTS, samples.BREAK_3, cell, alarms)]) == []


def test_the_page_shows_what_was_measured_and_all_of_it_holds() -> None:
    page = law.PAGE.read_text("utf-8")
    body = page[page.index(law.BEGIN) : page.index(law.END)]
    used = re.findall(rf"^\| (?:{law.PROMPTS}|{law.CASES}|{law.WILSON}) \|.*\| ([\d.]+) \| ([\d.]*) \| ([\d.]*) \| [\d.]* \|$", body, re.MULTILINE)
    assert len(used) == 2 * len(samples.CHANGES) * len(samples.UNITS) + sum(n >= 10 for n in samples.UNITS)
    for coverage, *errors in used:
        assert float(coverage) >= 93.0
        assert all(float(error) <= 6.5 for error in errors if error)


def test_tables_are_put_between_the_marks_of_a_page() -> None:
    page = f"before\n{law.BEGIN}\nold\n{law.END}\nafter\n"
    assert law.with_tables(page, [["| a |"], ["| b |"]]) == f"before\n{law.BEGIN}\n\n| a |\n\n| b |\n\n{law.END}\nafter\n"
