"""The rules of a scenario's policy, over its tools: what may run, what may not, what a person is asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.matching import match_value
from harness.protocols import Tool
from harness.types.codes import Effect
from harness.types.jsontext import parse_json
from harness.types.policy import ANY_TOOL, Judgement, PolicySpec, Rule, Ruling

_ALLOWED = Judgement(Ruling.ALLOW)


def rules_of(spec: PolicySpec, tools: Sequence[Tool]) -> Callable[[str, str], Judgement] | None:
    """What the policy says of a tool's name and its arguments (JSON text); None where it says nothing.

    ``read_only`` comes before all rules: it refuses each tool that may write, which a tool does unless it is
    declared to read (ARTICLES 29).
    """
    if not spec.read_only and not spec.rules:
        return None
    reading = frozenset(tool.name for tool in tools if tool.effect is Effect.READ)

    def judge(name: str, arguments: str) -> Judgement:
        if spec.read_only and name not in reading:
            return Judgement(Ruling.DENY, "it would change something, and this task only allows reading")
        values = parse_json(arguments) if arguments.strip() else {}
        for tool in (name, ANY_TOOL):
            for rule in spec.rules:
                if rule.tool == tool and _fits(rule, values):
                    return Judgement(rule.then, rule.why or _why(rule))
        return _ALLOWED

    return judge


def _fits(rule: Rule, values: Any) -> bool:
    if rule.when is None:
        return True
    if not isinstance(values, dict):  # what cannot be read (repairs come later) is allowed by no matcher
        return rule.then is not Ruling.ALLOW
    return not match_value({"$subset": parse_json(rule.when)}, values)


def _why(rule: Rule) -> str:
    if rule.then is Ruling.ASK:
        return "the policy asks before it runs"
    return "the policy denies it" if rule.when is None else "the policy denies it with these arguments"
