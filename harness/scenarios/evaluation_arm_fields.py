"""Fields of arms: what is different in each of them; read, and written back."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, Field, Tag, WithJsonSchema, model_validator

from harness.plugins import suggestion
from harness.scenarios.base import FIELDS, TEXT, Choice, Fields, Filled, Positive, by_shape, complaint
from harness.scenarios.evaluation_model_fields import ChangedModel, changed_model, changed_model_document
from harness.scenarios.writing import filled, present
from harness.types.evaluation import Arm, ToolOrder
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText
from harness.types.model_spec import ModelSpec

CHOICES: Final = ("auto", "none", "required")
ORDERS: Final = tuple(order.value for order in ToolOrder)
PROVIDERS_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What providers take as the name of a tool."""


def _check_choice(value: str) -> str:
    if value not in CHOICES:
        raise complaint(
            f"unknown value {value!r}{suggestion(value, CHOICES)} (a tool by its name is {{tool: {value}}})"
        )
    return value


class OneToolFields(Fields):
    """The one tool that has to be called."""

    tool: Filled


ToolChoice: TypeAlias = Annotated[
    Annotated[Annotated[str, AfterValidator(_check_choice), WithJsonSchema({"enum": list(CHOICES)})], Tag(TEXT)]
    | Annotated[OneToolFields, Tag(FIELDS)],
    by_shape("auto, none or required, or {tool: name}"),
]


def made_choice(form: str | OneToolFields | None) -> JsonText | None:
    """The request parameter, in the shape of Chat Completions."""
    if form is None:
        return None
    return canonical_json(form if isinstance(form, str) else {"type": "function", "function": {"name": form.tool}})


def _check_new_name(name: str) -> str:
    if not PROVIDERS_NAME.fullmatch(name):
        raise complaint(f"{name!r} is refused by providers; use letters, digits, _ and -, at most 64 of them")
    return name


NewName: TypeAlias = Annotated[
    str, AfterValidator(_check_new_name), WithJsonSchema({"type": "string", "pattern": f"^{PROVIDERS_NAME.pattern}$"})
]
Descriptions: TypeAlias = Annotated[dict[Filled, str], Field(min_length=1)]


class ArmFields(Fields):
    """What is different in an arm; nothing of it: the evaluation as it is."""

    system: str | None = None
    descriptions: (
        Annotated[
            Annotated[Filled, Tag(TEXT)] | Annotated[Descriptions, Tag(FIELDS)],
            by_shape("the path of a file of descriptions, or {tool: description, tool.parameter: description}"),
        ]
        | None
    ) = None
    rename: Annotated[dict[Filled, NewName], Field(min_length=1)] | None = None
    tool_choice: ToolChoice | None = None
    order: Annotated[str, Choice(ORDERS)] | None = None
    distractors: Positive | None = None
    history_turns: Positive | None = None
    inject: Filled | None = None
    offer_tools: bool = True
    model: ChangedModel | None = None

    @model_validator(mode="after")
    def _one_tool_a_name(self) -> ArmFields:
        names = list((self.rename or {}).values())
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise complaint(f"gives two tools the name {double!r}", field="rename")
        return self

    @model_validator(mode="after")
    def _tools_to_work_on(self) -> ArmFields:
        idle = self.given("descriptions", "rename", "tool_choice", "order", "distractors")
        if not self.offer_tools and idle:
            raise complaint("changes nothing where no tools are offered; leave it out", field=idle[0])
        return self

    def made(self, name: str, base: ModelSpec | None, descriptions: dict[str, str]) -> Arm:
        """The value; ``descriptions`` are those of the document or of the file that it names."""
        pairs = sorted(descriptions.items())
        return Arm(
            name=name,
            system=self.system,
            descriptions=tuple(pair for pair in pairs if "." not in pair[0]),
            parameter_descriptions=tuple(pair for pair in pairs if "." in pair[0]),
            rename=tuple(sorted((self.rename or {}).items())),
            tool_choice=made_choice(self.tool_choice),
            order=None if self.order is None else ToolOrder(self.order),
            distractors=self.distractors or 0,
            history_turns=self.history_turns or 0,
            inject=self.inject,
            offer_tools=self.offer_tools,
            model=changed_model(self.model, base),
        )


def _check_arm_name(name: str) -> str:
    if not re.fullmatch(r"[^\s/@#,]{1,60}", name):
        raise complaint(f"{name!r} is no name of an arm; use up to 60 characters without spaces, '/', '@', '#' and ','")
    return name


ArmName: TypeAlias = Annotated[
    str, AfterValidator(_check_arm_name), WithJsonSchema({"type": "string", "pattern": "^[^\\s/@#,]{1,60}$"})
]
Arms: TypeAlias = Annotated[dict[ArmName, ArmFields], Field(min_length=1)]


def arm_document(arm: Arm, base: ModelSpec | None) -> dict[str, Any]:
    """The fields of an arm's mapping; the descriptions stand in it."""
    return {
        **present(system=arm.system),
        **filled(
            descriptions=dict(sorted((*arm.descriptions, *arm.parameter_descriptions))),
            rename=dict(arm.rename),
            tool_choice=arm.tool_choice and _choice(arm.tool_choice),
            order=arm.order and arm.order.value,
            distractors=arm.distractors,
            history_turns=arm.history_turns,
            inject=arm.inject,
        ),
        **({} if arm.offer_tools else {"offer_tools": False}),
        **present(model=arm.model and changed_model_document(arm.model, base)),
    }


def _choice(choice: JsonText) -> Any:
    value = json.loads(choice)
    return value if isinstance(value, str) else {"tool": value["function"]["name"]}
