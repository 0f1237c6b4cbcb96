"""`children`, second half: what a child came to, and whether a cancel of an ancestor reached it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from harness.checks.base import Found, found
from harness.checks.reading import by_agent, is_within, plain_text
from harness.types.agents import child_path
from harness.types.codes import CancelBy, LimitKind, Status
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolResult, ToolStart
from harness.types.lifecycle import CancelDelivered, TurnEnd, TurnStart
from harness.types.profile_loop import LimitPrecedence
from harness.types.reasons import Cancelled, Interrupted, LimitHit

_RULE: Final = "conformance:88"
_OF_TIME: Final = (LimitKind.WALL_TIME, LimitKind.TURN_TIME)


def outcome_findings(trajectory: Trajectory) -> Iterator[Found]:
    """A child that ended otherwise than completed gives no good result, and none has the answer of another child.

    A host's hooks may rewrite results, so a text of nobody's is let pass; so is a call that several bodies ran for.
    """
    results: dict[str, Event] = {}
    n_bodies: Counter[str] = Counter()
    for event in trajectory.events:
        if isinstance(event.fact, ToolResult):
            results.setdefault(child_path(event.agent, event.fact.call_id), event)
        elif isinstance(event.fact, ToolStart):
            n_bodies[child_path(event.agent, event.fact.call_id or "")] += 1
    agents = {agent: events for agent, events in by_agent(trajectory).items() if agent in results}
    answers = {agent: text for agent, events in agents.items() if (text := _answer(events))}
    for agent, events in agents.items():
        if n_bodies[agent] == 1:
            yield from _outcome(agent, events, results[agent], answers)


def _answer(events: list[Event]) -> str | None:
    said = [event.fact for event in events if isinstance(event.fact, AssistantMessage | ToolResult)]
    return plain_text(said[-1].content) if said and isinstance(said[-1], AssistantMessage) else None


def _outcome(agent: str, events: list[Event], told: Event, answers: dict[str, str]) -> Iterator[Found]:
    ends = [event for event in events if isinstance(event.fact, TurnEnd)]
    result = told.fact
    if not ends or not isinstance(result, ToolResult) or result.is_error:
        return
    end = ends[-1].fact
    if isinstance(end, TurnEnd) and end.status is not Status.COMPLETED:
        yield found(f"child {agent!r} ended {end.status}, and its call has a good result", ends[-1], told, rule=_RULE)
        return
    text = plain_text(result.content)
    others = [other for other, answer in answers.items() if other != agent and answer == text]
    if others and answers.get(agent) not in (None, text):
        words = f"the call that started child {agent!r} has the answer of child {others[0]!r}"
        yield found(words, ends[-1], told, rule=_RULE)


def reach_findings(trajectory: Trajectory) -> Iterator[Found]:
    """A child's turn that is open when a cancel of an ancestor is delivered ends as cancelled by its parent."""
    limits_may_win = trajectory.header.profile.limit_precedence is not LimitPrecedence.CANCEL_TIME_STEPS
    open_turns: dict[str, Event] = {}
    met: dict[str, Event] = {}
    for event in trajectory.events:
        match event.fact:
            case TurnStart():
                open_turns[event.agent] = event
            case CancelDelivered():
                for agent in open_turns:
                    if agent != event.agent and is_within(agent, event.agent):
                        met.setdefault(agent, event)
            case TurnEnd(status=status, reason=reason):
                open_turns.pop(event.agent, None)
                cancel = met.pop(event.agent, None)
                by_parent = isinstance(reason, Cancelled) and reason.by is CancelBy.PARENT
                in_time = limits_may_win and isinstance(reason, LimitHit) and reason.which in _OF_TIME
                died = isinstance(reason, Interrupted)  # said by repair alone: the cancel had not come so far
                if cancel is not None and not (by_parent or in_time or died):
                    by = f" by {reason.by}" if isinstance(reason, Cancelled) else ""
                    text = f"a cancel reached the parent of child {event.agent!r}, whose turn ended {status}{by}"
                    yield found(text, cancel, event, rule=_RULE)
            case _:
                pass
