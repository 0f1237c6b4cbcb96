"""What a model is shown beside the conversation: `tools_offered` and `no_host_leak`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent, plain_text, two_doors
from harness.matching import same_json
from harness.redaction import host_details_in
from harness.types.agents import VISIBLE_NOTE
from harness.types.codes import Origin
from harness.types.events import Event, OfferedTool, Trajectory
from harness.types.exchange import UNKNOWN_TOOLS, ModelRequest, RequestHeader, ToolResult
from harness.types.jsontext import parse_json
from harness.types.lifecycle import Note
from harness.types.profile_loop import OfferedToolOrder

_NONE: Final = ("[]", UNKNOWN_TOOLS)
_ENTRY: Final = {"name", "description", "parameters"}


def _tools_offered(trajectory: Trajectory) -> Iterator[Found]:
    for events in by_agent(trajectory).values():
        header: Event | None = None
        visible: frozenset[str] | None = None
        for event in events:
            if isinstance(event.fact, Note) and event.fact.name == VISIBLE_NOTE:
                visible = _visible(event.fact)
            elif isinstance(event.fact, RequestHeader):
                header = event
                yield from _header(trajectory, event, event.fact)
            elif isinstance(event.fact, ModelRequest) and header is not None:
                yield from _against_the_visible(trajectory, header, event, visible)
            elif isinstance(event.fact, ModelRequest):
                text = f"a request{at(event)} without a request/header: nothing says which tools it offers"
                yield found(text, event, rule="article:3")


def _visible(note: Note) -> frozenset[str] | None:
    names = parse_json(note.data or "null")
    return frozenset(map(str, names)) if isinstance(names, list) else None


def _against_the_visible(
    trajectory: Trajectory, header: Event, event: Event, visible: frozenset[str] | None
) -> Iterator[Found]:
    """What is visible in a step is offered in it, and nothing else (ARTICLES 26)."""
    entries = parse_json(header.fact.tools) if isinstance(header.fact, RequestHeader) else None
    if not isinstance(entries, list) or (visible is None and event.agent):
        return
    own = {tool.name for tool in trajectory.header.tools if event.agent or not tool.hidden}
    offered = {str(entry.get("name")) for entry in entries if isinstance(entry, dict)}
    if missing := sorted((own if visible is None else own & visible) - offered):
        text = f"the model is not offered {', '.join(map(repr, missing))}{at(event)}"
        yield found(text, header, event, rule="article:3")
    if hidden := sorted(offered - visible) if visible is not None else []:
        text = f"the model is offered {', '.join(map(repr, hidden))}, which are not visible{at(event)}"
        yield found(text, header, event, rule="article:26")


def _header(trajectory: Trajectory, event: Event, fact: RequestHeader) -> Iterator[Found]:
    if fact.tools == UNKNOWN_TOOLS:
        return
    entries = parse_json(fact.tools)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        yield found(f"the tools of request/header{at(event)} are not a list of objects", event, rule="article:2")
        return
    names = [str(entry.get("name")) for entry in entries]
    yield from _entries(event, entries)
    if not event.agent:
        yield from _against_the_header(trajectory, event, dict(zip(names, entries, strict=True)))
    by_name = trajectory.header.profile.offered_tool_order is OfferedToolOrder.BY_NAME
    if by_name and names != sorted(names):
        yield found(f"tools are offered in the order {names}, not by name", event, rule="conformance:24")


def _entries(event: Event, entries: list[dict[str, Any]]) -> Iterator[Found]:
    seen: set[str] = set()
    for entry in entries:
        name = str(entry.get("name"))
        extra = sorted(set(entry) - _ENTRY)
        if extra:
            text = f"tool {name!r} is offered with {', '.join(map(repr, extra))} beside name, description and schema"
            yield found(text, event, rule="article:2")
        if name in seen:
            yield found(f"tool {name!r} is offered twice", event, rule="article:2")
        seen.add(name)


def _against_the_header(trajectory: Trajectory, event: Event, offered: dict[str, dict[str, Any]]) -> Iterator[Found]:
    own = {tool.name: tool for tool in trajectory.header.tools}
    hidden = {name for name, tool in own.items() if tool.hidden}
    shown = sorted(hidden & set(offered))
    if shown:
        yield found(f"the model is offered {', '.join(map(repr, shown))}, hidden from it", event, rule="article:26")
    if two_doors(trajectory):
        return  # a loop of its own may offer more, and renders descriptions and schemas in its own way
    surplus = sorted(set(offered) - set(own))
    if surplus:
        yield found(
            f"the model is offered {', '.join(map(repr, surplus))}, unknown to the run", event, rule="article:2"
        )
    for name in sorted(set(own) & set(offered)):
        yield from _as_declared(event, own[name], offered[name])


def _as_declared(event: Event, tool: OfferedTool, entry: dict[str, Any]) -> Iterator[Found]:
    if entry.get("description") != tool.description:
        yield found(f"tool {tool.name!r} is offered with another description", event, rule="article:2")
    if not same_json(entry.get("parameters"), parse_json(tool.parameters)):
        yield found(f"tool {tool.name!r} is offered with another schema", event, rule="article:2")


def _why_none(trajectory: Trajectory) -> str:
    unknown = any(isinstance(e.fact, RequestHeader) and e.fact.tools == UNKNOWN_TOOLS for e in trajectory.events)
    return "which tools were offered is not known" if unknown else "the run has no tools"


TOOLS_OFFERED = BuiltCheck(
    name="tools_offered",
    about="every request offers the run's tools, by name, description and schema, and nothing else",
    needs=(("request/header", None), ("model/request", None)),
    rules=("article:2", "article:3", "conformance:24"),
    findings=_tools_offered,
    applies=lambda trajectory: (
        ""
        if trajectory.header.tools
        or any(isinstance(e.fact, RequestHeader) and e.fact.tools not in _NONE for e in trajectory.events)
        else _why_none(trajectory)
    ),
)


# ---------------------------------------------------------------- host details


def _no_host_leak(trajectory: Trajectory) -> Iterator[Found]:
    for event in trajectory.events:
        if not isinstance(event.fact, ToolResult):
            continue
        details = host_details_in(plain_text(event.fact.content))
        if not event.fact.is_error:
            details = tuple(detail for detail in details if not detail.startswith("host path"))
        for detail in details:
            text = f"the result of call {event.fact.call_id!r}{at(event)} shows the model a {detail}"
            yield found(text, event, rule="article:1")


NO_HOST_LEAK = BuiltCheck(
    name="no_host_leak",
    about="no result shows a traceback or a key; no error result shows a path of the host",
    needs=(("tool/result", None), ("tool/start", Origin.PROBE)),
    rules=("article:1",),
    findings=_no_host_leak,
    applies=lambda trajectory: (
        "" if any(isinstance(e.fact, ToolResult) for e in trajectory.events) else "no tool gave a result"
    ),
)
"""Judged where the tools ran on our host: in an import nobody can tell whose paths they are."""
