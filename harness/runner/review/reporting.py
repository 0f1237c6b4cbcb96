"""Reports of a review, written to files: each whole or not at all, and none of them changes the verdict."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from harness.errors import HarnessError, UsageError
from harness.formats import SUFFIXES
from harness.report import comparison_text
from harness.report.annotations import annotation_commands
from harness.report.comparison_frame import can_write_parquet, check_parquet, comparison_parquet
from harness.report.document import comparison_json
from harness.report.fates import rows_of, worst_first
from harness.report.junit import junit_xml
from harness.report.markdown import comparison_markdown, marker
from harness.report.step_summary import step_summary
from harness.report.text import as_bytes
from harness.report.trace import no_trace, trace
from harness.runner.review.reporting_html import html_report
from harness.runner.review.reviewing import Reviewed
from harness.store import check_file, check_folder, replace_file
from harness.types.jsontext import described


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """``key`` tells comments of several jobs apart; ``full_report`` is where shortened reports point to."""

    key: str = ""
    full_report: str = ""


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A report that could not be made or written, and why."""

    path: Path
    why: str


Maker: TypeAlias = Callable[[Reviewed, ReportOptions], bytes]


def trace_of(reviewed: Reviewed) -> str:
    """The diagram of the shown pair of the worst scenario that differs on both sides; empty where none does."""
    for row in worst_first(rows_of(reviewed.review)):
        scenario = row.scenario
        if scenario.base and scenario.candidate and (scenario.explanation or scenario.divergence):
            try:
                base, candidate = reviewed.base.load(scenario.base), reviewed.candidate.load(scenario.candidate)
            except (HarnessError, OSError) as error:  # moved or changed since it was compared
                return no_trace(described(error))
            return trace(scenario, base, candidate)
    return ""


def markdown_of(reviewed: Reviewed, key: str = "", full_report: str = "") -> str:
    """The comment of a pull request, with its diagram."""
    return comparison_markdown(reviewed.review, key=key, trace=trace_of(reviewed), full_report=full_report)


def _markdown(reviewed: Reviewed, options: ReportOptions) -> bytes:
    return as_bytes(markdown_of(reviewed, options.key, options.full_report))


def _summary(reviewed: Reviewed, options: ReportOptions) -> bytes:
    return as_bytes(step_summary(reviewed.review, trace=trace_of(reviewed), full_report=options.full_report))


def _annotations(reviewed: Reviewed, _: ReportOptions) -> bytes:
    return as_bytes(annotation_commands(reviewed.review))


def _json(reviewed: Reviewed, _: ReportOptions) -> bytes:
    return as_bytes(comparison_json(reviewed.review) + "\n")


def _text(reviewed: Reviewed, _: ReportOptions) -> bytes:
    return as_bytes(comparison_text(reviewed.review) + "\n")


def _junit(reviewed: Reviewed, _: ReportOptions) -> bytes:
    return junit_xml(reviewed.review)


def _parquet(reviewed: Reviewed, _: ReportOptions) -> bytes:
    return comparison_parquet(reviewed.review)


def _html(reviewed: Reviewed, _: ReportOptions) -> bytes:
    return html_report(reviewed)


MAKERS: Final[dict[str, Maker]] = {
    ".md": _markdown,
    ".xml": _junit,
    ".json": _json,
    ".parquet": _parquet,
    ".txt": _text,
    ".html": _html,
}
"""What ``--out FILE`` writes, by the suffix of the file. A new form of report has its line here."""
FOLDER: Final[dict[str, Maker]] = {
    "comparison.md": _markdown,
    "summary.md": _summary,
    "annotations.txt": _annotations,
    "junit.xml": _junit,
    "comparison.json": _json,
}
"""What a folder of reports always holds."""
RUN_FILES: Final = ("run.json", "summary.jsonl")
"""Files of a folder of runs beside its trajectories."""
_WHERE_THERE: Final = ("comparison.parquet", "comparison.html")


def maker_of(path: Path) -> Maker:
    """What writes a file of that name. Raises UsageError for a suffix that no report has."""
    maker = MAKERS.get(path.suffix.lower())
    if maker is None:
        raise UsageError(f"--out {path}: no report is called so; the suffix says which: {', '.join(sorted(MAKERS))}")
    return maker


def check_places(
    files: Iterable[Path], folder: Path | None, options: ReportOptions, sides: Iterable[Path] = ()
) -> None:
    """Refuse what can never be written, and what would be written over a file of ``sides``, before they are compared.

    Raises UsageError for an unknown suffix, a bad key and a file of a side, ConfigurationError for a place that can
    hold no file, and for Parquet without pyarrow.
    """
    marker(options.key)
    files = tuple(files)
    for path in files:
        check_file(path, "--out", writable=False)
        if maker_of(path) is _parquet:
            check_parquet()
    if folder is not None:
        check_folder(folder, "--reports", writable=False)
    for side in sides:
        for path in places(files, folder):
            if _is_of(path.resolve(), side.resolve()):
                raise UsageError(f"{path} is a file of {side}, which is compared: write the report somewhere else")


def _is_of(path: Path, side: Path) -> bool:
    """Is it a file that a side is read from? What lies beside its runs (an earlier report) is not."""
    if path == side:
        return True
    if not path.is_relative_to(side):
        return False
    if (side / "trajectories").is_dir():
        return path.is_relative_to(side / "trajectories") or path.relative_to(side).as_posix() in RUN_FILES
    return path.suffix in SUFFIXES


def places(files: Iterable[Path], folder: Path | None) -> tuple[Path, ...]:
    """Where reports come to lie: these files, and all that a folder of reports can hold."""
    return (*files, *(() if folder is None else (folder / name for name in (*FOLDER, *_WHERE_THERE))))


def remove_old(files: Iterable[Path], folder: Path | None) -> list[Unwritten]:
    """Remove the reports of an earlier comparison; gives those that stay, and why.

    To be called before the comparison begins: one that ends before it has a report leaves none of another's.
    """
    stay = []
    for place in places(files, folder):
        target = Path(os.path.realpath(place))
        try:
            if target.is_file():
                target.unlink()
        except OSError as error:
            stay.append(Unwritten(place, described(error)))
    return stay


def write_report(reviewed: Reviewed, path: Path, options: ReportOptions | None = None) -> Unwritten | None:
    """Write one report, whole or not at all; the suffix says which. Raises UsageError for an unknown suffix."""
    return _write(maker_of(path), reviewed, path, options or ReportOptions())


def write_reports(reviewed: Reviewed, folder: Path, options: ReportOptions | None = None) -> list[Unwritten]:
    """Write all reports into a folder, each whole or not at all; Parquet and HTML where they can be made."""
    makers = dict(FOLDER)
    for name in _WHERE_THERE:
        suffix = Path(name).suffix
        if suffix in MAKERS and (suffix != ".parquet" or can_write_parquet()):
            makers[name] = MAKERS[suffix]
    full = "comparison.html" if "comparison.html" in makers else "summary.md"
    told = replace(options or ReportOptions(), full_report=full)
    done: Iterable[Unwritten | None] = (_write(make, reviewed, folder / name, told) for name, make in makers.items())
    return [one for one in done if one is not None]


def _write(make: Maker, reviewed: Reviewed, path: Path, options: ReportOptions) -> Unwritten | None:
    try:
        replace_file(path, [make(reviewed, options)])
    except Exception as error:  # whatever is wrong with a report, the verdict stands and is given
        return Unwritten(path, str(error) if isinstance(error, HarnessError) else described(error))
    return None
