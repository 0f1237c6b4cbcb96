"""Fields of a model's script: replies, calls, failures and branches."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, Tag, WithJsonSchema, model_validator

from harness.scenarios.base import (
    FIELDS,
    TEXT,
    Choice,
    Count,
    Fields,
    Filled,
    ObjectName,
    Regex,
    by_shape,
    complaint,
)
from harness.scenarios.chunk_fields import StreamFields
from harness.types.jsontext import canonical_json
from harness.types.scenario import NO_PARAMETERS
from harness.types.script import (
    ScriptBranch,
    ScriptCall,
    ScriptCase,
    ScriptEntry,
    ScriptFailure,
    ScriptReply,
    When,
)

FAILURES: Final = (
    "RATE_LIMIT",
    "SERVER",
    "TIMEOUT",
    "TRANSPORT",
    "AUTH",
    "QUOTA",
    "INVALID_REQUEST",
    "CONTEXT_OVERFLOW",
    "PROVIDER_ABORTED",
    "DAMAGED_RESPONSE",
    "EMPTY_RESPONSE",
    "NO_FINISH_REASON",
    "UNKNOWN",
)
"""Codes that a provider's failure can have; the others are ours and cannot be scripted."""

Arguments: TypeAlias = Annotated[
    Annotated[str, Tag(TEXT)] | Annotated[dict[str, Any], Tag(FIELDS)],
    by_shape("a mapping of arguments, or raw text (also malformed)"),
]
NamedCalls: TypeAlias = Annotated[dict[Filled, Arguments], Field(min_length=1)]
OneNamedCall: TypeAlias = Annotated[dict[Filled, Arguments], Field(min_length=1, max_length=1)]


def arguments_text(arguments: str | dict[str, Any]) -> str:
    """Canonical JSON of a mapping, raw text as it is."""
    return arguments if isinstance(arguments, str) else canonical_json(arguments)


def _named(calls: dict[str, Any]) -> tuple[ScriptCall, ...]:
    return tuple(ScriptCall(name, arguments_text(arguments)) for name, arguments in calls.items())


class CallFields(Fields):
    """A call written out. ``name``, ``arguments`` and ``id`` may be null: then the answer lacks them."""

    nullable = ("name", "arguments", "id")
    name: Annotated[str | None, WithJsonSchema({"type": ["string", "null"]})]
    arguments: Annotated[
        Arguments | None, WithJsonSchema({"type": ["string", "object", "null"]}), Field(default_factory=dict)
    ]
    id: Annotated[str | None, WithJsonSchema({"type": ["string", "null"]})] = None

    def made(self) -> ScriptCall:
        arguments = None if self.arguments is None else arguments_text(self.arguments)
        no_id = self.id is None and bool(self.given("id"))
        return ScriptCall(self.name, arguments, self.id, no_id)


def _call_form(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return "<long>" if "name" in value and not isinstance(value["name"], dict) else "<short>"


AnyCall: TypeAlias = Annotated[
    Annotated[OneNamedCall, Tag("<short>")] | Annotated[CallFields, Tag("<long>")],
    Discriminator(
        _call_form,
        custom_error_type="shape",
        custom_error_message="must be {tool: {arguments}} or {name, arguments, id}",
    ),
]


class FailFields(Fields):
    """A failure of the request."""

    code: Annotated[str, Choice(FAILURES)]
    message: str = "scripted failure"
    retry_after_ms: Count | None = None

    def made(self) -> ScriptFailure:
        return ScriptFailure(self.code, self.message, self.retry_after_ms)


class UsageFields(Fields):
    """Tokens as the provider would count them."""

    input: Count | None = None
    output: Count | None = None


class WhenFields(Fields):
    """A condition on what was observed."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    tool: Filled | None = None
    matches: Regex | None = None
    function: ObjectName | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> WhenFields:
        if not self.model_fields_set:
            raise complaint("asks nothing; give 'tool', 'matches' or 'function', or use 'otherwise'")
        return self

    def made(self) -> When:
        return When(self.tool, self.matches, self.function)


ANSWER: Final = ("say", "call", "calls", "refusal", "reasoning")
FORMS: Final = ("fail", "hang", "function", "raw", "empty")
_OF_AN_ANSWER: Final = ("finish", "usage")


def _exactly_one_form(schema: dict[str, Any]) -> None:
    answer = {"anyOf": [{"required": [name]} for name in ANSWER]}
    given = {"required": ["chunks"], "properties": {"chunks": {"type": "array"}}}
    schema["oneOf"] = [answer, given, *({"required": [name]} for name in FORMS)]
    schema["not"] = {"required": ["call", "calls"]}


class ReplyFields(StreamFields):
    """One answer of the model: what it says and calls, or one of the other forms."""

    model_config = ConfigDict(json_schema_extra=_exactly_one_form)
    say: str | None = None
    call: (
        Annotated[
            Annotated[Filled, Tag(TEXT)] | Annotated[NamedCalls, Tag(FIELDS)],
            by_shape("a tool's name, or {tool: {arguments}}"),
        ]
        | None
    ) = None
    calls: Annotated[list[AnyCall], Field(min_length=1)] | None = None
    fail: (
        Annotated[
            Annotated[Annotated[str, Choice(FAILURES)], Tag(TEXT)] | Annotated[FailFields, Tag(FIELDS)],
            by_shape("a code, or {code, message, retry_after_ms}"),
        ]
        | None
    ) = None
    hang: Literal[True] | None = None
    function: ObjectName | None = None
    raw: dict[str, Any] | None = None
    empty: Literal[True] | None = None
    finish: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    delay_ms: Count = 0
    usage: UsageFields | None = None

    @model_validator(mode="after")
    def _one_form(self) -> ReplyFields:
        forms = self.given(*FORMS)
        answer = self.given(*ANSWER)
        forms += ["chunks"] if self.is_given else []
        if len(forms) + bool(answer) != 1:
            given = ", ".join([*answer, *forms]) or "nothing"
            raise complaint(f"must be one reply, is {given}; give 'say' and 'call', or one of {', '.join(FORMS)}")
        if self.given("call") and self.given("calls"):
            raise complaint("has both 'call' and 'calls'; put all calls under 'calls'", field="calls")
        lost = self.given(*_OF_AN_ANSWER, *(() if self.is_given else ("chunks",)))
        if forms not in ([], ["empty"]) and lost:
            raise complaint(f"{lost[0]!r} belongs to an answer, not to {forms[0]!r}", field=lost[0])
        self.plan()
        return self

    def made(self) -> ScriptReply:
        usage = self.usage or UsageFields()
        return ScriptReply(
            say=self.say,
            calls=self._calls(),
            fail=self._fail(),
            hang=bool(self.hang),
            function=self.function,
            raw=None if self.raw is None else canonical_json(self.raw),
            finish=self.finish,
            reasoning=self.reasoning,
            refusal=self.refusal,
            delay_ms=self.delay_ms,
            input_tokens=usage.input,
            output_tokens=usage.output,
            empty=bool(self.empty),
            chunks=self.plan(),
        )

    def _fail(self) -> ScriptFailure | None:
        if isinstance(self.fail, str):
            return ScriptFailure(self.fail)
        return None if self.fail is None else self.fail.made()

    def _calls(self) -> tuple[ScriptCall, ...]:
        if isinstance(self.call, str):
            return (ScriptCall(self.call, NO_PARAMETERS),)
        if self.call is not None:
            return _named(self.call)
        made: list[ScriptCall] = []
        for call in self.calls or ():
            made += [call.made()] if isinstance(call, CallFields) else _named(call)
        return tuple(made)


class CaseFields(Fields):
    """One way on: a condition and its script, or the script of all other cases."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["when", "script"]}, {"required": ["otherwise"]}]}
    )
    when: WhenFields | None = None
    script: Script | None = None
    otherwise: Script | None = None

    @model_validator(mode="after")
    def _one_form(self) -> CaseFields:
        if sorted(self.model_fields_set) not in (["script", "when"], ["otherwise"]):
            raise complaint("must be {when: {…}, script: […]} or {otherwise: […]}")
        return self

    def made(self) -> ScriptCase:
        script = made_script(self.script or self.otherwise or [])
        return ScriptCase(self.when.made() if self.when else When(), script)


class BranchFields(Fields):
    """Ways on, tried in order."""

    branch: Annotated[list[CaseFields], Field(min_length=1)]

    @model_validator(mode="after")
    def _otherwise_last(self) -> BranchFields:
        if any(case.otherwise is not None for case in self.branch[:-1]):
            raise complaint("'otherwise' must be the last case; what follows it is never taken", field="branch")
        return self

    def made(self) -> ScriptBranch:
        return ScriptBranch(tuple(case.made() for case in self.branch))


def _entry_form(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return "<branch>" if "branch" in value else "<reply>"


Entry: TypeAlias = Annotated[
    Annotated[ReplyFields, Tag("<reply>")] | Annotated[BranchFields, Tag("<branch>")],
    Discriminator(
        _entry_form,
        custom_error_type="shape",
        custom_error_message="must be a reply such as {say: …}, {call: …} or {fail: …}, or a {branch: […]}",
    ),
]
Script: TypeAlias = Annotated[list[Entry], Field(min_length=1)]

CaseFields.model_rebuild()
BranchFields.model_rebuild()


def made_script(entries: list[ReplyFields | BranchFields]) -> tuple[ScriptEntry, ...]:
    """The values of a script's entries, in order."""
    return tuple(entry.made() for entry in entries)


def follows_history(script: tuple[ScriptEntry, ...]) -> bool:
    """Whether each entry is an answer, so that its number is that of the answers before it."""
    return bool(script) and all(isinstance(e, ScriptReply) and not (e.fail or e.hang or e.empty) for e in script)
