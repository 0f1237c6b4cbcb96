"""Whether a call may overlap its siblings, and what a composite tool takes over from those that it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from harness.errors import ConfigurationError
from harness.protocols import Tool
from harness.tools.replies import listed
from harness.types.codes import Isolation, Mode

Classifier: TypeAlias = Callable[[Mapping[str, Any]], Mode]
"""The mode of a call, by its arguments."""


def mode_now(tool: Tool, values: Mapping[str, Any], tools: Mapping[str, Tool]) -> Mode:
    """The mode of a call of ``tool`` with these arguments, as of now.

    Whatever is not plainly PARALLEL is EXCLUSIVE: another value, something that raises (CONFORMANCE 46), and
    a composite tool that uses an exclusive one.
    """
    classify: Classifier | None = getattr(tool, "classify", None)
    try:
        mode = tool.mode if classify is None else classify(values)
        parallel = mode is Mode.PARALLEL and all(used.mode is Mode.PARALLEL for used in used_by(tool, tools))
    except Exception:  # a classifier that cannot tell: what must not overlap is safe alone
        return Mode.EXCLUSIVE
    return Mode.PARALLEL if parallel else Mode.EXCLUSIVE


def isolation_now(tool: Tool, tools: Mapping[str, Tool]) -> Isolation:
    """Where a body runs; one that uses a tool in a thread, or an agent, is waited for like a thread."""
    if any(used.isolation is Isolation.THREAD or _settles(used) for used in (tool, *used_by(tool, tools))):
        return Isolation.THREAD
    return tool.isolation


def _settles(tool: Tool) -> bool:
    return getattr(tool, "settles_itself", False) is True


def uses(tool: Tool) -> tuple[str, ...]:
    """Names of the tools that a tool says it uses."""
    names: tuple[str, ...] = getattr(tool, "uses", ())
    return names


def used_by(tool: Tool, tools: Mapping[str, Tool]) -> Iterator[Tool]:
    """The tools that a tool uses, and those that they use in turn."""
    for name in uses(tool):
        yield tools[name]
        yield from used_by(tools[name], tools)


def check_uses(tools: Mapping[str, Tool]) -> None:
    """Raise ConfigurationError for a tool that uses one that is not there, or itself in the end."""
    for name in tools:
        _follow(name, (), tools)


def _follow(name: str, way: tuple[str, ...], tools: Mapping[str, Tool]) -> None:
    if name not in tools:
        raise ConfigurationError(
            f"tool {way[-1]!r} uses {name!r}, which is not there; there are: {listed(sorted(tools))}"
        )
    if name in way:
        raise ConfigurationError(f"tool {name!r} uses itself in the end: {' > '.join((*way, name))}")
    for used in uses(tools[name]):
        _follow(used, (*way, name), tools)
