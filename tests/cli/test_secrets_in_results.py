"""A tool's result that lets a secret slip: no request carries it, no file holds it, and nobody is accused of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.endpoint import calls, endpoint, says
from tests.cli.lab import Cli

KEY = "sk-canary-0123456789abcdefghij"
TOOLS = """\
import os
from harness.tools import FunctionTool

def peek(how: str) -> object:
    '''Look.'''
    key = os.environ["OPENAI_API_KEY"]
    text = f"before {key} behind"
    return {"text": text, "object": {"deep": [text]}, "blank": ""}[how]

registry = [FunctionTool(peek)]

async def loop(task, *, client, tools):
    messages = [{"role": "user", "content": task}]
    asks = lambda: client.chat.completions.create(model="m", messages=messages)
    answer = (await asks()).choices[0].message
    messages.append(answer.model_dump(exclude_none=True))
    for call in answer.tool_calls:
        result = tools["peek"](**__import__("json").loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})
    return (await asks()).choices[0].message.content
"""
LOOP = "\nfrom harness.testing import subject\nmy_loop = subject(lambda env: loop(env.task, client=env.openai(), tools=env.wrap({'peek': peek})))\n"
SCENARIO = "format: harness-scenario/1\ntask: Look.\ntools: {from: 'leaking:registry'}\nmodel: m\nexpect: {status: completed, steps: 2}\n"


@pytest.mark.article("1")
@pytest.mark.parametrize(
    ("subject", "how"),
    [("built-in", "text"), ("built-in", "object"), ("leaking:my_loop", "text")],  # what a loop makes of an object is its own affair
)
@pytest.mark.parametrize("command", ["run", "record"])
def test_a_secret_in_a_result_reaches_neither_the_endpoint_nor_a_file(
    command: str, how: str, subject: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> dict[str, Any] | int:
        asked.append(body)
        return says("done") if body["messages"][-1]["role"] == "tool" else calls("peek", how=how)

    cli.write("leaking.py", TOOLS + LOOP)
    own = SCENARIO.replace("tools: {from: 'leaking:registry'}\n", "")  # it brings its own, and offers none
    cli.write("scenarios/a.yaml", SCENARIO if subject == "built-in" else own)
    with endpoint(answer) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        said = cli(command, *(("--model", "live") if command == "run" else ()), "--subject", subject)
    assert said.code == 0, said.all
    assert len(asked) == 2
    assert KEY not in json.dumps(asked)
    assert "before <secret> behind" in json.dumps(asked[-1]).replace("\\", "")
    files = [path for path in cli.folder.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert KEY not in said.all
