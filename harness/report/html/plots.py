"""The numbers behind the plots of the HTML report: measures, context sizes, pass rates. Nothing is drawn here.

All of it is derived from runs: a row has the means over all trials of its scenario, not those of the shown pair.
Lists are bounded, and each says how many it leaves out. Times in ms, money in micro-dollars, shares of 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from harness.folds import tokens_of
from harness.report.amounts import Number, exact_sums, mean, short
from harness.report.html.plot_rates import rates_of
from harness.report.html.plot_runs import Sides, sides_of
from harness.types.records import Comparison, Measure, RunSummary, ScenarioComparison

Plain: TypeAlias = dict[str, Any]

PLOT_STYLE: Final = """:where(.harness-plot) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.harness-plot text),
:where(.harness-plot tspan) {
  white-space: pre;
}"""
"""The text of the ``<style>`` that the plot library puts into each drawing; the policy of the page names its hash."""
MOST_ROWS: Final = 5_000
_ERRORS: Final = 2
"""Noise is so many standard errors, as in the comparison's totals."""


MEASURES: Final[Mapping[str, Callable[[RunSummary], int | None]]] = {
    "steps": lambda run: run.n_steps,
    "tokens": tokens_of,
    "cost": lambda run: run.cost_micro_usd,
    "latency": lambda run: run.duration_ms,
}
"""What is measured of a run, in the order in which it is shown."""


def plots_block(
    comparison: Comparison,
    rows: Sequence[ScenarioComparison],
    base: Iterable[RunSummary],
    candidate: Iterable[RunSummary],
    *,
    context: Sequence[Plain] = (),
    more: Mapping[str, Any] | None = None,
) -> Plain:
    """The block ``plots``: strict JSON values, for ``rows`` in the order of the overview; pass rates are over all
    scenarios of the comparison, listed or not.

    ``base`` and ``candidate`` are all runs of both sides, trials included; ``context`` has an entry for each row in
    full: ``detail``, and what :func:`harness.report.html.plot_context.context_side` gives for ``base`` and
    ``candidate``; ``more`` are lines of other reports (``sweeps``, ``confusion``, ``rates``).
    """
    listed = rows[:MOST_ROWS]
    known = {id(row) for row in listed}
    ordered = [*listed, *(row for row in comparison.scenarios if id(row) not in known)]
    sides = sides_of(ordered, base, candidate)
    block: Plain = {
        "measures": [_row(at, both) for at, both in enumerate(sides[: len(listed)])],
        "nRows": len(comparison.scenarios),
        "totals": _totals(comparison),
        "context": list(context),
        **rates_of(ordered, sides, len(listed)),
        "sweeps": [],
        "confusion": [],
    }
    for name, lines in (more or {}).items():
        block[name] = [*block[name], *lines] if isinstance(lines, list) else lines
    return block


def _row(at: int, sides: Sides) -> Plain:
    found: Plain = {"row": at, "trials": [len(sides.base), len(sides.candidate)]}
    for name, value in MEASURES.items():
        measured = measured_of(sides, value)
        if measured is not None:
            found[name] = measured
    return found


def measured_of(sides: Sides, value: Callable[[RunSummary], int | None]) -> list[Number] | None:
    """Means of base and candidate over all trials, and two standard errors of their difference.

    None in place of a mean where a trial does not tell its part, as in the sums of the comparison, and of noise where a
    side has one trial; None for nothing at all.
    """
    known = [_told([value(run) for run in side]) for side in (sides.base, sides.candidate)]
    if not any(known):
        return None
    repeated = all(len(values) > 1 for values in known)
    noise = _ERRORS * math.sqrt(sum(_variance_of_mean(values) for values in known)) if repeated else None
    return [*map(mean, known), None if noise is None else short(noise)]


def _told(values: Sequence[int | None]) -> list[int]:
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _variance_of_mean(values: Sequence[int]) -> float:
    mean = sum(values) / len(values)
    return sum((one - mean) ** 2 for one in values) / (len(values) - 1) / len(values)


def _totals(comparison: Comparison) -> Plain:
    named = {"cost": comparison.cost, "latency": comparison.latency, "tokens": comparison.tokens}
    sums = exact_sums(comparison)
    return {name: _total(found, sums.get(name)) for name, found in named.items() if found is not None}


def _total(found: Measure, sums: tuple[Number, Number] | None) -> Plain:
    base, candidate = sums or (found.base, found.candidate)
    return {
        "base": base,
        "candidate": candidate,
        "noise": found.noise,
        "nScenarios": found.n_scenarios,
    }
