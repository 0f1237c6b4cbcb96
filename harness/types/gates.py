"""A gate as a value: what is asked of a comparison, and what becomes of what is broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.types.messages import OnDisk
from harness.types.review import Rule, Severity

GATE_FORMAT: Final = "harness-gate/1"
EXACT_RULES: Final = tuple(rule for rule in Rule if rule.exact)
UNLESS_SAID: Final[dict[Rule, Severity]] = {
    rule: Severity.PASS if rule is Rule.DETAILS else Severity.FAIL for rule in EXACT_RULES
}
"""Of a rule that a gate does not name. As without a gate all that differs fails, but for what is no behaviour."""
NEVER_A_FLAKE: Final = frozenset({Rule.MISSING, Rule.STALE})
"""Rules that a quarantine holds back only where it names them: neither is ever a matter of chance."""
MOST_DAYS: Final = 366
"""A quarantine whose last day is further away is none."""


@dataclass(frozen=True, slots=True)
class PassRateRule(OnDisk):
    """The share of trials that pass may fall by ``margin`` (0.05 is five points), at a confidence ``level``."""

    margin: float
    level: float = 0.95
    severity: Severity = Severity.FAIL


@dataclass(frozen=True, slots=True)
class GrowthRule(OnDisk):
    """What runs take (cost, latency, tokens, steps) may grow by the share ``at_most`` (0.1 is 10 %)."""

    rule: Rule
    at_most: float
    level: float = 0.95
    severity: Severity = Severity.FAIL


@dataclass(frozen=True, slots=True)
class Quarantine(OnDisk):
    """A known flake: an id or a pattern (``*``, ``?``, ``[…]``), its last day (ISO 8601), a reason.

    ``rules`` empty: all but those that are never a flake.
    """

    scenario: str
    until: str
    why: str
    rules: tuple[Rule, ...] = ()

    def holds(self, rule: Rule) -> bool:
        """Does it speak of this rule?"""
        return rule in self.rules if self.rules else rule not in NEVER_A_FLAKE


@dataclass(frozen=True, slots=True)
class Gate(OnDisk):
    """All rules. ``exact`` holds each exact rule once, in their order."""

    exact: tuple[tuple[Rule, Severity], ...] = tuple(UNLESS_SAID.items())
    pass_rate: PassRateRule | None = None
    growth: tuple[GrowthRule, ...] = ()
    inconclusive_exact: Severity = Severity.FAIL
    inconclusive_statistical: Severity = Severity.WARN
    quarantine: tuple[Quarantine, ...] = ()
