"""A verdict must not depend on what the provider's errors hid."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.statistics.robustness import EXTREMES, Extreme, UnitOutcomes, judge_robustly

Counts = Sequence[tuple[int, int]]


def better(base: Counts, candidate: Counts) -> str:
    """Which arm has the higher mean of rates."""
    before, after = (sum(passed / trials for passed, trials in arm) for arm in (base, candidate))
    return "better" if after > before else "worse" if after < before else "same"


def test_without_errors_a_verdict_is_judged_once() -> None:
    asked: list[tuple[Counts, Counts]] = []

    def judge(base: Counts, candidate: Counts) -> str:
        asked.append((base, candidate))
        return better(base, candidate)

    found = judge_robustly([UnitOutcomes(1, 2, 0)], [UnitOutcomes(2, 1, 0)], judge)
    assert (found.agreed, found.n_errored) == ("better", 0)
    assert asked == [(((1, 3),), ((2, 3),))]


def test_every_extreme_is_judged() -> None:
    asked: list[tuple[Counts, Counts]] = []

    def judge(base: Counts, candidate: Counts) -> bool:
        asked.append((base, candidate))
        return True

    found = judge_robustly([UnitOutcomes(1, 1, 3)], [UnitOutcomes(2, 1, 2)], judge)
    assert asked == [(((4, 5),), ((4, 5),)), (((4, 5),), ((2, 5),)), (((1, 5),), ((4, 5),)), (((1, 5),), ((2, 5),))]
    assert tuple(extreme for extreme, _ in found.said) == EXTREMES
    assert (found.agreed, found.n_errored) == (True, 5)


@pytest.mark.parametrize(
    ("base", "candidate", "agreed"),
    [
        pytest.param((1, 4, 0), (4, 0, 1), "better", id="one-error-changes-nothing"),
        pytest.param((2, 2, 1), (3, 1, 1), None, id="an-error-in-each-could-turn-it"),
        pytest.param((2, 3, 0), (3, 0, 2), "better", id="errors-where-there-is-room"),
        pytest.param((0, 0, 5), (0, 0, 5), None, id="nothing-but-errors"),
    ],
)
def test_a_verdict_that_an_error_could_turn_is_none(
    base: tuple[int, int, int], candidate: tuple[int, int, int], agreed: str | None
) -> None:
    assert judge_robustly([UnitOutcomes(*base)], [UnitOutcomes(*candidate)], better).agreed == agreed


def test_what_only_the_mixed_extremes_show_is_seen() -> None:
    """Errors counted alike in both arms say the same; that they may have hidden opposite things is what turns it."""
    found = judge_robustly([UnitOutcomes(2, 2, 1)], [UnitOutcomes(2, 2, 1)], better)
    said = dict(found.said)
    assert said[Extreme(True, True)] == said[Extreme(False, False)] == "same"
    assert said[Extreme(True, False)] == "worse"
    assert found.agreed is None


def test_an_extreme_says_what_it_takes_errors_to_be() -> None:
    assert str(Extreme(base_passes=True, candidate_passes=False)) == "base all passed, candidate all failed"


def test_arms_with_other_units_are_refused() -> None:
    with pytest.raises(UsageError, match="base has 1 units and candidate 2"):
        judge_robustly([UnitOutcomes(1, 0, 0)], [UnitOutcomes(1, 0, 0)] * 2, better)


outcomes = st.builds(UnitOutcomes, st.integers(0, 4), st.integers(1, 4), st.integers(0, 3))


@given(st.lists(st.tuples(outcomes, outcomes), min_size=1, max_size=5), st.data())
def test_what_the_extremes_agree_on_holds_whatever_the_errors_were(
    pairs: list[tuple[UnitOutcomes, UnitOutcomes]], data: st.DataObject
) -> None:
    base, candidate = ([pair[side] for pair in pairs] for side in (0, 1))
    agreed = judge_robustly(base, candidate, better).agreed

    def hidden(unit: UnitOutcomes) -> tuple[int, int]:
        passed = data.draw(st.integers(0, unit.errored))
        return unit.passed + passed, sum(unit)

    if agreed is not None:
        assert better([hidden(unit) for unit in base], [hidden(unit) for unit in candidate]) == agreed
