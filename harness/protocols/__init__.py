"""Every extension point.

A model answers requests, a tool does work, a subject runs a scenario in a world, a check judges a
trajectory, a sink keeps what is recorded. All are structural: any object of the shape will do.
"""

from harness.protocols.doors import (
    Approver,
    Clock,
    ClosingModel,
    Emit,
    Listener,
    Log,
    Model,
    ModelDoor,
    Signal,
    Sink,
    Tool,
    ToolContext,
    ToolDoor,
    Use,
)
from harness.protocols.subject import Check, Controls, SendingControls, Subject, World
from harness.types.doors import Faults, Gate, no_faults

__all__ = [
    "Approver",
    "Check",
    "Clock",
    "ClosingModel",
    "Controls",
    "Emit",
    "Faults",
    "Gate",
    "Listener",
    "Log",
    "Model",
    "ModelDoor",
    "SendingControls",
    "Signal",
    "Sink",
    "Subject",
    "Tool",
    "ToolContext",
    "ToolDoor",
    "Use",
    "World",
    "no_faults",
]
