"""Memory across runs: what an earlier run stored, as the system text of the next one tells it (ARTICLES 19)."""

from __future__ import annotations

from typing import Any

from harness.types.jsontext import canonical_json, parse_json
from harness.types.messages import JsonText
from harness.types.scenario import Scenario


def remembered(memory: JsonText) -> str:
    """A line for each key, by name: text as it is, other values as JSON; "" for an empty memory.

    A text of several lines stays JSON, so that no value looks like another key.
    """
    stored: Any = parse_json(memory)
    if not isinstance(stored, dict) or not stored:
        return ""
    lines = [f"- {key}: {_shown(stored[key])}" for key in sorted(stored)]
    return "\n".join(["What is remembered from earlier:", *lines])


def system_text(scenario: Scenario, memory: JsonText) -> str:
    """The system text of a run, with what is remembered at its end where the scenario shows that."""
    told = remembered(memory) if scenario.context.show_memory else ""
    return "\n\n".join(filter(None, (scenario.system, told)))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and len(value.splitlines()) == 1 else canonical_json(value)
