"""The overview: one row a scenario, the most interesting first, and what is told of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from harness.folds import cause_text, row_scenario, to_plain, where_text
from harness.report.amounts import exact_sums, means_of, n_paired
from harness.report.fates import Row, rows_of, worst_first
from harness.report.html.cutting import Plain
from harness.report.text import piece
from harness.report.unpassed import failing_checks
from harness.types.codes import Change
from harness.types.records import ScenarioComparison
from harness.types.review import Review

FORMAT: Final = "harness-html/1"
ROW_CHARS: Final = (200, 80, 30)
"""So many characters of each text of a row; fewer where rows would not fit otherwise."""
_MOST_FAILING: Final = 10
_MOST_LISTED: Final = 100
_MOST_CHARS: Final = 1_000


def by_interest(review: Review) -> list[Row]:
    """As in every report (``worst_first``), and of those alike by run id."""
    return worst_first(sorted(rows_of(review), key=lambda row: row.scenario.run_id))


def row_plain(judged: Row, n_chars: int) -> Plain:
    """One row; its texts are one line each, cut, with control and direction marks as escapes."""
    row = judged.scenario
    some = row.candidate or row.base
    return {
        "id": piece(row.run_id, n_chars),
        "name": piece(row_scenario(row), n_chars),
        "arm": piece(some.arm, n_chars) if some else "",
        "change": str(row.change),
        **_why(row, n_chars),
        **_sides(row),
        "model": piece(some.model, n_chars) if some else "",
        "subject": piece(some.subject, n_chars) if some else "",
        "status": str(some.status) if some and some.status else None,
        "reason": piece(some.reason, n_chars) if some else "",
        "failing": [piece(name, n_chars) for name in failing_checks(row)[:_MOST_FAILING]],
        "fate": str(judged.fate),
        "rules": [str(rule) for rule in dict.fromkeys((*judged.broken, *judged.warned))],
        "quarantined": judged.quarantine is not None,
        "detail": None,
    }


def _why(row: ScenarioComparison, n_chars: int) -> Plain:
    found = row.explanation
    shown = found.shown if found else row.divergence
    return {
        "cause": str(found.cause) if found else None,
        "causeText": piece(cause_text(found, row.base_chose), n_chars) if found else None,
        "where": piece(where_text(shown), n_chars) if shown else None,
        "base": _some(shown.base, n_chars) if shown else None,
        "candidate": _some(shown.candidate, n_chars) if shown else None,
        "line": piece(row.line, 2 * n_chars),
        "step": shown.step if shown else None,
        "turn": shown.turn if shown else None,
    }


def _some(text: str | None, n_chars: int) -> str | None:
    return None if text is None else piece(text, n_chars)


def _sides(row: ScenarioComparison) -> Plain:
    """What both sides came to: trials counted, and what one of them takes on average."""
    made: Plain = {
        "nBase": row.n_base if row.base else 0,
        "nCandidate": row.n_candidate if row.candidate else 0,
        "passedBase": row.base_passed,
        "passedCandidate": row.candidate_passed,
        "nDiffer": row.n_differ,
    }
    for name, run, means in zip(("Base", "Candidate"), (row.base, row.candidate), means_of(row), strict=True):
        made[f"outcome{name}"] = str(run.outcome) if run else None
        made |= {f"{amount}{name}": value for amount, value in means._asdict().items()}
    return made


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
        "nPaired": n_paired(review.comparison),
        "sums": {name: list(both) for name, both in exact_sums(review.comparison).items()},
        "moved": Counter(str(post.kind) for post in review.goal_posts),
        "quarantine": _quarantined(review),
    }


def _quarantined(review: Review) -> Plain:
    """How many entries hold something back, hold back what nothing breaks, or cannot hold back anything."""
    entries = review.verdict.quarantine
    idle = sum(bool(one.remark) for one in entries)
    held = sum(bool(one.held) and not one.remark for one in entries)
    return {"n": len(entries), "held": held, "idle": idle, "expired": sum(one.expired for one in entries)}


def _review_plain(review: Review) -> Plain:
    """All of a review but its scenarios; long texts and lists are cut, and ``n…`` counts what a list had."""
    verdict = review.verdict
    entries = tuple(replace(one, held_scenarios=()) for one in verdict.quarantine)
    without = replace(review.comparison, scenarios=())
    made: Plain = to_plain(replace(review, comparison=without, verdict=replace(verdict, quarantine=entries)))
    del made["comparison"]["scenarios"]
    bounded: Plain = _bounded(made)
    return bounded


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _MOST_CHARS else value[: _MOST_CHARS - 1] + "…"
    if isinstance(value, list):
        return [_bounded(item) for item in value[:_MOST_LISTED]]
    if not isinstance(value, dict):
        return value
    cut = {key: len(item) for key, item in value.items() if isinstance(item, list) and len(item) > _MOST_LISTED}
    counts = {f"n{key[0].upper()}{key[1:]}": n for key, n in cut.items()}
    return {**{key: _bounded(item) for key, item in value.items()}, **counts}
