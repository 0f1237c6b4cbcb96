"""The rows of an evaluation's tables, as plain values; free JSON is JSON text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.evaluate.case_index import needed_calls
from harness.evaluate.insight import expected_text
from harness.evaluate.tally import UNSEEN, Tally
from harness.types.evaluation import Case
from harness.types.evaluation_summary import EvaluationSummary, rounded
from harness.types.grades import Grade, Score
from harness.types.jsontext import canonical_json
from harness.types.reasons import Usage
from harness.types.trials import Trial, TrialAnswer, TrialCall

Row = dict[str, Any]


def trial_row(case: Case, trial: Trial, grade: Grade) -> Row:
    """One trial and what it is worth."""
    answer, usage = trial.answer or TrialAnswer(), trial.usage or Usage()
    return {
        **_key(case, trial.arm, trial.trial, grade.score),
        "stage": grade.stage,
        "why_no_call": grade.why_no_call,
        "cells": canonical_json([list(cell) for cell in grade.cells]),
        "misfits": canonical_json([[one.kind.value, one.path, one.message] for one in grade.misfits]),
        "calls": canonical_json([_call(call) for call in answer.calls]),
        "content": answer.content if answer.refusal is None else answer.refusal,
        "finish_reason": answer.finish_reason,
        "error_code": trial.error and trial.error.code,
        "error_owner": trial.error and trial.error.owner,
        "error": trial.error and trial.error.message,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_micro_usd": usage.cost_micro_usd,
        "n_retries": trial.n_retries,
        "duration_ms": trial.duration_ms,
        "request": trial.request,
        **_source(trial),
    }


def _key(case: Case, arm: str, trial: int, score: Score) -> Row:
    passed = int(score is Score.PASSED)
    return {"case": case.id, "unit": case.unit, "arm": arm, "trial": trial, "score": score, "passed": passed}


def _call(call: TrialCall) -> Row:
    return {"name": call.name, "arguments": call.arguments}


def _source(trial: Trial) -> Row:
    by = trial.by
    if by is None:
        return {}
    return {"origin": by.origin, "model": by.model, "fingerprint": by.fingerprint, "server": by.server, "at": by.at}


def skipped_rows(tally: Tally) -> Iterator[Row]:
    """One row for each planned trial that has no line."""
    for number in range(len(tally.index)):
        for arm, spec in enumerate(tally.evaluation.arms):
            row = tally.row(number, arm)
            for place, mark in enumerate(row, 1):
                if mark == UNSEEN:
                    yield _key(tally.index.cases[number], spec.name, place, Score.SKIPPED)


def case_rows(tally: Tally) -> Iterator[Row]:
    """One row for each case and arm."""
    for number, case in enumerate(tally.evaluation.cases):
        shared = {
            "case": case.id,
            "unit": case.unit,
            "split": case.split,
            "tags": canonical_json(list(case.tags)),
            "ask": case.ask,
            "expected": expected_text(case),
            "needed_calls": needed_calls(case),
        }
        for arm, spec in enumerate(tally.evaluation.arms):
            counts = tally.counts(number, arm)
            yield {
                **shared,
                "arm": spec.name,
                "planned": counts.planned,
                "passed": counts.passed,
                "failed": counts.failed,
                "errored": counts.errored,
                "skipped": counts.skipped,
                "rate": counts.rate,
                "flaky": 0 < counts.passed < counts.scored,
                "misfits": canonical_json([kind.value for kind in tally.kinds_of(number, arm)]),
            }


def confusion_rows(summary: EvaluationSummary) -> Iterator[Row]:
    """One row for each cell that is not empty."""
    for cell in summary.confusion:
        yield {"arm": cell.arm, "expected": cell.expected, "chosen": cell.chosen, "n": cell.n}


def argument_rows(summary: EvaluationSummary) -> Iterator[Row]:
    """One row for each argument and arm."""
    for line in summary.arguments:
        rate = rounded(line.right / line.n)
        yield {"arm": line.arm, "argument": line.name, "right": line.right, "n": line.n, "rate": rate}
