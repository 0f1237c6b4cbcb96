"""Tools that a scenario names and does not have: what guards or counts a tool that is not there proves nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.protocols import Tool
from harness.types.limits import Limits
from harness.types.policy import ANY_TOOL, ScriptedReply
from harness.types.scenario import Scenario

Where = tuple[str | int, ...]
"""A field of a scenario's document, by its names and indices."""


def misnamed(scenario: Scenario, tools: Sequence[Tool]) -> Iterator[tuple[Where, str]]:
    """What names a tool that is not there: the field, and what is wrong.

    A scenario without any tool is for a loop that brings its own, so only its policy is looked at.
    """
    known = {tool.name for tool in tools}
    for where, name in _names(scenario):
        if name not in known and (known or where[0] == "policy"):
            there = ", ".join(sorted(known)) or "none"
            yield where, f"it names the tool {name!r}, which the scenario does not have; there are: {there}"
    visible = known if scenario.tools.visible is None else set(scenario.tools.visible)
    for number, approval in enumerate(scenario.policy.approvals):
        if approval.reply is ScriptedReply.PARK and approval.tool in known - visible:
            text = f"only child agents call {approval.tool!r}, and a child's question cannot be parked: answer it"
            yield ("policy", "approvals", number), text


def _names(scenario: Scenario) -> Iterator[tuple[Where, str]]:
    for number, name in enumerate(scenario.tools.allowed or ()):
        yield ("tools", "allowed", number), name
    yield from _excluded(scenario.limits, ("limits",))
    for agent in scenario.agents:
        if agent.limits is not None:
            yield from _excluded(agent.limits, ("agents", agent.name, "limits"))
    for rule in scenario.policy.rules:
        if rule.tool != ANY_TOOL:
            yield ("policy", "tools", rule.tool), rule.tool
    for number, approval in enumerate(scenario.policy.approvals):
        if approval.tool is not None:
            yield ("policy", "approvals", number, "tool"), approval.tool
    for effect in scenario.expect.effects:
        yield ("expect", "effects", effect.tool), effect.tool
    if scenario.expect.provenance is not None:
        for tool, _ in scenario.expect.provenance.arguments:
            yield ("expect", "provenance", "arguments", tool), tool


def _excluded(limits: Limits, where: Where) -> Iterator[tuple[Where, str]]:
    for number, name in enumerate(limits.repeats.exclude if limits.repeats else ()):
        yield (*where, "repeats", "exclude", number), name
