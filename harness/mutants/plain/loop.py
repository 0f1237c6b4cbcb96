"""A small correct loop over a function subject's ``env``, with seams at which it can be broken.

It knows the ``openai`` client and the wrapped tools, and nothing else of the harness: what many people's
own loops look like.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

Said = Callable[[str], Any]
"""Makes what a function subject returns to say how it ended (``subjects.Ending``)."""


class PlainLoop:
    """Ask, run the tools, ask again: until an answer, a cut answer, a limit, an error, a cancel."""

    def __init__(self, env: Any, said: Said) -> None:
        self.env = env
        self.said = said
        self.client = env.openai()
        self.tools = env.tools
        self.system: list[Any] = [{"role": "system", "content": env.system}] if env.system else []
        self.messages: list[Any] = [*self.system, {"role": "user", "content": env.task}]
        self.left: list[Any] = []
        self.n_asked = 0

    async def run(self) -> Any:
        """The final answer, or how else it ended."""
        for _ in range(self.steps()):
            choice = await self.ask()
            ended = self.ended_by(choice)
            if ended is not None:
                return ended
            self.messages.append(self.echo(choice.message))
            self.messages += await self.calls(choice.message.tool_calls)
        return self.said("limit_reached")

    def steps(self) -> int:
        """How many requests may be made."""
        return int(self.env.limits.steps)

    async def ask(self) -> Any:
        """One request; its choice."""
        self.n_asked += 1
        answer = await self.client.chat.completions.create(model="m", **self.request())
        return answer.choices[0]

    def request(self) -> dict[str, Any]:
        """What the model is shown."""
        return {"messages": self.messages, "tools": self.env.tool_schemas}

    def ended_by(self, choice: Any) -> Any:
        """What an answer ends the run with; None where its calls are to be run."""
        if choice.finish_reason in ("length", "content_filter"):
            return self.said("incomplete")
        if choice.message.tool_calls:
            return None
        return choice.message.content or self.said("failed")

    def echo(self, message: Any) -> Any:
        """The answer as it goes into the history."""
        return message.model_dump(exclude_none=True)

    async def calls(self, calls: list[Any]) -> list[Any]:
        """The results of all calls, in their order; the tools overlap."""
        return list(await asyncio.gather(*map(self.call, calls)))

    async def call(self, call: Any) -> Any:
        """The result of one call; what goes wrong is told to the model."""
        try:
            content = await self.body(self.name_of(call), self.arguments(call))
        except Exception as error:
            content = self.failed(call, error)
        return self.result(call, content)

    async def body(self, name: str, arguments: dict[str, Any]) -> str:
        """Run one tool."""
        return str(await self.tools[name](**arguments))

    def name_of(self, call: Any) -> str:
        """The tool that is run."""
        return str(call.function.name)

    def arguments(self, call: Any) -> dict[str, Any]:
        """What it is run with. Raises ValueError for what is no JSON object."""
        return dict(json.loads(call.function.arguments))

    def failed(self, call: Any, error: Exception) -> str:
        """What the model is told of a failure."""
        return f"error: {type(error).__name__}: {error}"

    def result(self, call: Any, content: str) -> Any:
        """The message that answers a call."""
        return {"role": "tool", "tool_call_id": call.id, "content": content}
