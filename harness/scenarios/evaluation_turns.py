"""The decisions in a recorded run: what the model was shown, what was asked, which calls it made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.folds import History, text_of
from harness.scenarios.lifted.script import Note
from harness.types.events import ROOT_AGENT, Trajectory
from harness.types.exchange import AssistantMessage, ToolResult, UserMessage
from harness.types.messages import ChatAssistant, ChatMessage, ChatTool, Content, TextPart
from harness.types.reasons import EmittedCall


class Decisions(StrEnum):
    """Which decisions of a run become cases. FIRST: the first answer to each user input; EVERY: also those behind tool
    results; TURN: one case for each user input, with all its calls in order (for whole loops).
    """

    FIRST = "first"
    EVERY = "every"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided: these calls (or none), asked ``ask`` (empty: behind a tool's result) after ``before``."""

    before: tuple[ChatMessage, ...]
    ask: str
    calls: tuple[EmittedCall, ...]
    in_order: bool = False


def decisions_of(run: Trajectory, wanted: Decisions, note: Note) -> Iterator[Decision]:
    """The decisions of the main agent, in order; what a case cannot hold is told to ``note``."""
    found = _decisions(run, note)
    match wanted:
        case Decisions.EVERY:
            yield from found
        case Decisions.FIRST:
            yield from (one for one in found if one.ask)
        case Decisions.TURN:
            yield from _by_turn(found)


def results_of(run: Trajectory) -> Iterator[tuple[EmittedCall, str | None]]:
    """The main agent's calls with the text that came back; None: it failed."""
    calls: dict[str, EmittedCall] = {}
    for event in run.events:
        if event.agent == ROOT_AGENT and isinstance(event.fact, AssistantMessage):
            calls.update((call.id, call) for call in event.fact.tool_calls)
        elif event.agent == ROOT_AGENT and isinstance(event.fact, ToolResult) and event.fact.call_id in calls:
            fact = event.fact
            yield calls.pop(fact.call_id), None if fact.is_error else text_of(fact.content)


def _decisions(run: Trajectory, note: Note) -> Iterator[Decision]:
    history = History()
    asked: Decision | None = None
    for event in run.events:
        if event.agent != ROOT_AGENT:
            continue
        if isinstance(event.fact, UserMessage):
            before = _plain(tuple(history.messages), note)
            asked = Decision(before, _text(event.fact.message.content, note), ())
        elif isinstance(event.fact, AssistantMessage) and not event.fact.interrupted:
            shown = tuple(history.messages)
            if asked is not None and asked.ask.strip():
                yield replace(asked, calls=event.fact.tool_calls)
            elif asked is None and shown and isinstance(shown[-1], ChatTool):
                yield Decision(_plain(shown, note), "", event.fact.tool_calls)
            asked = None
        history.apply(event)


def _text(content: Content | None, note: Note) -> str:
    if isinstance(content, tuple) and not all(isinstance(part, TextPart) for part in content):
        note("images and other parts of messages that are no text")
    return text_of(content)


def _by_turn(decisions: Iterator[Decision]) -> Iterator[Decision]:
    turn: Decision | None = None
    for one in decisions:
        if one.ask:
            if turn is not None:
                yield turn
            turn = replace(one, in_order=True)
        elif turn is not None:
            turn = replace(turn, calls=(*turn.calls, *one.calls))
    if turn is not None:
        yield turn


def _plain(messages: tuple[ChatMessage, ...], note: Note) -> tuple[ChatMessage, ...]:
    """The messages with calls that are numbered anew, and text alone.

    A provider's ids may come twice in a conversation; a result goes to the oldest open call of its id.
    """
    open_ids: list[tuple[str | None, str]] = []
    n_calls = 0
    found: list[ChatMessage] = []
    for message in messages:
        text = _text(message.content, note)
        match message:
            case ChatAssistant():
                if message.reasoning is not None:
                    note("the reasoning of earlier answers")
                new = [f"call_{n_calls + at}" for at in range(1, len(message.tool_calls) + 1)]
                n_calls += len(new)
                calls = [replace(call, id=id_) for call, id_ in zip(message.tool_calls, new, strict=True)]
                open_ids += [(call.id, id_) for call, id_ in zip(message.tool_calls, new, strict=True)]
                said = text if message.content is not None else message.refusal
                found.append(ChatAssistant(content=said, tool_calls=tuple(calls)))
            case ChatTool():
                own = next((pair for pair in open_ids if pair[0] == message.call_id), (None, ""))
                open_ids = [pair for pair in open_ids if pair is not own]
                found.append(ChatTool(call_id=own[1] or message.call_id, content=text))
            case _:
                found.append(replace(message, content=text, extra=None))
    return tuple(found)
