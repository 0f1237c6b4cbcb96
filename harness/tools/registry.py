"""Tools made of functions, and the registry that keeps them by name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from harness.errors import ConfigurationError, UnknownNameError, UnsupportedError
from harness.protocols import Tool, ToolContext
from harness.schemas import ArgumentSchema, SchemaLike, schema_text
from harness.tools.bodies import in_thread, inline
from harness.tools.modes import Classifier
from harness.tools.process import importable, in_subprocess
from harness.tools.replies import listed
from harness.tools.signature import Function, check_agreement, signature_of
from harness.types.codes import Effect, Isolation, Mode
from harness.types.events import OfferedTool
from harness.types.messages import JsonText
from harness.types.tool_policy import NO_RULES, ToolRules

if TYPE_CHECKING:
    from harness.tools.derive import DerivedArguments

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
F = TypeVar("F", bound=Callable[..., Any])


def checked_name(name: str) -> str:
    """The name, if every provider takes it. Raises ConfigurationError."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"tool name {name!r}: providers take 1 to 64 letters, digits, '_' and '-'; give another 'name'"
        )
    return name


class FunctionTool:
    """A tool whose body is a function.

    Without ``parameters`` the schema is derived from the annotations (``Annotated[str, "the city"]``
    and pydantic's ``Field`` describe a parameter) and refuses other properties. With it, the schema
    must agree with the function. The description is the first line of the docstring unless given.
    A parameter annotated ``ToolContext`` receives the context and is not offered. ``mode`` may be
    set later: it is read again before each start (CONFORMANCE 47). A function as ``mode`` is asked with the
    arguments of each call; what is no Mode, or raises, counts as exclusive (46). ``rules`` say how long a body may
    take, how long its result may be, and what its failure leads to. ``uses`` names the tools that a body calls
    with ``await context.use(name, arguments)``: it is composed of them.

    Raises ConfigurationError for what cannot be a tool, UnsupportedError for an isolation that its
    function cannot have.
    """

    def __init__(
        self,
        function: Function,
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: SchemaLike | None = None,
        mode: Mode | Classifier = Mode.PARALLEL,
        effect: Effect = Effect.WRITE,
        idempotent: bool = False,
        isolation: Isolation = Isolation.INLINE,
        rules: ToolRules = NO_RULES,
        uses: Collection[str] = (),
    ) -> None:
        self.function = function
        self.name = checked_name(name if name is not None else getattr(function, "__name__", ""))
        self.description = description if description is not None else _first_line(function)
        self.classify = mode if callable(mode) else None
        self.mode = Mode.EXCLUSIVE if callable(mode) else Mode(mode)
        self.effect = Effect(effect)
        self.idempotent = idempotent
        self.isolation = Isolation(isolation)
        self.rules = rules
        self.uses = tuple(sorted(set(uses)))
        self._signature = signature_of(self.name, function)
        self._where = self._place()
        self._derived = _derive(self) if parameters is None else None
        self.parameters = _schema_of(self, parameters)
        self._schema = ArgumentSchema(self.name, self.parameters, closed=not self._signature.is_open)
        if parameters is not None and self._schema.properties is not None:
            required = self._schema.value.get("required", ())
            check_agreement(self.name, self._signature, self._schema.properties, required)

    def __repr__(self) -> str:
        return f"FunctionTool({self.name!r})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, so that a decorated one stays usable."""
        return self.function(*args, **kwargs)

    def check(self, arguments: Mapping[str, Any]) -> str | None:
        """What is wrong with the arguments and what is allowed, or None (CONFORMANCE 36, 38)."""
        fault = self._schema.explain(arguments)
        if fault is None and self._derived is not None:
            fault = self._derived.fault(arguments)
        return fault

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Run the function with arguments that passed :meth:`check`."""
        if self._where is not None:
            return await in_subprocess(self._where, arguments)
        values = dict(arguments) if self._derived is None else self._derived.values(arguments)
        for name in self._signature.context:
            values[name] = context
        if self.isolation is Isolation.THREAD:
            return await in_thread(self.function, values, context.signal)
        return await inline(self.function, values)

    def _place(self) -> tuple[str, str] | None:
        if self.isolation is Isolation.THREAD and inspect.iscoroutinefunction(self.function):
            raise UnsupportedError(f"tool {self.name!r}: an async function needs no thread; use isolation 'inline'")
        if self.uses and (self.isolation is not Isolation.INLINE or not self._signature.context):
            raise UnsupportedError(
                f"tool {self.name!r} uses {listed(self.uses)}: it needs a parameter annotated ToolContext to call "
                "them, and isolation 'inline'"
            )
        if self.isolation is not Isolation.SUBPROCESS:
            return None
        if self._signature.context:
            raise UnsupportedError(f"tool {self.name!r}: a ToolContext cannot cross into a subprocess; use 'inline'")
        return importable(self.name, self.function)


def _first_line(function: Function) -> str:
    lines = (inspect.getdoc(function) or "").splitlines() if inspect.isroutine(function) else []
    return lines[0].strip() if lines else ""


def _derive(tool: FunctionTool) -> DerivedArguments:
    from harness.tools.derive import DerivedArguments  # loads pydantic

    return DerivedArguments(tool.name, tool._signature, plain_only=tool.isolation is Isolation.SUBPROCESS)


def _schema_of(tool: FunctionTool, parameters: SchemaLike | None) -> JsonText:
    if tool._derived is not None:
        return tool._derived.schema
    return schema_text(tool.name, parameters or {})


class Registry:
    """Tools by name, always in canonical order (by name)."""

    def __init__(self, *tools: Tool) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.put(tool)

    def put(self, tool: Tool) -> Tool:
        """Keep a tool. Raises ConfigurationError when its name is taken."""
        if tool.name in self._tools:
            raise ConfigurationError(f"tool {tool.name!r} is registered twice; give one of them another name")
        self._tools[tool.name] = tool
        return tool

    def add(self, function: Function, **options: Any) -> FunctionTool:
        """Make a tool of a function, with the options of :class:`FunctionTool`, and keep it."""
        tool = FunctionTool(function, **options)
        self.put(tool)
        return tool

    @overload
    def tool(self, function: F) -> F: ...
    @overload
    def tool(self, **options: Any) -> Callable[[F], F]: ...
    def tool(self, function: F | None = None, **options: Any) -> F | Callable[[F], F]:
        """Decorate a function to register it; the function itself stays what it was."""

        def register(body: F) -> F:
            self.add(body, **options)
            return body

        return register if function is None else register(function)

    def functions(self) -> dict[str, Function]:
        """The functions behind the tools, by name, for a loop that calls them itself.

        Raises UnsupportedError for a tool that is no function.
        """
        others = [found.name for found in self if not isinstance(found, FunctionTool)]
        if others:
            raise UnsupportedError(f"no functions, so they cannot be called directly: {listed(others)}")
        return {found.name: found.function for found in self if isinstance(found, FunctionTool)}

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self._tools))

    def __getitem__(self, name: str) -> Tool:
        if name not in self._tools:
            raise UnknownNameError(f"there is no tool {name!r}; known are: {listed(self.names)}")
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return (self._tools[name] for name in self.names)

    def __len__(self) -> int:
        return len(self._tools)


@overload
def tool(function: Function) -> FunctionTool: ...
@overload
def tool(**options: Any) -> Callable[[Function], FunctionTool]: ...
def tool(function: Function | None = None, **options: Any) -> FunctionTool | Callable[[Function], FunctionTool]:
    """Decorate a function to make it a tool (still callable), with :class:`FunctionTool`'s options."""
    if function is not None:
        return FunctionTool(function, **options)
    return lambda body: FunctionTool(body, **options)


def offered_tool(tool: Tool) -> OfferedTool:
    """A tool as the header of a trajectory lists it."""
    return OfferedTool(
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        mode=tool.mode,
        effect=tool.effect,
        isolation=tool.isolation,
        idempotent=tool.idempotent,
    )
