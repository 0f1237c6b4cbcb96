"""Trials are asked block by block, arms interleaved by the seed; shards and workers split the cases, each whole."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigurationError
from harness.runner.evaluation.order import WHOLE, Place, Shard, block, n_places, shard_named

shards = st.integers(1, 6).flatmap(lambda of: st.builds(Shard, st.integers(1, of), st.just(of)))


def whole(n_cases: int, arms: list[int], trial: int = 1, seed: int = 0, shard: Shard = WHOLE) -> list[Place]:
    return list(block(trial, n_cases=n_cases, arms=arms, seed=seed, shard=shard))


@given(st.integers(0, 40), st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True), st.integers(1, 9), st.integers(-3, 3), shards)
def test_a_block_holds_every_case_of_its_shard_under_every_arm_once(n_cases: int, arms: list[int], trial: int, seed: int, shard: Shard) -> None:
    found = whole(n_cases, arms, trial, seed, shard)
    assert sorted(found) == sorted(Place(case, arm, trial) for case in range(n_cases) if shard.holds(case) for arm in arms)
    assert len(found) == n_places(n_cases=n_cases, n_arms=len(arms), trials=1, shard=shard)


@given(st.integers(0, 60), st.integers(1, 5), st.integers(1, 4))
def test_shards_and_the_workers_of_each_share_out_every_case_once(n_cases: int, of: int, workers: int) -> None:
    parts = [Shard(number, of).split(worker, workers) for number in range(1, of + 1) for worker in range(1, workers + 1)]
    assert [sum(part.holds(case) for part in parts) for case in range(n_cases)] == [1] * n_cases
    for number in range(1, of + 1):
        mine = [part for at, part in enumerate(parts) if at // workers == number - 1]
        assert all(any(part.holds(case) for part in mine) == Shard(number, of).holds(case) for case in range(n_cases))


def test_the_same_seed_gives_the_same_order_and_another_seed_or_trial_another() -> None:
    first = whole(30, [0, 1])
    assert first == whole(30, [0, 1])
    assert first != whole(30, [0, 1], seed=1)
    assert first != [place._replace(trial=1) for place in whole(30, [0, 1], trial=2)]


def test_arms_are_interleaved_and_not_one_behind_the_other() -> None:
    arms = [place.arm for place in whole(500, [0, 1])]
    changes = sum(one != other for one, other in pairwise(arms))
    assert 400 < changes < 600  # as chance would have it: 499.5 on average
    halves = [arms[:500].count(0), arms[500:].count(0)]
    assert all(200 < n < 300 for n in halves)


@pytest.mark.parametrize("text", ["0/4", "5/4", "4", "a/b", "1/0", "-1/2", "1/2/3", ""])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="1/4 to 4/4"):
        shard_named(text)


def test_a_shard_is_read_as_it_is_written() -> None:
    assert shard_named("2/4") == Shard(2, 4)
    assert str(Shard(2, 4)) == "2/4"
