"""The loop of the fifth article, written anew from its description: a hundred lines around a client.

Its habits are kept on purpose: it looks tools up without asking whether they exist, parses arguments
without a net, lets a tool's exception pass, and tells the step limit as if it were an answer.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import openai

from harness.subjects import Env

MODEL = "article-e"


async def run_agent(
    task: str,
    *,
    client: openai.AsyncOpenAI,
    tools: Mapping[str, Callable[..., Any]],
    schemas: Sequence[Any],
    system: str | None = None,
    max_steps: int = 10,
) -> str:
    """Ask, run the tools, ask again; the text of the first answer without calls."""
    messages: list[Any] = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": task})
    for _ in range(max_steps):
        options: dict[str, Any] = {"tools": list(schemas)} if schemas else {}
        response = await client.chat.completions.create(model=MODEL, messages=messages, **options)
        message = response.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)  # type: ignore[union-attr]
            value = tools[call.function.name](**arguments)  # type: ignore[union-attr]
            if inspect.isawaitable(value):
                value = await value
            content = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return "The step limit was reached."


async def article_e(env: Env) -> str:
    """The loop as a subject."""
    return await run_agent(
        env.task,
        client=env.openai(),
        tools=env.tools,
        schemas=env.tool_schemas,
        system=env.system,
        max_steps=env.limits.steps,
    )
