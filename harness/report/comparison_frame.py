"""A review as a table, one row a scenario (and arm): as a pandas frame, and as Parquet.

Every column has a type that is stated here and never guessed: an id "001" or "=1+1" stays text, whole numbers stay
whole and exact where some are missing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from harness.errors import ConfigurationError
from harness.folds import EXIT_CODES, row_scenario
from harness.report.comparison import change_line
from harness.report.fates import Row, rows_of
from harness.report.unpassed import bad_verdicts, unpassed, unpassed_text
from harness.types.jsontext import clean_text
from harness.types.records import RunSummary
from harness.types.review import COMPARISON_FORMAT, Review, SourceLine

if TYPE_CHECKING:
    import pandas as pd


class Kind(Enum):
    """What a column holds."""

    TEXT = "text"
    WHOLE = "whole"
    TEXTS = "texts"


_T, _W, _L = Kind.TEXT, Kind.WHOLE, Kind.TEXTS
_OF_RUN: Final[Mapping[str, Kind]] = {
    "run_id": _T, "trial": _W, "subject": _T, "model": _T, "file": _T, "outcome": _T, "status": _T, "reason": _T,
    "n_turns": _W, "n_steps": _W, "n_requests": _W, "n_messages": _W, "n_calls": _W, "input_tokens": _W,
    "output_tokens": _W, "cost_micro_usd": _W, "duration_ms": _W, "failing_checks": _L,
}  # fmt: skip
_SIDES: Final = ("base", "candidate")
COLUMNS: Final[Mapping[str, Kind]] = {
    "scenario": _T, "arm": _T, "change": _T, "fate": _T, "broken_rules": _L, "warned_rules": _L, "cause": _T,
    "cause_detail": _T, "cause_text": _T, "turn": _W, "step": _W, "path": _T, "base": _T, "candidate": _T, "line": _T,
    "n_base": _W, "n_candidate": _W, "base_passed": _W, "candidate_passed": _W, "n_differ": _W,
    "unpassed": _L,    "base_chose": _W, "base_chose_of": _W, "source_file": _T, "source_line": _W,
    **{f"{side}_{name}": kind for side in _SIDES for name, kind in _OF_RUN.items()},
}  # fmt: skip
"""The columns in their order, and what each holds. Those of ``base_…`` and ``candidate_…`` are of the shown pair."""
_INT64: Final = range(-(2**63), 2**63)


def can_write_parquet() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def comparison_frame(review: Review) -> pd.DataFrame:
    """The table as a pandas frame: text as ``string``, whole numbers as ``Int64``, lists of names as objects.

    Raises ConfigurationError without pandas.
    """
    with _libraries():
        import pandas as pd
    dtypes = {Kind.TEXT: pd.StringDtype(na_value=pd.NA), Kind.WHOLE: pd.Int64Dtype(), Kind.TEXTS: "object"}
    columns = _columns(review)
    return pd.DataFrame({name: pd.Series(columns[name], dtype=dtypes[kind]) for name, kind in COLUMNS.items()})


def comparison_parquet(review: Review) -> bytes:
    """The table as a Parquet file; its metadata names format, verdict and commits. Raises ConfigurationError."""
    with _libraries():
        import pyarrow as pa
        import pyarrow.parquet as pq
    types = {Kind.TEXT: pa.string(), Kind.WHOLE: pa.int64(), Kind.TEXTS: pa.list_(pa.string())}
    about = {key.encode(): clean_text(value).encode() for key, value in _about(review)}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()], metadata=about)
    written = io.BytesIO()
    pq.write_table(pa.table(_columns(review), schema=schema), written)
    return written.getvalue()


def _about(review: Review) -> Iterator[tuple[str, str]]:
    yield "format", COMPARISON_FORMAT
    yield "outcome", review.outcome
    yield "exit_code", str(EXIT_CODES[review.outcome])
    yield "base_commit", review.base_revision.commit or ""
    yield "candidate_commit", review.candidate_revision.commit or ""


def check_parquet() -> None:
    """Raise ConfigurationError where no Parquet can be written."""
    with _libraries():
        import pyarrow  # noqa: F401


@contextmanager
def _libraries() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as missing:
        raise ConfigurationError(
            f"tables need {missing.name!r}, which is not installed: pip install 'agent-loop-harness[evaluate]'"
        ) from missing


# ---------------------------------------------------------------- values


def _columns(review: Review) -> dict[str, list[Any]]:
    sources = {source.scenario: source for source in review.sources}
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row in rows_of(review):
        values = _values(row, sources)
        for name, kind in COLUMNS.items():
            columns[name].append(_value(kind, values.get(name)))
    return columns


def _value(kind: Kind, value: Any) -> Any:
    """A value as a column may hold it: text that can be encoded, whole numbers of 64 bits; others are missing."""
    if value is None:
        return None
    if kind is Kind.TEXT:
        return clean_text(str(value))
    if kind is Kind.TEXTS:
        return [clean_text(str(one)) for one in value]
    return value if value in _INT64 else None


def _values(row: Row, sources: Mapping[str, SourceLine]) -> dict[str, Any]:
    scenario, some = row.scenario, row.scenario.candidate or row.scenario.base
    name = row_scenario(scenario)
    found, source, share = scenario.explanation, sources.get(name), scenario.base_chose
    shown = found.shown if found else scenario.divergence
    return {
        "scenario": name,
        "arm": some.arm if some else None,
        "change": scenario.change,
        "fate": row.fate.value,
        "broken_rules": row.broken,
        "warned_rules": row.warned,
        "cause": scenario.cause,
        "cause_detail": found.detail if found else None,
        "cause_text": change_line(scenario).cause or None,
        "turn": shown.turn if shown else None,
        "step": shown.step if shown else None,
        "path": shown.path if shown else None,
        "base": shown.base if shown else None,
        "candidate": shown.candidate if shown else None,
        "line": scenario.line,
        "n_base": scenario.n_base,
        "n_candidate": scenario.n_candidate,
        "base_passed": scenario.base_passed,
        "candidate_passed": scenario.candidate_passed,
        "n_differ": scenario.n_differ,
        "unpassed": [unpassed_text(one, scenario) for one in unpassed(scenario)],
        "base_chose": share.n if share else None,
        "base_chose_of": share.of if share else None,
        "source_file": source.file if source else None,
        "source_line": source.line if source else None,
        **_of_run("base", scenario.base),
        **_of_run("candidate", scenario.candidate),
    }


def _of_run(side: str, run: RunSummary | None) -> dict[str, Any]:
    if run is None:
        return {}
    values = {name: getattr(run, name) for name in _OF_RUN if name not in ("n_calls", "failing_checks")}
    values |= {"n_calls": len(run.calls), "failing_checks": [one.check for one in bad_verdicts(run)]}
    return {f"{side}_{name}": value for name, value in values.items()}
