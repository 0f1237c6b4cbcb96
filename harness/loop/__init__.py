"""The built-in loop: Driver > Turn > Step, as one small engine."""

from harness.loop.answers import StrictAnswers, closing_reason, damage_of
from harness.loop.context import Context
from harness.loop.driver import Driver
from harness.loop.hooks import Enter, Hooks, Reject, Rewrite
from harness.loop.phases import Progress
from harness.loop.policies import Policies
from harness.loop.stop import StopSignal
from harness.loop.turn import status_for

__all__ = [
    "Context",
    "Driver",
    "Enter",
    "Hooks",
    "Policies",
    "Progress",
    "Reject",
    "Rewrite",
    "StopSignal",
    "StrictAnswers",
    "closing_reason",
    "damage_of",
    "status_for",
]
