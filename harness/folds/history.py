"""The conversation as a fold over facts: what the next request of an agent shows the model."""

from __future__ import annotations

from typing import Final

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
        self._sent: dict[CallId, str] = {}

    @property
    def messages(self) -> Messages:
        """What the model would be shown now, without the header's system messages."""
        return self._buffer.view()

    def apply(self, event: Event) -> None:
        """Take one event into account."""
        fact = event.fact
        if type(fact) not in MESSAGE_FACTS or event.agent != self._agent:
            return
        match fact:
            case UserMessage(message=message):
                self._append(event.seq, message)
            case AssistantMessage():
                self._append_answer(event.seq, fact)
            case ToolResult(call_id=call_id, content=content):
                self._append(event.seq, ChatTool(self._sent.get(call_id, call_id), content))
            case ContextReplaced(start=start, end=end, message=message):
                self._replace(event.seq, start, end, message)

    def _append(self, seq: int, message: ChatMessage) -> None:
        self._seqs.append(seq)
        self._buffer.append(message)

    def _append_answer(self, seq: int, fact: AssistantMessage) -> None:
        if not (fact.content or fact.tool_calls or fact.refusal):
            return  # an empty answer leaves no message that a provider would take (CONFORMANCE 97)
        calls = []
        for call, wire in zip(fact.tool_calls, sent_ids(fact.tool_calls), strict=True):
            self._sent[call.id] = wire
            calls.append(ChatCall(wire, call.name, call.arguments, call.type))
        self._append(seq, ChatAssistant(fact.content, fact.reasoning, fact.refusal, tuple(calls)))

    def _replace(self, seq: int, start: int, end: int, message: ChatMessage) -> None:
        old = list(zip(self._seqs, self._buffer.view(), strict=True))
        kept_before = [pair for pair in old if pair[0] < start]
        kept_after = [pair for pair in old if pair[0] > end]
        nodes = [*kept_before, (seq, message), *kept_after]
        self._seqs = [node[0] for node in nodes]
        self._buffer = MessageBuffer(node[1] for node in nodes)


def history_of(trajectory: Trajectory, agent: str = "") -> Messages:
    """The conversation of one agent at the end of a trajectory."""
    history = History(agent)
    for event in trajectory.events:
        history.apply(event)
    return history.messages
