"""What a row says of all its trials: what did not pass, how many behave differently, what they took."""

from __future__ import annotations

from typing import Any

import pytest

from harness.types.codes import Change, Outcome
from harness.types.records import Hindered, ScenarioComparison, Took, Unpassed
from tests.gates.lab import compared, run

PASS, FAIL, ERROR, OPEN = Outcome.PASS, Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE


def row(base: list[Any], candidate: list[Any]) -> ScenarioComparison:
    (found,) = compared(base, candidate).scenarios
    return found


def trials(*each: dict[str, Any]) -> list[Any]:
    return [run("a", number, **given) for number, given in enumerate(each, 1)]


@pytest.mark.parametrize(
    ("base", "candidate", "unpassed"),
    [
        pytest.param([{}], [{}], (), id="all-passed"),
        pytest.param([{"fails": ("x",)}, {}], [{"fails": ("x", "y")}, {"fails": ("x",)}],
            (Unpassed("x", FAIL, 1, 2), Unpassed("y", FAIL, 0, 1)), id="by-check"),
        pytest.param([{"open": ("x",)}], [{"fails": ("x",)}],
            (Unpassed("x", FAIL, 0, 1), Unpassed("x", OPEN, 1, 0)), id="by-outcome"),
        pytest.param([{}], [{"errors": ("endpoint",), "open": ("x",)}], (Unpassed("endpoint", ERROR, 0, 1),), id="what-follows-from-an-error-is-not-told"),
        pytest.param([{}], [{"stale": True}], (Unpassed("cassette", FAIL, 0, 1, stale=True),), id="what-follows-from-a-recording-is-not-told"),
        pytest.param([{}], [{"stale": True, "fails": ("pairing",)}],
            (Unpassed("cassette", FAIL, 0, 1, stale=True), Unpassed("pairing", FAIL, 0, 1)), id="what-fails-beside-it-is-told"),
        pytest.param([{}], [{"outcome": Outcome.INVALID}], (Unpassed("", Outcome.INVALID, 0, 1),), id="nothing-judged"),
    ],
)  # fmt: skip
def test_what_did_not_pass_is_counted_by_check_and_outcome(
    base: list[Any], candidate: list[Any], unpassed: tuple[Unpassed, ...]
) -> None:
    assert row(trials(*base), trials(*candidate)).unpassed == unpassed


@pytest.mark.parametrize(
    ("base", "candidate", "n_differ", "n_behave", "n_details"),
    [
        pytest.param([{}, {}], [{}, {}], 0, 0, 0, id="the-same"),
        pytest.param([{}, {}, {}], [{"how": "other"}, {"how": "details"}, {"how": "setup"}], 3, 1, 2, id="each-kind"),
        pytest.param([{}], [{"stale": True}], 1, 0, 0, id="a-recording"),
        pytest.param([{}], [{"how": "other", "errors": ("endpoint",)}], 1, 0, 0, id="an-error"),
        pytest.param([{"how": "other", "errors": ("endpoint",)}], [{}], 1, 0, 0, id="an-error-in-the-base"),
        pytest.param([{}], [{"how": "other", "fails": ("x",)}], 1, 1, 0, id="a-failure"),
    ],
)
def test_pairs_that_behave_differently_are_counted_apart_from_details(
    base: list[Any], candidate: list[Any], n_differ: int, n_behave: int, n_details: int
) -> None:
    found = row(trials(*base), trials(*candidate))
    assert (found.n_differ, found.n_behave, found.n_details) == (n_differ, n_behave, n_details)


def test_what_several_trials_took_is_summed_and_one_trial_keeps_it_in_its_summary() -> None:
    many = [run("a", n, n_steps=n, input_tokens=10 * n, output_tokens=0, duration_ms=n) for n in (1, 2, 3)]
    many[2] = run("a", 3, n_steps=3, input_tokens=None, output_tokens=None, duration_ms=3)
    found = row(many, many[:1])
    assert found.base_took == Took(6, None, None, 6)
    assert found.candidate_took is None
    assert row(many[:2], many[:2]).base_took == Took(3, 30, None, 3)


@pytest.mark.parametrize(
    ("side", "hindered"),
    [
        pytest.param([{}, {"fails": ("x",)}, {"open": ("x",)}], Hindered(), id="none"),
        pytest.param([{"errors": ("endpoint", "recorder")}, {}], Hindered(1, 1), id="one-trial-once"),
        pytest.param([{"errors": ("endpoint",)}, {"errors": ("recorder",)}], Hindered(2, 2), id="in-two-checks"),
        pytest.param([{"outcome": ERROR}], Hindered(1, 1), id="without-a-verdict"),
        pytest.param([{"errors": ("mine",)}, {"errors": ("mine", "yours")}, {}], Hindered(0, 0, 2), id="a-check-gave-up"),
        pytest.param([{"errors": ("mine", "endpoint")}, {"stale": True, "errors": ("mine",)}], Hindered(2, 1), id="the-world-and-a-check"),
        pytest.param([{"stale": True}, {"errors": ("endpoint",)}, {"stale": True, "errors": ("endpoint",)}], Hindered(3, 2), id="recordings"),
    ],
)
def test_trials_that_say_nothing_of_the_change_are_counted_by_run(side: list[Any], hindered: Hindered) -> None:
    found = row(trials(*side), trials({}, {}))
    assert (found.base_hindered, found.candidate_hindered) == (hindered, Hindered())
    assert row([], trials(*side)).candidate_hindered == hindered
    assert row(trials(*side), []).base_hindered == hindered


def test_missing_and_new_scenarios_say_it_too() -> None:
    gone = row(trials({"fails": ("x",)}, {}), [])
    assert (gone.change, gone.unpassed) == (Change.MISSING, (Unpassed("x", FAIL, 1, 0),))
    new = row([], trials({"fails": ("x",)}, {}))
    assert (new.change, new.unpassed, new.candidate_took) == (
        Change.NEW,
        (Unpassed("x", FAIL, 0, 1),),
        Took(6, 132, None, 24),
    )
