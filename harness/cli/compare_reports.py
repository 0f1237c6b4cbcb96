"""What reports ``harness compare`` writes, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from harness.runner import Reviewed

Outs: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--out",
        metavar="<path>",
        help="Write a report: .md, .txt, .json, .xml (JUnit), .html, .parquet. May be repeated.",
    ),
]
ReportsFolder: TypeAlias = Annotated[
    Path | None, typer.Option("--reports", help="Write all reports into this folder, for CI.")
]
CommentKey: TypeAlias = Annotated[
    str, typer.Option("--comment-key", help="Tells the comment of this job from those of others.")
]
ScenarioPaths: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--scenarios", metavar="<path>", help="What --against runs; where annotations look. May be repeated."),
]


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports that were asked for."""

    files: tuple[Path, ...]
    folder: Path | None
    key: str

    def check(self, sides: tuple[Path, ...] = ()) -> None:
        """Refuse what can never be written, and what is a file of a side, before anything is compared.

        Raises UsageError.
        """
        from harness.runner import ReportOptions, check_places

        check_places(self.files, self.folder, ReportOptions(self.key), sides)

    def write(self, reviewed: Reviewed) -> None:
        """Write them; one that cannot be written is told on standard error, and the verdict stays what it is."""
        from harness.cli.output import complain
        from harness.runner import ReportOptions, write_report, write_reports

        options = ReportOptions(self.key)
        lost = [write_report(reviewed, path, options) for path in self.files]
        if self.folder is not None:
            lost += write_reports(reviewed, self.folder, options)
        for one in lost:
            if one is not None:
                complain(f"{one.path} was not written: {one.why}")
