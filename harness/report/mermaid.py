"""``harness show --format mermaid``: the run as a sequence diagram that a pull request draws."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
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
_NOTES_BYTES: Final = 1_000
"""For the notes at the end."""
_ENDS: Final = re.compile(r"(?:Note over )?(\w+)(?:(?:-+>>|--x|,)(\w+))?:")


def mermaid(trajectory: Trajectory) -> str:
    """The sequence diagram of user, agent, model and tools (ARTICLES 13); cut, and said so, where it is long.

    In UTF-8 at most LIMIT_BYTES. Children that do nothing in it take part as far as there is room.
    """
    cast, lines, seen = Cast(trajectory), list[str](), set[str]()
    size = n_bytes(cast.head(())) + _NOTES_BYTES
    last = f"interrupted after {label(boundary_text(last_closed_boundary(trajectory)))}"
    end = [f"Note over A: {last}"] if is_interrupted(trajectory) else []
    for n, event in enumerate(trajectory):
        added = list(arrows(event, cast))
        new = {who for line in added for who in both_ends(line)} - seen
        size += n_bytes(f"    {line}" for line in added) + n_bytes(cast.children(new))
        if size > LIMIT_BYTES:
            end = [f"Note over U,T: {counted(len(trajectory) - n, 'event')} more from event {event.seq} on"]
            break
        lines += added
        seen |= new
    n_left = 0
    for who in cast.silent(seen):
        size += n_bytes(cast.children((who,)))
        n_left += size > LIMIT_BYTES
        seen |= set() if size > LIMIT_BYTES else {who}
    end += [f"Note over U,T: {counted(n_left, 'agent')} more without an arrow here"] if n_left else []
    return "\n".join([*cast.head(seen), *(f"    {line}" for line in (*lines, *end))])


def n_bytes(lines: Iterable[str]) -> int:
    """What lines take in UTF-8, each with its end."""
    return sum(len(line.encode()) + 1 for line in lines)


def both_ends(line: str) -> tuple[str, ...]:
    """Who takes part in an arrow or a note, as the diagram calls them."""
    found = _ENDS.match(line)
    return () if found is None else tuple(who for who in found.groups() if who)


def label(text: str) -> str:
    """Text that is no syntax in a diagram: one line, cut, everything but plain marks as an entity code."""
    return "".join(char if _is_plain(char) else f"#{ord(char)};" for char in piece(text, _LABEL_CHARS))


def _is_plain(char: str) -> bool:
    return char.isalnum() or char in _SAFE if char.isascii() else char not in _USED_BY_RENDERERS


class Cast:
    """Agents of a run: who each is in the diagram, and who gave it its task; children in order of appearance."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._ids = {"": ("A", "U")}
        self._called: dict[str, str] = {}
        for event in trajectory:
            if event.agent not in self._ids:
                bosses = [path for path in self._ids if path and event.agent.startswith(f"{path}/")]
                boss = self._ids[max(bosses, key=len, default="")][0]
                self._ids[event.agent] = (f"A{len(self._ids)}", boss)
                self._called[self._ids[event.agent][0]] = event.agent
            if isinstance(event.fact, Note) and event.fact.name == AGENT_NOTE and event.agent:
                told = parse_json(event.fact.data or "{}")
                name = str(told.get("name")) if isinstance(told, dict) else event.agent
                self._called[self._ids[event.agent][0]] = name

    def head(self, among: Collection[str]) -> list[str]:
        """The first lines of a diagram: who takes part; of the children those called ``among``."""
        return [*_HEAD[:3], *self.children(among), *_HEAD[3:]]

    def children(self, among: Collection[str]) -> list[str]:
        """The lines by which those children called ``among`` take part."""
        named = sorted((who for who in among if who in self._called), key=lambda who: int(who[1:]))
        return [f"    participant {who} as {label(self._called[who]) or '?'}" for who in named]

    def silent(self, seen: Collection[str]) -> list[str]:
        """The children that are not among ``seen``."""
        return [who for who in self._called if who not in seen]

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
