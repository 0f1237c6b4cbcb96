"""One event in words, for the timeline."""

from __future__ import annotations

from collections import Counter

from harness.folds import reason_text, text_of
from harness.report.text import PIECE_CHARS, Verbosity, block, counted, piece, visible
from harness.types.codes import FinishReason, ToolOutcome
from harness.types.events import Event
from harness.types.exchange import (
    UNKNOWN_TOOLS,
    AssistantChunk,
    AssistantMessage,
    ContextReplaced,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    RequestHeader,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
    UserMessage,
)
from harness.types.facts import Fact
from harness.types.jsontext import Refusal, parse_json
from harness.types.lifecycle import (
    ApprovalAnswered,
    ApprovalAsked,
    CancelDelivered,
    CancelRequested,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    Note,
    RunEnd,
    RunQuiescent,
    RunStart,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnStart,
    UnknownFact,
)
from harness.types.messages import Content, ImagePart, OtherPart

_PLAIN_FINISH = (None, FinishReason.STOP, FinishReason.TOOL_CALLS)
_ONLY_VERBOSE = (RunStart, StepEnd, InboxQueued, InboxClaimed, Note, UnknownFact, AssistantChunk)


class EventLines:
    """Words for events in their order; remembers which call is which, and that a cancel came."""

    def __init__(self, verbosity: Verbosity) -> None:
        self._whole = verbosity is Verbosity.VERBOSE
        self._numbers: dict[tuple[str, str], int] = {}
        self._starts: dict[int, str] = {}
        self._cancelled = False
        self._n_chunks: Counter[str] = Counter()

    def of(self, event: Event) -> list[str]:
        """Lines of an event, indented by its nesting; none for what this verbosity leaves out."""
        fact = event.fact
        if isinstance(fact, AssistantChunk):
            self._n_chunks[event.agent] += 1
        elif isinstance(fact, ModelRequest):
            self._n_chunks.pop(event.agent, None)
        if isinstance(fact, ToolCall) or (isinstance(fact, _ONLY_VERBOSE) and not self._whole):
            return []  # a tool/call repeats what its assistant message said
        level = 4 * (event.agent.count("/") + 1) if event.agent else 0
        who = f"[{visible(event.agent)}] " if event.agent else ""
        depth = "    " if event.step is not None and not isinstance(fact, StepStart) else "  "
        indent = "" if isinstance(fact, TurnStart | TurnEnd) or event.turn is None else depth
        return [" " * level + indent + who + line for line in self._lines(event, fact)]

    def _lines(self, event: Event, fact: Fact) -> list[str]:
        match fact:
            case AssistantMessage():
                return self._answer(event.agent, fact)
            case ToolResult() | ToolStart() | ToolEnd():
                return self._tool(event, fact)
            case RequestHeader() | ModelRequest() | ModelFailed() | ModelRetry():
                return self._request(fact)
            case UserMessage(message=message):
                return self._text("user", message.content)
            case CancelRequested() | CancelDelivered():
                self._cancelled = self._cancelled or isinstance(fact, CancelDelivered)
                return [f">>> {_cancel_text(fact)}"]
            case RunQuiescent():
                return [_quiescent_text(fact)]
            case TurnStart() | StepStart():
                return [f"turn {event.turn}" if isinstance(fact, TurnStart) else f"step {event.step}"]
            case TurnEnd(status=status, reason=reason) | RunEnd(status=status, reason=reason):
                name = f"turn {event.turn}" if isinstance(fact, TurnEnd) else "run"
                return [f"{name} ends: {status} ({visible(reason_text(reason))})"]
            case _:
                return [self._rare(fact)]

    def _text(self, name: str, content: Content | None) -> list[str]:
        text = _content_text(content)
        if not self._whole:
            return [f"{name}: {piece(text)}"]
        first, *more = block(text)
        return [f"{name}: {first}", *(f"  {line}" for line in more)]

    def _short(self, text: str) -> str:
        return visible(text) if self._whole else piece(text)

    def _answer(self, agent: str, fact: AssistantMessage) -> list[str]:
        n_chunks = self._n_chunks.pop(agent, 0)
        streamed = f", in {counted(n_chunks, 'chunk')}" if n_chunks else ""
        name = f"assistant{', interrupted' if fact.interrupted else ''}{streamed}"
        lines = self._text(name, fact.content) if fact.content or not (fact.tool_calls or fact.refusal) else []
        lines += self._text("refusal", fact.refusal) if fact.refusal else []
        lines += self._text("reasoning", fact.reasoning) if fact.reasoning and self._whole else []
        for n, call in enumerate(fact.tool_calls, 1):
            self._numbers[agent, call.id] = n
            identity = f" (id {visible(call.id)})" if self._whole else ""
            lines.append(f"call {n} {visible(call.name)} {self._short(call.arguments)}{identity}")
        if fact.finish_reason not in _PLAIN_FINISH:
            lines.append(f"finish reason: {fact.finish_reason} ({visible(fact.raw_finish_reason or 'not given')})")
        if self._whole and fact.usage:
            lines.append(f"tokens: {fact.usage.input_tokens} in, {fact.usage.output_tokens} out")
        return lines

    def _tool(self, event: Event, fact: ToolResult | ToolStart | ToolEnd) -> list[str]:
        if isinstance(fact, ToolResult):
            code = fact.code or ("error" if fact.is_error else "OK")
            return self._text(f"result of {self._call(event.agent, fact.call_id, fact.name)} {code}", fact.content)
        if isinstance(fact, ToolStart):
            name = self._starts[event.seq] = self._call(event.agent, fact.call_id, fact.name)
            # A body that begins after a cancel is what people look for: always shown.
            late = "after the cancel: " if self._cancelled else ""
            return [f"{late}{name} starts {self._short(fact.arguments)}"] if late or self._whole else []
        if self._whole or self._cancelled or fact.outcome is not ToolOutcome.OK:
            code = f" {fact.code}" if fact.code else ""
            return [f"{self._starts.get(fact.start, f'start {fact.start}')} ended: {fact.outcome}{code}"]
        return []

    def _call(self, agent: str, call_id: str | None, name: str) -> str:
        number = self._numbers.get((agent, call_id or ""))
        return f"call {number} {visible(name)}" if number else f"call {visible(name)}"

    def _request(self, fact: RequestHeader | ModelRequest | ModelFailed | ModelRetry) -> list[str]:
        match fact:
            case ModelRequest(messages=messages, attempt=attempt):
                again = f", attempt {attempt}" if attempt > 1 else ""
                return [f"request: {counted(len(messages), 'message')}{again}"]
            case ModelFailed(code=code, message=message, attempt=attempt):
                return [f"model error {code}: {self._short(message)} (attempt {attempt})"]
            case ModelRetry(code=code, delay_ms=delay_ms, attempt=attempt):
                return [f"retry in {delay_ms} ms after {code} (attempt {attempt})"]
            case RequestHeader(system=system, tools=tools):
                prompts = [line for message in system for line in self._text(message.role, message.content)]
                return [*prompts, f"tools offered: {self._short(_tool_names(tools))}"]

    def _rare(self, fact: Fact) -> str:
        match fact:
            case InboxQueued(queue=queue, messages=messages):
                texts = ", ".join(self._short(_content_text(m.message.content)) for m in messages)
                return f"queued ({queue}): {texts}"
            case InboxClaimed(queue=queue, message_ids=ids):
                return f"claimed ({queue}): {visible(', '.join(ids))}"
            case InboxDiscarded(queue=queue, message_ids=ids, why=why):
                return f"discarded ({queue}): {visible(', '.join(ids))}: {self._short(why)}"
            case ApprovalAsked(call_id=call_id):
                return f"approval asked for call {visible(call_id)}"
            case ApprovalAnswered(call_id=call_id, outcome=outcome, by=by):
                return f"approval {outcome} by {visible(by)} for call {visible(call_id)}"
            case ContextReplaced(start=start, end=end, message=message):
                return f"context: events {start} to {end} replaced by {self._short(_content_text(message.content))}"
            case Note(name=name, data=data):
                return f"note {visible(name)} {self._short(data or '')}".rstrip()
            case UnknownFact(kind=kind):
                return f"{visible(kind)} (a kind of a later version, left out)"
            case AssistantChunk(chunk=chunk):
                return f"chunk {piece(chunk, PIECE_CHARS // 2)}"
            case _:
                return fact.TYPE


def _content_text(content: Content | None) -> str:
    """All of a content in words; the fold :func:`text_of` leaves out what is no text."""
    if content is None or isinstance(content, str):
        return content or "(empty)"
    others = [f"[image {part.digest}]" for part in content if isinstance(part, ImagePart)]
    others += [part.json for part in content if isinstance(part, OtherPart)]
    return "\n".join(text for text in (text_of(content), *others) if text) or "(empty)"


def _tool_names(tools: str) -> str:
    if tools == UNKNOWN_TOOLS:
        return "not known"
    offered = parse_json(tools)
    if isinstance(offered, Refusal) or not isinstance(offered, list):
        return tools
    names = [str(tool.get("name")) if isinstance(tool, dict) else str(tool) for tool in offered]
    return ", ".join(names) or "none"


def _cancel_text(fact: CancelRequested | CancelDelivered) -> str:
    what = "requested" if isinstance(fact, CancelRequested) else "delivered"
    why = f": {piece(fact.reason)}" if fact.reason else ""
    return f"cancel {what} by {fact.by} (scope {fact.scope}, queue {fact.queue}){why}"


def _quiescent_text(fact: RunQuiescent) -> str:
    if not fact.alive:
        return f"quiescent: nothing still runs (after {fact.settle_ms} ms)"
    names = (
        f"{visible(item.kind)} {visible(item.name)}" + (f" (event {item.start})" if item.start is not None else "")
        for item in fact.alive
    )
    return f"still running after {fact.settle_ms} ms: {', '.join(names)}"
