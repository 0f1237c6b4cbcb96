"""Fields of a case: what is asked, which decisions are right; plain, or as a template with rows."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, TypeAlias

from pydantic import Discriminator, Field, PrivateAttr, Tag, ValidationError, WithJsonSchema, model_validator

from harness.plugins import suggestion
from harness.scenarios.base import FIELDS, LIST, TEXT, UNIQUE, Choice, Fields, Filled, by_shape, complaint
from harness.scenarios.complaints import first_complaint
from harness.scenarios.evaluation_history_fields import History, made_history
from harness.scenarios.evaluation_templates import substituted
from harness.scenarios.expect_fields import AnswerFields
from harness.scenarios.matchers import matcher_complaint
from harness.types.evaluation import ASK_USER, NO_CALL, Acceptable, Asking, Case, Split, Wanted
from harness.types.expectations import CallOrder, ExpectedCall
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatAssistant, JsonText

ORDERS: Final = tuple(order.value for order in CallOrder)
SPLITS: Final = tuple(split.value for split in Split)
ANY_OF: Final = "any_of"
_FORMS: Final = (
    f"must be a tool's name, {NO_CALL}, {ASK_USER}, {{tool: {{arguments}}}}, a list of calls (any order), "
    f"{{in-order: [calls]}} and the like, or {{{ANY_OF}: [several of these]}}"
)
_LONGEST_SLUG: Final = 48
CaseId: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Names: TypeAlias = Annotated[list[Filled], *UNIQUE]


# ---------------------------------------------------------------- what is right


def made_acceptable(form: Any, path: tuple[str | int, ...]) -> tuple[Acceptable, ...]:
    """The acceptable decisions of ``expect``, which stands at ``path``. Raises a complaint with the place inside it."""
    if not (isinstance(form, dict) and ANY_OF in form and isinstance(form[ANY_OF], list)):
        return (_one(form, path),)
    if len(form) > 1:
        raise complaint(f"{ANY_OF!r} stands alone; put the other keys into its list", field=path)
    if not form[ANY_OF]:
        raise complaint("must not be empty", field=(*path, ANY_OF))
    found = tuple(_one(one, (*path, ANY_OF, at), is_inner=True) for at, one in enumerate(form[ANY_OF]))
    double = next((at for at, one in enumerate(found) if one in found[:at]), None)
    if double is not None:
        raise complaint("accepts the same twice; once is enough", field=(*path, ANY_OF, double))
    return found


def _one(form: Any, path: tuple[str | int, ...], *, is_inner: bool = False) -> Acceptable:
    if form == NO_CALL:
        return Acceptable(Wanted.NO_CALL)
    if form == ASK_USER:
        return Acceptable(Wanted.ASK_USER)
    if isinstance(form, list):
        return _several(CallOrder.ANY_ORDER, form, path)
    if isinstance(form, dict) and len(form) == 1:
        ((name, value),) = form.items()
        if isinstance(value, list):
            if name not in ORDERS:
                known = ORDERS if is_inner else (*ORDERS, ANY_OF)
                raise complaint(f"unknown order {name!r}{suggestion(name, known)}", field=(*path, name))
            return _several(CallOrder(name), value, (*path, name))
    return Acceptable(Wanted.CALLS, (_call(form, path, is_alone=True),))


def _several(order: CallOrder, forms: list[Any], path: tuple[str | int, ...]) -> Acceptable:
    if not forms:
        raise complaint(f"must not be empty; write {NO_CALL} where nothing is to be called", field=path)
    return Acceptable(Wanted.CALLS, tuple(_call(form, (*path, at)) for at, form in enumerate(forms)), order)


def _call(form: Any, path: tuple[str | int, ...], *, is_alone: bool = False) -> ExpectedCall:
    if isinstance(form, str) and form:
        if form == NO_CALL:
            raise complaint(f"{form!r} is no call; it stands alone, or beside calls in {ANY_OF!r}", field=path)
        return ExpectedCall(form)
    if not isinstance(form, dict) or not form:
        raise complaint(_FORMS if is_alone else "must be a tool's name or {tool: {arguments}}", field=path)
    if len(form) > 1:
        raise complaint("is one call a mapping; write a list for several calls: [{a: {}}, {b: {}}]", field=path)
    ((name, arguments),) = form.items()
    if not name:
        raise complaint("a tool's name must not be empty", field=path)
    if not isinstance(arguments, dict):
        more = "; leave it out (just the name) where any arguments do" if arguments is None else ""
        raise complaint(f"arguments must be a mapping of names and values{more}", field=(*path, name))
    problem = matcher_complaint(arguments)
    if problem:
        raise complaint(problem, field=(*path, name))
    return ExpectedCall(name, canonical_json(arguments))


_CALL_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "object", "additionalProperties": {"type": "object"}, "minProperties": 1, "maxProperties": 1},
    ]
}
_CALLS_SCHEMA: Final[dict[str, Any]] = {"type": "array", "items": _CALL_SCHEMA, "minItems": 1}
_ONE_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        *_CALL_SCHEMA["anyOf"],
        _CALLS_SCHEMA,
        {
            "type": "object",
            "properties": dict.fromkeys(ORDERS, _CALLS_SCHEMA),
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        },
    ]
}
_EXPECT_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        *_ONE_SCHEMA["anyOf"],
        {
            "type": "object",
            "properties": {ANY_OF: {"type": "array", "items": _ONE_SCHEMA, "minItems": 1}},
            "required": [ANY_OF],
            "additionalProperties": False,
        },
    ]
}
Expect: TypeAlias = Annotated[Any, WithJsonSchema(_EXPECT_SCHEMA)]


# ---------------------------------------------------------------- a case


class CaseFields(Fields):
    """One thing to ask, and which decisions are right."""

    _accept: tuple[Acceptable, ...] = PrivateAttr(())
    ask: str = ""
    expect: Expect
    id: CaseId | None = None
    history: History = Field(default_factory=list)
    never: Names = Field(default_factory=list)
    tags: Names = Field(default_factory=list)
    group: CaseId | None = None
    split: Annotated[str, Choice(SPLITS)] = Split.DEV.value
    system: str | None = None
    tools: Names | None = None
    bfcl: dict[str, Any] | None = None
    answer: (
        Annotated[
            Annotated[str, Tag(TEXT)] | Annotated[AnswerFields, Tag(FIELDS)],
            by_shape("text, or a matcher such as {contains: …}"),
        ]
        | None
    ) = None

    @classmethod
    def known(cls) -> tuple[str, ...]:
        """The fields of a template too, so that what is meant as one is recognised."""
        return (*super().known(), "each")

    @model_validator(mode="after")
    def _asks_something(self) -> CaseFields:
        if self.ask.strip():
            return self
        last = made_history(self.history)[-1:]
        if not last or isinstance(last[0], ChatAssistant):
            missing = "must not be empty" if "ask" in self.model_fields_set else "is required and missing"
            raise complaint(
                f"{missing} (unless the history ends with a user's message or a tool's result)", field="ask"
            )
        return self

    @model_validator(mode="after")
    def _can_be_right(self) -> CaseFields:
        self._accept = made_acceptable(self.expect, ("expect",))
        for one in self._accept:
            for call in one.calls:
                if call.name in self.never:
                    raise complaint(f"forbids {call.name!r}, which 'expect' wants", field="never")
        return self

    def unfit(self, asking: Asking) -> tuple[str, str] | None:
        """The field that does not fit how the evaluation asks the user, and why; None: all do.

        ``ask_user`` among calls is the name of a tool, and the tool that asks is offered in every case.
        """
        if asking.tool in self.never and any(one.wanted is Wanted.ASK_USER for one in self._accept):
            return "never", f"forbids {asking.tool!r}, by which the user is asked, as 'expect' wants"
        for call in (call for one in self._accept for call in one.calls):
            if call == ExpectedCall(ASK_USER) and asking.tool != ASK_USER:
                way = "it is a status of the answer" if asking.tool is None else f"call it {asking.tool!r}"
                return "expect", f"{ASK_USER!r} is no call here: {way}; it stands alone, or beside calls in {ANY_OF!r}"
            if self.tools is not None and call.name not in (*self.tools, asking.tool):
                return "tools", f"does not offer {call.name!r}, which 'expect' wants"
        return None

    def made(self, identity: str, line: int | None = None, file: str | None = None) -> Case:
        """The value under this id; ``file`` is the file of lines that it stands in."""
        return Case(
            id=identity,
            ask=self.ask if self.ask.strip() else "",
            accept=self._accept,
            history=made_history(self.history),
            never=tuple(self.never),
            tags=tuple(self.tags),
            group=self.group,
            split=Split(self.split),
            system=self.system,
            tools=None if self.tools is None else tuple(self.tools),
            answer=self._answer(),
            line=line,
            file=file,
            bfcl=None if self.bfcl is None else canonical_json(self.bfcl),
        )

    def _answer(self) -> JsonText | None:
        if self.answer is None:
            return None
        return canonical_json(self.answer) if isinstance(self.answer, str) else self.answer.made()


# ---------------------------------------------------------------- templates


def slug(text: str) -> str:
    """Some words of a text, as a name: ``where-is-order-7``; "" where it has none."""
    words = re.findall(r"\w+", text.lower())
    name = ""
    for word in words:
        if name and len(name) + 1 + len(word) > _LONGEST_SLUG:
            break
        name = f"{name}-{word}" if name else word[:_LONGEST_SLUG]
    return name


class TemplateFields(Fields):
    """A case with ``{name}`` in its texts, made once for each row; the rows are one group."""

    each: Annotated[list[Annotated[dict[Filled, Any], Field(min_length=1)]], Field(min_length=1)]
    ask: Any = None
    expect: Any
    id: Any = None
    history: Any = None
    never: Any = None
    tags: Any = None
    group: Any = None
    split: Any = None
    system: Any = None
    tools: Any = None
    bfcl: Any = None
    answer: Any = None

    @model_validator(mode="after")
    def _every_row_is_a_case(self) -> TemplateFields:
        for at, row in enumerate(self.rows()):
            if at and row == self.rows()[0]:
                raise complaint("gives the same case as the first row", field=("each", at))
        return self

    def rows(self) -> list[CaseFields]:
        """The cases. Raises a complaint for a row that gives none."""
        template = {name: getattr(self, name) for name in self.known() if name != "each" and self.given(name)}
        group = self.group or self.id or self.ask
        default = {} if self.group is not None or not isinstance(group, str) else {"group": slug(group)}
        return [_row(template, row, at, default) for at, row in enumerate(self.each)]


def _row(template: dict[str, Any], row: dict[str, Any], at: int, default: dict[str, Any]) -> CaseFields:
    given = substituted(template, row, at) | default
    if given.get("id") is not None and given["id"] == template["id"]:
        given["id"] = f"{given['id']}-{at + 1}"
    try:
        return CaseFields.model_validate(given)
    except ValidationError as error:
        path, words = first_complaint(error, given)
        raise complaint(f"{words} (row {at + 1} of 'each')", field=path) from None


def case_form(value: Any) -> str | None:
    """Which kind of entry a value is: a case, a template, or (LIST) what is neither."""
    if not isinstance(value, dict):
        return None
    return LIST if "each" in value else FIELDS


CaseForm: TypeAlias = Annotated[
    Annotated[CaseFields, Tag(FIELDS)] | Annotated[TemplateFields, Tag(LIST)],
    Discriminator(case_form, custom_error_type="shape", custom_error_message="must be a case: {ask: …, expect: …}"),
]
