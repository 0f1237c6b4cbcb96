"""Tools that a model sees otherwise than their bodies are written: another name, description, place in the list."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any, Final

from harness.errors import ToolSourceError
from harness.protocols import Tool, ToolContext, Use
from harness.schemas import ArgumentSchema
from harness.tools.modes import Classifier, uses
from harness.types.codes import Effect, Isolation, Mode
from harness.types.evaluation import EvalTool
from harness.types.tool_policy import NO_RULES, ToolRules

_NO_NAMES: Final[Mapping[str, str]] = {}


class FacedTool:
    """A tool with another face: what the model is offered is ``face``, all else is the body's own.

    ``place`` is where it stands in the list that the model is offered. ``names`` gives the faces' names of tools by
    the bodies' names, for a body that uses others.
    """

    def __init__(self, body: Tool, face: EvalTool, *, place: int = 0, names: Mapping[str, str] = _NO_NAMES) -> None:
        self.name = face.name
        self.description = face.description
        self.parameters = face.parameters
        self.place = place
        self.uses = tuple(sorted(names.get(name, name) for name in uses(body)))
        self._body = body
        self._names = names

    def __repr__(self) -> str:
        return f"FacedTool({self.name!r}, {self._body!r})"

    @property
    def mode(self) -> Mode:
        """The body's, as of now (CONFORMANCE 47)."""
        return self._body.mode

    @property
    def classify(self) -> Classifier | None:
        """What tells the mode of a call, where the body has that."""
        found: Classifier | None = getattr(self._body, "classify", None)
        return found

    @property
    def effect(self) -> Effect:
        """The body's."""
        return self._body.effect

    @property
    def idempotent(self) -> bool:
        """The body's."""
        return self._body.idempotent

    @property
    def isolation(self) -> Isolation:
        """The body's."""
        return self._body.isolation

    @property
    def rules(self) -> ToolRules:
        """The body's."""
        found: ToolRules = getattr(self._body, "rules", NO_RULES)
        return found

    def check(self, arguments: Mapping[str, Any]) -> str | None:
        """What the body has against the arguments, or None."""
        return self._body.check(arguments)

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Run the body. Raises what it raises."""
        use, names = context.use, self._names
        if use is not None and self.uses:
            context = replace(context, use=_using(use, names))
        return await self._body.call(arguments, context)


def _using(use: Use, names: Mapping[str, str]) -> Use:
    """What a body calls others with, by the names that it knows them by."""

    def called(name: str, arguments: Mapping[str, Any]) -> Awaitable[str]:
        return use(names.get(name, name), arguments)

    return called


class ServerTool:
    """A tool of a server that is not open yet; ``lend`` gives it the body that calls the server, for a while."""

    mode: Mode = Mode.PARALLEL
    idempotent: bool = False
    isolation: Isolation = Isolation.INLINE

    def __init__(self, tool: EvalTool) -> None:
        self.name = tool.name
        self.description = tool.description
        self.parameters = tool.parameters
        self.effect = Effect.READ if tool.read_only else Effect.WRITE
        self._schema = ArgumentSchema(tool.name, tool.parameters)
        self._body: Tool | None = None

    def __repr__(self) -> str:
        return f"ServerTool({self.name!r})"

    def lend(self, body: Tool | None) -> None:
        """Call this body from now on; None: the server is closed."""
        self._body = body

    def check(self, arguments: Mapping[str, Any]) -> str | None:
        """What is wrong with the arguments and what is allowed, or None."""
        return self._schema.explain(arguments)

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Call the server. Raises ToolError for what it does not do, ToolSourceError where it is not open."""
        if self._body is None:
            raise ToolSourceError(f"tool {self.name!r}: its server is not open; call it inside the run")
        return await self._body.call(arguments, context)
