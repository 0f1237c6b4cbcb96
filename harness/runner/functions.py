"""A user's own model as a function of the request, by the name that somebody wrote down."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from harness import plugins
from harness.errors import InvalidValueError, ModelError, UsageError
from harness.models.replies import answer_of
from harness.protocols import Emit, Signal
from harness.types.doors import Answer, ModelCall
from harness.types.script import ScriptReply

_SHAPES = "an Answer, a ScriptReply, a text, or a ModelError"


class FunctionModel:
    """A Model whose answers a function gives: ``function(call)``, plain or async, called once a request.

    It gives an Answer, a ScriptReply, a text, or a ModelError (given or raised).
    """

    def __init__(self, name: str, function: Callable[[ModelCall], Any]) -> None:
        self._name = name
        self._function = function

    @property
    def name(self) -> str:
        """The name that was written down."""
        return self._name

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        """What the function says. Raises ModelError, and what the function raises."""
        found = self._function(call)
        if inspect.isawaitable(found):
            found = await found
        match found:
            case Answer():
                return found
            case ScriptReply():
                if found.fail is not None:
                    fail = found.fail
                    raise ModelError(fail.message, code=fail.code, retry_after_ms=fail.retry_after_ms)
                return answer_of(found, 1)
            case str():
                return answer_of(ScriptReply(say=found), 1)
            case ModelError():
                raise found
            case _:
                raise InvalidValueError(f"{self._name!r} gave a {type(found).__name__}; it must give {_SHAPES}")


def function_model(name: str) -> FunctionModel:
    """The model behind ``package.module:function``. Raises UnknownNameError, UsageError."""
    found = plugins.resolve(name)
    if not answers_itself(found):
        raise UsageError(
            f"{name!r} cannot answer an evaluation: a function of one argument is needed, the request (a ModelCall), "
            f"that gives {_SHAPES}"
        )
    return FunctionModel(name, found)


def answers_itself(found: object) -> bool:
    """Whether this is a function of one argument: it answers requests, and makes no model that does."""
    return callable(found) and not isinstance(found, type) and _n_needed(found) == 1


def _n_needed(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function that does not tell: it is seen when it is called
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in parameters if one.default is one.empty and one.kind in positional]
    return max(len(needed), 1) if any(one.kind is one.VAR_POSITIONAL for one in parameters) else len(needed)
