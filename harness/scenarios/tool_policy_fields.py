"""Fields of ``tool_policy``: what a failure leads to, how long results may be, which repairs are allowed."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, Tag, model_validator

from harness.scenarios.base import FIELDS, TEXT, UNIQUE, Choice, Count, Fields, Filled, Positive, by_shape, complaint
from harness.types.tool_policy import (
    LEAST_RESULT,
    AfterFailure,
    AfterLength,
    OnFailure,
    ResultLimit,
    ResultUnit,
    Rung,
    ToolPolicy,
    ToolRules,
)

_ENDS: Final = (AfterFailure.REPORT.value, AfterFailure.FAIL_RUN.value)
_RUNGS: Final = tuple(rung.value for rung in Rung)
_MOST: Final = ("max_chars", "max_bytes")
_LONG: Final = tuple(then.value for then in AfterLength)


class FallBackFields(Fields):
    """The tool that takes over, with the same arguments."""

    tool: Filled


class FailureFields(Fields):
    """What a failed body leads to."""

    retries: Count = 0
    delay_ms: Count = 0
    then: Annotated[
        Annotated[str, Choice(_ENDS), Tag(TEXT)] | Annotated[FallBackFields, Tag(FIELDS)],
        by_shape("report, fail-run, or {tool: …} that takes over"),
    ] = AfterFailure.REPORT.value

    def made(self) -> OnFailure:
        if isinstance(self.then, FallBackFields):
            return OnFailure(self.retries, self.delay_ms, AfterFailure.FALL_BACK, self.then.tool)
        return OnFailure(self.retries, self.delay_ms, AfterFailure(self.then))


class ResultsFields(Fields):
    """How long a result may be."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [name]} for name in _MOST]})
    max_chars: Annotated[int, Field(ge=LEAST_RESULT)] | None = None
    max_bytes: Annotated[int, Field(ge=LEAST_RESULT)] | None = None
    then: Annotated[str, Choice(_LONG)] = AfterLength.CUT.value

    @model_validator(mode="after")
    def _one_unit(self) -> ResultsFields:
        given = self.given(*_MOST)
        if len(given) != 1:
            raise complaint(f"must have one of {', '.join(_MOST)}, has {' and '.join(given) or 'neither'}")
        return self

    def made(self) -> ResultLimit:
        if self.max_chars is not None:
            return ResultLimit(self.max_chars, then=AfterLength(self.then))
        return ResultLimit(self.max_bytes or LEAST_RESULT, ResultUnit.BYTES, AfterLength(self.then))


class ToolRulesFields(Fields):
    """The rules of one tool."""

    failure: FailureFields | None = None
    results: ResultsFields | None = None
    timeout_ms: Positive | None = None

    def made(self) -> ToolRules:
        failure = None if self.failure is None else self.failure.made()
        results = None if self.results is None else self.results.made()
        return ToolRules(failure, results, self.timeout_ms)


class ToolPolicyFields(ToolRulesFields):
    """The rules of every tool, of some tools by name, and the ladder of repairs."""

    tools: dict[Filled, ToolRulesFields] = Field(default_factory=dict)
    repair: Annotated[list[Annotated[str, Choice(_RUNGS)]], *UNIQUE] = Field(default_factory=list)

    @model_validator(mode="after")
    def _falls_back_on_another(self) -> ToolPolicyFields:
        for name, rules in self.tools.items():
            then = rules.failure.then if rules.failure is not None else None
            if isinstance(then, FallBackFields) and then.tool == name:
                raise complaint(
                    "falls back to itself; use 'retries' for more attempts", field=("tools", name, "failure")
                )
        return self

    def made(self) -> ToolPolicy:  # type: ignore[override]
        named = tuple((name, self.tools[name].made()) for name in sorted(self.tools))
        return ToolPolicy(super().made(), named, tuple(Rung(rung) for rung in self.repair))


def policy_document(policy: ToolPolicy) -> dict[str, Any]:
    """The fields of a policy; what says nothing is left out."""
    named = {name: _rules(rules) for name, rules in policy.tools}
    repair = [rung.value for rung in policy.repair]
    return {**_rules(policy.rules), **({"tools": named} if named else {}), **({"repair": repair} if repair else {})}


def _rules(rules: ToolRules) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if rules.failure is not None:
        written["failure"] = _failure(rules.failure)
    if rules.results is not None:
        then = {} if rules.results.then is AfterLength.CUT else {"then": rules.results.then.value}
        written["results"] = {f"max_{rules.results.unit}": rules.results.most, **then}
    if rules.timeout_ms is not None:
        written["timeout_ms"] = rules.timeout_ms
    return written


def _failure(failure: OnFailure) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if failure.retries:
        written["retries"] = failure.retries
    if failure.delay_ms:
        written["delay_ms"] = failure.delay_ms
    if failure.fallback is not None:
        written["then"] = {"tool": failure.fallback}
    elif failure.then is not AfterFailure.REPORT:
        written["then"] = failure.then.value
    return written
