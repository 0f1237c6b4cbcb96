"""Responses answers: output items and status to the one normalised answer (the whole body).

Texts of several messages of one answer are joined by a blank line; summaries and texts of reasoning likewise. The end
is told in the words of Chat Completions. Items that must go back as they came (reasoning, and whatever only the
provider itself understands) are kept in the answer's ``extra`` in their order, with placeholders where message and
calls stood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.errors import ModelError
from harness.types.codes import Code, FinishReason
from harness.types.doors import Answer, AnsweredCall
from harness.types.jsontext import canonical_parsed, parse_json
from harness.types.messages import JsonText
from harness.types.reasons import Usage
from harness.wire.completions import count_in, finish_reason, first_text, usage_notes
from harness.wire.error_objects import error_in
from harness.wire.messages import arguments_text
from harness.wire.shape import bad_shape, json_text, kind_of, read_object

KEPT_ITEMS: Final = "response_items"
"""The key in ``extra`` under which output items are kept; no request of another dialect may show it."""
BETWEEN_TEXTS: Final = "\n\n"
OWN_ITEM: Final = "an output item of the provider's own kind was kept to be sent back, and not read"
SEVERAL_MESSAGES: Final = "several messages of one answer were joined"
CUT_BY_USAGE: Final = "the answer used all tokens that it was allowed: it counts as cut"
ODD_STATUS: Final = "the status 'complete' was taken as 'completed'"
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_INCOMPLETE: Final = {"max_output_tokens": "length", "content_filter": "content_filter"}
_COUNTS: Final = (
    "input_tokens",
    "output_tokens",
    "input_tokens_details.cached_tokens",
    "output_tokens_details.reasoning_tokens",
)
_KEPT_FIELDS: Final = ("id", "status", "phase", "namespace")
_Raw = Mapping[str, Any]


def parse_response(body: bytes | str | _Raw, *, limit: int | None = None) -> Answer:
    """The answer in a response body with status 200.

    ``limit``: the tokens that it was allowed, where the server calls a cut answer completed; one that used them all
    counts as cut, so that none of its calls is run (INVARIANTS 7).
    Raises ModelError DAMAGED_RESPONSE for what is no response or is not finished, or with the code of the error
    that stands in its place.
    """
    try:
        raw = read_object(body, "response")
        if not raw.get("error") and raw.get("status") != "failed":
            return _answer(raw, limit)
    except ModelError as error:
        raise ModelError(f"no response: {error}", code=Code.DAMAGED_RESPONSE) from None
    raise error_in(raw if raw.get("error") else {"error": "the response failed, and does not say why"})


def _answer(raw: _Raw, limit: int | None) -> Answer:
    items = items_of(raw.get("output"))
    notes: dict[str, None] = {}
    calls = tuple(call_of_item(item, f"output[{at}]") for at, item in enumerate(items) if item["type"] in _CALLS)
    usage = usage_of(raw.get("usage"))
    notes |= dict.fromkeys(usage_notes(raw.get("usage"), _COUNTS))
    word = _ending(raw, bool(calls), notes)
    if (
        word in ("stop", "tool_calls")
        and limit is not None
        and usage is not None
        and (usage.output_tokens or 0) >= limit
    ):
        word, notes[CUT_BY_USAGE] = "length", None
    reason = finish_reason(word)
    if reason in (FinishReason.STOP, FinishReason.TOOL_CALLS):
        _refuse_cut_calls(items)
    messages = [item for item in items if item["type"] == "message"]
    if len(messages) > 1:
        notes[SEVERAL_MESSAGES] = None
    if any(item["type"] not in ("message", "reasoning", *_CALLS) for item in items):
        notes[OWN_ITEM] = None
    return Answer(
        content=joined(texts_of(messages, "text")),
        calls=calls,
        reasoning=joined(text for item in items for kind, _, text in pieces_of(item) if kind == "reasoning" and text)
        or None,
        refusal="".join(text for text in texts_of(messages, "refusal") if text) or None,
        finish_reason=reason,
        raw_finish_reason=word,
        model=first_text(raw, "model"),
        usage=usage,
        notes=tuple(notes),
        extra=kept_items(items),
    )


def items_of(output: Any) -> list[_Raw]:
    """The output items. Raises ModelError for what is no array of objects with a type."""
    if not isinstance(output, list):
        bad_shape("output", f"is {kind_of(output)}, not an array")
    for at, item in enumerate(output):
        if not isinstance(item, Mapping) or not isinstance(item.get("type"), str):
            bad_shape(f"output[{at}]", "is no object with a type")
    return output


def _ending(raw: _Raw, has_calls: bool, notes: dict[str, None]) -> str | None:
    """Why it ended, in the words of Chat Completions; an unknown kind of incomplete answer counts as aborted."""
    status = raw.get("status")
    match status:
        case None:
            return None
        case "completed" | "complete":
            if status == "complete":
                notes[ODD_STATUS] = None
            return "tool_calls" if has_calls else "stop"
        case "incomplete":
            details = raw.get("incomplete_details")
            why = first_text(details, "reason") if isinstance(details, Mapping) else None
            return _INCOMPLETE.get(why or "", "aborted")
        case "cancelled":
            return "aborted"
        case _:
            return bad_shape("status", f"is {status!r}: the response is not finished")


def _refuse_cut_calls(items: Sequence[_Raw]) -> None:
    for at, item in enumerate(items):
        if item["type"] in _CALLS and item.get("status") == "incomplete":
            bad_shape(f"output[{at}]", "is an incomplete call in a completed response")


# ---------------------------------------------------------------- items


def call_of_item(item: _Raw, where: str) -> AnsweredCall:
    """The call that an item is."""
    call_id, name = item.get("call_id"), item.get("name")
    return AnsweredCall(
        name=name if isinstance(name, str) else None,
        arguments=arguments_text(item.get(_CALLS[item["type"]]), where),
        wire_id=call_id if call_id is None or isinstance(call_id, str) else json_text(call_id, f"{where}.call_id"),
        type="custom" if item["type"] == "custom_tool_call" else None,
    )


def pieces_of(item: _Raw) -> Iterator[tuple[str, tuple[str, int], str]]:
    """The texts inside an item: of which kind, in which slot (field and index), and the text itself."""
    match item["type"]:
        case "message":
            for slot, part in _parts(item, "content"):
                if part.get("type") in ("output_text", "text"):
                    yield "text", slot, _text(part, "text")
                elif part.get("type") == "refusal":
                    yield "refusal", slot, _text(part, "refusal")
        case "reasoning":
            for field in ("summary", "content"):
                for slot, part in _parts(item, field):
                    yield "reasoning", slot, _text(part, "text")
        case "function_call" | "custom_tool_call":
            arguments = arguments_text(item.get(_CALLS[item["type"]]), "item")
            if arguments is not None:
                yield "arguments", ("arguments", 0), arguments
        case _:
            pass


def _parts(item: _Raw, field: str) -> Iterator[tuple[tuple[str, int], _Raw]]:
    value = item.get(field)
    if isinstance(value, str):  # some servers send the text itself
        yield (field, 0), {"type": "output_text", "text": value}
    for index, part in enumerate(value if isinstance(value, list) else ()):
        if isinstance(part, Mapping):
            yield (field, index), part


def _text(part: _Raw, key: str) -> str:
    value = part.get(key)
    return value if isinstance(value, str) else ""


def texts_of(messages: Sequence[_Raw], kind: str) -> Iterator[str | None]:
    """The text of each message, of one kind; None where it has no such part."""
    for message in messages:
        texts = [text for found, _, text in pieces_of(message) if found == kind]
        yield "".join(texts) if texts else None


def joined(texts: Iterator[str | None]) -> str | None:
    """Texts with a blank line between them; None where there is none."""
    found = [text for text in texts if text is not None]
    return BETWEEN_TEXTS.join(found) if found else None


def kept_items(items: Sequence[_Raw]) -> JsonText | None:
    """What has to be sent back beside message and calls; None where they alone say everything."""
    kinds = [item["type"] for item in items]
    plain = all(kind == "message" or kind in _CALLS for kind in kinds)
    if plain and kinds.count("message") <= 1 and "message" not in kinds[1:]:
        return None
    return json_text({KEPT_ITEMS: [_kept(item) for item in items]}, "output")


def without_kept_items(extra: JsonText | None) -> JsonText | None:
    """What is beside a message but for the kept items, whose ids and cyphers are new in each run; None for nothing."""
    if extra is None or KEPT_ITEMS not in extra:
        return extra
    value = parse_json(extra)
    if not isinstance(value, dict) or KEPT_ITEMS not in value:
        return extra
    rest = {key: item for key, item in value.items() if key != KEPT_ITEMS}
    return canonical_parsed(rest) if rest else None


def _kept(item: _Raw) -> _Raw:
    """The item itself, or a placeholder of one whose words stand in the message."""
    if item["type"] != "message" and item["type"] not in _CALLS:
        return item
    return {"type": item["type"]} | {key: item[key] for key in _KEPT_FIELDS if item.get(key) is not None}


# ---------------------------------------------------------------- usage


def usage_of(raw: Any) -> Usage | None:
    """Tokens of a Responses usage object; None for what is none."""
    if not isinstance(raw, Mapping):
        return None
    inner, outer = raw.get("input_tokens_details"), raw.get("output_tokens_details")
    return Usage(
        input_tokens=count_in(raw.get("input_tokens")),
        output_tokens=count_in(raw.get("output_tokens")),
        cached_tokens=count_in(inner.get("cached_tokens")) if isinstance(inner, Mapping) else None,
        reasoning_tokens=count_in(outer.get("reasoning_tokens")) if isinstance(outer, Mapping) else None,
    )
