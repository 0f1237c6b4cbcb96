"""What may replace older messages, what is to be replaced, and what a window of a conversation shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.folds.sizes import estimated_tokens
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ToolResult, UserMessage
from harness.types.messages import ChatAssistant, ChatMessage, ChatTool, ChatUser, Messages, TextPart

_EXCERPT: Final = 60


@dataclass(frozen=True, slots=True)
class Node:
    """A message of the conversation of now: the event that it came with, and its turn.

    ``sources`` are the events whose messages a replacement stands for, all the way down; () for other messages.
    """

    seq: int
    message: ChatMessage
    turn: int | None = None
    sources: tuple[int, ...] = ()


def span_of(seqs: Sequence[int], start: int, end: int) -> tuple[int, int] | str:
    """Places (first, last) of the messages that a replacement shadows, or why there are none (CONFORMANCE 124)."""
    for name, seq in (("start", start), ("end", end)):
        if seq not in seqs:
            return f"{name} {seq} is no message of the conversation of now; they are the events {_listed(seqs)}"
    first, last = seqs.index(start), seqs.index(end)
    return (first, last) if first <= last else f"start {start} comes behind end {end} in the conversation"


def replacement_error(nodes: Sequence[Node], start: int, end: int, message: ChatMessage) -> str:
    """Why ``message`` may not replace the messages from ``start`` to ``end``; "" where it may.

    They must be of the conversation of now, in its order (CONFORMANCE 124); a result may change nothing but its
    content (125); calls and results stay together, several messages become smaller, and input that no answer
    has followed is not lost (127).
    """
    span = span_of([node.seq for node in nodes], start, end)
    if isinstance(span, str):
        return span
    first, last = span
    shadowed = [node.message for node in nodes[first : last + 1]]
    if isinstance(message, ChatTool) or (len(shadowed) == 1 and isinstance(shadowed[0], ChatTool)):
        return _rewriting_error(shadowed, message)
    messages = [node.message for node in nodes]
    if why := balance_error([*messages[:first], message, *messages[last + 1 :]]):
        return f"it would tear calls and results apart: {why}"
    if len(shadowed) == 1:
        return ""
    if any(first <= place <= last for place in _unanswered(messages)):
        return "it covers input that no answer has followed yet"
    before, after = sum(map(estimated_tokens, shadowed)), estimated_tokens(message)
    return f"it does not shrink: about {after} tokens for {before}" if after >= before else ""


def _rewriting_error(shadowed: Sequence[ChatMessage], message: ChatMessage) -> str:
    old = shadowed[0]
    if len(shadowed) != 1 or not isinstance(old, ChatTool) or not isinstance(message, ChatTool):
        return "a tool result is replaced by itself alone, with other content"
    return "" if replace(old, content=message.content) == message else "of a tool result only the content may change"


def balance_error(messages: Sequence[ChatMessage]) -> str:
    """Which call is not answered directly behind its message, in order, or which result answers none; "" for none."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ChatTool):
            if not waiting or waiting.pop(0) != message.call_id:
                return f"the result of {message.call_id!r} is not directly behind its call"
            continue
        if waiting:
            break
        waiting = [call.id for call in message.tool_calls] if isinstance(message, ChatAssistant) else []
    return f"call {waiting[0]!r} has no result behind it" if waiting else ""


def _unanswered(messages: Sequence[ChatMessage]) -> Iterable[int]:
    """Places of the user messages behind the last answer or result."""
    for place in range(len(messages) - 1, -1, -1):
        if isinstance(messages[place], ChatAssistant | ChatTool):
            return
        if isinstance(messages[place], ChatUser):
            yield place


# ---------------------------------------------------------------- what is replaced, and by what


def cut_of(nodes: Sequence[Node], keep_last: int, turn: int) -> tuple[Node, ...]:
    """The messages that a compaction replaces: the largest run that is neither kept nor input of the open ``turn``.

    Kept are the last ``keep_last`` messages, and more where the cut would fall between a call and its results.
    () where nothing can be gained: a run of one message is left alone.
    """
    limit = max(0, len(nodes) - keep_last)
    while 0 < limit < len(nodes) and isinstance(nodes[limit].message, ChatTool):
        limit -= 1
    runs: list[list[Node]] = [[]]
    for node in nodes[:limit]:
        if isinstance(node.message, ChatUser) and not node.sources and node.turn == turn:
            runs.append([])
        else:
            runs[-1].append(node)
    longest = max(runs, key=lambda run: sum(estimated_tokens(node.message) for node in run))
    return tuple(longest) if len(longest) > 1 else ()


def fold_sentence(events: Iterable[Event]) -> str:
    """One sentence of what was done: what was asked, which tools were called how often and how that ended.

    The same events give the same sentence (ARTICLES 33).
    """
    asked: list[str] = []
    calls: dict[str, Counter[str]] = {}
    answer = ""
    for event in events:
        match event.fact:
            case UserMessage(message=message):
                asked.append(_excerpt(message))
            case ToolResult(name=name, is_error=is_error, code=code):
                calls.setdefault(name, Counter())[str(code or "failed") if is_error else "ok"] += 1
            case AssistantMessage(content=content, tool_calls=()) if content:
                answer = _excerpt(ChatAssistant(content))
            case _:
                pass
    parts = [f"asked: {'; '.join(asked)}"] if asked else []
    parts += [f"called: {', '.join(map(_called, calls.items()))}"] if calls else []
    parts += [f"last answer: {answer}"] if answer else []
    return f"Earlier, folded into one sentence: {'; '.join(parts) or 'nothing was done'}."


def _called(item: tuple[str, Counter[str]]) -> str:
    name, outcomes = item
    return f"{name} {sum(outcomes.values())}x ({', '.join(f'{n} {outcome}' for outcome, n in outcomes.items())})"


def transcript_text(nodes: Iterable[Node]) -> str:
    """Messages as plain text, one a line, for whoever is to sum them up."""
    lines = []
    for message in (node.message for node in nodes):
        calls = message.tool_calls if isinstance(message, ChatAssistant) else ()
        asked = [f"calls {call.name}({call.arguments})" for call in calls]
        lines.append(f"{message.role}: {' '.join(filter(None, (_text(message), *asked)))}")
    return "\n".join(lines)


def _text(message: ChatMessage) -> str:
    content = message.content
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.text if isinstance(part, TextPart) else f"[{part.type}]" for part in content)


def _excerpt(message: ChatMessage) -> str:
    text = " ".join(_text(message).split())
    return repr(text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…")


def _listed(seqs: Sequence[int]) -> str:
    return ", ".join(map(str, seqs)) if len(seqs) <= 8 else f"{seqs[0]} to {seqs[-1]} ({len(seqs)} of them)"


# ---------------------------------------------------------------- windows


def windowed(messages: Messages, last: int) -> Messages:
    """The last messages, with the first and the newest user message where those lie before.

    The window begins earlier where it would begin between a call and its results, so it is one that a provider takes.
    """
    start = max(0, len(messages) - last)
    while start > 0 and isinstance(messages[start], ChatTool):
        start -= 1
    first = next((place for place in range(start) if isinstance(messages[place], ChatUser)), None)
    if first is None and start == 0:
        return messages
    newest = next((place for place in range(len(messages) - 1, -1, -1) if isinstance(messages[place], ChatUser)), start)
    before = {place for place in (first, newest) if place is not None and place < start}
    return Messages.of((*(messages[place] for place in sorted(before)), *messages[start:]))
