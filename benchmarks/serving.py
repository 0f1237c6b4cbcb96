"""pydantic-ai, unchanged, against `harness serve`: both APIs, whole and streamed, tools, retries, faults.

Run by `make peers-serve` in the environment of the benchmarks. Prints one line for each way; exit code 1 where one
did not come to what the script says.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

SCENARIO = """\
format: harness-scenario/1
task: What is the weather in Paris and in Rome?
script:
  - calls: [{weather: {city: Paris}}, {weather: {city: Rome}}]
  - say: Sun in Paris, rain in Rome.
    usage: {input: 20, output: 8}
"""
FAULTS = """\
faults:
  - {request: 1, status: 429, retry_after_ms: 10}
  - {request: 3, reset: true}
"""
ANSWER = "Sun in Paris, rain in Rome."
TIME_LIMIT_S = 60


async def asked(model: Any, *, stream: bool) -> tuple[str, list[str]]:
    """The answer of an agent with one tool, and the cities that its tool was called with."""
    from pydantic_ai import Agent

    agent = Agent(model)
    cities: list[str] = []

    @agent.tool_plain
    async def weather(city: str) -> str:
        cities.append(city)
        return {"Paris": "sun", "Rome": "rain"}[city]

    task = "What is the weather in Paris and in Rome?"
    if not stream:
        return str((await agent.run(task)).output), sorted(cities)
    async with agent.run_stream(task) as running:
        return str(await running.get_output()), sorted(cities)


def model_of(api: str) -> Any:
    """The model class of an API; the endpoint and the key come from the environment."""
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

    return (OpenAIChatModel if api == "chat" else OpenAIResponsesModel)("any-model")


def one_way(api: str, faults: str, *, stream: bool) -> str:
    """Run one way against a server of its own; "" where all was as the script says."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "weather.yaml")
        file.write_text(SCENARIO + faults, "utf-8")
        server = subprocess.Popen(
            [sys.executable, "-m", "harness", "serve", str(file)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            head = [server.stdout.readline() for _ in range(4)]
            os.environ |= dict(re.findall(r"export (\w+)=(\S+)", "".join(head)))
            got = asyncio.run(asyncio.wait_for(asked(model_of(api), stream=stream), TIME_LIMIT_S))
        finally:
            server.terminate()
            told, _ = server.communicate(timeout=TIME_LIMIT_S)
    if got != (ANSWER, ["Paris", "Rome"]):
        return f"came to {got!r}"
    return "" if server.returncode == 0 else f"the server says: {told.strip()}"


def main() -> int:
    """All ways; how many failed decides the exit code."""
    print(f"pydantic-ai {version('pydantic-ai-slim')}, openai {version('openai')}, against harness serve")
    n_wrong = 0
    for api in ("chat", "responses"):
        for stream in (False, True):
            for faults in ("", FAULTS):
                wrong = one_way(api, faults, stream=stream)
                n_wrong += bool(wrong)
                name = f"{api}, {'streamed' if stream else 'whole'}{', with faults' if faults else ''}"
                print(f"  {'FAIL' if wrong else 'ok  '} {name}{': ' + wrong if wrong else ''}")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
