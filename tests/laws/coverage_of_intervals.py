"""How often intervals hold what they say, and how often the comparison alarms for nothing; over a fixed grid.

usage: coverage_of_intervals.py [--write]

Every cell of 8, 25, 60, 200 units x pass rates .5 to .97 x correlation of a case's trials 0, .3, .8, 1 x 1, 3, 5
trials. Pass rates of cases have a Beta distribution with that mean and correlation (0: all alike, 1: always or never).
What happens between the arms: nothing; cases change with mean zero (half of them get a new pass rate); cases break,
so that the mean falls by 3 or by 10 points. Seeds are fixed. A cell near a bound is measured again with ten times the
samples. Exit code 1 names every cell whose coverage is under 93 %, or that alarms, or passes in error, above 6.5 %.
`--write` puts the tables into docs/statistics.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPO))

from harness.statistics import MIN_UNITS, wilson  # noqa: E402
from harness.statistics.lattice import Lattice  # noqa: E402
from tests.laws.known_samples import (  # noqa: E402
    BREAK_10,
    CHANGES,
    GRID,
    LEVEL,
    METHODS,
    NONE,
    SOME,
    UNITS,
    Cell,
    Measured,
    bca,
    measure,
    measure_within,
    one_arm,
    ours,
)

LEAST_COVERAGE, MOST_ERRORS = 0.93, 0.065
NEAR_COVERAGE, NEAR_ERRORS = 0.945, 0.05
N_SAMPLES, N_AGAIN = 4000, 40_000


# ---------------------------------------------------------------- rates


def rate_coverage(cell: Cell) -> float | None:
    """Of Wilson's interval over units, exactly: every sum of passes with its probability. None where it is not shown."""
    if cell.n_units < MIN_UNITS:
        return None
    sums = Lattice(0, one_arm(cell)).times(cell.n_units)
    covered = 0.0
    for passes, mass in enumerate(sums.masses.tolist(), start=sums.start):
        interval = wilson(min(passes / cell.n_trials, cell.n_units), cell.n_units, LEVEL)
        assert interval is not None
        covered += mass * (interval.low <= cell.rate <= interval.high)
    return covered


# ---------------------------------------------------------------- the whole grid


@dataclass(frozen=True)
class Row:
    """What was measured of one question under one change."""

    question: str
    change: str
    cell: Cell
    measured: Measured

    @property
    def errors(self) -> float:
        """How often the verdict is wrong: worse where the mean has not changed, passed where it fell by the margin.

        Of these cases the mean falls by the margin on the average only, so there a pass may be right.
        """
        if CHANGES[self.change] == 0.0:
            return self.measured.worse
        return self.measured.passes if self.change == BREAK_10 and self.question == PROMPTS else 0.0


PROMPTS, CASES, WILSON = "prompts like these", "these cases", "rate of one arm"


def rows(cells: Iterable[Cell] = GRID, n_samples: int = N_SAMPLES, n_again: int = N_AGAIN) -> Iterator[Row]:
    """All that must hold, cell by cell; what comes near a bound is measured again."""
    for cell in cells:
        for change in CHANGES:
            ways: Sequence[tuple[str, Callable[[int], Measured]]] = (
                (PROMPTS, partial(measure, cell, change, ours)),
                (CASES, partial(measure_within, cell, change)),
            )
            for question, measured in ways:
                row = Row(question, change, cell, measured(n_samples))
                near = row.measured.coverage < NEAR_COVERAGE or row.errors > NEAR_ERRORS
                yield Row(question, change, cell, measured(n_again)) if near and n_again > n_samples else row
        coverage = rate_coverage(cell)
        if coverage is not None:
            yield Row(WILSON, NONE, cell, Measured(coverage, 0.0, 0.0, 0.0))


def violations(found: Iterable[Row]) -> list[str]:
    """Every cell that does not hold."""
    bad = []
    for row in found:
        if row.measured.coverage < LEAST_COVERAGE:
            bad.append(f"{row.question}, {row.change}, {row.cell}: covers {row.measured.coverage:.4f}")
        if row.errors > MOST_ERRORS:
            bad.append(f"{row.question}, {row.change}, {row.cell}: errs {row.errors:.4f}")
    return bad


# ---------------------------------------------------------------- telling

BEGIN, END = "<!-- coverage-of-intervals: begin -->", "<!-- coverage-of-intervals: end -->"
PAGE = REPO / "docs" / "statistics.md"


def table(found: Sequence[Row]) -> list[str]:
    """One line per question, change and number of units: the worst of its cells, in per cent."""
    lines = [
        "| question | what changes | units | least coverage | most called worse | most passed | mean width |",
        "|---|---|---|---|---|---|---|",
    ]
    for question, change, n_units in product((PROMPTS, CASES, WILSON), CHANGES, UNITS):
        some = [row.measured for row in found if (row.question, row.change, row.cell.n_units) == (question, change, n_units)]
        if not some:
            continue
        null = CHANGES[change] == 0.0 and question != WILSON
        worse = f"{100 * max(each.worse for each in some):.1f}" if null else ""
        passes = f"{100 * max(each.passes for each in some):.1f}" if change == BREAK_10 and question == PROMPTS else ""
        width = f"{100 * sum(each.width for each in some) / len(some):.1f}" if question != WILSON else ""
        lines.append(
            f"| {question} | {change if question != WILSON else ''} | {n_units} "
            f"| {100 * min(each.coverage for each in some):.1f} | {worse} | {passes} | {width} |"
        )
    return lines


def others(n_samples: int = N_SAMPLES) -> list[str]:
    """What intervals that are not used would have covered, for prompts like these."""
    lines = ["| interval | what changes | least coverage | cells under 93 | most passed |", "|---|---|---|---|---|"]
    for (name, bounds), change in product(METHODS.items(), CHANGES):
        slow = bounds is bca
        found = [measure(cell, change, bounds, 400 if slow else n_samples) for cell in (SOME if slow else GRID)]
        passes = f"{100 * max(each.passes for each in found):.1f}" if change == BREAK_10 else ""
        under = sum(each.coverage < LEAST_COVERAGE for each in found)
        least = 100 * min(each.coverage for each in found)
        lines.append(f"| {name} | {change} | {least:.1f} | {under} of {len(found)} | {passes} |")
    return lines


def with_tables(page: str, tables: Sequence[Sequence[str]]) -> str:
    """The page with these tables between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    body = "\n\n".join("\n".join(lines) for lines in tables)
    return f"{before}{BEGIN}\n\n{body}\n\n{END}{after}"


def main(arguments: Sequence[str]) -> int:
    if arguments not in ([], ["--write"]):
        print(__doc__)
        return 2
    begun = time.monotonic()
    found = list(rows())
    tables = [table(found), others()]
    print("\n\n".join("\n".join(lines) for lines in tables))
    if arguments:
        PAGE.write_text(with_tables(PAGE.read_text("utf-8"), tables), "utf-8")
    bad = violations(found)
    print(f"\n{len(found)} rows over {len(GRID)} cells in {time.monotonic() - begun:.0f} s; {len(bad)} do not hold")
    for line in bad:
        print(f"  {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
