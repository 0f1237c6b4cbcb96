"""GenAI spans of OpenTelemetry (OTLP in JSON, whole or in lines) as conversations.

Which requests are one conversation is told by their histories (:mod:`harness.formats.otel_conversations`). Each
inference span shows the whole history again: only what is new is added, and a history that was cut or rewritten is
noted. Results that no later request shows are taken from the spans of their tools, and so are errors. The order of
spans is that of their starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

from harness.errors import ModelError
from harness.formats.builder import ForeignResult, TrajectoryBuilder
from harness.formats.otel_conversations import Asked, Conversation, conversations_of, operation
from harness.formats.otel_messages import Answered, Exchange, Said, exchange_of, first_tools
from harness.formats.otel_values import Span, spans_of
from harness.formats.otel_words import end_of_span, finish_of, parameters_of, usage_of
from harness.formats.talk import Talk
from harness.formats.values import Document, content_of_parts
from harness.types.codes import Code, HeaderWhy
from harness.types.events import TornTail, Trajectory
from harness.types.exchange import UNKNOWN_TOOLS, AssistantMessage, ModelFailed, RequestHeader
from harness.types.lifecycle import UNRECORDED_NOTE
from harness.types.messages import ChatDeveloper, ChatSystem
from harness.wire.chat import parse_tools

SPAN_NOTE: Final = "otel/span"
"""Name of the note before an answer: what its span says beside messages, and its times."""
CHANGED_NOTE: Final = "otel/history-changed"
"""Name of the note where a request does not begin with what was shown before: ``{kept, shown, given}``."""
CHOICES_NOTE: Final = "otel/choices"
"""Name of the note with the number of choices of an answer, of which the first is read."""
_CONTENT: Final = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
)


def is_otel(document: Document) -> bool:
    """True for OTLP with at least one GenAI span."""
    return any(_is_genai(span) for span in spans_of(document))


def _is_genai(span: Span) -> bool:
    return any(name.startswith("gen_ai.") for name in span.attributes)


def read_otel(document: Document) -> Iterator[Trajectory]:
    """A trajectory for each conversation. Raises ForeignFormatError."""
    spans = spans_of(document)
    if not any(_is_genai(span) for span in spans):
        document.refuse("no GenAI spans: expected OTLP in JSON (resourceSpans) with attributes gen_ai.*")
    tools: dict[str, list[Span]] = {}
    for span in spans:
        if operation(span) == "execute_tool":
            tools.setdefault(span.trace, []).append(span)
    conversations = conversations_of(document, spans)
    for number, conversation in enumerate(conversations, start=1):
        torn = document.torn if number == len(conversations) else None
        try:
            yield _Reader(document, tools.get(conversation.trace, [])).read(conversation, torn)
        except ModelError as error:
            document.refuse(f"trace {conversation.trace!r}: {error}")


class _Reader:
    """Goes through the requests of one conversation."""

    def __init__(self, document: Document, tools: list[Span]) -> None:
        self._document = document
        self._out = TrajectoryBuilder(subject="otel", source=document.source)
        self._talk = Talk(self._out)
        self._histories: dict[int, list[Said]] = {}
        self._last: Said | None = None
        self._header: RequestHeader | None = None
        self._tools = UNKNOWN_TOOLS
        self._open: list[str] = []
        self._known: set[str] = set()
        self._ran = {name: span for span in tools if (name := span.text("gen_ai.tool.call.id"))}

    def read(self, conversation: Conversation, torn: TornTail | None) -> Trajectory:
        """The whole trajectory."""
        asked = conversation.asked
        self._tools_of([one.span for one in asked])
        exchange = exchange_of(asked[0].span)
        for number, one in enumerate(asked, start=1):
            following = exchange_of(asked[number].span) if number < len(asked) else None
            self._request(one, _with_answer(exchange, following))
            exchange = following or exchange
        self._results_of_tools()
        last = asked[-1].span
        self._out.inferred_end(end_of_span(last, self._last))
        model = last.text("gen_ai.response.model", "gen_ai.request.model")
        name = f"{PurePath(self._document.source).stem}/{conversation.name or 'trace'}"
        return self._out.finish(name, model=model, torn=torn)

    def _request(self, asked: Asked, exchange: Exchange) -> None:
        span = asked.span
        shown = self._histories.get(asked.history, [])
        given = (shown or list(exchange.leading)) if exchange.given is None else exchange.given
        n_leading = self._ask(span, given)
        self._given(given, n_leading, shown)
        beside = {key: value for key, value in span.attributes.items() if key not in _CONTENT}
        self._out.note(SPAN_NOTE, {"name": span.name, "startNs": span.start, "endNs": span.end, "attributes": beside})
        choices = exchange.choices
        self._histories[asked.history] = list(given)
        self._last = choices[0] if choices else Said("assistant", None)
        if not choices and span.error is not None:
            self._out.add(ModelFailed(Code.UNKNOWN, span.error))
            return
        if choices and len(choices) > 1:
            self._out.note(CHOICES_NOTE, len(choices))
        sides = {"request": exchange.given, "answer": choices}
        unrecorded = [side for side, messages in sides.items() if messages is None]
        if unrecorded:
            self._out.note(UNRECORDED_NOTE, unrecorded)
        self._answer(self._last, span)
        if choices is not None:
            self._histories[asked.history].append(self._last)

    def _tools_of(self, spans: list[Span]) -> None:
        """What was offered, where any span tells of it."""
        offered = next(first_tools(spans), None)
        if isinstance(offered, list):
            self._tools = parse_tools([_wrapped(tool) for tool in offered])

    def _ask(self, span: Span, given: Sequence[Said]) -> int:
        """Write the request header where something of it is known and new; gives how many messages it took."""
        self._tools_of([span])
        leading: list[ChatSystem | ChatDeveloper] = []
        for said in given:
            if said.role not in ("system", "developer"):
                break
            kind = ChatSystem if said.role == "system" else ChatDeveloper
            leading.append(kind(content=said.content or ""))
        why = HeaderWhy.INITIAL if self._header is None else HeaderWhy.CHANGE
        header = RequestHeader(tuple(leading), self._tools, parameters_of(span), why)
        known = leading or self._tools != UNKNOWN_TOOLS or self._header is not None
        if known and (self._header is None or replace(self._header, why=why) != header):
            self._header = header
            self._out.add(header)
        return len(leading)

    def _given(self, given: Sequence[Said], n_leading: int, shown: Sequence[Said]) -> None:
        """Add what this request shows and none of its history did before it."""
        kept = 0
        for before, now in zip(shown, given, strict=False):
            if before.key != now.key:
                break
            kept += 1
        new = list(given[max(kept, n_leading) :])
        if kept < len(shown):
            self._out.note(CHANGED_NOTE, {"kept": kept, "shown": len(shown), "given": len(given)})
            new = self._rewritten(new, shown[kept:])
        for said in new:
            self._add(said)

    def _rewritten(self, given: Sequence[Said], gone: Sequence[Said]) -> list[Said]:
        """What is new in a history that was rewritten, results of calls that wait for them first.

        What stands before a call in the new history was put there after the call was made. A result or an answer that
        is told again in other words is not new.
        """
        known = Counter(said.key for said in gone)
        results: list[Answered] = []
        new: list[Said] = []
        for said in given:
            if known[said.key]:
                known[said.key] -= 1
            elif not said.calls or not all(call.wire_id in self._known for call in said.calls):
                results += [result for result in said.results if result.id in self._open]
                others = tuple(result for result in said.results if result.id not in self._known)
                if others or said.content is not None or said.calls or not said.results:
                    new.append(replace(said, results=others))
        return [*([Said("tool", None, results=tuple(results))] if results else []), *new]

    def _add(self, said: Said) -> None:
        for result in said.results:
            self._result(result)
        if said.role == "assistant":
            self._answer(said, None)
        elif said.role in ("system", "developer"):
            self._talk.system(said.content, said.role)
        elif said.content is not None or not said.results:
            self._talk.user("" if said.content is None else said.content)

    def _answer(self, said: Said, span: Span | None) -> None:
        finish, raw = finish_of(said, span)
        answer = AssistantMessage(
            content=said.content,
            reasoning=said.reasoning,
            finish_reason=finish,
            raw_finish_reason=raw,
            model=None if span is None else span.text("gen_ai.response.model", "gen_ai.request.model"),
            usage=None if span is None else usage_of(span),
        )
        self._talk.answer(answer, said.calls)
        asked = [call.wire_id for call in said.calls if call.wire_id]
        self._open += asked
        self._known.update(asked)

    def _result(self, result: Answered) -> None:
        span = self._ran.get(result.id or "")
        if result.id in self._open:
            self._open.remove(result.id or "")
        self._talk.result(_foreign(result, span))

    def _results_of_tools(self) -> None:
        for name in self._open:
            span = self._ran.get(name)
            if span is not None and ("gen_ai.tool.call.result" in span.attributes or span.error is not None):
                content = content_of_parts(span.attributes.get("gen_ai.tool.call.result"))
                self._talk.result(_foreign(Answered(name, content), span))


def _foreign(result: Answered, span: Span | None) -> ForeignResult:
    error = None if span is None else span.error
    code = None if error is None else Code.TOOL_FAILED
    return ForeignResult(result.id, result.content, is_error=error is not None, code=code, message=error)


def _wrapped(tool: Any) -> Any:
    if not isinstance(tool, dict) or tool.get("type") != "function" or "function" in tool:
        return tool
    return {"type": "function", "function": {key: value for key, value in tool.items() if key != "type"}}


def _with_answer(exchange: Exchange, following: Exchange | None) -> Exchange:
    """The exchange with the answer that the next request shows, where its own span does not tell it."""
    given, later = exchange.given, following.given if following is not None else None
    if exchange.choices is not None or given is None or later is None or len(later) <= len(given):
        return exchange
    answer = later[len(given)]
    goes_on = all(one.key == other.key for one, other in zip(given, later, strict=False))
    return replace(exchange, choices=[answer]) if goes_on and answer.role == "assistant" else exchange
