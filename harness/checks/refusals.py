"""Which provider would refuse a history, and why: information about any run, above all about imported ones.

`provider_history` judges what a loop sent; here nothing was sent by us, so the conversation as it stands is judged,
with calls under the ids that the file gives them. The table is closed and holds only rules that the errors of the
providers state; where they are known to be lenient, nothing is said, and nothing of what was not recorded. Nobody
fails by it: a history may end on an open call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from harness.checks.reading import by_agent, has_substance, not_recorded, wire_id
from harness.folds import sent_ids
from harness.folds.imported import is_import
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolResult, UserMessage
from harness.types.jsontext import parse_json
from harness.types.lifecycle import MESSAGE_NOTE, NO_IDS_NOTE, Note
from harness.types.messages import CallId
from harness.types.reasons import EmittedCall
from harness.types.records import ProviderRefusal

_OPENAI_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ANTHROPIC_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ANTHROPIC_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_GEMINI_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
_LONGEST_CHAT_ID: Final = 40
_LONGEST_RESPONSES_ID: Final = 64
_OF_RESPONSES: Final = frozenset({"responses", "nemo"})
"""Imports whose history is one of the Responses API (what the header calls its subject is the format)."""


@dataclass(frozen=True, slots=True)
class _Answer:
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
class _History:
    """One agent's conversation, grouped; ``strays`` are results that answer no call directly before them.

    ``whole``: all requests and answers were recorded, so that what is not there was not there.
    """

    answers: tuple[_Answer, ...]
    users: tuple[tuple[Event, UserMessage], ...]
    strays: tuple[tuple[Event, ToolResult], ...]
    answered: frozenset[CallId]
    whole: bool


_MESSAGES: Final = (UserMessage, AssistantMessage, ToolResult)
_Rule = Callable[[_History], Iterator[tuple[str, Event]]]


def provider_refusals(trajectory: Trajectory) -> tuple[ProviderRefusal, ...]:
    """The providers that would refuse the conversation of a run, or to go on from it, in the order of the table."""
    histories = [_history(events, imported=is_import(trajectory)) for events in by_agent(trajectory).values()]
    found = []
    responses = is_import(trajectory) and trajectory.header.subject in _OF_RESPONSES
    for provider, of_chat in PROVIDERS.items():
        rules = RESPONSES.get(provider, of_chat) if responses else of_chat
        said = [one for history in histories for rule in rules for one in rule(history)]
        if said:
            said.sort(key=lambda one: one[1].seq)
            why = tuple(dict.fromkeys(text for text, _ in said))
            found.append(ProviderRefusal(provider, why, tuple(sorted({event.seq for _, event in said}))))
    return tuple(found)


# ---------------------------------------------------------------- the history


def _history(events: list[Event], *, imported: bool) -> _History:
    shown = [event for event in events if isinstance(event.fact, _MESSAGES) or _is_message(event)]
    facts = [event.fact for event in shown]
    last = max((at for at, fact in enumerate(facts) if isinstance(fact, AssistantMessage)), default=-1)
    hints = _hints(events)
    answers: list[_Answer] = []
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
            answers.append(_Answer(event, fact, calls, given, before, at == last, told, has_ids))
        strays += _strays(results, asked)
        before = before if isinstance(fact, Note) and not results else shown[behind - 1]
        at = behind
    users = tuple((event, event.fact) for event in shown if isinstance(event.fact, UserMessage))
    answered = frozenset(event.fact.call_id for event in shown if isinstance(event.fact, ToolResult))
    whole = not any(map(not_recorded, events))
    return _History(tuple(answers), users, tuple(strays), answered, whole)


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


# ---------------------------------------------------------------- rules


def _unanswered(history: _History) -> Iterator[tuple[str, Event]]:
    for name, call, answer in _not_behind(history):
        late = call.id in history.answered
        what = "whose result is not directly behind it" if late else "without result"
        yield f"call {name!r} of {call.name!r} {what}", answer.event


def _never_answered(history: _History) -> Iterator[tuple[str, Event]]:
    for name, call, answer in _not_behind(history):
        if call.id not in history.answered:
            yield f"call {name!r} of {call.name!r} without result", answer.event


def _not_behind(history: _History) -> Iterator[tuple[str, EmittedCall, _Answer]]:
    for answer in history.answers if history.whole else ():
        for name, call in answer.calls:
            if call.id not in answer.answered:
                yield name, call, answer


def _stray(history: _History) -> Iterator[tuple[str, Event]]:
    for event, result in history.strays if history.whole else ():
        yield f"a result for {result.call_id!r} that answers no open call directly before it", event


def _unasked(history: _History) -> Iterator[tuple[str, Event]]:
    asked = {call.id: answer.event.seq for answer in history.answers for _, call in answer.calls}
    for event, result in history.strays if history.whole else ():
        if asked.get(result.call_id, event.seq) >= event.seq:
            yield f"a result for {result.call_id!r} that answers no call before it", event


def _no_id(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, call in answer.calls:
            if not name:
                yield f"a call of {call.name!r} without an id", answer.event


def _missing_id(history: _History) -> Iterator[tuple[str, Event]]:
    """The older form of Chat messages, a ``function_call``, has no ids and is taken without."""
    with_ids = replace(history, answers=tuple(answer for answer in history.answers if answer.has_ids))
    yield from _no_id(with_ids)


def _same_id(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        names = [name for name, _ in answer.calls if name]
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            yield f"two calls of one answer under the id {name!r}", answer.event


def _longer_than(longest: int) -> _Rule:
    def rule(history: _History) -> Iterator[tuple[str, Event]]:
        for answer in history.answers:
            for name, _ in answer.calls:
                if len(name) > longest:
                    yield f"the id {name[:60]!r} is longer than {longest} characters", answer.event

    return rule


def _odd_id(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, _ in answer.calls:
            if name and not _ANTHROPIC_ID.fullmatch(name):
                yield f"the id {name[:60]!r} has other characters than letters, digits, _ and -", answer.event


def _name_like(pattern: re.Pattern[str]) -> _Rule:
    def rule(history: _History) -> Iterator[tuple[str, Event]]:
        for answer in history.answers:
            for name, call in answer.calls:
                if not pattern.fullmatch(call.name):
                    yield f"call {name!r} has the name {call.name[:60]!r}, which is not allowed", answer.event

    return rule


def _no_object(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, call in answer.calls:
            if not isinstance(parse_json(call.arguments), dict):
                yield f"the arguments of call {name!r} are no JSON object", answer.event


def _null_answer(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        message = answer.message
        if answer.told and message.content is None and not message.tool_calls and not message.refusal:
            yield "an answer with neither content nor calls", answer.event


def _empty_content(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        message = answer.message
        silent = answer.is_last or not answer.told
        if not (silent or message.tool_calls or message.refusal or has_substance(message.content)):
            yield "an answer without text that is not the last message", answer.event
    for event, user in history.users:
        if not has_substance(user.message.content):
            yield "a message of the user without text", event


def _call_behind_answer(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers if history.whole else ():
        lonely = answer.before is None or isinstance(answer.before.fact, AssistantMessage)
        if answer.calls and lonely:
            name = answer.calls[0][0]
            yield f"call {name!r} follows neither the user nor a result", answer.event


PROVIDERS: Final[dict[str, tuple[_Rule, ...]]] = {
    "openai": (
        _unanswered,
        _stray,
        _missing_id,
        _same_id,
        _longer_than(_LONGEST_CHAT_ID),
        _name_like(_OPENAI_NAME),
        _null_answer,
    ),
    "anthropic": (
        _unanswered,
        _stray,
        _no_id,
        _same_id,
        _odd_id,
        _name_like(_ANTHROPIC_NAME),
        _no_object,
        _empty_content,
    ),
    "gemini": (_unanswered, _stray, _name_like(_GEMINI_NAME), _no_object, _call_behind_answer),
}
"""What each provider is known to refuse with status 400 (page on formats)."""
RESPONSES: Final[dict[str, tuple[_Rule, ...]]] = {
    "openai": (
        _never_answered,
        _unasked,
        _no_id,
        _same_id,
        _longer_than(_LONGEST_RESPONSES_ID),
        _name_like(_OPENAI_NAME),
    ),
}
"""The same for a history of the Responses API: it pairs by id wherever a result stands, and takes longer ids."""
