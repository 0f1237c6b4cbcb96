"""What a step offers and tells beside the conversation: the tools of now, and the runtime context of now."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from harness.loop import Enter, Rewrite
from harness.loop.hooks import Input, PreStep
from harness.protocols import Log, ToolDoor
from harness.types.agents import VISIBLE_NOTE, VisibleRule, context_at, is_context, visible_at
from harness.types.codes import Code, Origin, ToolOutcome
from harness.types.doors import ToolReply
from harness.types.events import Event
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import Note, StepStart, TurnStart
from harness.types.messages import JsonText, Messages


class StepDoor:
    """A tool door that knows only the tools of the open step of its agent (ARTICLES 26).

    A call of another one is of no tool: UNKNOWN_TOOL. A note behind the ``step/start`` of a change says what is
    visible from there on. What it does not do itself is the door's behind.
    """

    def __init__(self, door: ToolDoor, rules: tuple[VisibleRule, ...], log: Log, agent: str) -> None:
        self._door = door
        self._rules = rules
        self._log = log
        self._agent = agent
        self._names: tuple[str, ...] | None = None
        log.listen(self._follow)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._door, name)

    def _follow(self, event: Event) -> None:
        if not isinstance(event.fact, StepStart) or event.agent != self._agent:
            return
        names = visible_at(self._rules, turn=event.turn or 1, step=event.step or 1)
        if names != self._names:
            self._names = names
            note = Note(VISIBLE_NOTE, canonical_json(names))
            self._log.record(note, origin=Origin.SUBJECT, agent=event.agent, turn=event.turn, step=event.step)

    @property
    def offered(self) -> JsonText:
        """The tools of the open step, as the door behind tells them."""
        return self._door.offered if self._names is None else _only(self._door.offered, self._names)

    def refuse(self, name: str, arguments: str) -> ToolReply | None:
        """UNKNOWN_TOOL for what is not visible, else what the door behind says."""
        if self._names is None or name in self._names:
            return self._door.refuse(name, arguments)
        code, names = Code.UNKNOWN_TOOL, ", ".join(self._names) or "none"
        text = f"there is no tool {name!r}. Allowed tools: {names}."
        return ToolReply(f"Error ({code}): {text}", ToolOutcome.ERROR, is_error=True, code=code, message=text)


@lru_cache(maxsize=256)
def _only(tools: JsonText, names: tuple[str, ...]) -> JsonText:
    entries = parse_json(tools)
    return canonical_json([one for one in entries if one["name"] in names] if isinstance(entries, list) else [])


def stepwise(door: ToolDoor, rules: tuple[VisibleRule, ...], log: Log, agent: str) -> ToolDoor:
    """The door behind rules on what is visible; the door itself without any."""
    if not rules:
        return door
    narrowed: Any = StepDoor(door, rules, log, agent)
    offering: ToolDoor = narrowed
    return offering


def told_before_steps(values: tuple[JsonText, ...], log: Log) -> tuple[PreStep, ...]:
    """Hooks that tell the main agent the runtime context of its turn, where the conversation shows another one.

    Behind all results and input, at most one message a step; nothing is claimed for it (ARTICLES 25).
    """
    turns = [1]

    def follow(event: Event) -> None:
        if isinstance(event.fact, TurnStart) and not event.agent:
            turns.append(event.turn or 1)

    async def tell(history: Messages, claimed: Input) -> Enter | Rewrite:
        message = context_at(values, turn=turns[-1])
        shown = next((one for one in reversed(history) if is_context(one)), None)
        return Enter() if message is None or message == shown else Rewrite((message, *claimed))

    if not values:
        return ()
    log.listen(follow)
    return (tell,)
