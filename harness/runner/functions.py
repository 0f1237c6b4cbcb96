"""A user's own model as a function of the request, by the name that somebody wrote down."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from harness import plugins
from harness.errors import HarnessError, InvalidValueError, ModelError, UsageError
from harness.models.replies import answer_of
from harness.protocols import Emit, Signal
from harness.types.doors import Answer, ModelCall
from harness.types.jsontext import described
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
        """What the function says. Raises ModelError, what the function raises, and HarnessError where it tried to end
        the process or the task: that is no say of a model's.
        """
        match await self._called(call):
            case Answer() as found:
                return found
            case ScriptReply() as found:
                if found.fail is not None:
                    fail = found.fail
                    raise ModelError(fail.message, code=fail.code, retry_after_ms=fail.retry_after_ms)
                return answer_of(found, 1)
            case str() as found:
                return answer_of(ScriptReply(say=found), 1)
            case ModelError() as found:
                raise found
            case found:
                raise InvalidValueError(f"{self._name!r} gave a {type(found).__name__}; it must give {_SHAPES}")

    async def _called(self, call: ModelCall) -> Any:
        try:
            found = self._function(call)
            return await found if inspect.isawaitable(found) else found
        except (Exception, KeyboardInterrupt, GeneratorExit):
            raise
        except SystemExit as error:  # an event loop would end with it, and the process with its exit code
            what = f"called sys.exit({error.code!r})"
        except BaseException as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            what = f"raised {described(error)}"
        raise HarnessError(f"{self._name!r} {what}; it must give {_SHAPES}")


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
