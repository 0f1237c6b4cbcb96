"""Two trajectories, or two folders of runs, compared on their committed views. Pure."""

from harness.compare.divergence import first_divergence
from harness.compare.runs import Load, compare_runs

__all__ = ["Load", "compare_runs", "first_divergence"]
