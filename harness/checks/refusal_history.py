"""The history of one agent as a provider would be sent it: answers with what stands around them, and what is lost.

Grouped for :mod:`harness.checks.refusals`, which holds the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harness.checks.reading import not_recorded, wire_id
from harness.folds import sent_ids
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ToolResult, UserMessage
from harness.types.lifecycle import MESSAGE_NOTE, NO_IDS_NOTE, Note
from harness.types.messages import CallId
from harness.types.reasons import EmittedCall

_MESSAGES: Final = (UserMessage, AssistantMessage, ToolResult)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, its calls under the ids that are shown, and which results stand directly behind it.

    ``told``: its file shows it. ``has_ids``: its calls are of a form that has ids.
    """

    event: Event
    message: AssistantMessage
    calls: tuple[tuple[str, EmittedCall], ...]
    answered: frozenset[CallId]
    before: Event | None
    is_last: bool
    told: bool
    has_ids: bool


@dataclass(frozen=True, slots=True)
class History:
    """One agent's conversation, grouped; ``strays`` are results that answer no call directly before them.

    ``whole``: all requests and answers were recorded, so that what is not there was not there.
    """

    answers: tuple[Answer, ...]
    users: tuple[tuple[Event, UserMessage], ...]
    strays: tuple[tuple[Event, ToolResult], ...]
    answered: frozenset[CallId]
    whole: bool


def history_shown(events: list[Event], *, imported: bool) -> History:
    """One agent's events as such a history; calls go under the ids that the file has, of ours under those sent back."""
    shown = [event for event in events if isinstance(event.fact, _MESSAGES) or _is_message(event)]
    facts = [event.fact for event in shown]
    last = max((at for at, fact in enumerate(facts) if isinstance(fact, AssistantMessage)), default=-1)
    hints = _hints(events)
    answers: list[Answer] = []
    strays: list[tuple[Event, ToolResult]] = []
    before: Event | None = None
    at = 0
    while at < len(shown):
        event, fact = shown[at], facts[at]
        first = at if isinstance(fact, ToolResult) else at + 1
        behind = at + 1
        while behind < len(shown) and isinstance(facts[behind], ToolResult):
            behind += 1
        results = [(one, one.fact) for one in shown[first:behind] if isinstance(one.fact, ToolResult)]
        asked: set[CallId] = set()
        if isinstance(fact, AssistantMessage):
            asked = {call.id for call in fact.tool_calls}
            given = frozenset(result.call_id for _, result in results)
            calls, hint = _named(fact.tool_calls, imported=imported), hints.get(event.seq, frozenset())
            told, has_ids = "answer" not in hint, NO_IDS_NOTE not in hint
            answers.append(Answer(event, fact, calls, given, before, at == last, told, has_ids))
        strays += _strays(results, asked)
        before = before if isinstance(fact, Note) and not results else shown[behind - 1]
        at = behind
    users = tuple((event, event.fact) for event in shown if isinstance(event.fact, UserMessage))
    answered = frozenset(event.fact.call_id for event in shown if isinstance(event.fact, ToolResult))
    whole = not any(map(not_recorded, events))
    return History(tuple(answers), users, tuple(strays), answered, whole)


def _is_message(event: Event) -> bool:
    """True for a system or developer message behind others: it parts a call from its result as any message does."""
    return isinstance(event.fact, Note) and event.fact.name == MESSAGE_NOTE


def _hints(events: list[Event]) -> dict[int, frozenset[str]]:
    """What notes say of the answer behind them, by its seq."""
    found: dict[int, frozenset[str]] = {}
    waiting: frozenset[str] = frozenset()
    for event in events:
        if isinstance(event.fact, AssistantMessage):
            found[event.seq], waiting = waiting, frozenset()
        elif isinstance(event.fact, Note):
            own = {NO_IDS_NOTE} if event.fact.name == NO_IDS_NOTE else set()
            waiting |= own | not_recorded(event)
    return found


def _named(calls: tuple[EmittedCall, ...], *, imported: bool) -> tuple[tuple[str, EmittedCall], ...]:
    ids = map(wire_id, calls) if imported else sent_ids(calls)
    return tuple(zip(ids, calls, strict=True))


def _strays(results: list[tuple[Event, ToolResult]], asked: set[CallId]) -> Iterator[tuple[Event, ToolResult]]:
    left = set(asked)
    for event, result in results:
        if result.call_id not in left:
            yield event, result
        left.discard(result.call_id)
