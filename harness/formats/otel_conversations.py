"""Which requests of a trace are one conversation: each shows what was said before, so a request names its own past.

A request that begins with all that a conversation was shown goes on with it, whichever agent asks (a handoff). One that
shows only some of what a model or tool said there is the same conversation with a rewritten history. One that shows
nothing of it stands on its own: a guardrail, a title, another task. Such requests follow each other in one conversation
where they have the same instructions and nothing is still asked for, each with all that it was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from harness.errors import ModelError
from harness.formats.otel_messages import Exchange, Said, exchange_of
from harness.formats.otel_values import Span
from harness.formats.values import Document

INFERENCE: Final = ("chat", "generate_content", "text_completion", "completion")
AGENTS: Final = ("invoke_agent", "create_agent", "invoke_workflow")
_Key: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of a conversation and which of its histories it goes on with, from 0; a new number begins one."""

    span: Span
    history: int = 0


@dataclass(slots=True)
class History:
    """What the next request would begin with, and the ids of the calls of its last answer, which results answer."""

    shown: list[_Key] = field(default_factory=list)
    wanted: set[str | None] = field(default_factory=set)


@dataclass(slots=True)
class Conversation:
    """The requests of one conversation in order, and its histories: one, or one for each request that stood alone."""

    trace: str
    agent: str
    name: str
    asked: list[Asked] = field(default_factory=list)
    histories: list[History] = field(default_factory=list)
    said: set[_Key] = field(default_factory=set)

    def take(self, span: Span, exchange: Exchange, keys: list[_Key], history: History | None) -> None:
        """Add a request with its answer; without a history it begins one."""
        if history is None:
            history = History()
            self.histories.append(history)
        at = next(number for number, one in enumerate(self.histories) if one is history)
        self.asked.append(Asked(span, at))
        history.shown = list(keys) if exchange.given is not None else history.shown
        self.said |= {said.key for said in exchange.given or () if _is_said(said)}
        if exchange.choices:
            answer = exchange.choices[0]
            history.shown.append(answer.key)
            self.said |= {answer.key} if _is_said(answer) else set()
            history.wanted = {call.wire_id for call in answer.calls}
        elif span.error is None:
            history.wanted = set()


_Found: TypeAlias = tuple[Conversation, History]


def operation(span: Span) -> str | None:
    """What a span says it does."""
    return span.text("gen_ai.operation.name", "llm.request.type")


def conversations_of(document: Document, spans: list[Span]) -> list[Conversation]:
    """The conversations of all traces by their first requests. Raises ForeignFormatError for damaged messages."""
    by_id = {(span.trace, span.id): span for span in spans}
    traces: dict[str, list[Conversation]] = {}
    for span in spans:
        if _asks(span):
            try:
                exchange = exchange_of(span)
            except ModelError as error:
                document.refuse(f"trace {span.trace!r}: {error}")
            _place(traces.setdefault(span.trace, []), span, exchange, _agent_of(span, by_id))
    found = [one for conversations in traces.values() for one in conversations]
    return sorted(found, key=lambda one: one.asked[0].span.start) or list(_of_agents(spans))


def _of_agents(spans: list[Span]) -> Iterator[Conversation]:
    """Where nothing was recorded of single requests: what agents say of themselves."""
    seen: set[str] = set()
    for span in spans:
        if operation(span) in AGENTS:
            name = f"{span.trace}/{span.id}" if span.trace in seen else span.trace
            seen.add(span.trace)
            yield Conversation(span.trace, span.id, name, [Asked(span)])


def _asks(span: Span) -> bool:
    """True for a span that is a request to a model."""
    named = operation(span)
    return named in INFERENCE or (
        named is None and span.text("gen_ai.request.model", "gen_ai.response.model") is not None
    )


def _agent_of(span: Span, by_id: dict[tuple[str, str], Span]) -> str:
    """The id of the nearest span of an agent above; "" for none. Parents that form a circle end it."""
    seen: set[str] = set()
    above = span.parent
    while above and above not in seen:
        seen.add(above)
        parent = by_id.get((span.trace, above))
        if parent is None:
            return ""
        if operation(parent) == "invoke_agent":
            return parent.id
        above = parent.parent
    return ""


# ---------------------------------------------------------------- which conversation a request belongs to


def _place(conversations: list[Conversation], span: Span, exchange: Exchange, agent: str) -> None:
    """Give a request to the conversation that it goes on with, or to one of its own."""
    keys = [said.key for said in exchange.given or ()]
    own = [one for one in conversations if one.agent == agent]
    found = _gone_on(conversations, agent, keys) or _rewritten(own, exchange.given or [])
    if found is None and exchange.given is None and own:
        found = own[-1], own[-1].histories[-1]
    if found is not None:
        found[0].take(span, exchange, keys, found[1])
        return
    home = _beside(own, keys)
    if home is None:
        home = Conversation(span.trace, agent, _name(conversations, span, agent))
        conversations.append(home)
    home.take(span, exchange, keys, None)


def _name(conversations: Sequence[Conversation], span: Span, agent: str) -> str:
    """The trace for its first conversation, with the agent for one of another agent, with the request for the rest."""
    if not conversations:
        return span.trace
    named = f"{span.trace}/{agent}"
    is_taken = any(one.name == named for one in conversations)
    return named if agent and not is_taken else f"{span.trace}/{span.id}"


def _gone_on(conversations: Sequence[Conversation], agent: str, keys: Sequence[_Key]) -> _Found | None:
    """The history of which the request shows all, the longest; of another agent only where a model spoke in it."""
    fitting = [
        (one, history)
        for one in conversations
        if one.agent == agent or one.said
        for history in one.histories
        if 0 < len(history.shown) <= len(keys)
        and all(shown == key for shown, key in zip(history.shown, keys, strict=False))
    ]
    return max(fitting, key=lambda pair: len(pair[1].shown), default=None)


def _rewritten(own: Sequence[Conversation], given: Sequence[Said]) -> _Found | None:
    """The history of the agent that has most in common with the request in what a model or tool said; the newest."""
    said = {one.key for one in given if _is_said(one)}
    results = {result.id for one in given for result in one.results if result.id}
    found: _Found | None = None
    most = 1
    for one in own if said or results else ():
        for history in one.histories:
            n = len(said.intersection(history.shown)) + len(results & history.wanted)
            if n >= most:
                found, most = (one, history), n
    return found


def _beside(own: Sequence[Conversation], keys: Sequence[_Key]) -> Conversation | None:
    """The shortest conversation of the same instructions in which no call is open; the newest of several."""
    told = _instructions(keys)
    fitting = [one for one in own if all(not h.wanted and _instructions(h.shown) == told for h in one.histories)]
    return min(reversed(fitting), key=lambda one: max(len(history.shown) for history in one.histories), default=None)


def _instructions(keys: Sequence[_Key]) -> list[_Key]:
    return [key for key in keys if key[0] in ("system", "developer")]


def _is_said(said: Said) -> bool:
    """True for what came from a model or a tool."""
    return bool(said.results) or (said.role == "assistant" and bool(said.content or said.calls))
