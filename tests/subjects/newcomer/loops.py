"""An agent loop as a newcomer writes it around the ``openai`` package, and three ways in which such loops break.

Nothing in this file knows of the harness.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import openai


class StepLimit(Exception):
    """No answer came within the steps allowed."""


class Agent:
    """Asks, runs the tools that are asked for, all at once, and asks again until an answer comes."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        tools: Mapping[str, Callable[..., Awaitable[Any]]],
        schemas: Sequence[Any],
        *,
        max_steps: int = 6,
    ) -> None:
        self.client = client
        self.tools = tools
        self.schemas = list(schemas)
        self.max_steps = max_steps

    async def run(self, task: str) -> str:
        messages: list[Any] = [{"role": "user", "content": task}]
        for _ in range(self.max_steps):
            message = await self.ask(messages)
            messages.append(message)
            if not message.get("tool_calls"):
                return message.get("content") or ""
            messages += await self.run_tools(message["tool_calls"])
        raise StepLimit(f"no answer after {self.max_steps} steps")

    async def ask(self, messages: list[Any]) -> dict[str, Any]:
        response = await self.client.chat.completions.create(model="any", messages=messages, tools=self.schemas)
        return response.choices[0].message.model_dump(exclude_none=True)

    async def run_tools(self, calls: list[Any]) -> list[Any]:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(self.run_tool(call)) for call in calls]
        return [task.result() for task in running]

    async def run_tool(self, call: Any) -> dict[str, Any]:
        try:
            content = await self.body(call)
        except Exception as error:
            content = f"error: {type(error).__name__}: {error}"
        return {"role": "tool", "tool_call_id": call["id"], "content": content}

    async def body(self, call: Any) -> str:
        function = call["function"]
        value = await self.tools[function["name"]](**json.loads(function["arguments"] or "{}"))
        return value if isinstance(value, str) else json.dumps(value)


class SwallowsTheCancel(Agent):
    """Whatever a tool raises is told to the model, so a cancel becomes a result and the loop goes on."""

    async def run_tool(self, call: Any) -> dict[str, Any]:
        try:
            content = await self.body(call)
        except BaseException as error:
            content = f"error: {type(error).__name__}"
        return {"role": "tool", "tool_call_id": call["id"], "content": content}

    async def run_tools(self, calls: list[Any]) -> list[Any]:
        return [await self.run_tool(call) for call in calls]


class ForgetsTheSiblings(Agent):
    """The first tool that fails answers for all: what the others do then, nobody waits for and nobody is told."""

    async def run_tools(self, calls: list[Any]) -> list[Any]:
        try:
            contents = await asyncio.gather(*map(self.body, calls))
        except Exception as error:
            contents = [f"error: {error}"] * len(calls)
        return [
            {"role": "tool", "tool_call_id": call["id"], "content": content}
            for call, content in zip(calls, contents, strict=True)
        ]


class StartsOver(Agent):
    """A request that fails is answered by doing the whole task again, tools included."""

    async def run(self, task: str) -> str:
        try:
            return await super().run(task)
        except openai.APIError:
            return await super().run(task)


LOOPS: dict[str, type[Agent]] = {
    loop.__name__: loop for loop in (Agent, SwallowsTheCancel, ForgetsTheSiblings, StartsOver)
}
