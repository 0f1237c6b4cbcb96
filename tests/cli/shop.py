"""A small project with a git history: an agent loop of its own, tools, scenarios, a recording, baselines, a gate."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.endpoint import calls, endpoint, says
from tests.cli.lab import clean_environment
from tests.conftest import REPO

AGENT = '''\
"""The loop of the shop."""

import json

from harness.testing import subject
from shop.tools import REGISTRY, SCHEMAS

SYSTEM = """You work for a small shop.
Be short.
Refund what is asked for."""
TEMPERATURE = 0.0
MAX_STEPS = 6


async def run_agent(task, *, client, tools):
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task}]
    for _ in range(MAX_STEPS):
        response = await client.chat.completions.create(
            model="any", temperature=TEMPERATURE, messages=messages, tools=SCHEMAS
        )
        message = response.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            value = tools[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(value)})
    raise RuntimeError(f"no answer after {MAX_STEPS} steps")


my_loop = subject(lambda env: run_agent(env.task, client=env.openai(), tools=env.wrap(REGISTRY)))
'''
TOOLS = '''\
"""What the loop may do."""


def lookup_order(id: int) -> dict[str, object]:
    return {"id": id, "total": 19.9}


def refund(order: int) -> str:
    return "ok"


def cancel_order(order: int) -> str:
    return "cancelled"


REGISTRY = {"lookup_order": lookup_order, "refund": refund, "cancel_order": cancel_order}


def schema(name, argument, description, kind="integer"):
    parameters = {"type": "object", "properties": {argument: {"type": kind}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


SCHEMAS = [
    schema("lookup_order", "id", "Look an order up."),
    schema("refund", "order", "Give the money back."),
    schema("cancel_order", "order", "Stop an order."),
]
'''
_HEAD = 'format: harness-scenario/1\ntask: {task}\nlimits: {{steps: 10}}\ntools: {{from: "shop.tools:REGISTRY"}}\n'
REFUND = _HEAD.format(task="Refund order 7, please.") + """\
script:
  - call: {lookup_order: {id: 7}}
  - call: {refund: {order: 7}}
  - say: Refunded.
expect: {status: completed, steps: 3, answer: {contains: Refunded}}
"""
STATUS = _HEAD.format(task="What does order 8 cost?") + """\
script:
  - call: {lookup_order: {id: 8}}
  - say: It costs 19.9.
expect: {status: completed, answer: {contains: "19.9"}}
"""
TOTAL = _HEAD.format(task="What does order 9 cost?") + """\
model: any
expect: {status: completed, answer: {contains: "19.9"}}
"""
FILES: Mapping[str, str] = {
    ".gitignore": "/reports/*\n!/reports/baselines/\n__pycache__/\n",
    "README.md": "# The shop\n",
    "pyproject.toml": '[tool.harness]\nscenarios = ["scenarios"]\nsubject = "shop.agent:my_loop"\n',
    "gate.yaml": "format: harness-gate/1\n",
    "src/shop/__init__.py": "",
    "src/shop/agent.py": AGENT,
    "src/shop/tools.py": TOOLS,
    "scenarios/refund.yaml": REFUND,
    "scenarios/status.yaml": STATUS,
    "scenarios/recorded/total.yaml": TOTAL,
}
_NAMED = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class Shop:
    """The repository; ``folder`` is where the project lies in it."""

    top: Path
    folder: Path

    def git(self, *arguments: str) -> str:
        """Real git, deaf to the machine's settings."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        nothing = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", *_NAMED, *arguments]
        done = subprocess.run(
            command, cwd=self.top, env={**environ, **nothing}, capture_output=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, name: str, text: str | bytes) -> Path:
        """A file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return path

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace what stands in a file, which must stand there."""
        text = (self.folder / name).read_text("utf-8")
        assert old in text, f"{name} does not hold {old!r}"
        self.write(name, text.replace(old, new))

    def commit(self, why: str = "change") -> str:
        """Commit all; gives the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", why)
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str) -> None:
        """A branch from main, whatever was there."""
        self.git("checkout", "-q", "-f", "-B", name, "main")
        self.git("clean", "-fdq")

    def harness(self, *arguments: str, **environ: str) -> None:
        """The command line in a process of its own, with the project's code."""
        path = os.pathsep.join([str(REPO), str(self.folder / "src")])
        done = subprocess.run(
            [sys.executable, "-m", "harness", *arguments],
            cwd=self.folder, env=clean_environment({"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environ}),
            capture_output=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, (done.stdout + done.stderr).decode()


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """What the recorded model says."""
    return says("It costs 19.9.") if body["messages"][-1]["role"] == "tool" else calls("lookup_order", id=9)


def built(top: Path, inside: str = "", files: Mapping[str, str] = FILES) -> Shop:
    """A repository whose main branch holds these files."""
    shop = Shop(top, top / inside)
    shop.folder.mkdir(parents=True, exist_ok=True)
    shop.git("init", "-q", "-b", "main")
    for name, text in files.items():
        shop.write(name, text)
    shop.commit("a shop")
    return shop


def whole_shop(top: Path) -> Shop:
    """The project with its recording and its baselines, made by the harness, all of it on main."""
    shop = built(top)
    with endpoint(answer) as url:
        shop.harness("record", "scenarios/recorded", OPENAI_BASE_URL=url, OPENAI_API_KEY="k")
    shop.harness("run", "--out", "reports/first")
    shop.harness("baseline", "accept", "reports/first")
    shop.commit("a recording and baselines")
    return shop
