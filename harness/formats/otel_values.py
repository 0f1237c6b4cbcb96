"""OTLP in JSON as plain values: spans and log records with their attributes unwrapped.

Field names are read in both spellings that exporters use (``resourceSpans`` and ``resource_spans``); an array of the
wrong kind counts as none, as proto3 JSON leaves out what is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harness.formats.values import Document, objects, text_or_none

_ERROR_STATUS: Final = (2, "STATUS_CODE_ERROR", "ERROR")


@dataclass(frozen=True, slots=True)
class Told:
    """An event of a span, or a log record that names one: its name, its attributes, its body."""

    name: str
    attributes: Mapping[str, Any]
    body: Any = None


@dataclass(frozen=True, slots=True)
class Span:
    """A span; times are nanoseconds, ids as they came. ``events`` are its own and those of log records."""

    trace: str
    id: str
    parent: str
    name: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    error: str | None = None
    events: list[Told] = field(default_factory=list)

    def text(self, *names: str) -> str | None:
        """The first of these attributes that is text."""
        return next((value for name in names if isinstance(value := self.attributes.get(name), str)), None)


def spans_of(document: Document) -> list[Span]:
    """All spans of a file in order of their start, log records joined to them."""
    spans: list[Span] = []
    told: dict[tuple[str, str], list[Told]] = {}
    for _, value in document.values:
        for raw in _inside(value, "resourceSpans", ("scopeSpans", "instrumentationLibrarySpans"), "spans"):
            spans.append(_span(raw))
        for raw in _inside(value, "resourceLogs", ("scopeLogs", "instrumentationLibraryLogs"), "logRecords"):
            told.setdefault(_ids(raw), []).append(_record(raw))
    for span in spans:
        span.events.extend(told.get((span.trace, span.id), ()))
    return sorted(spans, key=lambda span: (span.start, span.end))


def _inside(value: Any, outer: str, middles: tuple[str, ...], inner: str) -> Iterator[dict[str, Any]]:
    for resource in objects(_get(value, outer)):
        for middle in middles:
            for scope in objects(_get(resource, middle)):
                yield from objects(_get(scope, inner))


def _get(value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        return None
    snake = "".join(f"_{char.lower()}" if char.isupper() else char for char in name)
    return value.get(name, value.get(snake))


def _ids(raw: dict[str, Any]) -> tuple[str, str]:
    return text_or_none(_get(raw, "traceId")) or "", text_or_none(_get(raw, "spanId")) or ""


def _span(raw: dict[str, Any]) -> Span:
    trace, span = _ids(raw)
    status = raw.get("status")
    failed = isinstance(status, dict) and status.get("code") in _ERROR_STATUS
    return Span(
        trace,
        span,
        text_or_none(_get(raw, "parentSpanId")) or "",
        text_or_none(raw.get("name")) or "",
        _nanoseconds(_get(raw, "startTimeUnixNano")),
        _nanoseconds(_get(raw, "endTimeUnixNano")),
        attributes_of(raw.get("attributes")),
        (text_or_none(status.get("message")) or "failed without a message") if failed and status else None,
        [_record(event) for event in objects(raw.get("events"))],
    )


def _record(raw: dict[str, Any]) -> Told:
    attributes = attributes_of(raw.get("attributes"))
    names = (_get(raw, "eventName"), raw.get("name"), attributes.get("event.name"))
    name = next((name for name in names if isinstance(name, str) and name), "")
    return Told(name, attributes, any_value(raw.get("body")))


def _nanoseconds(value: Any) -> int:
    """Whole numbers are text in proto3 JSON; what is none counts as 0."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 30:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def attributes_of(values: Any) -> dict[str, Any]:
    """Attributes as an object; the later of two with one key counts."""
    return {pair["key"]: any_value(pair.get("value")) for pair in objects(values) if isinstance(pair.get("key"), str)}


def any_value(value: Any) -> Any:
    """The plain value of an AnyValue; what is none (a plain value already) stays as it is."""
    if value == {}:
        return None  # no kind is set: the null of OTLP
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((raw_kind, inner),) = value.items()
    match raw_kind.replace("_v", "V"):
        case "arrayValue":
            items = inner.get("values") if isinstance(inner, dict) else None
            return [any_value(item) for item in items] if isinstance(items, list) else []
        case "kvlistValue":
            return attributes_of(inner.get("values") if isinstance(inner, dict) else None)
        case "intValue":
            is_text = isinstance(inner, str) and inner.lstrip("-").isdigit() and inner.isascii() and len(inner) < 30
            return int(inner) if is_text else inner
        case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
            return inner
        case _:
            return value
