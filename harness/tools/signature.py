"""What a function can be called with, and whether a hand-written schema agrees with it (ARTICLES 8)."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from harness.errors import ConfigurationError
from harness.protocols import ToolContext
from harness.tools.replies import listed

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that a model may fill: its annotation (with extras) and whether it may be left out."""

    name: str
    annotation: Any
    required: bool
    default: Any


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a tool's function.

    ``context`` names those annotated ToolContext, which the model never sees; ``is_open`` says that
    the function takes any other keyword too.
    """

    parameters: tuple[Parameter, ...]
    context: tuple[str, ...]
    is_open: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters that a model may fill."""
        return tuple(parameter.name for parameter in self.parameters)


def signature_of(name: str, function: Function) -> Signature:
    """Read a function's parameters. Raises ConfigurationError where they cannot be given by name."""
    if not callable(function):
        raise ConfigurationError(f"tool {name!r}: {function!r:.80} is no function")
    try:
        raw = inspect.signature(function).parameters
        hints = _hints(function)
    except (TypeError, ValueError, NameError) as error:
        raise ConfigurationError(f"tool {name!r}: its parameters cannot be read: {error}") from None
    parameters: list[Parameter] = []
    context: list[str] = []
    for parameter in raw.values():
        annotation = hints.get(parameter.name, parameter.annotation)
        if annotation is ToolContext:
            context.append(parameter.name)
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            raise ConfigurationError(
                f"tool {name!r}: parameter {parameter.name!r} is positional-only; models name them"
            )
        elif parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            required = parameter.default is parameter.empty
            parameters.append(Parameter(parameter.name, annotation, required, parameter.default))
    is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in raw.values())
    return Signature(tuple(parameters), tuple(context), is_open)


def _hints(function: Function) -> dict[str, Any]:
    target = function
    if not inspect.isroutine(function):
        target = getattr(function, "func", None) or type(function).__call__
    return typing.get_type_hints(target, include_extras=True)


def check_agreement(name: str, signature: Signature, properties: Collection[str], required: Collection[str]) -> None:
    """Refuse a schema that offers what the function cannot take, or leaves out what it needs.

    Raises ConfigurationError, which names both spellings and the nearest one.
    """
    faults = [] if signature.is_open else _unknown_properties(signature, properties)
    for parameter in signature.parameters:
        if parameter.required and parameter.name not in properties:
            near = _near(parameter.name, properties)
            faults.append(f"parameter {parameter.name!r} has no default and is not in the schema{near}")
        elif parameter.required and parameter.name not in required:
            faults.append(f"parameter {parameter.name!r} has no default but the schema does not require it")
    if faults:
        raise ConfigurationError(
            f"tool {name!r}: its schema disagrees with its function: {'; '.join(faults)}. "
            f"The schema has: {listed(sorted(properties))}. The function takes: {listed(sorted(signature.names))}."
        )


def _unknown_properties(signature: Signature, properties: Collection[str]) -> list[str]:
    unknown = sorted(set(properties) - set(signature.names))
    return [f"property {key!r} is no parameter of the function{_near(key, signature.names)}" for key in unknown]


def _near(name: str, others: Collection[str]) -> str:
    near = get_close_matches(name, sorted(others), n=1, cutoff=0.5)
    return f" (is {near[0]!r} meant?)" if near else ""
