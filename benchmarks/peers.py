"""The same work in two other frameworks, each with the scripted model that it brings along."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("INSPECT_DISPLAY", "none")
os.environ.setdefault("INSPECT_LOG_LEVEL", "error")


def pydantic_ai(n_steps: int) -> None:
    """An agent over FunctionModel, without any log."""
    from pydantic_ai import Agent, UsageLimits
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    step = 0

    async def answer(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        nonlocal step
        step += 1
        if step > n_steps:
            return ModelResponse(parts=[TextPart("done")])
        arguments = {"key": f"k{step}", "count": step}
        return ModelResponse(parts=[ToolCallPart("lookup", arguments, tool_call_id=f"call_{step}")])

    agent = Agent(FunctionModel(answer))

    @agent.tool_plain
    async def lookup(key: str, count: int) -> str:
        return f"value of {key} number {count}"

    result = asyncio.run(agent.run("Look up everything.", usage_limits=UsageLimits(request_limit=None)))
    _check(result.output == "done" and step == n_steps + 1, "pydantic-ai")


def inspect(n_steps: int, folder: Path) -> None:
    """``eval`` of one sample over mockllm, with the log that it writes."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import Tool, tool

    @tool
    def lookup() -> Tool:
        async def execute(key: str, count: int) -> str:
            """Look a key up.

            Args:
                key: what to look up
                count: how often
            """
            return f"value of {key} number {count}"

        return execute

    def answer(step: int) -> ModelOutput:
        if step > n_steps:
            return _counted(ModelOutput.from_content("mockllm", "done"))
        arguments = {"key": f"k{step}", "count": step}
        return _counted(ModelOutput.for_tool_call("mockllm", "lookup", arguments, tool_call_id=f"call_{step}"))

    outputs = [answer(step) for step in range(1, n_steps + 2)]
    task = Task(
        dataset=[Sample(input="Look up everything.")],
        solver=[use_tools(lookup()), generate(tool_calls="loop")],
        message_limit=None,
    )
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    (log,) = evaluate(task, model=model, log_dir=str(folder), display="none", score=False)
    n_messages = len(log.samples[0].messages) if log.samples else 0
    _check(log.status == "success" and n_messages == 2 * n_steps + 2, f"inspect ({log.status}, {n_messages} messages)")


def _counted(output: Any) -> Any:
    """With its usage given, so that nobody asks a tokenizer (which would be fetched)."""
    from inspect_ai.model import ModelUsage

    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def _check(done: bool, who: str) -> None:
    if not done:
        raise RuntimeError(f"{who} did not do the work that was measured")
