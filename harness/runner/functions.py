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
    if not callable(found) or isinstance(found, type) or not _takes(found, 1):
        raise UsageError(
            f"{name!r} cannot answer an evaluation: a function of one argument is needed, the request (a ModelCall), "
            f"that gives {_SHAPES}"
        )
    return FunctionModel(name, found)


def answers_itself(found: object) -> bool:
    """Whether this is a function of the request alone: it answers, and makes no model of a scenario and a clock."""
    return callable(found) and not isinstance(found, type) and _takes(found, 1) and not _takes(found, 2)


def _takes(function: Callable[..., Any], n: int) -> bool:
    """Whether it can be called with so many arguments; one that does not tell is seen when it is called."""
    try:
        inspect.signature(function).bind(*range(n))
    except TypeError:
        return False
    except ValueError:
        return True
    return True
