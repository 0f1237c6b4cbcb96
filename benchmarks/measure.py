"""How things are measured here: CPU time of this process, in rounds, and medians of ratios within one round.

Absolute times drift by half on a shared machine; what is measured side by side in one round drifts together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One line of the table. ``ours`` and the others are numbers in ``unit``; ``value`` is held to ``budget``.

    Where it does not count, the line tells whether it holds, and the exit code does not ask.
    """

    what: str
    unit: str
    ours: float
    floor: float | None = None
    peers: tuple[tuple[str, float], ...] = ()
    measure: str = "ratio"
    value: float | None = None
    budget: float | None = None
    aim: float | None = None
    counts: bool = True

    @property
    def ok(self) -> bool | None:
        """Whether the budget holds; None where there is none."""
        return None if self.budget is None or self.value is None else self.value <= self.budget


def cpu_us(work: Work, n: int) -> float:
    """CPU microseconds of one of the ``n`` units that a call of ``work`` does."""
    began = time.process_time()
    work()
    return (time.process_time() - began) / n * 1e6


def rounds(works: Mapping[str, Work], n: int, times: int) -> dict[str, list[float]]:
    """CPU microseconds a unit of each work, ``times`` times one after the other, after one call to warm up."""
    for work in works.values():
        work()
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(times):
        for name, work in works.items():
            found[name].append(cpu_us(work, n))
    return found


def ratio(found: Mapping[str, list[float]], ours: str = "ours", floor: str = "floor") -> float:
    """The median of the ratios within one round."""
    return median(one / other for one, other in zip(found[ours], found[floor], strict=True))


def exponent(unit_us: Mapping[int, float]) -> float:
    """The steepest growth of the whole time between two sizes: 1 is linear, 2 quadratic."""
    sizes = sorted(unit_us)
    return max(
        math.log(unit_us[large] * large / (unit_us[small] * small)) / math.log(large / small)
        for small, large in pairwise(sizes)
    )
