"""What is shown of runs, checks and comparisons: pure text; only ``console`` prints."""

from harness.report.baselines import acceptance_text, baseline_diff_text, variants_text
from harness.report.checking import CheckReport, check_report
from harness.report.comparison import comparison_text
from harness.report.console import show, wants_colour
from harness.report.document import comparison_document, comparison_json
from harness.report.history import history_text
from harness.report.markdown import comparison_markdown
from harness.report.mermaid import mermaid
from harness.report.mutating import mutation_text, mutations_line
from harness.report.replaying import ReplayLine, replay_text, replay_totals
from harness.report.runs import Totals, run_line, run_text, totals, totals_line, verdict_lines
from harness.report.sweeping import sweep_text, sweeps_line
from harness.report.text import Verbosity
from harness.report.timeline import last_line, timeline

__all__ = [
    "CheckReport",
    "ReplayLine",
    "Totals",
    "Verbosity",
    "acceptance_text",
    "baseline_diff_text",
    "check_report",
    "comparison_document",
    "comparison_json",
    "comparison_markdown",
    "comparison_text",
    "history_text",
    "last_line",
    "mermaid",
    "mutation_text",
    "mutations_line",
    "replay_text",
    "replay_totals",
    "run_line",
    "run_text",
    "show",
    "sweep_text",
    "sweeps_line",
    "timeline",
    "totals",
    "totals_line",
    "variants_text",
    "verdict_lines",
    "wants_colour",
]
