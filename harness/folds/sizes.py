"""How big a request is, in tokens: as the provider counted, and estimated where nobody did (ARTICLES 22).

The estimate is stated, not hidden: a quarter of the UTF-8 bytes of texts, names and arguments, rounded up,
4 more for each message, and 1,000 for an image.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, RequestHeader
from harness.types.messages import (
    ChatAssistant,
    ChatDeveloper,
    ChatMessage,
    ChatSystem,
    Content,
    ImagePart,
    JsonText,
    Messages,
    TextPart,
)

BYTES_PER_TOKEN = 4
PER_MESSAGE = 4
PER_IMAGE = 1_000


def estimated_tokens(message: ChatMessage) -> int:
    """The estimate for one message."""
    size, images = _content(message.content)
    if isinstance(message, ChatAssistant):
        size += len(f"{message.refusal or ''}".encode())
        size += sum(len(f"{call.name}{call.arguments}".encode()) for call in message.tool_calls)
    return _tokens(size) + PER_MESSAGE + images * PER_IMAGE


def _tokens(n_bytes: int) -> int:
    return -(-n_bytes // BYTES_PER_TOKEN)


def _content(content: Content | None) -> tuple[int, int]:
    if content is None or isinstance(content, str):
        return len((content or "").encode()), 0
    shown = [part for part in content if not isinstance(part, ImagePart)]
    texts = "".join(part.text if isinstance(part, TextPart) else part.json for part in shown)
    return len(texts.encode()), len(content) - len(shown)


def header_tokens(system: tuple[ChatSystem | ChatDeveloper, ...], tools: JsonText) -> int:
    """The estimate for what stands before the messages of a request."""
    return _tokens(len(tools.encode()) + sum(_content(message.content)[0] for message in system)) + PER_MESSAGE * len(
        system
    )


class RequestSizes:
    """Follows the requests of one agent; ``of(messages)`` is the size of one that would show these.

    What the last answered request showed counts as the provider reported it; what came since is estimated.
    O(1) for each message while requests only grow. ``header`` are the tokens before the messages of the first.
    """

    def __init__(self, agent: str = "", header: int = 0) -> None:
        self._agent = agent
        self._header = header
        self._shown: Messages | None = None
        self._known: Messages | None = None
        self._n_known = 0

    def apply(self, event: Event) -> None:
        """Take one event into account."""
        fact = event.fact
        if event.agent != self._agent:
            return
        if type(fact) is RequestHeader:
            self._header, self._known = header_tokens(fact.system, fact.tools), None
        elif type(fact) is ModelRequest:
            self._shown = fact.messages
        elif type(fact) is AssistantMessage and fact.usage and fact.usage.input_tokens is not None:
            self._known, self._n_known = self._shown, fact.usage.input_tokens

    def of(self, messages: Messages) -> int:
        """Tokens of a request that shows these messages under the header in force."""
        known = self._known
        if known is None or not _goes_on(messages, known):
            self._known, self._n_known = messages, self._header + sum(map(estimated_tokens, messages))
        elif len(messages) > len(known):
            return self._n_known + sum(map(estimated_tokens, messages[len(known) :]))
        return self._n_known


def _goes_on(messages: Messages, known: Messages) -> bool:
    return messages.extends(known) or (len(messages) >= len(known) and messages[: len(known)] == known[:])


@dataclass(frozen=True, slots=True)
class RequestSize:
    """A request and its size; ``reported`` is what the provider counted, None where it did not."""

    event: Event
    tokens: int
    reported: int | None


def request_sizes(trajectory: Trajectory) -> Iterator[RequestSize]:
    """The size of every request before it was asked, as the loop could know it, in order."""
    sizes: dict[str, RequestSizes] = {}
    open_: dict[str, tuple[Event, int]] = {}
    for event in trajectory.events:
        size = sizes.setdefault(event.agent, RequestSizes(event.agent))
        fact = event.fact
        if isinstance(fact, ModelRequest):
            if event.agent in open_:
                yield RequestSize(*open_.pop(event.agent), None)
            open_[event.agent] = (event, size.of(fact.messages))
        elif isinstance(fact, AssistantMessage) and event.agent in open_:
            yield RequestSize(*open_.pop(event.agent), fact.usage.input_tokens if fact.usage else None)
        size.apply(event)
    for pair in open_.values():
        yield RequestSize(*pair, None)
