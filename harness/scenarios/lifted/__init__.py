"""Scenarios out of recorded runs (``harness scenario from``)."""

from harness.scenarios.lifted.text import scenario_text
from harness.scenarios.lifted.whole import Lifted, lift

__all__ = ["Lifted", "lift", "scenario_text"]
