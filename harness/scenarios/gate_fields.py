"""Fields of a gate's document: ``format: harness-gate/1``."""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema

from harness.scenarios.base import UNIQUE, Choice, Fields, Filled, Words, complaint
from harness.types.gates import Gate, GrowthRule, PassRateRule, Quarantine
from harness.types.review import Rule, Severity

SEVERITIES: Final = tuple(one.value for one in Severity)
BROKEN: Final = (Severity.FAIL.value, Severity.WARN.value)
RULES: Final = tuple(rule.value for rule in Rule)
_PER_CENT: Final = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,6})?) ?%")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _share(value: Any, most: float) -> float:
    """A share as a number (0.05) or in per cent (5 %)."""
    share: float | None = None
    if isinstance(value, str):
        found = _PER_CENT.fullmatch(value)
        share = None if found is None else float(found[1]) / 100
    elif isinstance(value, int | float) and not isinstance(value, bool):
        share = float(value) if value <= 1 else None
    if share is None:
        raise complaint(f"must be a share such as 0.05, or 5 %, is {value!r:.40}; write numbers above 1 as per cent")
    if not 0 <= share <= most:
        raise complaint(f"must lie between 0 and {100 * most:g} %, is {value!r:.40}")
    return share


def _margin(value: Any) -> float:
    share = _share(value, 1)
    if not share:
        raise complaint("must be above 0: no number of scenarios shows that nothing at all got worse")
    return share


def _growth(value: Any) -> float:
    return _share(value, 10)


def _level(value: Any) -> float:
    share = _share(value, 1)
    if not 0.5 <= share < 1:
        raise complaint(f"is how sure the interval is: at least 0.5 and below 1 (0.95 is usual), is {value!r:.40}")
    return share


def _day(text: str) -> str:
    try:
        if _DATE.fullmatch(text):
            return datetime.date.fromisoformat(text).isoformat()
    except ValueError:  # such as 2026-02-30: told below
        pass
    raise complaint(f"must be the last day it holds, as year-month-day (2027-01-31), is {text!r:.40}")


_SHARE: Final = {
    "anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "pattern": r"^[0-9.]+ ?%$"}]
}
_DAY: Final = {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
Margin: TypeAlias = Annotated[Any, AfterValidator(_margin), WithJsonSchema(_SHARE)]
Growth: TypeAlias = Annotated[Any, AfterValidator(_growth), WithJsonSchema(_SHARE)]
Level: TypeAlias = Annotated[Any, AfterValidator(_level), WithJsonSchema(_SHARE)]
Day: TypeAlias = Annotated[str, AfterValidator(_day), WithJsonSchema(_DAY)]
Word: TypeAlias = Annotated[str, Choice(SEVERITIES)]
Broken: TypeAlias = Annotated[str, Choice(BROKEN)]


class ExactFields(Fields):
    """What becomes of each exact rule that is broken; defaults are those of ``UNLESS_SAID``."""

    checks: Word = "fail"
    cancel: Word = "fail"
    pairing: Word = "fail"
    stale: Word = "fail"
    missing: Word = "fail"
    new: Word = "fail"
    behaviour: Word = "fail"
    details: Word = "pass"

    def made(self) -> tuple[tuple[Rule, Severity], ...]:
        return tuple((Rule(name), Severity(word)) for name, word in self.model_dump().items())


class PassRateFields(Fields):
    """How far the pass rate may fall."""

    margin: Margin
    level: Level = 0.95
    severity: Broken = "fail"

    def made(self) -> PassRateRule:
        return PassRateRule(self.margin, self.level, Severity(self.severity))


class GrowthFields(Fields):
    """How much more runs may take."""

    at_most: Growth
    level: Level = 0.95
    severity: Broken = "fail"

    def made(self, rule: Rule) -> GrowthRule:
        return GrowthRule(rule, self.at_most, self.level, Severity(self.severity))


class StatisticalFields(Fields):
    """Rules that an interval decides; one that is not named is not asked."""

    pass_rate: PassRateFields | None = Field(default=None, alias="pass-rate")
    cost: GrowthFields | None = None
    latency: GrowthFields | None = None
    tokens: GrowthFields | None = None
    steps: GrowthFields | None = None

    def growth(self) -> tuple[GrowthRule, ...]:
        asked = ((rule, getattr(self, rule.value)) for rule in (Rule.COST, Rule.LATENCY, Rule.TOKENS, Rule.STEPS))
        return tuple(fields.made(rule) for rule, fields in asked if fields is not None)


class InconclusiveFields(Fields):
    """What becomes of rules that cannot be decided."""

    exact: Word = "fail"
    statistical: Word = "warn"


class QuarantineFields(Fields):
    """A known flake, until a day."""

    scenario: Annotated[Filled, Field(max_length=400)]
    until: Day
    why: Words
    rules: Annotated[list[Annotated[str, Choice(RULES)]], Field(min_length=1), *UNIQUE] | None = None

    def made(self) -> Quarantine:
        return Quarantine(self.scenario, self.until, self.why, tuple(map(Rule, self.rules or ())))


class GateFields(Fields):
    """A gate's document."""

    model_config = ConfigDict(title="harness-gate/1")
    format: Literal["harness-gate/1"]
    exact: ExactFields = ExactFields()
    statistical: StatisticalFields = StatisticalFields()
    inconclusive: InconclusiveFields = InconclusiveFields()
    quarantine: Annotated[list[QuarantineFields], Field(max_length=1_000)] = Field(default_factory=list)

    def made(self) -> Gate:
        return Gate(
            exact=self.exact.made(),
            pass_rate=self.statistical.pass_rate.made() if self.statistical.pass_rate else None,
            growth=self.statistical.growth(),
            inconclusive_exact=Severity(self.inconclusive.exact),
            inconclusive_statistical=Severity(self.inconclusive.statistical),
            quarantine=tuple(one.made() for one in self.quarantine),
        )
