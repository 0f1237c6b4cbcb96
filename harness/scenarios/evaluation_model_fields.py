"""Fields of the model that an evaluation asks, and of what an arm asks instead; read, and written back."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, TypeAlias

from pydantic import Field, Tag, model_validator

from harness.scenarios.base import FIELDS, TEXT, Amount, Choice, Fields, Filled, ObjectName, by_shape, complaint
from harness.scenarios.model_fields import APIS, written_model
from harness.types.jsontext import canonical_json
from harness.types.model_spec import ModelApi, ModelSpec

SHORTHANDS: Final = ("temperature", "top_p", "seed", "max_tokens")
"""Parameters that may stand beside the name."""
_OWN: Final = ("messages", "input", "instructions", "model", "stream", "tools")


def _check_parameters(fields: ChangedModelFields) -> None:
    for name in _OWN:
        if name in fields.parameters:
            raise complaint(f"{name!r} is no parameter: the harness sends it itself", field="parameters")
    for name in fields.given(*SHORTHANDS):
        if name in fields.parameters:
            raise complaint("stands in 'parameters' too; give it once", field=name)


class ChangedModelFields(Fields):
    """What is different about the model in an arm; what is left out stays."""

    name: Filled | None = None
    api: Annotated[str, Choice(APIS)] = ModelApi.CHAT.value
    stream: bool = False
    profile: Filled | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    temperature: Amount | None = None
    top_p: Amount | None = None
    seed: int | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _sends_each_once(self) -> ChangedModelFields:
        _check_parameters(self)
        return self

    def all_parameters(self) -> dict[str, Any]:
        return self.parameters | {name: getattr(self, name) for name in self.given(*SHORTHANDS)}

    def over(self, base: ModelSpec | None) -> ModelSpec:
        """The base's model with what is given here; without a base, the name is given."""
        assert base is not None or self.name is not None, "the document was checked"
        old = base or ModelSpec(self.name or "")
        parameters = json.loads(old.parameters) | self.all_parameters()
        return ModelSpec(
            name=self.name or old.name,
            parameters=canonical_json(parameters),
            api=ModelApi(self.api) if self.given("api") else old.api,
            stream=self.stream if self.given("stream") else old.stream,
            profile=self.profile or old.profile,
        )


class EvaluationModelFields(ChangedModelFields):
    """The model that is asked: by its name at an endpoint, or a function that answers in its place."""

    function: ObjectName | None = Field(default=None, alias="from")

    @model_validator(mode="after")
    def _one_model(self) -> EvaluationModelFields:
        if (self.name is None) is (self.function is None):
            raise complaint(f"needs 'name' or 'from', has {'both' if self.name else 'neither'}")
        beside = self.given("api", "stream", "profile", "parameters", *SHORTHANDS) if self.function else []
        if beside:
            raise complaint("belongs to an endpoint, and 'from' names a function", field=beside[0])
        return self


ModelForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(TEXT)] | Annotated[EvaluationModelFields, Tag(FIELDS)],
    by_shape("a model's name, or {name, temperature, …}, or {from: 'package.module:function'}"),
]
ChangedModel: TypeAlias = Annotated[
    Annotated[Filled, Tag(TEXT)] | Annotated[ChangedModelFields, Tag(FIELDS)],
    by_shape("a model's name, or what is different about it, such as {temperature: 0}"),
]


def made_evaluation_model(form: str | EvaluationModelFields | None) -> tuple[ModelSpec | None, str | None]:
    """The model at an endpoint, or the function."""
    if form is None:
        return None, None
    if isinstance(form, str):
        return ModelSpec(form), None
    return (form.over(None), None) if form.function is None else (None, form.function)


def changed_model(form: str | ChangedModelFields | None, base: ModelSpec | None) -> ModelSpec | None:
    """The whole model of an arm: the evaluation's, with what the arm gives."""
    if form is None:
        return None
    return ChangedModelFields(name=form).over(base) if isinstance(form, str) else form.over(base)


def model_document(model: ModelSpec | None, function: str | None) -> Any:
    """The field ``model`` of a document; None: there is none."""
    if function is not None:
        return {"from": function}
    return None if model is None else written_model(model)


def changed_model_document(model: ModelSpec, base: ModelSpec | None) -> Any:
    """What an arm gives, so that reading it over ``base`` gives ``model``."""
    if base is None:
        return written_model(model)
    old, new = json.loads(base.parameters), json.loads(model.parameters)
    parameters = {name: value for name, value in new.items() if name not in old or old[name] != value}
    pairs = ((name, getattr(model, name)) for name in ("name", "api", "stream", "profile"))
    written = {name: str(value) if name == "api" else value for name, value in pairs if value != getattr(base, name)}
    if list(written) == ["name"] and not parameters:
        return model.name
    return {**written, **({"parameters": parameters} if parameters else {})} or {"name": model.name}
