"""Pass rates of both sides with their intervals, for plots: all scenarios, families of them, repeated ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.errors import ConfigurationError
from harness.folds import row_scenario
from harness.report.html.plot_runs import Sides
from harness.statistics import mean_difference, wilson
from harness.types.codes import PASSING
from harness.types.evaluation_summary import rounded
from harness.types.records import RunSummary, ScenarioComparison

MOST_FAMILIES: Final = 30
MOST_SCENARIOS: Final = 60
Plain = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Unit:
    """One scenario: passed and planned trials of both sides."""

    row: int | None
    name: str
    arm: str
    base: tuple[int, int]
    candidate: tuple[int, int]

    @property
    def moved(self) -> float:
        """How far the rate of the candidate is from that of the base; 0 where there is only one."""
        if not self.base[1] or not self.candidate[1]:
            return 0.0
        return self.candidate[0] / self.candidate[1] - self.base[0] / self.base[1]


def rates_of(rows: Sequence[ScenarioComparison], sides: Sequence[Sides], n_listed: int) -> Plain:
    """``rates``: all scenarios, each family (the folder of its id), and scenarios with several trials.

    ``row`` of a scenario is its place among the first ``n_listed`` rows, None behind them; its name has the arm
    where there are several. Families come largest first, scenarios by how far they moved; ``ratesLeftOut`` says how
    many are not shown.
    ``ratesWhy`` says why differences have no interval, where they have none for want of a library.
    """
    arms = len({_arm(row) for row in rows}) > 1
    pairs = enumerate(zip(rows, sides, strict=True))
    units = [_unit(at if at < n_listed else None, row, both, with_arm=arms) for at, (row, both) in pairs]
    if not units:
        return {"rates": [], "ratesLeftOut": {}, "ratesWhy": ""}
    families = _families(units)
    repeated = [unit for unit in units if unit.base[1] > 1 or unit.candidate[1] > 1]
    repeated.sort(key=lambda unit: (-abs(unit.moved), unit.name, unit.arm))
    grouped = [_group("all", "all scenarios", units)]
    grouped += [_group("family", name, members) for name, members in families[:MOST_FAMILIES]]
    found, why = _with_differences(grouped)
    found += [_scenario(unit) for unit in repeated[:MOST_SCENARIOS]]
    left_out = {"families": len(families[MOST_FAMILIES:]), "scenarios": len(repeated[MOST_SCENARIOS:])}
    return {"rates": found, "ratesLeftOut": {name: n for name, n in left_out.items() if n}, "ratesWhy": why}


def _unit(at: int | None, row: ScenarioComparison, sides: Sides, *, with_arm: bool) -> _Unit:
    name = row_scenario(row)
    return _Unit(at, name, f"@{_arm(row)}" if with_arm else "", _passed(sides.base), _passed(sides.candidate))


def _arm(row: ScenarioComparison) -> str:
    some = row.candidate or row.base
    return some.arm if some is not None else ""


def _passed(runs: Iterable[RunSummary]) -> tuple[int, int]:
    outcomes = [run.outcome in PASSING for run in runs]
    return sum(outcomes), len(outcomes)


def _families(units: Sequence[_Unit]) -> list[tuple[str, list[_Unit]]]:
    """Families with their scenarios, the largest first; none where all are of one."""
    families: dict[str, list[_Unit]] = {}
    for unit in units:
        families.setdefault(unit.name.rpartition("/")[0], []).append(unit)
    if len(families) < 2:
        return []
    return sorted(families.items(), key=lambda item: (-len(item[1]), item[0]))


@dataclass(frozen=True, slots=True)
class _Group:
    line: Plain
    differences: tuple[float, ...]


def _group(kind: str, name: str, units: Sequence[_Unit]) -> _Group:
    line = {
        "group": kind,
        "name": name,
        "base": _over_units([unit.base for unit in units]),
        "candidate": _over_units([unit.candidate for unit in units]),
    }
    return _Group(line, tuple(unit.moved for unit in units if unit.base[1] and unit.candidate[1]))


def _over_units(counts: Sequence[tuple[int, int]]) -> Plain | None:
    """The mean over scenarios of the share of their trials that passed; the interval is Wilson's, over scenarios."""
    known = [(passed, of) for passed, of in counts if of]
    if not known:
        return None
    shares = sum(passed / of for passed, of in known)
    return _rate(shares, len(known), sum(passed for passed, _ in known), sum(of for _, of in known))


def _rate(shares: float, n_units: int, passed: int, of: int) -> Plain:
    interval = wilson(shares, n_units)
    return {
        "rate": rounded(shares / n_units),
        "n": passed,
        "of": of,
        "units": n_units,
        "low": None if interval is None else rounded(interval.low),
        "high": None if interval is None else rounded(interval.high),
    }


def _scenario(unit: _Unit) -> Plain:
    """One scenario over its trials, which are what is drawn here."""
    sides = [_rate(passed, of, passed, of) if of else None for passed, of in (unit.base, unit.candidate)]
    name = f"{unit.name}{unit.arm}"
    return {"group": "scenario", "row": unit.row, "name": name, "base": sides[0], "candidate": sides[1]}


def _with_differences(groups: Sequence[_Group]) -> tuple[list[Plain], str]:
    """Groups with the mean difference of paired scenarios and its interval; and why there is no interval."""
    why = ""
    found = []
    for group in groups:
        differences = group.differences
        line = dict(group.line)
        if differences:
            mean = rounded(sum(differences) / len(differences))
            line["difference"] = {"mean": mean, "low": None, "high": None, "units": len(differences)}
            try:
                interval = mean_difference(differences)
            except ConfigurationError as missing:
                why, interval = str(missing), None
            if interval is not None:
                line["difference"] |= {"low": rounded(interval.low), "high": rounded(interval.high)}
        found.append(line)
    return found, why
