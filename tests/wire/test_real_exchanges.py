"""Recorded exchanges of other products with many providers: every one is read, nothing is lost."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.errors import ModelError
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatAssistant, ChatCall, ImagePart
from harness.wire.chat import call_of, message_to_wire, parse_completion, parse_error, parse_request, render_request
from harness.wire.responses import input_items, parse_response

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LARGEST_BYTES = 400_000  # the loader takes a second for each megabyte


def exchanges(folder: Path) -> Iterator[tuple[Any, Any]]:
    """Request and response of every whole (not streamed) chat completion in the cassettes."""
    for file in sorted(folder.rglob("*.yaml")):
        if file.stat().st_size < LARGEST_BYTES:
            recorded = yaml.load(file.read_bytes(), LOADER)  # a safe loader, in C where present
            for item in recorded.get("interactions", ()):
                if str(item["request"].get("uri", "")).endswith("/chat/completions"):
                    yield item["request"], item["response"]


def text_of(message: Any) -> str:
    """The body as text, wherever the recorder kept it, unzipped."""
    if "parsed_body" in message:
        return json.dumps(message["parsed_body"])
    value = message.get("body", message.get("content"))
    value = value.get("string", "") if isinstance(value, dict) else value
    if isinstance(value, bytes):
        return (gzip.decompress(value) if value[:2] == b"\x1f\x8b" else value).decode("utf-8", "replace")
    return str(value or "")


def status_of(response: Any) -> int:
    status = response.get("status", response.get("status_code"))
    return int(status["code"] if isinstance(status, dict) else status)


@pytest.fixture(scope="module")
def recorded(shared: Path) -> list[tuple[str, int, str]]:
    """(request body, status, response body) of every exchange that is JSON and whole."""
    found = []
    for request, response in exchanges(shared / "data" / "cassettes"):
        body, answer = text_of(request), text_of(response)
        if body.startswith("{") and answer and '"stream":true' not in body.replace(" ", ""):
            found.append((body, status_of(response), answer))
    return found


def test_every_recorded_answer_is_read_or_told_damaged(recorded: list[tuple[str, int, str]]) -> None:
    outcomes: Counter[str] = Counter()
    for _, status, answer in recorded:
        if status != 200:
            outcomes[parse_error(status, {}, answer.encode()).code] += 1
            continue
        try:
            outcomes["read"] += bool(parse_completion(answer))
        except ModelError as error:
            outcomes[error.code] += 1
    assert outcomes["read"] > 100
    assert outcomes["UNKNOWN"] == 0
    assert outcomes["DAMAGED_RESPONSE"] <= 2, outcomes


def test_every_recorded_request_is_rebuilt_from_what_was_read(recorded: list[tuple[str, int, str]]) -> None:
    n_rebuilt = 0
    for body, _, _ in recorded:
        request = parse_request(body)
        if any(
            isinstance(part, ImagePart)
            for m in request.messages
            for part in m.content or ()
            if not isinstance(part, str)
        ):
            continue
        raw = json.loads(body)
        for message in raw["messages"]:
            for call in message.get("tool_calls") or ():
                call.setdefault("type", "function")
            if message["role"] == "assistant":
                message.setdefault("content", None)
        raw = raw if raw.get("tools") else {key: value for key, value in raw.items() if key != "tools"}
        assert canonical_json(render_request(call_of(request), "unused")) == canonical_json(raw)
        assert [message_to_wire(m)["role"] for m in (*request.system, *request.messages)] == [
            m["role"] for m in raw["messages"]
        ]
        n_rebuilt += 1
    assert n_rebuilt > 100


def test_every_recorded_response_is_read_and_goes_back_as_it_came(shared: Path) -> None:
    """Items in their order, with their ids, and calls with the arguments that came; nothing is made up or lost."""
    n_read, n_items, n_kept = 0, 0, 0
    for request, response in responses_exchanges(shared / "data" / "cassettes"):
        body = json.loads(text_of(response))
        if status_of(response) != 200 or body["status"] == "queued":
            continue
        answer = parse_response(body)
        calls = tuple(ChatCall(one.wire_id or "", one.name or "", one.arguments or "") for one in answer.calls)
        items = list(input_items(ChatAssistant(answer.content, answer.reasoning, answer.refusal, calls, answer.extra)))
        assert [item["type"] for item in items] == [item["type"] for item in body["output"]], request["uri"]
        for sent, came in zip(items, body["output"], strict=True):
            if came["type"] == "function_call":
                assert (sent["call_id"], sent["name"], sent["arguments"]) == (came["call_id"], came["name"], came["arguments"])
            elif came["type"] == "message":
                assert [part["text"] for part in sent["content"]] == [part["text"] for part in came["content"]]
            else:
                assert sent == came
        n_read, n_items, n_kept = n_read + 1, n_items + len(items), n_kept + (answer.extra is not None)
    assert (n_read, n_items) == (30, 45)
    assert n_kept >= 9


def responses_exchanges(folder: Path) -> Iterator[tuple[Any, Any]]:
    """Request and response of every whole answer of the Responses API."""
    for file in sorted(folder.rglob("*.yaml")):
        if b"/responses" in (data := file.read_bytes()):
            for item in yaml.load(data, LOADER).get("interactions", ()):
                address, _, _ = str(item["request"].get("uri", "")).partition("?")
                if address.endswith("/responses") and not text_of(item["response"]).startswith("event:"):
                    yield item["request"], item["response"]
