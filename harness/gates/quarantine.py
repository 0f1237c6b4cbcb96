"""Known flakes: which scenarios are held back from which rules today, and what that kept from failing."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.folds import named_by, row_name
from harness.types.gates import MOST_DAYS, Quarantine
from harness.types.records import ScenarioComparison
from harness.types.review import Held, Quarantined, Rule


@dataclass(slots=True)
class _Entry:
    """An entry, what it names here, and the rules that it kept from it."""

    said: Quarantine
    expired: bool
    remark: str
    n_scenarios: int = 0
    held: dict[str, set[Rule]] = field(default_factory=dict)
    """Exact rules that scenarios would have broken, by the name of the scenario."""
    apart: set[Rule] = field(default_factory=set)
    """Statistical rules that were judged without what it names."""


class Ward:
    """All entries beside the scenarios of a comparison. ``today`` is ISO 8601."""

    def __init__(self, entries: Sequence[Quarantine], rows: Iterable[ScenarioComparison], today: str) -> None:
        self._entries = [_entry(one, today) for one in entries]
        self._of: dict[int, tuple[_Entry, ...]] = {}
        for row in rows if entries else ():
            named = tuple(one for one in self._entries if named_by(one.said.scenario, row))
            for one in named:
                one.n_scenarios += 1
            if named:
                self._of[id(row)] = named

    def holds(self, rule: Rule, row: ScenarioComparison) -> bool:
        """Is this scenario held back from this rule?"""
        return any(True for _ in self._holding(rule, row))

    def keep(self, rule: Rule, row: ScenarioComparison) -> None:
        """Note that the rule would have found something there, or taken it into account."""
        for one in self._holding(rule, row):
            kept = one.held.setdefault(row_name(row), set()) if rule.exact else one.apart
            kept.add(rule)

    def _holding(self, rule: Rule, row: ScenarioComparison) -> Iterable[_Entry]:
        return (one for one in self._of.get(id(row), ()) if not one.remark and one.said.holds(rule))

    def told(self) -> tuple[Quarantined, ...]:
        """Each entry and what became of it."""
        return tuple(_told(one) for one in self._entries)


def _entry(said: Quarantine, today: str) -> _Entry:
    last, now = datetime.date.fromisoformat(said.until), datetime.date.fromisoformat(today)
    expired = last < now
    remark = f"its last day was {said.until}" if expired else ""
    if (last - now).days > MOST_DAYS:
        remark = f"its last day, {said.until}, is more than {MOST_DAYS} days away, which is no expiry"
    return _Entry(said, expired, remark)


def _told(one: _Entry) -> Quarantined:
    remark = one.remark or ("" if one.n_scenarios else "no scenario here has that name")
    rows = tuple(Held(name, _in_order(rules)) for name, rules in sorted(one.held.items()))
    held = tuple(rule.value for rule in _in_order(one.apart.union(*one.held.values())))
    said = one.said
    return Quarantined(said.scenario, said.until, said.why, one.expired, held, one.n_scenarios, remark, rows)


def _in_order(rules: set[Rule]) -> tuple[Rule, ...]:
    return tuple(rule for rule in Rule if rule in rules)
