"""Gates: a comparison judged by rules, exact ones and statistical ones apart. Pure; today's date is an argument."""

from harness.gates.exact import lacks_a_file
from harness.gates.judging import judge
from harness.gates.without import without_gate

__all__ = ["judge", "lacks_a_file", "without_gate"]
