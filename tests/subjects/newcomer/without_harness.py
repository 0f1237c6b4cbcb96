"""Shows with asyncio, httpx2 and the openai package alone what is wrong with each loop of this folder.

``python without_harness.py`` prints one JSON object: the loop's name -> what was seen. It imports nothing of
the harness. Three experiments, each with the same tools and the same three answers of the model: the run is
cancelled while its first tool runs; the second tool raises; the second request fails once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import openai

SCHEMAS: list[Any] = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("slow", "quick")
]


def _message(n_results: int) -> dict[str, Any]:
    if n_results:
        return {"role": "assistant", "content": "done"}
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for number, name in enumerate(("slow", "quick"))
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


class World:
    """A model and two tools that write down what happens, in order."""

    def __init__(self, *, quick_raises: bool = False, second_request_fails: bool = False) -> None:
        self.seen: list[str] = []
        self.told: dict[str, str] = {}
        self.n_requests = 0
        self.quick_raises = quick_raises
        self.second_request_fails = second_request_fails
        self.slow_began = asyncio.Event()

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.n_requests += 1
        self.seen.append("request")
        if self.second_request_fails and self.n_requests == 2:
            return httpx2.Response(500, json={"error": {"message": "broken"}})
        messages = json.loads(request.content)["messages"]
        results = [message for message in messages if message["role"] == "tool"]
        self.told |= {message["tool_call_id"]: message["content"] for message in results}
        choice = {"index": 0, "finish_reason": "stop", "message": _message(len(results))}
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": "any", "choices": [choice]}
        return httpx2.Response(200, json=body)

    async def slow(self) -> str:
        self.seen.append("slow begins")
        self.slow_began.set()
        await asyncio.sleep(0.02)
        self.seen.append("slow ends")
        return "slow's own result"

    async def quick(self) -> str:
        self.seen.append("quick begins")
        if self.quick_raises:
            raise ValueError("quick broke")
        return "quick's own result"

    async def run(self, loop: Any) -> str:
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(self.answer))
        async with openai.AsyncOpenAI(api_key="none", base_url="http://model/v1", http_client=http, max_retries=0) as client:
            agent = loop(client, {"slow": self.slow, "quick": self.quick}, SCHEMAS)
            return str(await agent.run("go"))


async def cancelled(loop: Any) -> list[str]:
    """What began after the cancel."""
    world = World()
    task = asyncio.create_task(world.run(loop))
    await world.slow_began.wait()
    await asyncio.sleep(0)
    n_before = len(world.seen)
    task.cancel()
    outcome = "ended as cancelled"
    try:
        outcome = f"answered {await task!r}"
    except asyncio.CancelledError:
        pass
    await asyncio.sleep(0.04)
    return [outcome, *(f"{what} after the cancel" for what in world.seen[n_before:])]


async def a_tool_raises(loop: Any) -> list[str]:
    """What the model was told of a tool that worked, while its sibling did not."""
    world = World(quick_raises=True)
    await world.run(loop)
    n_before = len(world.seen)
    told = "slow's own result" if world.told.get("c0") == "slow's own result" else "something else"
    await asyncio.sleep(0.04)
    return [f"the model was told {told} about slow", *(f"{what} after the answer" for what in world.seen[n_before:])]


async def a_request_fails(loop: Any) -> list[str]:
    """How often each tool ran for one call."""
    world = World(second_request_fails=True)
    try:
        await world.run(loop)
        outcome = "answered"
    except openai.APIError:
        outcome = "failed"
    return [outcome, f"slow ran {world.seen.count('slow begins')} times"]


async def main() -> dict[str, Any]:
    """All loops, all three experiments."""
    spec = importlib.util.spec_from_file_location("loops", Path(__file__).parent / "loops.py")
    assert spec is not None
    assert spec.loader is not None
    loops = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loops)
    experiments = (cancelled, a_tool_raises, a_request_fails)
    return {
        name: {experiment.__name__: await experiment(loop) for experiment in experiments}
        for name, loop in loops.LOOPS.items()
    }


if __name__ == "__main__":
    seen = asyncio.run(main())
    assert not any(name.partition(".")[0] == "harness" for name in sys.modules)
    sys.stdout.write(json.dumps(seen, indent=2) + "\n")
