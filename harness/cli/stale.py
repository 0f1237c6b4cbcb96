"""Recordings out of date, told once for each cause and not once for each run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.types.records import RunSummary


def stale_lines(summaries: Iterable[RunSummary]) -> list[str]:
    """A line for each cause with its runs, and the command that records them again; none without any."""
    from harness.runner import OUT_OF_DATE

    by_cause: dict[str, list[str]] = {}
    for summary in summaries:
        for verdict in summary.verdicts:
            if any(finding.rule == OUT_OF_DATE for finding in verdict.findings):
                by_cause.setdefault(verdict.why, []).append(summary.scenario)
    lines = []
    for cause, names in sorted(by_cause.items()):
        names = sorted(set(names))
        lines.append(f"{cause}: {', '.join(names)}")
        lines.append(f"  if that is meant: harness record -k {shlex.quote(' or '.join(names))}")
    return lines
