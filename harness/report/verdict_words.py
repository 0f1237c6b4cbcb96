"""The verdict of a gate and what moved beside it, in words that every report uses. Foreign text is made visible."""

from __future__ import annotations

from collections import Counter
from typing import Final, assert_never

from harness.report.fates import is_gated
from harness.report.text import counted, piece, visible
from harness.types.codes import PASSING, Outcome
from harness.types.review import GateSource, GateVerdict, PostKind, Quarantined, Review, Revision, RuleResult, Severity

_COMMIT_CHARS: Final = 10
_WHY_CHARS: Final = 400
_NAME_CHARS: Final = 80


def revision_text(revision: Revision) -> str:
    """``1f2e3d4c5b (main)``, with a word about what was not committed; empty where nothing is known."""
    if revision.commit is None:
        return ""
    ref = f" ({piece(revision.ref, _NAME_CHARS)})" if revision.ref else ""
    dirty = " with uncommitted changes" if revision.dirty else ""
    return f"{visible(revision.commit[:_COMMIT_CHARS])}{ref}{dirty}"


def gate_text(verdict: GateVerdict) -> str:
    """``the gate of the merge base (gate.yaml)``: by what it was judged; empty where no gate judged."""
    if not is_gated(verdict):
        return ""
    match verdict.source:
        case GateSource.NONE:
            return ""
        case GateSource.MERGE_BASE:
            return f"the gate of the merge base ({piece(verdict.file, _NAME_CHARS)})"
        case GateSource.FILE:
            return f"the gate {piece(verdict.file, _NAME_CHARS)} as it lies here"
        case _:
            assert_never(verdict.source)


def goal_posts_text(review: Review) -> str:
    """``this change edits the gate, 3 baselines, 1 limit; judged by the gate of the merge base``; empty: none moved."""
    n = Counter(post.kind for post in review.goal_posts)
    parts = ["the gate"] if n[PostKind.GATE] or review.verdict.edited else []
    parts += [counted(n[kind], kind.value) for kind in PostKind if kind is not PostKind.GATE and n[kind]]
    if not parts:
        return ""
    told = f"; {visible(review.verdict.note)}" if review.verdict.note else ""
    judged = "; judged by the gate of the merge base" if review.verdict.edited and not told else ""
    return f"this change edits {', '.join(parts)}{judged}{told}"


def verdict_text(verdict: GateVerdict) -> str:
    """What gave the verdict, and by name the other rules that would have."""
    told = piece(verdict.text, _WHY_CHARS)
    others = [
        one.rule.value
        for one in verdict.results
        if one.severity is Severity.FAIL and one.outcome not in PASSING and one.rule is not verdict.rule
    ]
    return f"{told} (also: {', '.join(others)})" if others else told


def rule_lines(verdict: GateVerdict) -> list[str]:
    """A line for each rule that the gate asks: its outcome, what becomes of that, and why."""
    return [_rule(one) for one in verdict.results]


def _rule(one: RuleResult) -> str:
    becomes = "" if one.outcome in PASSING or one.severity is Severity.FAIL else f" ({one.severity} only)"
    why = f": {piece(one.why, _WHY_CHARS)}" if one.why else ""
    return f"{one.outcome.value:<14} {one.rule.value}{becomes}{why}"


def warnings(verdict: GateVerdict) -> list[RuleResult]:
    """The rules that are broken or not decided, and only warn."""
    return [one for one in verdict.results if one.outcome not in PASSING and one.severity is Severity.WARN]


def warning_lines(verdict: GateVerdict) -> list[str]:
    """``behaviour: 3 scenarios behave differently``, one for each rule that only warns."""
    undecided = (Outcome.INCONCLUSIVE, Outcome.INVALID)
    return [
        f"{one.rule.value}{' (not decided)' if one.outcome in undecided else ''}: {piece(one.why, _WHY_CHARS)}"
        for one in warnings(verdict)
    ]


def aside_text(verdict: GateVerdict) -> str:
    """What one line tells beside no difference: ``; pass-rate not decided; 1 quarantine that holds nothing back``."""
    parts = [
        f"{one.rule.value} {'broken' if one.outcome is Outcome.FAIL else 'not decided'}" for one in warnings(verdict)
    ]
    n = sum(bool(one.remark) for one in verdict.quarantine)
    parts += [f"{counted(n, 'quarantine')} without effect"] if n else []
    return "".join(f"; {part}" for part in parts)


def quarantine_lines(verdict: GateVerdict) -> list[str]:
    """What was held back and why, then entries that hold nothing back although somebody may think so."""
    held = [one for one in verdict.quarantine if one.held]
    return [*map(_held, held), *(_idle(one) for one in verdict.quarantine if one.remark)]


def _held(one: Quarantined) -> str:
    rules = ", ".join(one.held)
    return f"{piece(one.scenario, _NAME_CHARS)} held back from {rules} until {one.until}: {piece(one.why, _NAME_CHARS)}"


def _idle(one: Quarantined) -> str:
    return f"{piece(one.scenario, _NAME_CHARS)} is not held back: {piece(one.remark, _WHY_CHARS)}"
