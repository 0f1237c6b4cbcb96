"""Small helpers over the public API: run fields of a scenario, look at what happened."""

from __future__ import annotations

from typing import Any

from harness.folds import calls_of, requests_of
from harness.runner import RunResult
from harness.testing import scenario
from harness.types.exchange import ToolResult, ToolStart
from harness.types.messages import ChatMessage

ADD = {"use": ["calculator"]}


def play(script: list[Any], **fields: Any) -> RunResult:
    """Run a script under one task with the built-in loop; leftovers of the script are allowed."""
    asked = {} if "tasks" in fields else {"task": "go"}
    return scenario(**{**asked, "tools": ADD, "allow_leftovers": True, "script": script, **fields}).run()


def calculate(expression: str) -> dict[str, Any]:
    """A reply that calls the calculator."""
    return {"call": {"calculator": {"expression": expression}}}


def kinds(run: RunResult) -> list[str]:
    """The kinds of all events, in order."""
    return [event.fact.TYPE for event in run.trajectory]  # type: ignore[union-attr]


def starts(run: RunResult) -> list[str]:
    """Names of all bodies that began, in order."""
    return [event.fact.name for event in run.trajectory if isinstance(event.fact, ToolStart)]


def results(run: RunResult) -> list[tuple[str, str | None, str]]:
    """(name, code, content) of every committed result, in order."""
    return [
        (event.fact.name, event.fact.code, str(event.fact.content))
        for event in run.trajectory
        if isinstance(event.fact, ToolResult)
    ]


def codes(run: RunResult) -> list[str | None]:
    """Codes of every committed result, in order."""
    return [code for _, code, _ in results(run)]


def shown(run: RunResult, number: int) -> tuple[ChatMessage, ...]:
    """What the model was shown at request ``number`` (from 1)."""
    return tuple(list(requests_of(run.trajectory))[number - 1].messages)


def roles(run: RunResult, number: int) -> list[str]:
    """Roles of the messages at request ``number`` (from 1)."""
    return [message.role for message in shown(run, number)]


def emitted_ids(run: RunResult) -> list[str]:
    """The unique ids of all emitted calls, in model order."""
    return [trace.call.id for trace in calls_of(run.trajectory)]
