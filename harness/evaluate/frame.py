"""An evaluation as tables: trials, cases, confusion, arguments; as pandas frames, and as Parquet written in pieces.

Every column has a type that is stated here and never guessed: an id "001" stays text, whole numbers stay whole and
exact where some are missing, and what is free JSON (arguments, mismatches) is JSON text. A planned trial without a
line is a row too (``score`` "skipped"), and ``passed`` is 0 where a trial did not pass, for whatever reason: so the
mean of ``passed`` is the headline rate, with nothing left out (PB-040).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.errors import ConfigurationError
from harness.evaluate.frame_rows import argument_rows, case_rows, confusion_rows, skipped_rows, trial_row
from harness.evaluate.summary import graded, settle, summary_of
from harness.evaluate.tally import Place, Tally
from harness.evaluate.why import blaming_endpoint
from harness.types.evaluation import Evaluation, ToolSnapshot
from harness.types.evaluation_summary import EvaluationSummary
from harness.types.grades import Grade, WhyNoCall
from harness.types.jsontext import clean_text
from harness.types.trials import Trial

if TYPE_CHECKING:
    import pandas as pd

ROWS_AT_ONCE: Final = 10_000
_INT64: Final = range(-(2**63), 2**63)


class Kind(Enum):
    """What a column holds."""

    TEXT = "text"
    WHOLE = "whole"
    SHARE = "share"
    YES = "yes"


_T, _W, _S, _Y = Kind.TEXT, Kind.WHOLE, Kind.SHARE, Kind.YES
COLUMNS: Final[Mapping[str, Mapping[str, Kind]]] = {
    "trials": {
        "case": _T, "unit": _T, "arm": _T, "trial": _W, "score": _T, "passed": _W, "stage": _T, "why_no_call": _T,
        "cells": _T, "misfits": _T, "calls": _T, "content": _T, "finish_reason": _T, "error_code": _T,
        "error_owner": _T, "error": _T, "input_tokens": _W, "output_tokens": _W, "cost_micro_usd": _W,
        "n_retries": _W, "duration_ms": _W, "origin": _T, "model": _T, "fingerprint": _T, "server": _T, "at": _T,
        "request": _T,
    },
    "cases": {
        "case": _T, "unit": _T, "arm": _T, "split": _T, "tags": _T, "ask": _T, "expected": _T, "needed_calls": _W,
        "planned": _W, "passed": _W, "failed": _W, "errored": _W, "skipped": _W, "rate": _S, "flaky": _Y,
        "misfits": _T,
    },
    "confusion": {"arm": _T, "expected": _T, "chosen": _T, "n": _W},
    "arguments": {"arm": _T, "argument": _T, "right": _W, "n": _W, "rate": _S},
}  # fmt: skip
"""Each table's columns in their order, and what each holds."""


@dataclass(frozen=True)
class Frames:
    """The tables of an evaluation as pandas frames: text as ``string``, whole numbers as ``Int64``."""

    trials: pd.DataFrame
    cases: pd.DataFrame
    confusion: pd.DataFrame
    arguments: pd.DataFrame


def frames(
    evaluation: Evaluation, snapshot: ToolSnapshot, trials: Iterable[Trial], distractors: ToolSnapshot | None = None
) -> Frames:
    """All tables in memory. Raises like ``summarise``, and ConfigurationError without pandas."""
    tally = Tally(evaluation, distractors)
    known = [*graded(tally, snapshot, trials)]
    settle(tally)
    summary = summary_of(tally, snapshot)
    rows = [*_trial_rows(known, arms_ignoring_tools(summary)), *skipped_rows(tally)]
    return Frames(
        _frame("trials", rows),
        _frame("cases", case_rows(tally)),
        _frame("confusion", confusion_rows(summary)),
        _frame("arguments", argument_rows(summary)),
    )


def write_parquet(
    folder: str | PathLike[str],
    evaluation: Evaluation,
    snapshot: ToolSnapshot,
    trials: Iterable[Trial],
    distractors: ToolSnapshot | None = None,
    *,
    ignoring: Collection[str] = (),
) -> EvaluationSummary:
    """Write each table to ``<table>.parquet`` in a folder that is there, ROWS_AT_ONCE rows in memory.

    ``ignoring`` names the arms whose endpoint ignores tools, which only all of their trials tell
    (:func:`arms_ignoring_tools`): there silence is told as no choice of the model, as in the summary.
    Trials are graded on the way; what they come to is given back. Raises like ``summarise``, OSError where a file
    cannot be written, and ConfigurationError without pyarrow.
    """
    tally = Tally(evaluation, distractors)
    with _parquet(folder, "trials") as put:
        put(_trial_rows(graded(tally, snapshot, trials), ignoring))
        settle(tally)
        put(skipped_rows(tally))
    summary = summary_of(tally, snapshot)
    for table, rows in (
        ("cases", case_rows(tally)),
        ("confusion", confusion_rows(summary)),
        ("arguments", argument_rows(summary)),
    ):
        with _parquet(folder, table) as put:
            put(rows)
    return summary


def arms_ignoring_tools(summary: EvaluationSummary) -> frozenset[str]:
    """The arms whose endpoint seems to drop the tools of requests, as all of their trials together show."""
    reasons = {arm.name: dict(arm.why_no_call) for arm in summary.arms}
    return frozenset(name for name, found in reasons.items() if WhyNoCall.IGNORES_TOOLS in found)


Row = Mapping[str, Any]


def _trial_rows(known: Iterable[tuple[Place, Trial, Grade]], ignoring: Collection[str]) -> Iterator[Row]:
    for place, trial, grade in known:
        yield trial_row(place.case, trial, blaming_endpoint(grade) if trial.arm in ignoring else grade)


# ---------------------------------------------------------------- values of a column


def _value(kind: Kind, value: Any) -> Any:
    """A value as a column may hold it: text that can be encoded, whole numbers of 64 bits; others are missing."""
    if value is None:
        return None
    if kind is Kind.TEXT:
        return clean_text(str(value))
    return value if kind is not Kind.WHOLE or value in _INT64 else None


def _columns(table: str, rows: Iterable[Row]) -> dict[str, list[Any]]:
    kinds = COLUMNS[table]
    values: dict[str, list[Any]] = {name: [] for name in kinds}
    for row in rows:
        for name, kind in kinds.items():
            values[name].append(_value(kind, row.get(name)))
    return values


# ---------------------------------------------------------------- pandas


def _frame(table: str, rows: Iterable[Row]) -> pd.DataFrame:
    with _libraries():
        import pandas as pd
    dtypes = {
        Kind.TEXT: pd.StringDtype(na_value=pd.NA),
        Kind.WHOLE: pd.Int64Dtype(),
        Kind.SHARE: pd.Float64Dtype(),
        Kind.YES: pd.BooleanDtype(),
    }
    columns = _columns(table, rows)
    return pd.DataFrame({name: pd.array(columns[name], dtype=dtypes[kind]) for name, kind in COLUMNS[table].items()})


@contextmanager
def _libraries() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as missing:
        raise ConfigurationError(
            f"tables need {missing.name!r}, which is not installed: pip install 'agent-loop-harness[evaluate]'"
        ) from missing


# ---------------------------------------------------------------- Parquet


@contextmanager
def _parquet(folder: str | PathLike[str], table: str) -> Iterator[Callable[[Iterable[Row]], None]]:
    """A function that adds rows to a table's file, which is there, whole, once the block is left."""
    with _libraries():
        import pyarrow as pa
        import pyarrow.parquet as pq
    types = {Kind.TEXT: pa.string(), Kind.WHOLE: pa.int64(), Kind.SHARE: pa.float64(), Kind.YES: pa.bool_()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS[table].items()])
    target = Path(folder) / f"{table}.parquet"
    beside = target.with_name(f".{table}.parquet.tmp")
    try:
        with pq.ParquetWriter(str(beside), schema) as writer:

            def put(rows: Iterable[Row]) -> None:
                left = iter(rows)
                while batch := list(islice(left, ROWS_AT_ONCE)):
                    writer.write_table(pa.table(_columns(table, batch), schema=schema))

            yield put
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
