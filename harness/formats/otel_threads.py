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
    """A request of a conversation; ``alone`` where it shows nothing of what a model or tool said before."""

    span: Span
    alone: bool


@dataclass(slots=True)
class Thread:
    """The requests of one conversation in order, and what the next one would begin with."""

    trace: str
    agent: str
    name: str
    asked: list[Asked] = field(default_factory=list)
    shown: list[_Key] = field(default_factory=list)
    said: set[_Key] = field(default_factory=set)
    wanted: set[str | None] = field(default_factory=set)
    """Ids of the calls of the last answer, which only results answer."""

    def take(self, span: Span, exchange: Exchange, keys: list[_Key], *, alone: bool) -> None:
        """Add a request with its answer."""
        self.asked.append(Asked(span, alone))
        self.shown = list(keys) if exchange.given is not None else self.shown
        self.said |= {said.key for said in exchange.given or () if _is_said(said)}
        if exchange.choices:
            answer = exchange.choices[0]
            self.shown.append(answer.key)
            self.said |= {answer.key} if _is_said(answer) else set()
            self.wanted = {call.wire_id for call in answer.calls}
        elif span.error is None:
            self.wanted = set()


def operation(span: Span) -> str | None:
    """What a span says it does."""
    return span.text("gen_ai.operation.name", "llm.request.type")


def threads_of(document: Document, spans: list[Span]) -> list[Thread]:
    """The conversations of all traces by their first requests. Raises ForeignFormatError for damaged messages."""
    by_id = {(span.trace, span.id): span for span in spans}
    traces: dict[str, list[Thread]] = {}
    for span in spans:
        if _asks(span):
            try:
                exchange = exchange_of(span)
            except ModelError as error:
                document.refuse(f"trace {span.trace!r}: {error}")
            _place(traces.setdefault(span.trace, []), span, exchange, _agent_of(span, by_id))
    found = [thread for threads in traces.values() for thread in threads]
    return sorted(found, key=lambda thread: thread.asked[0].span.start) or list(_of_agents(spans))


def _of_agents(spans: list[Span]) -> Iterator[Thread]:
    """Where nothing was recorded of single requests: what agents say of themselves."""
    seen: set[str] = set()
    for span in spans:
        if operation(span) in AGENTS:
            name = f"{span.trace}/{span.id}" if span.trace in seen else span.trace
            seen.add(span.trace)
            yield Thread(span.trace, span.id, name, [Asked(span, alone=False)])


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


def _place(threads: list[Thread], span: Span, exchange: Exchange, agent: str) -> None:
    """Give a request to the conversation that it goes on with, or to one of its own."""
    given = exchange.given
    keys = [said.key for said in given or ()]
    own = [thread for thread in threads if thread.agent == agent]
    found, alone = _gone_on(threads, agent, keys) or _rewritten(own, given or []), False
    if found is None and given is None:
        found = own[-1] if own else None
    if found is None:
        found, alone = _beside(own, keys), True
    if found is None:
        found, alone = Thread(span.trace, agent, _name(threads, span, agent)), False
        threads.append(found)
    found.take(span, exchange, keys, alone=alone)


def _name(threads: Sequence[Thread], span: Span, agent: str) -> str:
    """The trace for its first conversation, with the agent for one of another agent, with the request for the rest."""
    if not threads:
        return span.trace
    named = f"{span.trace}/{agent}"
    return named if agent and named not in {thread.name for thread in threads} else f"{span.trace}/{span.id}"


def _gone_on(threads: Sequence[Thread], agent: str, keys: Sequence[_Key]) -> Thread | None:
    """The conversation of which the request shows all, the longest; of another agent only where a model spoke in it."""
    fitting = [
        thread
        for thread in threads
        if 0 < len(thread.shown) <= len(keys)
        and (thread.agent == agent or thread.said)
        and all(one == other for one, other in zip(thread.shown, keys, strict=False))
    ]
    return max(fitting, key=lambda thread: len(thread.shown), default=None)


def _rewritten(own: Sequence[Thread], given: Sequence[Said]) -> Thread | None:
    """The conversation of the agent that has most in common with the request in what a model or tool said."""
    said = {one.key for one in given if _is_said(one)}
    results = {result.id for one in given for result in one.results if result.id}
    shared = [(len(said & thread.said) + len(results & thread.wanted), thread) for thread in own]
    most = max((n for n, _ in shared), default=0)
    return next((thread for n, thread in reversed(shared) if n == most), None) if most else None


def _beside(own: Sequence[Thread], keys: Sequence[_Key]) -> Thread | None:
    """The shortest conversation of the same instructions in which no call is open; the newest of several."""
    fitting = [thread for thread in own if not thread.wanted and _instructions(thread.shown) == _instructions(keys)]
    return min(reversed(fitting), key=lambda thread: len(thread.shown), default=None)


def _instructions(keys: Sequence[_Key]) -> list[_Key]:
    return [key for key in keys if key[0] in ("system", "developer")]


def _is_said(said: Said) -> bool:
    """True for what came from a model or a tool."""
    return bool(said.results) or (said.role == "assistant" and bool(said.content or said.calls))
