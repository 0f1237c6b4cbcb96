"""What the door knows of one call, and of one body that runs for it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, NamedTuple

from harness.protocols import Signal, Tool
from harness.types.doors import ToolReply
from harness.types.messages import CallId, JsonText
from harness.types.tool_policy import Rung


class Admitted(NamedTuple):
    """A call that may start: its tool, the values of its arguments, their canonical text, the repairs it took."""

    tool: Tool
    values: Mapping[str, Any]
    text: JsonText
    rungs: tuple[Rung, ...] = ()


class Call(NamedTuple):
    """One call: of the model, or (``within`` the body that starts there) of a composite tool."""

    call_id: CallId | None
    arguments: str
    signal: Signal
    agent: str
    turn: int | None
    step: int | None
    key: str
    within: int | None = None


class Body:
    """One started body: where it stands in the log, and what became of it."""

    def __init__(self, tool: Tool, call: Call, start: int, timeout_ms: int | None) -> None:
        self.tool = tool
        self.call = call
        self.start = start
        self.timeout_ms = timeout_ms
        self.overdue = False
        self.reply: ToolReply | None = None
        self.n_inner = count(1)
