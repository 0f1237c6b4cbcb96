"""Fields of ``model`` and ``models``: which models a scenario names, for which role."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, Tag, model_validator

from harness.scenarios.base import FIELDS, TEXT, Choice, Fields, Filled, by_shape, complaint
from harness.scenarios.script_fields import Script, made_script
from harness.types.jsontext import canonical_json
from harness.types.scenario import NO_PARAMETERS, ModelApi, ModelSpec, RoleSpec

_NO_PARAMETER: Final = ("messages", "input", "instructions", "tools", "stream")
NO_TIMING: Final = "none"
RECORDED: Final = "recorded"
TIMINGS: Final = (NO_TIMING, RECORDED)
APIS: Final = tuple(api.value for api in ModelApi)


class ModelFields(Fields):
    """The model of a run that is recorded or live: through which API, whole or streamed, by whose rules."""

    name: Filled
    parameters: dict[str, Any] = Field(default_factory=dict)
    api: Annotated[str, Choice(APIS)] = ModelApi.CHAT.value
    stream: bool = False
    profile: Filled | None = None
    timing: Annotated[str, Choice(TIMINGS)] = NO_TIMING

    @model_validator(mode="after")
    def _own_fields(self) -> ModelFields:
        for name in _NO_PARAMETER:
            if name in self.parameters:
                raise complaint(f"{name!r} is no parameter: the harness sends it itself", field="parameters")
        return self

    def made(self) -> ModelSpec:
        parameters = canonical_json(self.parameters)
        return ModelSpec(self.name, parameters, ModelApi(self.api), self.stream, self.profile, self.timing == RECORDED)


ModelForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(TEXT)] | Annotated[ModelFields, Tag(FIELDS)],
    by_shape("a model's name, or {name, parameters, api, stream, profile, timing}"),
]


def made_model(form: str | ModelFields | None) -> ModelSpec | None:
    """The value of either form."""
    if isinstance(form, str):
        return ModelSpec(form)
    return None if form is None else form.made()


def written_model(model: ModelSpec) -> Any:
    """The short form where it says the same."""
    if model == ModelSpec(model.name):
        return model.name
    written: dict[str, Any] = {"name": model.name}
    if model.parameters != NO_PARAMETERS:
        written["parameters"] = json.loads(model.parameters)
    if model.api is not ModelApi.CHAT:
        written["api"] = model.api.value
    if model.stream:
        written["stream"] = True
    if model.profile is not None:
        written["profile"] = model.profile
    return written | {"timing": RECORDED} if model.timing else written


class RoleFields(Fields):
    """The model of one more role: its script, or a model that is recorded or live, or both."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["script"]}, {"required": ["model"]}]})
    script: Script | None = None
    model: ModelForm | None = None
    allow_leftovers: bool = False

    @model_validator(mode="after")
    def _something(self) -> RoleFields:
        if not self.given("script", "model"):
            raise complaint("needs a 'script', a 'model', or both")
        return self

    def made(self) -> RoleSpec:
        script = None if self.script is None else made_script(self.script)
        return RoleSpec(script, made_model(self.model), self.allow_leftovers)


MAIN: Final = "main"


def _no_main(roles: dict[str, RoleFields]) -> dict[str, RoleFields]:
    if MAIN in roles:
        raise complaint("the main model is 'model' and 'script'; 'models' holds the others", field=MAIN)
    return roles


Roles: TypeAlias = Annotated[dict[Filled, RoleFields], AfterValidator(_no_main)]


def made_roles(roles: dict[str, RoleFields]) -> tuple[tuple[str, RoleSpec], ...]:
    """The values by role, in the order of the names."""
    return tuple((role, roles[role].made()) for role in sorted(roles))
