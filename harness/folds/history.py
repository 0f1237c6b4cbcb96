"""The conversation as a fold over facts: what the next request of an agent shows the model."""

from __future__ import annotations

from typing import Final

from harness.folds.replacing import Node, span_of
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ContextReplaced, ToolResult, UserMessage
from harness.types.messages import (
    CallId,
    ChatAssistant,
    ChatCall,
    ChatMessage,
    ChatTool,
    MessageBuffer,
    Messages,
)
from harness.types.reasons import EmittedCall

MESSAGE_FACTS: Final = frozenset({UserMessage, AssistantMessage, ToolResult, ContextReplaced})
"""The kinds that change a conversation."""


def sent_ids(calls: tuple[EmittedCall, ...]) -> tuple[str, ...]:
    """The id that each call of one answer is sent back under.

    The provider's own id, or ours where that is empty, missing or already used in this answer
    (design page, Ids; cases PB-001 and PB-003).
    """
    used: set[str] = set()
    sent = []
    for call in calls:
        wire = call.id if call.wire_id is None else call.wire_id
        chosen = wire if wire and wire not in used else call.id
        used.add(chosen)
        sent.append(chosen)
    return tuple(sent)


class History:
    """Grows with each event of one agent; ``messages`` is an O(1) view for the next request.

    Other kinds of event never change it (CONFORMANCE 122).
    """

    def __init__(self, agent: str = "") -> None:
        self._agent = agent
        self._buffer = MessageBuffer()
        self._seqs: list[int] = []
        self._turns: list[int | None] = []
        self._sources: dict[int, tuple[int, ...]] = {}
        self._sent: dict[CallId, str] = {}

    @property
    def messages(self) -> Messages:
        """What the model would be shown now, without the header's system messages."""
        return self._buffer.view()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The messages of now with the events they came with, and what replacements stand for."""
        rows = zip(self._seqs, self._buffer.view(), self._turns, strict=True)
        return tuple(Node(seq, message, turn, self._sources.get(seq, ())) for seq, message, turn in rows)

    def apply(self, event: Event) -> None:
        """Take one event into account."""
        fact = event.fact
        if type(fact) not in MESSAGE_FACTS or event.agent != self._agent:
            return
        match fact:
            case UserMessage(message=message):
                self._append(event, message)
            case AssistantMessage():
                self._append_answer(event, fact)
            case ToolResult(call_id=call_id, content=content):
                self._append(event, ChatTool(self._sent.get(call_id, call_id), content))
            case ContextReplaced():
                self._replace(event, fact)

    def _append(self, event: Event, message: ChatMessage) -> None:
        self._seqs.append(event.seq)
        self._turns.append(event.turn)
        self._buffer.append(message)

    def _append_answer(self, event: Event, fact: AssistantMessage) -> None:
        if not (fact.content or fact.tool_calls or fact.refusal):
            return  # an empty answer leaves no message that a provider would take (CONFORMANCE 97)
        calls = []
        for call, wire in zip(fact.tool_calls, sent_ids(fact.tool_calls), strict=True):
            self._sent[call.id] = wire
            calls.append(ChatCall(wire, call.name, call.arguments, call.type))
        self._append(event, ChatAssistant(fact.content, fact.reasoning, fact.refusal, tuple(calls), fact.extra))

    def _replace(self, event: Event, fact: ContextReplaced) -> None:
        """One message in the place of others; where those are no messages of now, nothing changes (CONFORMANCE 124)."""
        span = span_of(self._seqs, fact.start, fact.end)
        if isinstance(span, str):
            return
        place = slice(span[0], span[1] + 1)
        messages = list(self._buffer.view())
        sources = [self._sources.pop(seq, (seq,)) for seq in self._seqs[place]]
        self._sources[event.seq] = tuple(source for many in sources for source in many)
        self._turns[place] = [self._turns[span[1]]]
        self._seqs[place] = [event.seq]
        messages[place] = [fact.message]
        self._buffer = MessageBuffer(messages)


def history_of(trajectory: Trajectory, agent: str = "") -> Messages:
    """The conversation of one agent at the end of a trajectory."""
    history = History(agent)
    for event in trajectory.events:
        history.apply(event)
    return history.messages
