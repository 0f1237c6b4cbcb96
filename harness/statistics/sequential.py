"""Looking early, at whole blocks only, with the error probability spent by a rule that is fixed before.

A block is one trial of every case under both arms. After a planned number of blocks the comparison may be looked at;
where it is decided by the wider interval of that look, the rest need not be paid for. The intervals of all looks
together hold with the level of the plan, so that each may be judged like a single one (repeated intervals, Jennison
and Turnbull 2000, chapter 9). A case alone is never stopped: its share of the trials would depend on its own luck.

Boundaries are those of Lan and DeMets 1983, found by integrating the joint normal distribution of the statistics
look by look (Armitage, McPherson and Rowe 1969).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, assert_never

from harness.errors import UsageError
from harness.statistics.needs import libraries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

_FAR: Final = 9.0
"""Standard deviations; beyond lies less than 1e-18 of a normal distribution."""
_NOTHING: Final = 1e-13
"""A tail that is smaller cannot be told from none: that look has no boundary."""


class Spending(StrEnum):
    """How the error probability is spent as information comes in (Lan and DeMets 1983)."""

    OBRIEN_FLEMING = "O'Brien-Fleming-like"
    POCOCK = "Pocock-like"


def spent(spending: Spending, tail: float, fraction: float) -> float:
    """How much of ``tail``, the error probability of one side, may be used up at this fraction of the information.

    All of it at 1, nothing at 0. A two-sided plan spends it on each side.
    """
    with libraries():
        from scipy.stats import norm
    if not 0 < fraction <= 1:
        raise UsageError(f"a fraction of the information is {fraction!r}: it must be above 0 and at most 1")
    match spending:
        case Spending.OBRIEN_FLEMING:
            return float(2 * norm.sf(norm.isf(tail / 2) / math.sqrt(fraction)))
        case Spending.POCOCK:
            return tail * math.log(1 + (math.e - 1) * fraction)
        case _:
            assert_never(spending)


def boundaries(fractions: Sequence[float], *, alpha: float, spending: Spending) -> tuple[float, ...]:
    """The boundary of |z| at each look; where nothing differs any of them is reached with probability ``alpha``.

    ``fractions`` of the whole information, rising to at most 1, not necessarily in equal steps. Infinity where
    practically nothing may be spent yet. Raises UsageError for fractions that do not rise.
    """
    _check(fractions, alpha)
    allowed = [0.0, *(spent(spending, alpha / 2, fraction) for fraction in fractions)]
    return _solved(fractions, [later - earlier for earlier, later in pairwise(allowed)])


def _check(fractions: Sequence[float], alpha: float) -> None:
    if not fractions or any(later <= earlier for earlier, later in pairwise((0.0, *fractions))) or fractions[-1] > 1:
        raise UsageError(f"fractions of the information must rise from above 0 to at most 1, not {tuple(fractions)!r}")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha is {alpha!r}: it must lie between 0 and 1")


def _solved(fractions: Sequence[float], tails: Sequence[float]) -> tuple[float, ...]:
    with libraries():
        from scipy.optimize import brentq
    found: list[float] = []
    walk = Walk(0.0)
    for fraction, tail in zip(fractions, tails, strict=True):
        walk.to(fraction)
        if tail < _NOTHING:
            found.append(math.inf)
        else:
            found.append(float(brentq(lambda z, tail=tail: walk.above(z) - tail, -_FAR, _FAR, xtol=1e-10)))
        walk.stay(-found[-1], found[-1])
    return tuple(found)


@cache
def _gauss(n_nodes: int) -> tuple[Floats, Floats]:
    with libraries():
        import numpy as np
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    return nodes, weights


class Walk:
    """The distribution of the statistic among those that have not crossed a boundary yet, as density on a grid.

    On the scale of a Brownian motion with drift: at fraction t the statistic is z * sqrt(t).
    """

    def __init__(self, drift: float) -> None:
        with libraries():
            import numpy as np
        self.drift, self.now, self.step = drift, 0.0, 0.0
        self.places: Floats = np.zeros(1)  # all of the probability stands at 0 in the beginning
        self.masses: Floats = np.ones(1)

    def to(self, fraction: float) -> None:
        """The next look is at this fraction of the information."""
        self.now, self.step = fraction, fraction - self.now

    def above(self, z: float) -> float:
        """The probability to stand above ``z`` at this look, not having crossed before."""
        return self._beyond(z, 1)

    def below(self, z: float) -> float:
        """The probability to stand below ``z`` at this look, not having crossed before."""
        return self._beyond(z, -1)

    def _beyond(self, z: float, sign: int) -> float:
        with libraries():
            from scipy.stats import norm
        ahead = z * math.sqrt(self.now) - self.drift * self.step - self.places
        return float(self.masses @ norm.sf(sign * ahead / math.sqrt(self.step)))

    def stay(self, low: float, high: float) -> None:
        """Only those between two boundaries (in z) go on."""
        with libraries():
            import numpy as np
        root, width = math.sqrt(self.now), math.sqrt(self.step)
        middle = self.drift * self.now / root
        low, high = max(low, middle - _FAR), min(high, middle + _FAR)
        if low >= high:
            self.places, self.masses = np.zeros(1), np.zeros(1)
            return
        # Enough nodes that the narrowest density is smooth between them.
        n_nodes = int(min(1200, max(96, 14 * (high - low) * root / width)))
        nodes, weights = _gauss(-(-n_nodes // 64) * 64)
        half = (high - low) * root / 2
        places = (low + high) * root / 2 + half * nodes
        gaps = (places[:, None] - self.places[None, :] - self.drift * self.step) / width
        density = np.exp(-gaps * gaps / 2) @ self.masses / (width * math.sqrt(2 * math.pi))
        self.places, self.masses = places, density * weights * half


# ---------------------------------------------------------------- plans of looks


@dataclass(frozen=True, slots=True)
class LookPlan:
    """When to look, fixed before the first trial.

    ``blocks`` counts whole blocks at each look; ``critical`` is the boundary in standard errors; ``levels`` the level
    of the interval to judge at each look, 1.0 where nothing can be decided yet.
    """

    blocks: tuple[int, ...]
    fractions: tuple[float, ...]
    critical: tuple[float, ...]
    levels: tuple[float, ...]
    alpha: float
    spending: Spending


def plan_looks(
    n_blocks: int, looks: int, *, alpha: float = 0.05, spending: Spending = Spending.OBRIEN_FLEMING
) -> LookPlan:
    """Spread ``looks`` looks, the last of them at the end, over ``n_blocks`` blocks (trials of each case).

    The share of the blocks counts as the share of the information. Where cases differ in how much they change, early
    blocks hold more than that; then the statistics of the looks hang together more closely than the plan takes them
    to, and it errs on the safe side. Raises UsageError where there are fewer blocks than looks.
    """
    if not 1 <= looks <= n_blocks:
        raise UsageError(
            f"{looks!r} looks at {n_blocks!r} blocks: a look needs a whole block (a trial of every case under both "
            "arms) of its own. Raise trials or lower looks."
        )
    blocks = tuple(-(-n_blocks * number // looks) for number in range(1, looks + 1))
    fractions = tuple(block / n_blocks for block in blocks)
    critical = boundaries(fractions, alpha=alpha, spending=spending)
    return LookPlan(blocks, fractions, critical, tuple(_level(z) for z in critical), alpha, spending)


def _level(critical: float) -> float:
    with libraries():
        from scipy.stats import norm
    return 1.0 if math.isinf(critical) else float(1 - 2 * norm.sf(critical))
