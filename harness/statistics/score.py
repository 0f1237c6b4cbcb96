"""The score interval of a mean of values in [-1, 1], such as differences of two shares, also where nearly all are 0.

A mean d is inside where ``(mean - d)^2 <= z^2 V(d) / n``. V(d) is the variance that the values would have if their
mean were d: of the likeliest distribution with that mean among all those on the values seen, -1 and 1. With one trial a
case the values are -1, 0 and 1, and this is the score interval of T. Tango, "Equivalence test and confidence interval
for the difference in proportions for the paired-sample design", Statistics in Medicine 17 (1998) 891-908. For shares of
several trials the likeliest distribution is that of A. B. Owen, "Empirical likelihood" (2001), with -1 and 1 always
among its points: what was not seen yet may still happen, so that no difference at all among n units gives an interval
of 4 / (n + 4) to either side, nearly, and not a point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from harness.statistics.needs import libraries
from harness.statistics.rates import normal_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

_NEAREST: Final = -40.0
_FARTHEST: Final = 25.0
"""Where the pole is looked for: logarithms of its distance from -1."""
_HALVINGS: Final = 45


def score_bounds(weights: Floats, values: Floats, level: float) -> tuple[Floats, Floats]:
    """Lower and upper bounds for many samples at once.

    ``weights``: one row a sample, how often it holds each of the ``values`` (fractions are allowed, each row has a
    positive sum); ``values`` in [-1, 1]. Both results have one number a row.
    """
    z_squared = normal_quantile(level) ** 2
    return _lower(weights, values, z_squared), -_lower(weights, -values, z_squared)


def _lower(weights: Floats, values: Floats, z_squared: float) -> Floats:
    """The likeliest distribution with a mean d below that of the sample weighs value v by 1 / (v - pole), pole < -1,
    until the pole reaches -1; means that are lower still need new mass on -1 itself.
    """
    with libraries():
        import numpy as np
    n = weights.sum(axis=1)
    mean = weights @ values / n
    from_mass, reached = _lower_with_mass(weights, values, z_squared)
    low, high = np.full(len(n), _NEAREST), np.full(len(n), _FARTHEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        tilted, variance = _tilted(weights, values, middle)
        outside = n * (mean - tilted) ** 2 > z_squared * variance
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    tilted, _ = _tilted(weights, values, high)
    bound: Floats = np.where(reached, from_mass, np.minimum(tilted, mean))
    return np.clip(bound, -1.0, 1.0)


def _tilted(weights: Floats, values: Floats, log_distance: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of each sample, weighed anew with the pole at ``exp(log_distance)`` below -1."""
    with libraries():
        import numpy as np
    mass = weights / ((1.0 + values)[None, :] + np.exp(log_distance)[:, None])
    total = mass.sum(axis=1)
    mean = mass @ values / total
    return mean, np.maximum(mass @ (values * values) / total - mean * mean, 0.0)


def _lower_with_mass(weights: Floats, values: Floats, z_squared: float) -> tuple[Floats, NDArray[Any]]:
    """The bound where it needs new mass on -1 (there the rule is a quadratic equation), and for which samples it does.

    A sample that holds -1 itself never does.
    """
    with libraries():
        import numpy as np
    n = weights.sum(axis=1)
    mean = weights @ values / n
    inner = values > -1.0 + 1e-12
    holds_it = (weights[:, ~inner] > 0).any(axis=1)
    mass = weights[:, inner] / (1.0 + values[inner])[None, :] / n[:, None]
    total = np.where(holds_it, 1.0, mass.sum(axis=1))
    square = mass @ (values[inner] ** 2)
    start = 1.0 / total - 1.0
    variance = (1 + start) * square + 1.0 - (1 + start) * total - start * start
    reached = ~holds_it & (n * (mean - start) ** 2 <= z_squared * variance * (1 + 1e-12))
    first, second = n + z_squared, -2 * n * mean - z_squared * (square - total)
    third = n * mean * mean - z_squared * (square + 1.0 - total)
    root = np.sqrt(np.maximum(second * second - 4 * first * third, 0.0))
    return (-second - root) / (2 * first), reached
