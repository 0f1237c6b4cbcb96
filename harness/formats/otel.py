"""GenAI spans of OpenTelemetry (OTLP in JSON, whole or in lines) as conversations.

A trace is a conversation, or one for each agent that it names. Each inference span shows the whole history again: only
what is new is added, and a history that was cut or rewritten is noted. Results that no later request shows are taken
from the spans of their tools, and so are errors. The order of spans is that of their starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final

from harness.errors import ModelError
from harness.formats.builder import ForeignResult, TrajectoryBuilder
from harness.formats.otel_messages import Answered, Said, exchange_of, first_tools
from harness.formats.otel_values import Span, spans_of
from harness.formats.otel_words import end_of_span, finish_of, parameters_of, usage_of
from harness.formats.talk import Talk
from harness.formats.values import Document, content_of_parts
from harness.types.codes import Code, HeaderWhy
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, RequestHeader
from harness.types.messages import ChatSystem
from harness.wire.chat import parse_tools
from harness.wire.content import content_to_wire

SPAN_NOTE: Final = "otel/span"
"""Name of the note before an answer: what its span says beside messages, and its times."""
CHANGED_NOTE: Final = "otel/history-changed"
"""Name of the note where a request does not begin with what was shown before: ``{kept, shown, given}``."""
CHOICES_NOTE: Final = "otel/choices"
"""Name of the note with the number of choices of an answer, of which the first is read."""
_INFERENCE: Final = ("chat", "generate_content", "text_completion", "completion")
_AGENTS: Final = ("invoke_agent", "create_agent", "invoke_workflow")
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
    for (trace, agent), asked, tools in _conversations(spans):
        try:
            yield _Reader(document, tools).read(asked, f"{trace}/{agent}" if agent else trace)
        except ModelError as error:
            document.refuse(f"trace {trace!r}: {error}")


def _operation(span: Span) -> str | None:
    return span.text("gen_ai.operation.name", "llm.request.type")


def _asks(span: Span) -> bool:
    """True for a span that is a request to a model."""
    named = _operation(span)
    return named in _INFERENCE or (
        named is None and span.text("gen_ai.request.model", "gen_ai.response.model") is not None
    )


def _conversations(spans: list[Span]) -> Iterator[tuple[tuple[str, str], list[Span], list[Span]]]:
    """Requests by trace and by the agent that they belong to, with the tool spans of the trace."""
    by_id = {(span.trace, span.id): span for span in spans}
    groups: dict[tuple[str, str], list[Span]] = {}
    for span in spans:
        if _asks(span):
            groups.setdefault((span.trace, _agent_of(span, by_id)), []).append(span)
    if not groups:  # nothing was recorded of single requests: what agents say of themselves
        for span in spans:
            if _operation(span) in _AGENTS:
                groups.setdefault((span.trace, span.id), []).append(span)
    firsts = dict(reversed(groups))
    tools: dict[str, list[Span]] = {}
    for span in spans:
        if _operation(span) == "execute_tool":
            tools.setdefault(span.trace, []).append(span)
    for (trace, agent), asked in groups.items():
        yield (trace, "" if firsts[trace] == agent else agent), asked, tools.get(trace, [])


def _agent_of(span: Span, by_id: dict[tuple[str, str], Span]) -> str:
    """The id of the nearest span of an agent above; "" for none. Parents that form a circle end it."""
    seen: set[str] = set()
    above = span.parent
    while above and above not in seen:
        seen.add(above)
        parent = by_id.get((span.trace, above))
        if parent is None:
            return ""
        if _operation(parent) == "invoke_agent":
            return parent.id
        above = parent.parent
    return ""


class _Reader:
    """Goes through the requests of one conversation."""

    def __init__(self, document: Document, tools: list[Span]) -> None:
        self._document = document
        self._out = TrajectoryBuilder(subject="otel", source=document.source)
        self._talk = Talk(self._out)
        self._shown: list[Said] = []
        self._open: list[str] = []
        self._ran = {name: span for span in tools if (name := span.text("gen_ai.tool.call.id"))}

    def read(self, spans: list[Span], name: str) -> Trajectory:
        """The whole trajectory."""
        for number, span in enumerate(spans):
            self._request(span, spans if number == 0 else [])
        self._results_of_tools()
        last = spans[-1]
        self._out.inferred_end(end_of_span(last, self._shown[-1] if self._shown else None))
        model = last.text("gen_ai.response.model", "gen_ai.request.model")
        return self._out.finish(f"{PurePath(self._document.source).stem}/{name or 'trace'}", model=model)

    def _request(self, span: Span, all_spans: list[Span]) -> None:
        exchange = exchange_of(span)
        given = self._shown if exchange.given is None else exchange.given
        self._given(given, self._header(span, given, all_spans))
        beside = {key: value for key, value in span.attributes.items() if key not in _CONTENT}
        self._out.note(SPAN_NOTE, {"name": span.name, "startNs": span.start, "endNs": span.end, "attributes": beside})
        choices = exchange.choices
        if not choices and span.error is not None:
            self._out.add(ModelFailed(Code.UNKNOWN, span.error))
            self._shown = given
            return
        if choices and len(choices) > 1:
            self._out.note(CHOICES_NOTE, len(choices))
        answer = choices[0] if choices else Said("assistant", None)
        self._answer(answer, span)
        self._shown = [*given, answer]

    def _header(self, span: Span, given: list[Said], spans: list[Span]) -> int:
        """Write the request header where a span tells of the tools; gives how many messages it took."""
        offered = next(first_tools(spans), None)
        if not isinstance(offered, list):
            return 0
        leading: list[ChatSystem] = []
        for said in given:
            if said.role != "system":
                break
            leading.append(ChatSystem(content=said.content or ""))
        tools = parse_tools([_wrapped(tool) for tool in offered])
        self._out.add(RequestHeader(tuple(leading), tools, parameters_of(span), HeaderWhy.INITIAL))
        return len(leading)

    def _given(self, given: list[Said], n_leading: int) -> None:
        """Add what this request shows and none before it did."""
        kept = 0
        for before, now in zip(self._shown, given, strict=False):
            if before.key != now.key:
                break
            kept += 1
        if kept < len(self._shown):
            counts = {"kept": kept, "shown": len(self._shown), "given": len(given)}
            self._out.note(CHANGED_NOTE, counts)
        known = Counter(said.key for said in self._shown[kept:])
        for said in given[max(kept, n_leading) :]:
            if known[said.key]:
                known[said.key] -= 1
            else:
                self._add(said)

    def _add(self, said: Said) -> None:
        for result in said.results:
            self._result(result)
        if said.role == "assistant":
            self._answer(said, None)
        elif said.role in ("system", "developer"):
            self._talk.system(content_to_wire(said.content), said.role)
        elif not said.results:
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
        self._open += [call.wire_id for call in said.calls if call.wire_id]

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
