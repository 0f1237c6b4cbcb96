"""Exactly what the model saw, so that a page grows with the run and not with its square.

Each distinct message is once in the pool of a detail, shared by both sides. A tape is the conversation of one agent as
it grew: places in the pool. A request is ranges of a tape: one, where nothing was left out of the conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.report.html.cutting import Cutter, Plain, slim
from harness.types.events import Header, OfferedTool, Trajectory
from harness.types.exchange import UNKNOWN_TOOLS, ModelRequest, RequestHeader
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import ChatAssistant, ChatMessage, ChatTool, JsonText, Messages


@dataclass(slots=True)
class Pool:
    """Plain values, each distinct one once."""

    values: list[Any] = field(default_factory=list)
    _places: dict[Hashable, int] = field(default_factory=dict)

    def place(self, key: Hashable, make: Callable[[], Any]) -> int:
        """The place of a value; ``make`` makes it where it is new."""
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = len(self.values)
            self.values.append(make())
        return found


@dataclass(slots=True)
class Pools:
    """The pools of one detail."""

    cutter: Cutter
    messages: Pool = field(default_factory=Pool)
    systems: Pool = field(default_factory=Pool)
    tools: Pool = field(default_factory=Pool)
    parameters: Pool = field(default_factory=Pool)
    parameters_cut: list[int] = field(default_factory=list)
    """Characters left out of each of the parameters."""
    _each_tool: Pool = field(default_factory=Pool)

    def message(self, message: ChatMessage) -> int:
        """The place of a message."""
        return self.messages.place(message, lambda: message_plain(message, self.cutter))

    def header(self, header: RequestHeader | None, offered: Header) -> Plain:
        """Places of system messages, tools and parameters; None for each where no header was seen."""
        if header is None:
            return {"system": None, "tools": None, "parameters": None}
        cutter = self.cutter
        return {
            "system": self.systems.place(
                header.system, lambda: [message_plain(message, cutter) for message in header.system]
            ),
            "tools": None
            if header.tools == UNKNOWN_TOOLS
            else self.tools.place(
                (header.tools, offered.tools), lambda: tools_plain(header.tools, offered, cutter, self._same)
            ),
            "parameters": self.parameters.place(header.parameters, lambda: self._parameters(header.parameters)),
        }

    def _same(self, text: str) -> int:
        """A number that two tools share if the model saw the same text of both, cut or not."""
        return self._each_tool.place(text, lambda: None)

    def _parameters(self, text: str) -> str:
        shown = self.cutter.text(text)
        self.parameters_cut.append(len(text) - len(shown))
        return shown


def message_plain(message: ChatMessage, cutter: Cutter) -> Plain:
    """One message as the model is shown it; ``cut`` says how many characters were left out."""
    before = cutter.n_cut
    made: Plain = {"role": message.role, "content": cutter.content(message.content)}
    if isinstance(message, ChatAssistant):
        calls = [
            slim({
                "id": cutter.text(call.id),
                "name": cutter.text(call.name),
                "arguments": cutter.text(call.arguments),
                "type": cutter.some(call.type),
                "extra": cutter.some(call.extra),
            })
            for call in message.tool_calls
        ]  # fmt: skip
        made["reasoning"] = cutter.some(message.reasoning)
        made["refusal"] = cutter.some(message.refusal)
        made["toolCalls"] = calls
    if isinstance(message, ChatTool):
        made["callId"] = cutter.some(message.call_id)
        made["name"] = cutter.some(message.name)
    made["extra"] = cutter.some(message.extra)
    return cutter.counted(slim(made), before)


def tools_plain(tools: JsonText, offered: Header, cutter: Cutter, same: Callable[[str], int]) -> list[Plain]:
    """The offered tools; what is no list of named tools is kept as JSON text (``json``).

    ``same`` is equal for two tools that were offered alike, compared as they were and not as they are cut.
    """
    value = parse_json(tools)
    known = {tool.name: tool for tool in offered.tools}
    if isinstance(value, Refusal) or not isinstance(value, list):
        return [_unnamed(tools, cutter, same)]
    return [_tool(tool, known, cutter, same) for tool in value]


def _unnamed(text: str, cutter: Cutter, same: Callable[[str], int]) -> Plain:
    before = cutter.n_cut
    return cutter.counted({"json": cutter.text(text), "same": same(text)}, before)


def _tool(tool: Any, known: Mapping[str, OfferedTool], cutter: Cutter, same: Callable[[str], int]) -> Plain:
    text = canonical_json(tool)
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return _unnamed(text, cutter, same)
    before = cutter.n_cut
    ours = known.get(tool["name"])
    description = tool.get("description")
    usual = {"name", "parameters"} | ({"description"} if isinstance(description, str) else set())
    rest = {key: item for key, item in tool.items() if key not in usual}
    one: Plain = {
        "name": cutter.text(tool["name"]),
        "description": cutter.text(description) if isinstance(description, str) else None,
        "parameters": cutter.text(canonical_json(tool["parameters"])) if "parameters" in tool else None,
        "more": cutter.text(canonical_json(rest)) if rest else None,
        "mode": str(ours.mode) if ours else None,
        "effect": str(ours.effect) if ours else None,
        "same": same(text),
    }
    return cutter.counted(slim(one), before)


@dataclass(slots=True)
class Tape:
    """The conversation of one agent as it grew, and its requests as ranges of it."""

    entries: list[int] = field(default_factory=list)
    _places: dict[int, list[int]] = field(default_factory=dict)
    _shown: Messages | None = None
    _ranges: list[list[int]] = field(default_factory=list)

    def ranges(self, messages: Messages, pools: Pools) -> list[list[int]]:
        """Half-open ranges whose messages are those of the request, in order."""
        grew = self._shown is not None and messages.extends(self._shown)
        at_end = not self._ranges or self._ranges[-1][1] == len(self.entries)
        n_known = len(self._shown) if grew and at_end and self._shown is not None else 0
        ranges = [list(one) for one in self._ranges] if n_known else []
        at = ranges[-1][1] if ranges else 0
        for message in messages[n_known:]:
            place = self._find(pools.message(message), at)
            if ranges and ranges[-1][1] == place:
                ranges[-1][1] = place + 1
            else:
                ranges.append([place, place + 1])
            at = place + 1
        self._shown, self._ranges = messages, ranges
        return [list(one) for one in ranges]

    def _find(self, message: int, at: int) -> int:
        """The next place of a message; at the end of the tape, or where it is nowhere, it is written there."""
        if at < len(self.entries):
            if self.entries[at] == message:
                return at
            known = self._places.get(message)
            if known:
                return next((place for place in known if place >= at), known[-1])
        self._places.setdefault(message, []).append(len(self.entries))
        self.entries.append(message)
        return len(self.entries) - 1


@dataclass(slots=True)
class SideRequests:
    """All requests of one run by their event, made in order; ``tapes`` are those of its agents."""

    pools: Pools
    by_seq: dict[int, Plain] = field(default_factory=dict)
    tapes: list[Tape] = field(default_factory=list)

    @classmethod
    def of(cls, trajectory: Trajectory, pools: Pools, wanted: Container[int]) -> SideRequests:
        """The requests whose events are wanted (seqs)."""
        made = cls(pools)
        headers: dict[str, RequestHeader] = {}
        numbers: dict[str, int] = {}
        for event in trajectory.events:
            fact = event.fact
            if isinstance(fact, RequestHeader):
                headers[event.agent] = fact
            elif isinstance(fact, ModelRequest) and event.seq in wanted:
                number = numbers.setdefault(event.agent, len(made.tapes))
                if number == len(made.tapes):
                    made.tapes.append(Tape())
                shown = {"tape": number, "ranges": made.tapes[number].ranges(fact.messages, pools)}
                made.by_seq[event.seq] = {
                    **pools.header(headers.get(event.agent), trajectory.header),
                    "messages": shown,
                    "attempts": fact.attempt,
                }
        return made
