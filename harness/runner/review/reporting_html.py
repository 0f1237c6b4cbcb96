"""A review as the one self-contained HTML file: runs are read again, a pair at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.report.html import Context, page
from harness.report.html.plots import plots_block
from harness.runner.review.beside import lines_beside
from harness.runner.review.reviewing import Reviewed
from harness.runner.review.side_by_side import loader
from harness.types.records import ScenarioComparison


def html_report(reviewed: Reviewed) -> bytes:
    """The file, below 25 MB. Raises as reading the runs again does, where they changed since they were compared."""
    review, base, candidate = reviewed.review, reviewed.base, reviewed.candidate
    more = lines_beside(base, candidate)

    def plots(rows: Sequence[ScenarioComparison], contexts: Sequence[Context]) -> dict[str, Any]:
        context = [one._asdict() for one in contexts if (one.base, one.candidate) != (None, None)]
        return plots_block(review.comparison, rows, base.runs, candidate.runs, context=context, more=more)

    return page(review, loader(base, candidate), plots=plots)
