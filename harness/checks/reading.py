"""How checks read a trajectory: who saw what, by agent, and which answers may run tools."""

from __future__ import annotations

from typing import Final

from harness.types.codes import FinishReason, Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage
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


def is_import(trajectory: Trajectory) -> bool:
    """True for a trajectory that was read from another product's file."""
    observed = trajectory.header.observed
    return bool(observed) and all(origin is Origin.IMPORT for _, origin in observed)


def two_doors(trajectory: Trajectory) -> bool:
    """True where results are known only from request bodies, so the last step's are never seen."""
    return seen_by(trajectory, "tool/result") is Origin.PROBE


def by_agent(trajectory: Trajectory) -> dict[str, list[Event]]:
    """The events of each agent, in order; agents by first appearance."""
    agents: dict[str, list[Event]] = {}
    for event in trajectory.events:
        agents.setdefault(event.agent, []).append(event)
    return agents


def is_within(agent: str, ancestor: str) -> bool:
    """True for ``ancestor`` itself and all its children, by path."""
    return not ancestor or agent == ancestor or agent.startswith(ancestor + "/")


def wire_id(call: EmittedCall) -> str:
    """The id that the provider gave, "" for none."""
    return call.id if call.wire_id is None else call.wire_id


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
