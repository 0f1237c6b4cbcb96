"""How much context each request shows: a declared estimate, and what the provider counted (ARTICLES 22)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from harness.folds.counts import requests_of
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest
from harness.types.messages import ChatAssistant, ChatMessage, Content, OtherPart, TextPart

CHARACTERS_PER_TOKEN: Final = 4
"""The declared rule of the estimate: four characters a token, a message never less than one."""


@dataclass(frozen=True, slots=True)
class ContextSize:
    """The context of one request: messages and tokens, system text and offered tools included.

    ``seq`` is the request's event. ``estimated_tokens`` follows the declared rule, so that it is the same
    in every run; ``reported_tokens`` is what the provider counted (None where it told nothing).
    """

    seq: int
    agent: str
    turn: int | None
    step: int | None
    attempt: int
    n_messages: int
    estimated_tokens: int
    reported_tokens: int | None = None

    @property
    def tokens(self) -> int:
        """What the provider counted, else the estimate."""
        return self.estimated_tokens if self.reported_tokens is None else self.reported_tokens


def estimate_tokens(messages: Iterable[ChatMessage], *, tools: str = "[]") -> int:
    """Tokens that messages (and offered tools, JSON text) take, by the declared rule; always the same for the same."""
    n_tools = 0 if tools in ("", "[]") else len(tools)
    return sum(map(_message_tokens, messages)) + _tokens(n_tools)


def _message_tokens(message: ChatMessage) -> int:
    n_characters = _length(message.content)
    if isinstance(message, ChatAssistant):
        n_characters += len(message.reasoning or "") + len(message.refusal or "")
        n_characters += sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    return max(1, _tokens(n_characters))


def _tokens(n_characters: int) -> int:
    return -(-n_characters // CHARACTERS_PER_TOKEN)


def _length(content: Content | None) -> int:
    if content is None or isinstance(content, str):
        return len(content or "")
    return sum(
        len(part.text) if isinstance(part, TextPart) else len(part.json) if isinstance(part, OtherPart) else 0
        for part in content
    )


def context_sizes(trajectory: Trajectory) -> tuple[ContextSize, ...]:
    """The context of every request of all agents, in order.

    What a provider counted belongs to the request that was answered: the latest of that agent.
    """
    reported = _reported(trajectory.events)
    sizes = []
    for trace in requests_of(trajectory):
        header, event = trace.header, trace.event
        system = header.system if header else ()
        size = ContextSize(
            event.seq,
            event.agent,
            event.turn,
            event.step,
            trace.attempt,
            len(system) + len(trace.messages),
            estimate_tokens((*system, *trace.messages), tools=header.tools if header else "[]"),
        )
        sizes.append(replace(size, reported_tokens=reported.get(event.seq)))
    return tuple(sizes)


def _reported(events: Iterable[Event]) -> dict[int, int]:
    asked: dict[str, int] = {}
    reported: dict[int, int] = {}
    for event in events:
        if isinstance(event.fact, ModelRequest):
            asked[event.agent] = event.seq
        elif isinstance(event.fact, AssistantMessage) and event.agent in asked:
            usage = event.fact.usage
            if usage is not None and usage.input_tokens is not None:
                reported[asked[event.agent]] = usage.input_tokens
    return reported
