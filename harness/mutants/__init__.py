"""Broken on purpose: named ways to break a good trajectory, so that every check is seen to refuse some."""

from harness.mutants.catalogue import LEGAL, MUTANTS, Kill, kill_table, kills
from harness.mutants.editing import Mutant
from harness.mutants.originals import originals

__all__ = ["LEGAL", "MUTANTS", "Kill", "Mutant", "kill_table", "kills", "originals"]
