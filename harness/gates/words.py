"""What a rule found, in one line with numbers. Names of checks and causes are foreign text as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from harness.gates.exact import Found
from harness.types.codes import Outcome
from harness.types.records import ScenarioComparison
from harness.types.review import Rule

Rows: TypeAlias = Sequence[tuple[ScenarioComparison, Sequence[Found]]]
"""Scenarios in which a rule found something."""
_MOST_KINDS: Final = 5
_BROKEN: Final[dict[Rule, tuple[str, str]]] = {
    Rule.CHECKS: (
        "{n} scenario fails a check more often than in the base",
        "{n} scenarios fail a check more often than in the base",
    ),
    Rule.CANCEL: ("{n} scenario works on after a cancel more often", "{n} scenarios work on after a cancel more often"),
    Rule.PAIRING: (
        "{n} scenario breaks the pairing of calls and results more often",
        "{n} scenarios break the pairing of calls and results more often",
    ),
    Rule.STALE: ("{n} scenario has a recording out of date", "{n} scenarios have recordings out of date"),
    Rule.MISSING: ("{n} scenario is missing or has fewer trials", "{n} scenarios are missing or have fewer trials"),
    Rule.NEW: ("{n} new scenario does not pass", "{n} new scenarios do not pass"),
    Rule.BEHAVIOUR: ("{n} scenario behaves differently", "{n} scenarios behave differently"),
    Rule.DETAILS: ("{n} scenario differs in details only", "{n} scenarios differ in details only"),
}
_RECORD_AGAIN: Final = "; if that is meant: harness record --stale"
_UNDECIDED: Final[dict[Outcome, str]] = {
    Outcome.ERROR: "errored",
    Outcome.INVALID: "not judged",
    Outcome.INCONCLUSIVE: "not decided",
}


def exact_why(rule: Rule, rows: Rows, n_asked: int, n_held: int, beside: str) -> str:
    """``2 scenarios behave differently (tool description changed 2×)``; what was not decided; what was held back."""
    found = [here for _, here in rows]
    parts = [text for text in (_broken(rule, found) + _again(rule, rows), *_undecided(found), beside) if text]
    if not parts:
        parts = [f"0 of {n_asked} scenario{'' if n_asked == 1 else 's'}"] if n_asked else []
    if n_held:
        parts.append(f"{n_held} in quarantine")
    return "; ".join(parts) or "nothing to ask"


def _broken(rule: Rule, found: Sequence[Sequence[Found]]) -> str:
    broken = _with(Outcome.FAIL, found)
    if not broken:
        return ""
    text = _BROKEN[rule][len(broken) != 1].format(n=len(broken))
    kinds = "" if rule is Rule.NEW else _kinds(kind for row in broken for kind in row)
    return f"{text}{f' ({kinds})' if kinds else ''}"


def _again(rule: Rule, rows: Rows) -> str:
    """Of recordings out of date: how far runs still follow them, and the command that makes them anew."""
    stale = [row for row, here in rows if rule is Rule.STALE and any(outcome is Outcome.FAIL for outcome, _ in here)]
    if not stale:
        return ""
    followed = sorted(row.candidate.n_steps for row in stale if row.candidate)
    if not followed:
        return _RECORD_AGAIN
    low, high = followed[0], followed[-1]
    if low == high:
        return f", {low} leading step{' still agrees' if low == 1 else 's still agree'}{_RECORD_AGAIN}"
    return f", {low} to {high} leading steps still agree{_RECORD_AGAIN}"


def _undecided(found: Sequence[Sequence[Found]]) -> Iterable[str]:
    for outcome, word in _UNDECIDED.items():
        rows = _with(outcome, found)
        if rows:
            kinds = _kinds(kind for row in rows for kind in row if kind != outcome.value)
            yield f"{len(rows)} {word}{f' ({kinds})' if kinds else ''}"


def _with(outcome: Outcome, found: Sequence[Sequence[Found]]) -> list[set[str]]:
    """Of each scenario in which a rule found that outcome, what it is counted by."""
    rows = ({kind for how, kind in row if how is outcome} for row in found)
    return [kinds for kinds in rows if kinds]


def _kinds(kinds: Iterable[str]) -> str:
    """``answer 2×, tool_order``: the most frequent first."""
    n = Counter(kind for kind in kinds if kind)
    ordered = sorted(n.items(), key=lambda one: (-one[1], one[0]))
    shown = ", ".join(f"{kind} {count}×" if count > 1 else kind for kind, count in ordered[:_MOST_KINDS])
    left = len(ordered) - _MOST_KINDS
    return f"{shown} and {left} more" if left > 0 else shown
