"""Context size of each step of a run, for plots (ARTICLES 22): as the provider counted, else estimated."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from harness.folds import limits_from_json
from harness.folds.sizes import RequestSize, request_sizes
from harness.types.events import Trajectory
from harness.types.exchange import ModelRequest

MOST_POINTS: Final = 120
"""So many steps of a side are kept; of more, the largest in each stretch."""


def context_side(trajectory: Trajectory) -> dict[str, Any] | None:
    """Tokens of the main agent's request at each of its steps (the last attempt of each); None without a request.

    ``n`` steps, ``told`` of them as the provider counted. ``steps`` are their numbers, where steps are left out.
    ``limit`` is the run's own limit on it.
    """
    sizes = steps_of(trajectory)
    if not sizes:
        return None
    tokens = [size.tokens if size.reported is None else size.reported for size in sizes]
    kept = thinned(tokens, MOST_POINTS)
    found: dict[str, Any] = {
        "n": len(tokens),
        "told": sum(size.reported is not None for size in sizes),
        "tokens": [tokens[at] for at in kept],
    }
    if len(kept) < len(tokens):
        found["steps"] = [at + 1 for at in kept]
    limits = limits_from_json(trajectory.header.limits)
    if limits is not None and limits.context_tokens is not None:
        found["limit"] = limits.context_tokens
    return found


def steps_of(trajectory: Trajectory) -> list[RequestSize]:
    """The size of each step of the main agent: of a request that was asked again, the last attempt."""
    found: list[RequestSize] = []
    for size in sorted(request_sizes(trajectory), key=lambda size: size.event.seq):
        fact = size.event.fact
        if size.event.agent or not isinstance(fact, ModelRequest):
            continue
        if found and fact.attempt > 1:
            found[-1] = size
        else:
            found.append(size)
    return found


def thinned(values: Sequence[int], most: int) -> list[int]:
    """Places of at most so many values: the first and the last, and the largest of each stretch between them."""
    n = len(values)
    if n <= most:
        return list(range(n))
    inner, stretches = n - 2, most - 2
    bounds = [1 + at * inner // stretches for at in range(stretches + 1)]
    largest = [max(range(low, high), key=lambda at: (values[at], -at)) for low, high in pairwise(bounds)]
    return [0, *largest, n - 1]
