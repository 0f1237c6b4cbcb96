"""A distribution as somebody else would write it: a check, a model and a loop of their own, by entry point."""

from __future__ import annotations

from pathlib import Path

MODULE = '''\
"""Rules, a model and a loop of a shop."""

from harness.folds import answer_of, text_of
from harness.types.codes import FinishReason, Outcome
from harness.types.doors import Answer
from harness.types.records import Finding, Verdict


class Polite:
    """The final answer says please."""

    name = "polite"
    needs = (("assistant/message", None),)
    rules = ()

    def __call__(self, trajectory):
        answer = answer_of(trajectory) or ""
        if "please" in answer.lower():
            return Verdict(self.name, Outcome.PASS)
        return Verdict(self.name, Outcome.FAIL, (Finding(self.name, f"no please in {answer!r}"),))


polite = Polite()


class Echo:
    """A model that says what it was asked last, and please."""

    def __init__(self, scenario, clock):
        self.scenario = scenario
        self.closed = False

    name = "echo"

    async def answer(self, call, *, signal, emit):
        (last,) = call.messages[-1:]
        return Answer(f"{text_of(last.content)}, please", finish_reason=FinishReason.STOP)

    def closing_verdicts(self):
        return (Verdict("echo", Outcome.PASS, why="asked"),)

    async def aclose(self):
        CLOSED.append(self.scenario.id)


CLOSED = []


def echo(scenario, clock):
    """The factory behind the entry point."""
    return Echo(scenario, clock)


echo.clock = "virtual"


async def shop_loop(env):
    """One request, no tools."""
    reply = await env.openai().chat.completions.create(
        model="m", messages=[{"role": "user", "content": env.task}]
    )
    return reply.choices[0].message.content
'''
ENTRY_POINTS = """\
[harness.checks]
polite = shop_rules:polite
broken = shop_rules:CLOSED

[harness.models]
echo = shop_rules:echo

[harness.subjects]
shop_loop = shop_rules:shop_loop
"""


def install(folder: Path) -> None:
    """Lay the distribution out in a folder, as an installer would; put the folder on the path to use it."""
    info = folder / "shop_rules-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "shop_rules.py").write_text(MODULE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shop-rules\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
