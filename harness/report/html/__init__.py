"""One self-contained HTML file."""

from harness.report.html.assets import Asset, Assets, shipped_assets
from harness.report.html.document import Context, Limits, Plots, page

__all__ = ["Asset", "Assets", "Context", "Limits", "Plots", "page", "shipped_assets"]
