"""In which order trials are asked: block by block, arms interleaved by chance, a case whole in one shard.

A block is one trial number over every case and every arm, so that whole blocks can be looked at. Within it the order
is shuffled by the seed: what changes at the provider meanwhile meets both arms alike. Only numbers are held, four
bytes a trial of one block.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.clock.chance import shuffle
from harness.errors import ConfigurationError


class Place(NamedTuple):
    """One trial by numbers: the case's and the arm's position (from 0), and the trial's number (from 1)."""

    case: int
    arm: int
    trial: int


@dataclass(frozen=True, slots=True)
class Shard:
    """Which share of the cases: the ``number``-th (from 1) of ``of`` shares, by position."""

    number: int = 1
    of: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def holds(self, case: int) -> bool:
        """Whether the case at this position is in it."""
        return case % self.of == self.number - 1

    def split(self, number: int, of: int) -> Shard:
        """The ``number``-th (from 1) of ``of`` shares of this share."""
        return Shard(self.number + (number - 1) * self.of, self.of * of)


WHOLE = Shard()


def shard_named(text: str) -> Shard:
    """``i/n`` with 1 <= i <= n. Raises ConfigurationError."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
    shard = Shard(int(found[1]), int(found[2])) if found else None
    if shard is None or not 1 <= shard.number <= shard.of:
        raise ConfigurationError(f"--shard is {text!r}; it must be i/n, such as 1/4 to 4/4")
    return shard


def block(trial: int, *, n_cases: int, arms: Sequence[int], seed: int, shard: Shard = WHOLE) -> Iterator[Place]:
    """One block in its order. ``arms`` are the positions of the arms that are asked."""
    n_arms = len(arms)
    numbers = array("L" if n_cases * n_arms >= 1 << 32 else "I", _numbers(n_cases, n_arms, shard))
    shuffle(numbers, f"{seed}/{trial}/{shard.number}/{shard.of}")
    for number in numbers:
        yield Place(number // n_arms, arms[number % n_arms], trial)


def _numbers(n_cases: int, n_arms: int, shard: Shard) -> Iterator[int]:
    for case in range(shard.number - 1, n_cases, shard.of):
        yield from range(case * n_arms, (case + 1) * n_arms)


def n_places(*, n_cases: int, n_arms: int, trials: int, shard: Shard = WHOLE) -> int:
    """How many trials that is in all."""
    return len(range(shard.number - 1, n_cases, shard.of)) * n_arms * trials
