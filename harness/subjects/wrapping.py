"""A user's own tools, wrapped: the body runs as before, and the harness sees it start and end."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from harness.errors import UnsupportedError, UsageError
from harness.matching import ran_with
from harness.protocols import Signal, Tool, ToolContext, World
from harness.tools import FunctionTool, Output
from harness.tools.bodies import gated
from harness.tools.content import output_of
from harness.types.codes import Code, Origin, ToolOutcome
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ToolEnd, ToolStart
from harness.types.jsontext import Refusal, canonical_json, clean_text, parse_json, text_digest
from harness.types.messages import CallId, JsonText
from harness.types.reasons import EmittedCall

Function = Callable[..., Any]


class EmittedCalls:
    """A listener: knows which emitted calls have not been started, to name the call of a body.

    A body that gets no call id belongs to the oldest such call of its name and arguments; where none has just
    these, to the oldest whose arguments are among its own or say the same.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[EmittedCall]] = {}

    @property
    def names(self) -> set[str]:
        """The tools that were called."""
        return set(self._waiting)

    def __call__(self, event: Event) -> None:
        """Take an answer's calls into account."""
        if isinstance(event.fact, AssistantMessage):
            for call in event.fact.tool_calls:
                self._waiting.setdefault(call.name, []).append(call)

    def take(self, name: str, arguments: JsonText) -> CallId | None:
        """The id of the oldest waiting call; None where the model made no such call."""
        waiting = self._waiting.get(name, [])
        exact = (call for call in waiting if _canonical(call.arguments) == arguments)
        call = next(exact, None) or next((call for call in waiting if ran_with(call.arguments, arguments)), None)
        if call is None:
            return None
        waiting.remove(call)
        return call.id


def _canonical(text: str) -> str:
    value = parse_json(text) if text.strip() else {}
    return text if isinstance(value, Refusal) else canonical_json(value)


class ToolWrapper:
    """Wraps functions by tool name; a name that the scenario stubs gets the stub's body instead.

    ``waits``: the loop is a plain function in a thread of its own, so that bodies may wait there. ``refusals`` keeps
    what was asked for and cannot be done, whoever swallows it.
    """

    def __init__(self, world: World, signal: Signal, *, waits: bool = False) -> None:
        self._waits = waits
        stubbed = {name for name, _ in world.scenario.tools.stubs}
        self.known = tuple(sorted(world.tools, key=lambda tool: tool.name))
        self._tools = {tool.name: tool for tool in self.known}
        self._stubs = {name: tool for name, tool in self._tools.items() if name in stubbed}
        self._log = world.log
        self._clock = world.clock
        self._faults = world.faults
        self._gate = world.gate
        self._hide = world.hide
        self._signal = signal
        self._emitted = EmittedCalls()
        self._wrapped: set[str] = set()
        self.refusals: list[UsageError] = []
        world.log.listen(self._emitted)

    def wrap(self, registry: Any) -> Any:
        """The same shape with wrapped functions: a mapping by name, or a list or tuple of functions.

        Raises UsageError for any other shape (wrap single functions with ``function``).
        """
        if isinstance(registry, Mapping):
            return {name: self.function(body, name=name) for name, body in registry.items()}
        if isinstance(registry, list | tuple):
            return type(registry)(self.function(body) for body in registry)
        if hasattr(registry, "functions"):
            return self.wrap(registry.functions())
        raise self.refused(
            UsageError(
                f"cannot wrap a {type(registry).__name__}: give a mapping name -> function or a list of "
                "functions, or wrap single functions with env.wrap_function(name, function)"
            )
        )

    def refused(self, error: UsageError) -> UsageError:
        """The error to raise, kept: a loop that swallows it has not been tested."""
        self.refusals.append(error)
        return error

    def offered(self) -> dict[str, Function]:
        """The scenario's own tools as functions of keyword arguments, by name, wrapped: async ones, or plain ones.

        They raise TypeError for arguments that their schema does not take, as a function would.
        """
        self._wrapped.update(self._tools)
        bodies = {name: self._as_function(tool) for name, tool in self._tools.items()}
        if self._waits:
            return {name: self._sync(name, _waiting(body)) for name, body in bodies.items()}
        return {name: self._async(name, body) for name, body in bodies.items()}

    def _as_function(self, tool: Tool) -> Function:
        async def body(**arguments: Any) -> Any:
            fault = tool.check(arguments)
            if fault is not None:
                raise TypeError(f"{tool.name}: {fault}")
            try:
                return _value(await tool.call(arguments, ToolContext(self._signal, self._clock, None)))
            except UsageError as error:
                if isinstance(tool, FunctionTool):  # the user's own affair
                    raise
                raise self.refused(error) from None

        body.__name__ = body.__qualname__ = tool.name
        return body

    def function(self, body: Function, *, name: str | None = None) -> Function:
        """One wrapped function, async where the body is. Raises UsageError for what cannot be called."""
        if isinstance(body, FunctionTool):
            name, body = name or body.name, body.function
        if not callable(body):
            raise self.refused(UsageError(f"tool {name!r} is a {type(body).__name__}, not a function"))
        known = name or str(getattr(body, "__name__", type(body).__name__))
        self._wrapped.add(known)
        return self._async(known, body) if _is_async(body) else self._sync(known, body)

    def not_wrapped(self) -> list[str]:
        """Tools that the model called and that nobody wrapped: the scenario's, or any where nothing was wrapped.

        Their bodies cannot be seen, and a stub of theirs never ran.
        """
        called = self._emitted.names - self._wrapped
        return sorted(called & set(self._tools) if self._wrapped else called)

    def _async(self, name: str, body: Function) -> Function:
        @functools.wraps(body)
        async def wrapped(*args: Any, **kwargs: Any) -> Any:
            arguments = _bound(body, args, kwargs)
            start, call_id = self._started(name, arguments)
            outcome, digest = ToolOutcome.CANCELLED, None
            try:
                self._fail_if_due(start)
                stubbed = name in self._stubs
                work = self._stubbed(name, arguments, call_id) if stubbed else body(*args, **kwargs)
                value = await (work if self._gate is None else gated(work, self._gate, start))
                value = self._shown(_value(value) if stubbed else value)
                outcome, digest = ToolOutcome.OK, _digest(value)
                return value
            except Exception as error:
                outcome, digest = ToolOutcome.ERROR, _digest(error)
                raise
            finally:
                self._ended(start, outcome, digest)

        return wrapped

    def _sync(self, name: str, body: Function) -> Function:
        @functools.wraps(body)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            arguments = _bound(body, args, kwargs)
            start, call_id = self._started(name, arguments)
            outcome, digest = ToolOutcome.ERROR, None
            try:
                self._fail_if_due(start)
                stubbed = name in self._stubs
                value = self._shown(self._now(name, arguments, call_id) if stubbed else body(*args, **kwargs))
                outcome, digest = ToolOutcome.OK, _digest(value)
                return value
            except Exception as error:
                digest = _digest(error)
                raise
            finally:
                self._ended(start, outcome, digest)

        return wrapped

    def _shown(self, value: Any) -> Any:
        """A text without the secrets of the environment: no request is to carry them (ARTICLES 1)."""
        return self._hide(value) if type(value) is str else value

    def _fail_if_due(self, start: int) -> None:
        fault = self._faults(start)
        if fault is not None:
            raise fault

    def _stubbed(self, name: str, arguments: dict[str, Any], call_id: CallId | None) -> Coroutine[Any, Any, Any]:
        context = ToolContext(self._signal, self._clock, call_id)
        return self._stubs[name].call(arguments, context)

    def _now(self, name: str, arguments: dict[str, Any], call_id: CallId | None) -> Any:
        """A stub's value for a plain function. Raises UnsupportedError where it waits and no thread may."""
        stub: Any = self._stubs[name]
        if self._waits:
            return _value(asyncio.run(self._stubbed(name, arguments, call_id)))
        try:
            if hasattr(stub, "at_once"):
                return stub.at_once(arguments)
            return _value(_at_once(name, self._stubbed(name, arguments, call_id)))
        except UsageError as error:
            raise self.refused(error) from None

    def _started(self, name: str, arguments: dict[str, Any]) -> tuple[int, CallId | None]:
        text = canonical_json(_plain(arguments))
        call_id = self._emitted.take(name, text)
        return self._log.record(ToolStart(call_id, name, text), origin=Origin.PROBE).seq, call_id

    def _ended(self, start: int, outcome: ToolOutcome, digest: str | None) -> None:
        code = {ToolOutcome.ERROR: Code.TOOL_FAILED, ToolOutcome.CANCELLED: Code.ABORTED}.get(outcome)
        self._log.record(ToolEnd(start, outcome, code, digest), origin=Origin.PROBE)


def _value(returned: Any) -> Any:
    """What a function would return: the content alone of an output that also carries a code."""
    return returned.content if isinstance(returned, Output) else returned


def _digest(value: Any) -> str | None:
    """The digest of what a body came to, as ``tool/end`` has it; None for what our rule makes no text of."""
    try:
        text = str(value) if isinstance(value, Exception) else output_of(value).content
    except Exception:  # the value is the user's, and so is the code that reads it: neither may take the tool with it
        return None
    return text_digest(clean_text(text).strip())


def _is_async(body: Function) -> bool:
    return inspect.iscoroutinefunction(body) or inspect.iscoroutinefunction(getattr(body, "__call__", None))  # noqa: B004


def _bound(body: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    try:
        bound = inspect.signature(body).bind(*args, **kwargs)
    except TypeError:
        return dict(kwargs)  # the body itself will say what is wrong with its arguments
    flat = dict(bound.arguments)
    for parameter in inspect.signature(body).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            flat.update(flat.pop(parameter.name, {}))
    return flat


def _plain(value: Any) -> Any:
    """The value as JSON; what is none is shown by its type, since the body is not ours to refuse."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return value
    return f"<{type(value).__name__}>"


def _waiting(body: Function) -> Function:
    """The same as a plain function, which waits for the end of the body."""

    def waited(**arguments: Any) -> Any:
        return asyncio.run(body(**arguments))

    waited.__name__ = waited.__qualname__ = body.__name__
    return waited


def _at_once(name: str, body: Coroutine[Any, Any, Any]) -> Any:
    """Run a body to its end without an event loop. Raises UnsupportedError where it waits."""
    try:
        body.send(None)
    except StopIteration as done:
        return done.value
    body.close()
    raise UnsupportedError(f"what stands for {name!r} waits, but the tool is a plain function: make it async")
