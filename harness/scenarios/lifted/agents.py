"""Child agents and rules for calls, out of what a run shows of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from harness.folds import CallTrace, limits_from_json, text_of
from harness.folds.exchanges import Exchange, tool_names
from harness.scenarios.lifted.script import Note as Told
from harness.types.agents import AGENT_NOTE, AgentSpec
from harness.types.codes import ApprovalOutcome, Code
from harness.types.events import Event, Header
from harness.types.exchange import RequestHeader, ToolResult
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.lifecycle import ApprovalAnswered, ApprovalAsked, Note, RunEnd
from harness.types.limits import Limits
from harness.types.messages import CallId, JsonText
from harness.types.policy import NO_RULES, PolicySpec, Rule, Ruling, ScriptedApproval, ScriptedReply
from harness.types.reasons import Waiting

_REFUSED: Final = re.compile(r"tool .* did not run: (.*?); do without it.*\Z", re.DOTALL)
NOBODY: Final = "nobody"
SCRIPT: Final = "script"
_REPLIES: Final = {
    ApprovalOutcome.ALLOWED: ScriptedReply.ALLOW,
    ApprovalOutcome.REJECTED: ScriptedReply.REJECT,
    ApprovalOutcome.UNAVAILABLE: ScriptedReply.UNAVAILABLE,
}


def agent_names(events: Iterable[Event]) -> dict[str, str]:
    """The name of each child by its path, as its first line tells it."""
    found = {}
    for event in events:
        if isinstance(event.fact, Note) and event.fact.name == AGENT_NOTE:
            value = parse_json(event.fact.data or "{}")
            if isinstance(value, dict) and isinstance(value.get("name"), str):
                found[event.agent] = value["name"]
    return found


def agents_of(events: Sequence[Event], header: Header, exchanges: Iterable[Exchange]) -> tuple[AgentSpec, ...]:
    """The children that began, by name: what they were told first, what they were offered, their limits."""
    names = agent_names(events)
    offered = {tool.name: tool.description for tool in header.tools}
    first: dict[str, RequestHeader] = {}
    for exchange in exchanges:
        if exchange.agent in names and exchange.header is not None:
            first.setdefault(names[exchange.agent], exchange.header)
    found = []
    for name in sorted(set(names.values())):
        told = first.get(name)
        system = "\n\n".join(text_of(one.content) for one in told.system) if told and told.system else None
        tools = tool_names(told.tools) if told else ()
        found.append(AgentSpec(name, offered.get(name) or name, system, tools, _limits(events, name)))
    return tuple(found)


def _limits(events: Sequence[Event], name: str) -> Limits | None:
    for event in events:
        if isinstance(event.fact, Note) and event.fact.name == AGENT_NOTE:
            value = parse_json(event.fact.data or "{}")
            if isinstance(value, dict) and value.get("name") == name and "limits" in value:
                return limits_from_json(canonical_json(value["limits"]))
    return None


# ---------------------------------------------------------------- rules


def policy_of(events: Sequence[Event], traces: Sequence[CallTrace], note: Told) -> PolicySpec:
    """Which calls a person was asked about, and what was said; which were denied."""
    asked = {e.fact.call_id: e for e in events if isinstance(e.fact, ApprovalAsked)}
    rules: list[Rule] = []
    for trace in traces:
        when = _when(trace)
        if trace.call.id in asked:
            rules.append(Rule(trace.call.name, Ruling.ASK, when))
        elif (why := _denied(trace)) is not None:
            rules.append(Rule(trace.call.name, Ruling.DENY, when, why or None))
    if not rules:
        return NO_RULES
    return PolicySpec(rules=_simplest(rules, traces, asked), approvals=tuple(_answers(events, asked, note)))


def _when(trace: CallTrace) -> JsonText | None:
    value = parse_json(trace.call.arguments or "{}")
    return None if isinstance(value, Refusal) or not isinstance(value, dict) or not value else canonical_json(value)


def _denied(trace: CallTrace) -> str | None:
    """Why a call was denied before its body; None where it was not, or cannot be told."""
    fact = trace.result.fact if trace.result else None
    if trace.start is not None or not isinstance(fact, ToolResult) or fact.code is not Code.PERMISSION_DENIED:
        return None
    found = _REFUSED.match(fact.message or "")
    return found[1] if found else ""


def _simplest(rules: list[Rule], traces: Sequence[CallTrace], asked: Iterable[str]) -> tuple[Rule, ...]:
    """One rule for a tool whose every call was ruled alike; else one for each of its calls."""
    found: dict[Rule, None] = {}
    for rule in rules:
        n_calls = sum(trace.call.name == rule.tool for trace in traces)
        alike = [other for other in rules if (other.tool, other.then, other.why) == (rule.tool, rule.then, rule.why)]
        found[Rule(rule.tool, rule.then, None, rule.why) if len(alike) == n_calls else rule] = None
    return tuple(found)


def _answers(events: Sequence[Event], asked: dict[CallId, Event], note: Told) -> Iterable[ScriptedApproval]:
    answered = {e.fact.call_id: e for e in events if isinstance(e.fact, ApprovalAnswered)}
    for call, question in asked.items():
        name = next(
            (c.name for e in events for c in getattr(e.fact, "tool_calls", ()) if c.id == call),
            None,
        )
        answer = answered.get(call)
        if answer is None or not isinstance(answer.fact, ApprovalAnswered):
            parked = any(isinstance(e.fact, RunEnd) and isinstance(e.fact.reason, Waiting) for e in events)
            yield ScriptedApproval(ScriptedReply.PARK if parked else ScriptedReply.HANG, name, call)
        elif answer.fact.outcome is ApprovalOutcome.CANCELLED:
            yield ScriptedApproval(ScriptedReply.HANG, name, call)
        elif answer.fact.by == NOBODY:
            continue
        else:
            if answer.fact.by != SCRIPT or answer.fact.outcome is ApprovalOutcome.UNAVAILABLE:
                note("who answered about a call, or why nobody could, reads otherwise: a script answers in its place")
            waited = (answer.time or 0) - (question.time or 0)
            yield ScriptedApproval(_REPLIES[answer.fact.outcome], name, call, max(waited, 0))
