"""An application with an agent loop of its own. Nothing here knows of the harness."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

import openai

MAX_STEPS = 10


def lookup_order(id: int) -> dict[str, Any]:
    """Look an order up by its id."""
    raise RuntimeError("the live shop must never be called from a test")


async def refund(order: int) -> str:
    """Refund an order."""
    raise RuntimeError("the live shop must never be called from a test")


def delete_order(id: int) -> str:
    """Delete an order."""
    raise RuntimeError("the live shop must never be called from a test")


registry: dict[str, Callable[..., Any]] = {
    "lookup_order": lookup_order,
    "refund": refund,
    "delete_order": delete_order,
}


def schema(name: str, argument: str) -> dict[str, Any]:
    """A tool as the API takes it."""
    parameters = {"type": "object", "properties": {argument: {"type": "integer"}}, "required": [argument]}
    description = inspect.getdoc(registry[name])
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


SCHEMAS: list[Any] = [schema("lookup_order", "id"), schema("refund", "order"), schema("delete_order", "id")]


async def run_agent(
    task: str, *, client: openai.AsyncOpenAI, tools: Mapping[str, Callable[..., Any]]
) -> str:
    """Ask the model, run the tools it asks for, until it answers."""
    messages: list[Any] = [{"role": "user", "content": task}]
    for _ in range(MAX_STEPS):
        response = await client.chat.completions.create(model="any", messages=messages, tools=SCHEMAS)
        message = response.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            content = await run_tool(call, tools)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    raise RuntimeError(f"no answer after {MAX_STEPS} steps")


async def run_tool(call: Any, tools: Mapping[str, Callable[..., Any]]) -> str:
    """One call; what goes wrong is told to the model."""
    try:
        value = tools[call.function.name](**json.loads(call.function.arguments or "{}"))
        if inspect.isawaitable(value):
            value = await value
        return value if isinstance(value, str) else json.dumps(value)
    except Exception as error:
        return f"error: {type(error).__name__}"
