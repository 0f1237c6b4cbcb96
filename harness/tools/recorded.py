"""Tools that give what a recorded run's tools gave: nothing is executed."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.errors import ToolError
from harness.protocols import Tool, ToolContext
from harness.tools.content import conclude
from harness.types.codes import Isolation
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText


@dataclass(frozen=True, slots=True)
class RecordedBody:
    """What one body gave after ``took_ms``: a value (JSON text) that may conclude the turn, or a code and a message."""

    arguments: JsonText
    value: JsonText | None
    code: str | None = None
    message: str = ""
    took_ms: int = 0
    concludes: bool = False


class RecordedTool:
    """A tool as it is offered today, whose bodies are those of a recorded run: by arguments, the oldest first.

    ``missing`` is told of a call that the recording holds no body for; the model then reads that too.
    """

    isolation = Isolation.INLINE

    def __init__(self, tool: Tool, bodies: Iterable[RecordedBody], *, missing: Callable[[str, str], None]) -> None:
        self._tool = tool
        self._missing = missing
        self._left: dict[str, deque[RecordedBody]] = {}
        for body in bodies:
            self._left.setdefault(body.arguments, deque()).append(body)
        self.name = tool.name
        self.description = tool.description
        self.parameters = tool.parameters
        self.mode = tool.mode
        self.effect = tool.effect
        self.idempotent = tool.idempotent

    def check(self, arguments: Mapping[str, Any]) -> str | None:
        """The tool's own check: arguments that it refuses today are refused."""
        return self._tool.check(arguments)

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """The recorded value, after as long as it took. Raises the recorded failure, ToolError where nothing is."""
        text = canonical_json(dict(arguments))
        left = self._left.get(text)
        if not left:
            self._missing(self.name, text)
            raise ToolError(f"the recording holds no result of {self.name!r} for {text}")
        body = left.popleft()
        if body.took_ms:
            await context.clock.sleep_ms(body.took_ms)
        if body.code is not None:
            raise ToolError(body.message, code=body.code)
        value = json.loads(body.value or "null")
        return conclude(value) if body.concludes else value
