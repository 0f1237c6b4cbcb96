"""Scenarios out of recorded runs (``harness scenario from``)."""

from harness.scenarios.lifted.agents import agent_names
from harness.scenarios.lifted.bodies import Body, bodies_of
from harness.scenarios.lifted.ends import is_watched
from harness.scenarios.lifted.text import scenario_text
from harness.scenarios.lifted.whole import Lifted, lift, sums_up_result

__all__ = ["Body", "Lifted", "agent_names", "bodies_of", "is_watched", "lift", "scenario_text", "sums_up_result"]
