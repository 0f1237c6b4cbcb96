"""The overview: one row a scenario, the most interesting first, and what is told of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from harness.folds import cause_text, to_plain, where_text
from harness.report.html.cutting import Plain
from harness.report.text import piece
from harness.types.codes import Change, Outcome
from harness.types.records import Explanation, RunSummary, ScenarioComparison
from harness.types.review import Review

FORMAT: Final = "harness-html/1"
_NAME_CHARS: Final = 200
_SIDE_CHARS: Final = 200
_LINE_CHARS: Final = 300
_MOST_FAILING: Final = 10
_MOST_LISTED: Final = 200
_GOOD: Final = (Outcome.PASS, Outcome.NOT_APPLICABLE)


def by_interest(rows: Sequence[ScenarioComparison]) -> list[ScenarioComparison]:
    """Worse, missing, new that fail, changed, better, those that fail as before, new ones, same; each by name."""
    return sorted(rows, key=lambda row: (_rank(row), row.run_id))


def _rank(row: ScenarioComparison) -> int:
    fails = row.candidate is not None and row.candidate_passed < row.n_candidate
    match Change(row.change):
        case Change.WORSE:
            return 0
        case Change.MISSING:
            return 1
        case Change.NEW:
            return 2 if fails else 6
        case Change.CHANGED:
            return 3
        case Change.BETTER:
            return 4
        case Change.SAME:
            return 5 if fails else 7


def row_plain(row: ScenarioComparison, quarantined: frozenset[str]) -> Plain:
    """One row; its texts are one line each, cut, with control and direction marks as escapes."""
    some = row.candidate or row.base
    scenario = (some.scenario or some.run_id) if some else row.run_id
    return {
        "id": piece(row.run_id, _NAME_CHARS),
        "name": piece(scenario, _NAME_CHARS),
        "arm": piece(some.arm, _NAME_CHARS) if some else "",
        "change": str(row.change),
        **_why(row.explanation, row),
        "line": piece(row.line, _LINE_CHARS),
        **_sides(row),
        "model": piece(some.model, _NAME_CHARS) if some else "",
        "subject": piece(some.subject, _NAME_CHARS) if some else "",
        "status": str(some.status) if some and some.status else None,
        "reason": piece(some.reason, _NAME_CHARS) if some else "",
        "failing": _failing(row.candidate),
        "quarantined": scenario in quarantined,
        "detail": None,
    }


def _why(found: Explanation | None, row: ScenarioComparison) -> Plain:
    shown = found.shown if found else row.divergence
    return {
        "cause": str(found.cause) if found else None,
        "causeText": piece(cause_text(found, row.base_chose), _LINE_CHARS) if found else None,
        "where": piece(where_text(shown), _NAME_CHARS) if shown else None,
        "base": _some(shown.base) if shown else None,
        "candidate": _some(shown.candidate) if shown else None,
        "step": shown.step if shown else None,
        "turn": shown.turn if shown else None,
    }


def _some(text: str | None) -> str | None:
    return None if text is None else piece(text, _SIDE_CHARS)


def _sides(row: ScenarioComparison) -> Plain:
    """What both sides came to: trials counted, and the numbers of the pair that is shown."""
    made: Plain = {
        "nBase": row.n_base if row.base else 0,
        "nCandidate": row.n_candidate if row.candidate else 0,
        "passedBase": row.base_passed,
        "passedCandidate": row.candidate_passed,
        "nDiffer": row.n_differ,
    }
    for name, run in (("Base", row.base), ("Candidate", row.candidate)):
        made[f"outcome{name}"] = str(run.outcome) if run else None
        made[f"steps{name}"] = run.n_steps if run else None
        made[f"tokens{name}"] = _tokens(run) if run else None
        made[f"cost{name}"] = run.cost_micro_usd if run else None
        made[f"latency{name}"] = run.duration_ms if run else None
    return made


def _tokens(run: RunSummary) -> int | None:
    if run.input_tokens is None and run.output_tokens is None:
        return None
    return (run.input_tokens or 0) + (run.output_tokens or 0)


def _failing(run: RunSummary | None) -> list[str]:
    names = [verdict.check for verdict in run.verdicts if verdict.outcome not in _GOOD] if run else []
    return [piece(name, _NAME_CHARS) for name in names[:_MOST_FAILING]]


def overview_plain(review: Review, rows: Sequence[Plain]) -> Plain:
    """The block ``overview``: the review without its scenarios, and the rows that are listed."""
    scenarios = review.comparison.scenarios
    counts = Counter(str(row.change) for row in scenarios)
    return {
        "format": FORMAT,
        "review": _review_plain(review),
        "counts": {str(change): counts[change] for change in Change},
        "rows": list(rows),
        "nRows": len(scenarios),
        "runs": None,
    }


def _review_plain(review: Review) -> Plain:
    """All of a review but its scenarios; lists of files are cut, and ``n…`` counts them."""
    made: Plain = to_plain(review)
    made["comparison"] = {key: value for key, value in made["comparison"].items() if key != "scenarios"}
    for key in ("goalPosts", "sources"):
        values: list[Any] = made.get(key, [])
        if len(values) > _MOST_LISTED:
            made[key] = values[:_MOST_LISTED]
            made[f"n{key[0].upper()}{key[1:]}"] = len(values)
    return made
