"""What is shown of runs, checks and comparisons: pure text; only ``console`` prints."""

from harness.report.checking import Judged, check_report, check_totals, judged
from harness.report.comparison import comparison_text
from harness.report.console import show, wants_colour
from harness.report.markdown import comparison_markdown
from harness.report.mermaid import mermaid
from harness.report.runs import Totals, run_line, run_lines, run_totals, totals, totals_line, verdict_lines
from harness.report.text import write_report
from harness.report.timeline import last_line, timeline

__all__ = [
    "Judged",
    "Totals",
    "check_report",
    "check_totals",
    "comparison_markdown",
    "comparison_text",
    "judged",
    "last_line",
    "mermaid",
    "run_line",
    "run_lines",
    "run_totals",
    "show",
    "timeline",
    "totals",
    "totals_line",
    "verdict_lines",
    "wants_colour",
    "write_report",
]
