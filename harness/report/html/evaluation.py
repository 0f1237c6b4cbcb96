"""An evaluation as one HTML file: its lines, rates, matrices, curves, and the cases that fail, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.report.confusing import Matrix, matrix_of, matrix_of_counts
from harness.report.evaluation_words import (
    NO_JUDGE,
    arms_in_order,
    cause_lines,
    changes_text,
    comparison_lines,
    counts_text,
    factor_text,
    flip_text,
    headline,
    reasons,
    spent_text,
    steadiness_text,
    trend_text,
    verdict_text,
)
from harness.report.html.document import page
from harness.report.html.embed import json_bytes
from harness.report.text import piece
from harness.types.evaluation_comparison import ComparisonSummary
from harness.types.evaluation_insight import Curve, CurvePoint, MisfitCount
from harness.types.evaluation_stories import ArmStory, CaseStories, CaseStory, TrialStory
from harness.types.evaluation_summary import ArmSummary, EvaluationSummary
from harness.types.records import Comparison
from harness.types.review import GateVerdict, Review

Plain = dict[str, Any]
MOST_ARMS: Final = 40
MOST_NAMES: Final = 40
MOST_LINES: Final = 200
CASES_BYTES: Final = 12_000_000
_MOST_CAUSES: Final = 10
_RULE_CHARS: Final = 400
_NAME_CHARS: Final = 200
_MOST_TAGS: Final = 50


def evaluation_page(
    summary: EvaluationSummary, stories: CaseStories, *, command: str = "", before: Sequence[str] = ()
) -> bytes:
    """The file. ``command`` makes it again; ``before`` tells verdicts that were given before this one."""
    verdict = GateVerdict(summary.outcome, f"{verdict_text(summary)}: {piece(summary.rule, _RULE_CHARS)}")
    review = Review(Comparison("", summary.evaluation, (), summary.outcome), verdict, command)
    block = evaluation_block(summary, stories, before=before)
    return page(review, plots=lambda rows, contexts: block)


def evaluation_block(summary: EvaluationSummary, stories: CaseStories, *, before: Sequence[str] = ()) -> Plain:
    """The block ``plots`` of an evaluation: the numbers of the summary as they are, in strict JSON values."""
    arms = arms_in_order(summary)[:MOST_ARMS]
    return {
        "evaluation": _told(summary, arms, before),
        "rates": [rate_line(arm) for arm in arms if arm.unit_rate is not None],
        "ratesOf": "arms",
        "confusion": list(matrices(summary, arms)),
        "curves": _curves(summary.curves),
        "mismatches": _mismatches(summary),
        **({} if summary.comparison is None else {"changes": _changes(summary.comparison)}),
        "cases": _cases(stories),
    }


# ---------------------------------------------------------------- what it came to


def _told(summary: EvaluationSummary, arms: Sequence[ArmSummary], before: Sequence[str]) -> Plain:
    lines = [*reasons(summary, before), *cause_lines(summary, _MOST_CAUSES)]
    if summary.comparison is not None:
        lines += comparison_lines(summary.comparison)
    return {
        "verdict": verdict_text(summary),
        "outcome": str(summary.outcome),
        "headline": headline(summary),
        "rule": piece(summary.rule, _RULE_CHARS),
        "lines": [[label, text] for label, text in lines],
        "note": NO_JUDGE,
        "arms": [_arm(arm) for arm in arms],
        "armsLeftOut": len(summary.arms) - len(arms),
        "factors": [
            {"arm": line.arm, "text": factor_text(line), "changes": changes_text(line)}
            for line in summary.factors[:MOST_LINES]
        ],
    }


def _arm(arm: ArmSummary) -> Plain:
    counts = arm.counts
    return {
        "name": _name(arm.name),
        "changes": [_name(one) for one in arm.changes],
        "planned": counts.planned,
        "passed": counts.passed,
        "failed": counts.failed,
        "errored": counts.errored,
        "skipped": counts.skipped,
        "counts": counts_text(counts),
        "steadiness": steadiness_text(arm),
        "flaky": arm.n_flaky,
        "spent": spent_text(arm.spent),
        "stages": [[str(stage), n] for stage, n in arm.stages],
        "whyNoCall": [[str(why), n] for why, n in arm.why_no_call],
        "never": [arm.never.violated, arm.never.trials],
    }


def rate_line(arm: ArmSummary) -> Plain:
    """The mean rate of an arm's units with its interval, and pass^k, as the plots of pass rates take it."""
    interval = arm.interval
    side = {
        "rate": arm.unit_rate,
        "n": arm.counts.passed,
        "of": arm.counts.planned,
        "units": arm.n_units,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "passHat": arm.pass_hat_k,
        "k": arm.k,
    }
    return {"group": "arm", "name": _name(arm.name), "base": None, "candidate": side}


# ---------------------------------------------------------------- where it went wrong


def matrices(summary: EvaluationSummary, arms: Sequence[ArmSummary]) -> Iterator[Plain]:
    """The confusion matrix of each arm that has one, cut to the names that come most often."""
    for arm in arms:
        matrix = matrix_of(summary, arm.name, MOST_NAMES)
        if matrix.rows:
            yield _matrix(arm.name, matrix)


def matrix_entry(arm: str, counts: Mapping[tuple[str, str], int]) -> Plain:
    """A matrix of pairs (expected, chosen) that were counted elsewhere."""
    return _matrix(arm, matrix_of_counts(counts, MOST_NAMES))


def _matrix(arm: str, matrix: Matrix) -> Plain:
    return {
        "arm": _name(arm),
        "rows": [_name(name) for name in matrix.rows],
        "columns": [_name(name) for name in matrix.columns],
        "cells": [list(row) for row in matrix.cells],
        # By place, since two names that are cut may look alike.
        "right": [[i, j] for i, row in enumerate(matrix.rows) for j, name in enumerate(matrix.columns) if row == name],
        "leftOut": matrix.n_left_out,
    }


def _curves(curves: Sequence[Curve]) -> list[Plain]:
    found: dict[str, list[Plain]] = {}
    for curve in curves[:MOST_LINES]:
        line = {"arm": _name(curve.arm), "points": [_point(at) for at in curve.points], "trend": trend_text(curve)}
        found.setdefault(curve.name, []).append(line)
    return [{"name": name, "lines": lines} for name, lines in found.items()]


def _point(at: CurvePoint) -> Plain:
    return {
        "x": at.x,
        "label": _name(at.label),
        "units": at.n_units,
        "rate": at.rate,
        "low": at.low,
        "high": at.high,
    }


def _mismatches(summary: EvaluationSummary) -> Plain:
    arguments = sorted(summary.arguments, key=lambda line: (line.right / line.n, line.name, line.arm))
    tables = (summary.misfits, arguments, summary.tags)
    return {
        "kinds": [_misfit(line) for line in summary.misfits[:MOST_LINES]],
        "arguments": [
            {"arm": _name(line.arm), "name": _name(line.name), "right": line.right, "n": line.n}
            for line in arguments[:MOST_LINES]
        ],
        "tags": [
            {
                "tag": _name(line.tag),
                "arm": _name(line.arm),
                "cases": line.n_cases,
                "passed": line.passed,
                "planned": line.planned,
            }
            for line in summary.tags[:MOST_LINES]
        ],
        "leftOut": sum(max(0, len(table) - MOST_LINES) for table in tables),
    }


def _misfit(line: MisfitCount) -> Plain:
    first = line.examples[0] if line.examples else None
    example = None if first is None else [_name(first.case), _name(first.path), _name(first.message)]
    return {"arm": _name(line.arm), "kind": line.kind.value, "trials": line.trials, "example": example}


def _changes(comparison: ComparisonSummary) -> Plain:
    prompts, cases = comparison.prompts, comparison.cases
    interval = prompts.interval
    return {
        "base": _name(comparison.base),
        "candidate": _name(comparison.candidate),
        "mean": prompts.difference,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "level": None if interval is None else interval.level,
        "margin": comparison.margin,
        "spread": [[difference, n] for difference, n in comparison.spread],
        "nWorse": cases.n_worse,
        "nBetter": cases.n_better,
        "nSame": cases.n_same,
        "flips": [
            {"way": way, "case": _name(flip.case), "text": flip_text(flip)}
            for way, flips in (("worse", cases.worse), ("better", cases.better))
            for flip in flips[:MOST_LINES]
        ],
    }


# ---------------------------------------------------------------- single cases


def _cases(stories: CaseStories) -> Plain:
    """Cases as long as there is room for them, those that fail most first."""
    kept: list[Plain] = []
    n_bytes = 0
    for story in stories.cases:
        case = _case(story)
        n_bytes += len(json_bytes(case))
        if n_bytes > CASES_BYTES:
            break
        kept.append(case)
    return {"cases": kept, "leftOut": stories.left_out + len(stories.cases) - len(kept)}


def _case(story: CaseStory) -> Plain:
    return {
        "case": _name(story.case),
        "tags": [_name(tag) for tag in story.tags[:_MOST_TAGS]],
        "before": story.before,
        "ask": story.ask,
        "expected": story.expected,
        "arms": [_case_in_arm(arm) for arm in story.arms[:MOST_ARMS]],
    }


def _case_in_arm(arm: ArmStory) -> Plain:
    return {
        "arm": _name(arm.arm),
        "passed": arm.passed,
        "planned": arm.planned,
        "leftOut": arm.left_out,
        "trials": [_trial(one) for one in arm.trials],
    }


def _trial(one: TrialStory) -> Plain:
    return {
        "trial": one.trial,
        "score": str(one.score),
        "chosen": one.chosen,
        "stage": None if one.stage is None else str(one.stage),
        "misfits": [[str(misfit.kind), misfit.path, misfit.message] for misfit in one.misfits],
    }


def _name(text: str) -> str:
    return piece(text, _NAME_CHARS)
