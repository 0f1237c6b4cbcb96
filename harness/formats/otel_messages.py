"""Messages in the attributes and events of GenAI spans, in the newer conventions and in three older shapes.

Newer: ``gen_ai.input.messages``, ``gen_ai.output.messages`` and ``gen_ai.system_instructions`` on the span or on its
event ``gen_ai.client.inference.operation.details``. Older (v1.36 and before): events ``gen_ai.<role>.message`` and
``gen_ai.choice``; before those ``gen_ai.content.prompt`` and ``.completion``; and numbered attributes such as
``gen_ai.prompt.0.role``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.formats.builder import ForeignCall
from harness.formats.otel_values import Span, Told
from harness.formats.values import arguments_text, content_of_parts, objects, text_or_none
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import Content
from harness.wire.shape import bad_shape, kind_of

DETAILS: Final = "gen_ai.client.inference.operation.details"
INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
SYSTEM: Final = "gen_ai.system_instructions"
TOOLS: Final = "gen_ai.tool.definitions"
_ROLE_EVENT: Final = re.compile(r"gen_ai\.(system|developer|user|assistant|tool)\.message")
_NUMBERED: Final = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,6})\.(.+)")
_CALLED: Final = re.compile(r"tool_calls\.(\d{1,6})\.(id|name|arguments)")


@dataclass(frozen=True, slots=True)
class Answered:
    """A result inside a message: the id that it names, and its content."""

    id: str | None
    content: Content


@dataclass(frozen=True, slots=True)
class Said:
    """One message, whatever convention it came in."""

    role: str
    content: Content | None
    calls: tuple[ForeignCall, ...] = ()
    results: tuple[Answered, ...] = ()
    reasoning: str | None = None
    finish: str | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What is equal when a later request shows this message again; reasoning is rarely shown again."""
        calls = tuple((call.wire_id, call.name, _canonical(call.arguments)) for call in self.calls)
        return (self.role, self.content or "", calls, self.results)


def _canonical(text: str) -> str:
    value = parse_json(text)
    return text if isinstance(value, Refusal) else canonical_json(value)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a span shows of one request: its messages in, its choices out; None: it does not show them.

    ``leading`` are the instructions of a request whose messages are not shown.
    """

    given: list[Said] | None
    choices: list[Said] | None
    leading: tuple[Said, ...] = ()


def exchange_of(span: Span) -> Exchange:
    """The messages of an inference span. Raises ModelError for an attribute of another shape, naming it."""
    attributes = dict(span.attributes)
    for event in span.events:
        if event.name == DETAILS:
            attributes |= {key: value for key, value in event.attributes.items() if key in (INPUT, OUTPUT, SYSTEM)}
    if INPUT in attributes or OUTPUT in attributes or SYSTEM in attributes:
        choices = _newer(attributes, OUTPUT) if OUTPUT in attributes else None
        leading = _instructions(attributes)
        if INPUT not in attributes:
            return Exchange(None, choices, tuple(leading))
        return Exchange([*leading, *_newer(attributes, INPUT)], choices)
    given, choices = _from_events(span.events)
    if not given and not choices:
        given, choices = _from_numbered(attributes)
    return Exchange(given or None, choices or None)


def json_attribute(attributes: Mapping[str, Any], name: str) -> Any:
    """An attribute that holds JSON: as text, or as a value already."""
    value = attributes.get(name)
    if not isinstance(value, str):
        return value
    parsed = parse_json(value)
    if isinstance(parsed, Refusal):
        bad_shape(name, f"is no JSON, as when a limit of the exporter cut it: {parsed.message[:100]}")
    return parsed


# ---------------------------------------------------------------- newer conventions


def _instructions(attributes: Mapping[str, Any]) -> list[Said]:
    parts = json_attribute(attributes, SYSTEM)
    if parts is None:
        return []
    return [_message({"role": "system", "parts": parts}, SYSTEM)]


def _newer(attributes: Mapping[str, Any], name: str) -> list[Said]:
    messages = json_attribute(attributes, name)
    if messages is None:
        return []
    if not isinstance(messages, list):
        bad_shape(name, f"is {kind_of(messages)}, not a list of messages")
    return [_message(message, f"{name}[{at}]") for at, message in enumerate(messages)]


def _message(raw: Any, where: str) -> Said:
    if not isinstance(raw, dict) or not isinstance(raw.get("role"), str):
        bad_shape(where, "is no message with a role")
    parts = raw.get("parts")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        bad_shape(f"{where}.parts", "is no list of parts")
    visible: list[dict[str, Any]] = []
    calls, results, reasoning = [], [], []
    for part in parts:
        match part.get("type"):
            case "tool_call":
                calls.append(_call(part))
            case "tool_call_response":
                answer = part.get("response", part.get("result"))
                results.append(Answered(text_or_none(part.get("id")), content_of_parts(answer)))
            case "reasoning":
                reasoning.append(text_or_none(part.get("content")) or "")
            case "text" if isinstance(part.get("content"), str):
                visible.append({"type": "text", "text": part["content"]})
            case kind:
                visible.append(part if isinstance(kind, str) else {**part, "type": "unknown"})
    return Said(
        raw["role"],
        content_of_parts(visible) if visible else None,
        tuple(calls),
        tuple(results),
        "\n\n".join(reasoning) or None,
        text_or_none(raw.get("finish_reason")),
    )


def _call(raw: Mapping[str, Any]) -> ForeignCall:
    name, arguments = text_or_none(raw.get("name")) or "", raw.get("arguments")
    return ForeignCall(name, arguments_text(arguments), text_or_none(raw.get("id")))


# ---------------------------------------------------------------- older conventions


def _from_events(events: list[Told]) -> tuple[list[Said], list[Said]]:
    given: list[Said] = []
    choices: list[Said] = []
    for event in events:
        body = _body(event)
        role = _ROLE_EVENT.fullmatch(event.name)
        if role is not None:
            given.append(_chat({"role": role[1], **body}))
        elif event.name == "gen_ai.choice":
            choices.append(_choice(body))
        elif event.name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            key = event.name.replace("content.", "")
            found = [_chat(message) for message in objects(json_attribute(event.attributes, key))]
            (given if key == "gen_ai.prompt" else choices).extend(found)
    return given, choices


def _body(event: Told) -> dict[str, Any]:
    """The fields of an event: its body, JSON in one attribute, or its attributes themselves."""
    if isinstance(event.body, dict):
        return event.body
    content = event.attributes.get("gen_ai.event.content")
    if isinstance(content, str):
        parsed = json_attribute(event.attributes, "gen_ai.event.content")
        return parsed if isinstance(parsed, dict) else {"content": content}
    return dict(event.attributes)


def _choice(body: Mapping[str, Any]) -> Said:
    message = body.get("message")
    if isinstance(message, str):
        parsed = parse_json(message)
        message = parsed if isinstance(parsed, dict) else {"content": message}
    inner = message if isinstance(message, dict) else {}
    calls = {"tool_calls": body["tool_calls"]} if "tool_calls" in body else {}
    return _chat({"role": "assistant", **calls, **inner}, text_or_none(body.get("finish_reason")))


def _chat(raw: Mapping[str, Any], finish: str | None = None) -> Said:
    """A message in the shape of Chat Completions, as the older conventions have it."""
    role = text_or_none(raw.get("role")) or "user"
    content = raw.get("content")
    given = raw.get("tool_calls")
    listed = parse_json(given) if isinstance(given, str) else given
    calls = tuple(_older_call(call) for call in objects(listed))
    if role == "tool":
        named = text_or_none(raw.get("id")) or text_or_none(raw.get("tool_call_id"))
        return Said(role, None, results=(Answered(named, content_of_parts(content)),))
    return Said(role, None if content is None else content_of_parts(content), calls, finish=finish)


def _older_call(raw: dict[str, Any]) -> ForeignCall:
    inner = raw.get("function")
    return _call({**raw, **inner}) if isinstance(inner, dict) else _call(raw)


def _from_numbered(attributes: Mapping[str, Any]) -> tuple[list[Said], list[Said]]:
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for name, value in attributes.items():
        match = _NUMBERED.fullmatch(name)
        if match is not None:
            found.setdefault((match[1], int(match[2])), {})[match[3]] = value
    ordered = [(kind, _unnumbered(fields)) for (kind, _), fields in sorted(found.items())]
    given = [_chat(raw) for kind, raw in ordered if kind == "prompt"]
    made = (({"role": "assistant", **raw}) for kind, raw in ordered if kind == "completion")
    return given, [_chat(raw, text_or_none(raw.get("finish_reason"))) for raw in made]


def _unnumbered(fields: Mapping[str, Any]) -> dict[str, Any]:
    calls: dict[int, dict[str, Any]] = {}
    for name, value in fields.items():
        match = _CALLED.fullmatch(name)
        if match is not None:
            calls.setdefault(int(match[1]), {})[match[2]] = value
    listed = [call for _, call in sorted(calls.items())]
    return {name: value for name, value in fields.items() if "." not in name} | (
        {"tool_calls": listed} if listed else {}
    )


def first_tools(spans: list[Span]) -> Iterator[Any]:
    """What the spans say of the tools that were offered, each as it came."""
    for span in spans:
        if TOOLS in span.attributes:
            yield json_attribute(span.attributes, TOOLS)
