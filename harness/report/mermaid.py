"""``harness show --format mermaid``: the run as a sequence diagram that a pull request draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from harness.folds import boundary_text, is_interrupted, last_closed_boundary, reason_text, text_of
from harness.report.text import counted, piece
from harness.types.agents import AGENT_NOTE
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest, ToolResult, UserMessage
from harness.types.jsontext import parse_json
from harness.types.lifecycle import CancelDelivered, Note, RunEnd, RunQuiescent

_HEAD: Final = (
    "sequenceDiagram",
    "    participant U as User",
    "    participant A as Agent",
    "    participant M as Model",
    "    participant T as Tools",
)
_SAFE: Final = frozenset(" .,:!?()[]+*/=_'-")
_USED_BY_RENDERERS: Final = frozenset("°¶")  # how they mark entity codes while they parse
_LABEL_CHARS: Final = 60
LIMIT_BYTES: Final = 40_000
"""Renderers refuse diagrams of more than 50,000 characters."""


def mermaid(trajectory: Trajectory) -> str:
    """The sequence diagram of user, agent, model and tools (ARTICLES 13); cut, and said so, where it is long."""
    cast = Cast(trajectory)
    lines = cast.head()
    size = sum(len(line) + 1 for line in lines)
    n_left = len(trajectory)
    for event in trajectory:
        added = [f"    {line}" for line in arrows(event, cast)]
        size += sum(len(line.encode()) + 1 for line in added)
        if size > LIMIT_BYTES:
            lines.append(f"    Note over U,T: {counted(n_left, 'event')} more from event {event.seq} on")
            return "\n".join(lines)
        lines += added
        n_left -= 1
    if is_interrupted(trajectory):
        lines.append(f"    Note over A: interrupted after {label(boundary_text(last_closed_boundary(trajectory)))}")
    return "\n".join(lines)


def label(text: str) -> str:
    """Text that is no syntax in a diagram: one line, cut, everything but plain marks as an entity code."""
    return "".join(char if _is_plain(char) else f"#{ord(char)};" for char in piece(text, _LABEL_CHARS))


def _is_plain(char: str) -> bool:
    return char.isalnum() or char in _SAFE if char.isascii() else char not in _USED_BY_RENDERERS


class Cast:
    """Agents of a run: who each is in the diagram, and who gave it its task; children in order of appearance."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._ids = {"": ("A", "U")}
        self._names: dict[str, str] = {}
        for event in trajectory:
            if event.agent not in self._ids:
                bosses = [path for path in self._ids if path and event.agent.startswith(f"{path}/")]
                boss = self._ids[max(bosses, key=len, default="")][0]
                self._ids[event.agent] = (f"A{len(self._ids)}", boss)
                self._names[event.agent] = event.agent
            if isinstance(event.fact, Note) and event.fact.name == AGENT_NOTE and event.agent:
                told = parse_json(event.fact.data or "{}")
                self._names[event.agent] = str(told.get("name")) if isinstance(told, dict) else event.agent

    def head(self, among: Iterable[str] | None = None) -> list[str]:
        """The first lines of a diagram: who takes part; of the children all, or those called ``among``."""
        named = [(self._ids[path][0], name) for path, name in self._names.items()]
        kept = [(who, name) for who, name in named if among is None or who in among]
        return [*_HEAD[:3], *(f"    participant {who} as {label(name) or '?'}" for who, name in kept), *_HEAD[3:]]

    def of(self, agent: str) -> tuple[str, str]:
        """An agent, and who gave it its task, as the diagram calls them."""
        return self._ids[agent]


def arrows(event: Event, cast: Cast) -> Iterator[str]:
    """The arrows and notes of an event; most events have none."""
    me, boss = cast.of(event.agent)
    match event.fact:
        case UserMessage(message=message):
            yield f"{boss}->>{me}: user: {label(text_of(message.content))}"
        case ModelRequest(messages=messages, attempt=attempt):
            again = f", attempt {attempt}" if attempt > 1 else ""
            yield f"{me}->>M: request: {counted(len(messages), 'message')}{again}"
        case ModelFailed(code=code, message=message):
            yield f"M--x{me}: error {code}: {label(message)}"
        case AssistantMessage():
            yield from _answer(event.fact, me, boss)
        case ToolResult(name=name, content=content, code=code, is_error=is_error):
            word = code or ("error" if is_error else "OK")
            yield f"T-->>{me}: result of {label(name)} {word}: {label(text_of(content))}"
        case CancelDelivered(by=by):
            yield f"Note over U,T: cancel delivered, by {by}"
        case RunEnd(status=status, reason=reason):
            yield f"Note over A: {status} ({label(reason_text(reason))})"
        case RunQuiescent(alive=alive) if alive:
            yield f"Note over T: still running: {label(', '.join(item.name for item in alive))}"
        case _:
            return


def _answer(fact: AssistantMessage, me: str, boss: str) -> Iterator[str]:
    text = text_of(fact.content) or fact.refusal or ""
    for call in fact.tool_calls:
        yield f"M-->>{me}: call {label(call.name)}"
        yield f"{me}->>T: run {label(f'{call.name} {call.arguments}')}"
    if not fact.tool_calls:
        yield f"M-->>{me}: answer: {label(text)}"
        yield f"{me}-->>{boss}: answer: {label(text)}"
