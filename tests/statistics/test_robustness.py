"""A verdict must not depend on what the provider's errors hid: it is judged under every extreme of that."""

from harness.statistics.robustness import EXTREMES, Extreme


def test_every_extreme_of_either_arm_is_there_once() -> None:
    assert sorted(EXTREMES) == [(base, candidate) for base in (False, True) for candidate in (False, True)]


def test_an_extreme_says_what_it_takes_errors_to_be() -> None:
    assert str(Extreme(base_passes=True, candidate_passes=False)) == "base all passed, candidate all failed"
