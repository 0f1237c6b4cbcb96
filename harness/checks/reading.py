"""How checks read a trajectory: who saw what, by agent, and which answers may run tools."""

from __future__ import annotations

from typing import Final

from harness.folds import given_id, limits_from_json
from harness.types.agents import AGENT_NOTE
from harness.types.codes import FinishReason, Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import UNRECORDED_NOTE, Note
from harness.types.limits import Limits
from harness.types.messages import Content, TextPart
from harness.types.reasons import EmittedCall

_CUT: Final = frozenset(
    {
        FinishReason.LENGTH,
        FinishReason.CONTENT_FILTER,
        FinishReason.REFUSAL,
        FinishReason.ABORTED,
        FinishReason.ERROR,
    }
)


def seen_by(trajectory: Trajectory, kind: str) -> Origin | None:
    """Who observed events of ``kind``; None: nobody."""
    return dict(trajectory.header.observed).get(kind)


def sees(trajectory: Trajectory, kind: str) -> bool:
    """True when the header says that events of ``kind`` are observed."""
    return seen_by(trajectory, kind) is not None


def unrecorded(trajectory: Trajectory) -> frozenset[str]:
    """What an imported file leaves out of its conversation: ``request``, ``answer``, both or (mostly) neither."""
    return frozenset(side for event in trajectory.events for side in not_recorded(event))


def not_recorded(event: Event) -> frozenset[str]:
    """What a note says is not recorded of the request behind it; nothing for any other event."""
    if not (isinstance(event.fact, Note) and event.fact.name == UNRECORDED_NOTE):
        return frozenset()
    sides = parse_json(event.fact.data or "[]")
    return frozenset(map(str, sides)) if isinstance(sides, list) else frozenset()


def two_doors(trajectory: Trajectory) -> bool:
    """True where results are known only from request bodies, so the last step's are never seen."""
    return seen_by(trajectory, "tool/result") is Origin.PROBE


def by_agent(trajectory: Trajectory) -> dict[str, list[Event]]:
    """The events of each agent, in order; agents by first appearance."""
    agents: dict[str, list[Event]] = {}
    for event in trajectory.events:
        agents.setdefault(event.agent, []).append(event)
    return agents


def limits_of(trajectory: Trajectory) -> dict[str, Limits | None]:
    """The limits of each agent: the root's in the header, a child's in its first line; None for those not told."""
    limits: dict[str, Limits | None] = dict.fromkeys(by_agent(trajectory))
    limits[""] = limits_from_json(trajectory.header.limits)
    for event in trajectory.events:
        if isinstance(event.fact, Note) and event.fact.name == AGENT_NOTE and event.agent:
            told = parse_json(event.fact.data or "{}")
            if isinstance(told, dict) and "limits" in told:
                limits[event.agent] = limits_from_json(canonical_json(told["limits"]))
    return limits


def is_within(agent: str, ancestor: str) -> bool:
    """True for ``ancestor`` itself and all its children, by path."""
    return not ancestor or agent == ancestor or agent.startswith(ancestor + "/")


def wire_id(call: EmittedCall) -> str:
    """The id that the provider gave, "" for none."""
    return given_id(call) or ""


def is_cut(message: AssistantMessage) -> bool:
    """An answer that was cut, filtered, refused or damaged: its calls never run (94, 97a, 98)."""
    return message.interrupted or bool(message.refusal) or message.finish_reason in _CUT


def has_substance(content: Content | None) -> bool:
    """True for text that is more than blanks, or a part that is no text."""
    if content is None or isinstance(content, str):
        return bool(content and content.strip())
    return any(not isinstance(part, TextPart) or part.text.strip() for part in content)


def plain_text(content: Content | None) -> str:
    """The text of a content, parts joined without anything between; "" for None."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.text for part in content if isinstance(part, TextPart))


def place(event: Event) -> str:
    """``turn 1, step 2`` and the like, with the agent where it is not the root; "" for neither."""
    parts = [f"agent {event.agent!r}"] if event.agent else []
    parts += [f"turn {event.turn}"] if event.turn is not None else []
    parts += [f"step {event.step}"] if event.step is not None else []
    return ", ".join(parts)


def at(event: Event) -> str:
    """The same in brackets behind a blank, "" where nothing is known."""
    where = place(event)
    return f" ({where})" if where else ""
