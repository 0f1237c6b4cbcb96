"""Gates: a comparison judged by rules, exact ones and statistical ones apart. Pure; today's date is an argument."""

from harness.gates.judging import judge
from harness.gates.without import without_gate

__all__ = ["judge", "without_gate"]
