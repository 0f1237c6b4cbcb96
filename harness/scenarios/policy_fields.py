"""Fields of ``policy``: what calls may do, and what a person answers; read, and written back."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from pydantic import Field, Tag, model_validator

from harness.scenarios.base import LIST, TEXT, Choice, Count, Fields, Filled, by_shape, complaint
from harness.scenarios.matchers import Matchers
from harness.types.jsontext import canonical_json
from harness.types.policy import PolicySpec, Rule, Ruling, ScriptedApproval, ScriptedReply

RULINGS: Final = tuple(Ruling)


class RuleFields(Fields):
    """What to do with the calls whose arguments include these."""

    when: Matchers | None = None
    then: Annotated[str, Choice(RULINGS)]
    why: Filled | None = None

    def made(self, tool: str) -> Rule:
        return Rule(tool, Ruling(self.then), None if self.when is None else canonical_json(self.when), self.why)


class ApprovalFields(Fields):
    """One answer to a question, given once."""

    tool: Filled | None = None
    call: Filled | None = None
    answer: Annotated[str, Choice(tuple(ScriptedReply))]
    after_ms: Count = 0

    def made(self) -> ScriptedApproval:
        return ScriptedApproval(ScriptedReply(self.answer), self.tool, self.call, self.after_ms)


class PolicyFields(Fields):
    """What stands between a call and its body."""

    read_only: bool = False
    tools: dict[
        Filled,
        Annotated[
            Annotated[Annotated[str, Choice(RULINGS)], Tag(TEXT)]
            | Annotated[Annotated[list[RuleFields], Field(min_length=1)], Tag(LIST)],
            by_shape("allow, deny, ask, or a list of {when, then, why}"),
        ],
    ] = Field(default_factory=dict)
    approvals: list[ApprovalFields] = Field(default_factory=list)

    @model_validator(mode="after")
    def _no_rule_behind_the_last(self) -> PolicyFields:
        for tool, rules in self.tools.items():
            if not isinstance(rules, str) and any(rule.when is None for rule in rules[:-1]):
                raise complaint(f"{tool!r}: a rule without 'when' fits every call; put it last", field="tools")
        return self

    def made(self) -> PolicySpec:
        return PolicySpec(
            read_only=self.read_only,
            rules=tuple(rule for tool in sorted(self.tools) for rule in _rules(tool, self.tools[tool])),
            approvals=tuple(approval.made() for approval in self.approvals),
        )


def _rules(tool: str, rules: str | list[RuleFields]) -> list[Rule]:
    return [Rule(tool, Ruling(rules))] if isinstance(rules, str) else [rule.made(tool) for rule in rules]


def call_policy_document(policy: PolicySpec) -> dict[str, Any]:
    """The fields of a policy in a document; empty where it says nothing."""
    tools: dict[str, Any] = {}
    for rule in policy.rules:
        written = {"then": rule.then.value, **({"why": rule.why} if rule.why else {})}
        if rule.when is not None:
            written = {"when": json.loads(rule.when), **written}
        tools.setdefault(rule.tool, []).append(written)
    short = {tool: rules[0]["then"] if list(rules[0]) == ["then"] else rules for tool, rules in tools.items()}
    document = {
        "read_only": policy.read_only,
        "tools": short,
        "approvals": [_approval(approval) for approval in policy.approvals],
    }
    return {name: part for name, part in document.items() if part}


def _approval(approval: ScriptedApproval) -> dict[str, Any]:
    written = {"tool": approval.tool, "call": approval.call, "answer": approval.reply.value}
    return {name: part for name, part in {**written, "after_ms": approval.after_ms}.items() if part}
