"""Two trajectories, or two folders of runs, compared on their committed views. Pure."""

from harness.compare.alignment import align, segments_of
from harness.compare.blocks import Block, blocks_of
from harness.compare.choices import Choices, digest_of
from harness.compare.divergence import first_divergence
from harness.compare.explain import explain
from harness.compare.runs import About, Load, compare_runs

__all__ = [
    "About",
    "Block",
    "Choices",
    "Load",
    "align",
    "blocks_of",
    "compare_runs",
    "digest_of",
    "explain",
    "first_divergence",
    "segments_of",
]
