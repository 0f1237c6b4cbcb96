"""Schemas derived from typed functions. Loads pydantic, so it is imported on first use only."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import PydanticSerializationError, to_json

from harness.errors import ConfigurationError, InvalidValueError, UnsupportedError
from harness.schemas import path_text
from harness.tools.replies import shortened
from harness.tools.signature import Parameter, Signature
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText

_PLAIN: Final = (str, int, float, bool, type(None), list, dict, Any)
_LONGEST_FAULT: Final = 300


class DerivedArguments:
    """Schema and values of a typed function's arguments: strict, and closed to other properties."""

    def __init__(self, name: str, signature: Signature, *, plain_only: bool = False) -> None:
        for parameter in signature.parameters:
            if parameter.annotation is inspect.Parameter.empty:
                raise ConfigurationError(
                    f"tool {name!r}: parameter {parameter.name!r} has no annotation, so no schema can be "
                    "derived; annotate it, or give 'parameters'"
                )
        self._is_plain = all(_is_plain(parameter.annotation) for parameter in signature.parameters)
        if plain_only and not self._is_plain:
            raise UnsupportedError(
                f"tool {name!r}: isolation 'subprocess' takes plain JSON types only, since the arguments "
                "are sent as JSON; annotate with str, int, float, bool, list, dict, Literal"
            )
        self._adapter, self.schema = _adapter(name, signature)

    def fault(self, arguments: Mapping[str, Any]) -> str | None:
        """What the types refuse beyond the schema (``5.0`` for int, validators of models), and NaN anywhere."""
        try:
            self._adapter.validate_json(_json_of(arguments))
        except InvalidValueError as error:
            return f"{error}."
        except ValidationError as error:
            faults = [f"{path_text(fault['loc'])}: {fault['msg']}" for fault in error.errors(include_url=False)]
            return shortened("; ".join(faults) + ".", _LONGEST_FAULT)
        return None

    def values(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function's types: enums, dates, models; plain values as they came."""
        if self._is_plain:
            return dict(arguments)
        built = self._adapter.validate_json(_json_of(arguments))
        return {key: getattr(built, key) for key in arguments}


def _json_of(arguments: Mapping[str, Any]) -> bytes | str:
    """Arguments as JSON for pydantic alone, by its own fast writer where that can write them.

    Raises InvalidValueError for what is no JSON. That writer lets NaN and infinities through, by their
    names, so where one is seen (it may be text) the strict writer decides.
    """
    try:
        text = to_json(arguments)
    except PydanticSerializationError:
        return canonical_json(arguments)
    return canonical_json(arguments) if b"NaN" in text or b"Infinity" in text else text


def _adapter(name: str, signature: Signature) -> tuple[TypeAdapter[Any], JsonText]:
    fields = [
        (parameter.name, _annotated(parameter.annotation), _default(parameter)) for parameter in signature.parameters
    ]
    arguments = dataclasses.make_dataclass("Arguments", fields, kw_only=True)
    arguments.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[attr-defined]
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(arguments)
        schema = adapter.json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise ConfigurationError(
            f"tool {name!r}: no schema can be derived from its annotations: {str(error).splitlines()[0]}"
        ) from None
    schema.pop("description", None)
    return adapter, canonical_json({"properties": {}, **_untitled(schema)})


def _annotated(annotation: Any) -> Any:
    """``Annotated[str, "the city"]`` as pydantic reads it: a lone text is the description."""
    if get_origin(annotation) is not Annotated:
        return annotation
    base, *extras = get_args(annotation)
    read = [Field(description=extra) if isinstance(extra, str) else extra for extra in extras]
    return Annotated[(base, *read)]


def _default(parameter: Parameter) -> Any:
    if parameter.required:
        return dataclasses.field()
    try:
        canonical_json(parameter.default)
    except InvalidValueError:
        return dataclasses.field(default_factory=lambda: parameter.default)
    if isinstance(parameter.default, list | dict):
        return Field(default_factory=lambda: parameter.default, json_schema_extra={"default": parameter.default})
    return dataclasses.field(default=parameter.default)


def _is_plain(annotation: Any) -> bool:
    if annotation in _PLAIN:
        return True
    origin = get_origin(annotation)
    if origin is Annotated:
        base, *extras = get_args(annotation)
        return _is_plain(base) and all(isinstance(extra, str) for extra in extras)
    return False if origin is None else _is_plain_generic(origin, get_args(annotation))


def _is_plain_generic(origin: Any, arguments: tuple[Any, ...]) -> bool:
    name = getattr(origin, "__name__", str(origin))
    if name in ("Literal", "typing.Literal"):
        return all(type(argument) in _PLAIN for argument in arguments)
    return (origin in (list, dict) or "Union" in name) and all(_is_plain(argument) for argument in arguments)


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without the titles that are made up from names: they tell a model nothing."""
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs") and isinstance(value, dict):
            result[key] = {name: _untitled(inner) for name, inner in value.items()}
        elif key != "title" and key not in ("default", "enum", "const", "examples"):
            result[key] = _untitled_value(value)
        elif key != "title":
            result[key] = value
    return result


def _untitled_value(value: Any) -> Any:
    if isinstance(value, dict):
        return _untitled(value)
    return [_untitled_value(item) for item in value] if isinstance(value, list) else value
