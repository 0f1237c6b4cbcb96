"""The `openai` client, sync and async, on both APIs, whole and streamed: what each way of asking gives, in one shape."""

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import openai

from harness.models import in_process_client
from harness.runner import Served
from harness.testing import served

FUNCTION = {"name": "go", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
CHAT_TOOLS: list[Any] = [{"type": "function", "function": FUNCTION}]
RESPONSES_TOOLS: list[Any] = [{"type": "function", **FUNCTION}]
HI: list[Any] = [{"role": "user", "content": "hi"}]
TOGETHER: dict[str, Any] = {"task": "hi"}


class Got(NamedTuple):
    """An answer, whoever asked for it: text, calls (id, name, arguments), how it ended."""

    text: str
    calls: tuple[tuple[str, str, Any], ...]
    end: str | None


def _calls(raw: Iterable[tuple[str, str, str]]) -> tuple[tuple[str, str, Any], ...]:
    return tuple((one, name, json.loads(arguments)) for one, name, arguments in raw)


def chat_whole(completion: Any) -> Got:
    """A completion."""
    (choice,) = completion.choices
    calls = choice.message.tool_calls or ()
    return Got(
        choice.message.content or "",
        _calls((call.id, call.function.name, call.function.arguments) for call in calls),
        choice.finish_reason,
    )


def chat_streamed(chunks: Iterable[Any]) -> Got:
    """The chunks of a completion; the arguments of a call must come in two pieces at least."""
    text, end = "", None
    calls: dict[int, list[Any]] = {}
    for chunk in chunks:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            end = choice.finish_reason or end
            for call in choice.delta.tool_calls or ():
                known = calls.setdefault(call.index, [call.id, call.function.name])
                known += [call.function.arguments] if call.function.arguments else []
    assert all(len(call) >= 4 for call in calls.values()), calls
    return Got(text, _calls((call[0], call[1], "".join(call[2:])) for _, call in sorted(calls.items())), end)


def responses_whole(response: Any) -> Got:
    """A response."""
    calls = [item for item in response.output if item.type == "function_call"]
    return Got(
        response.output_text, _calls((call.call_id, call.name, call.arguments) for call in calls), response.status
    )


def responses_streamed(events: Iterable[Any]) -> Got:
    """The events of a response: what the deltas make must be what its end says."""
    events = list(events)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    pieces: dict[str, str] = {}
    for event in events:
        if event.type == "response.function_call_arguments.delta":
            pieces[event.item_id] = pieces.get(event.item_id, "") + event.delta
    last = events[-1]
    got = responses_whole(last.response)
    assert text == got.text
    said = {item.id: item.arguments for item in last.response.output if item.type == "function_call"}
    assert pieces == said
    done = [event.item.id for event in events if event.type == "response.output_item.done"]
    assert done == [item.id for item in last.response.output]
    return got


def chat(client: Any, messages: Any = HI, **options: Any) -> Any:
    """Ask for a completion."""
    return client.chat.completions.create(model="m", messages=messages, tools=CHAT_TOOLS, **options)


def responses(client: Any, messages: Any = HI, **options: Any) -> Any:
    """Ask for a response."""
    return client.responses.create(model="m", input=messages, tools=RESPONSES_TOOLS, **options)


Ask = Callable[..., Any]
WAYS: dict[str, tuple[Ask, bool, Callable[[Any], Got]]] = {
    "chat-whole": (chat, False, chat_whole),
    "chat-streamed": (chat, True, chat_streamed),
    "responses-whole": (responses, False, responses_whole),
    "responses-streamed": (responses, True, responses_streamed),
}


async def _listed(stream: Any) -> list[Any]:
    return [piece async for piece in stream]


def ask_sync(server: Served, way: str, messages: Any = HI, *, max_retries: int = 0, **options: Any) -> Got:
    """Through the synchronous client."""
    ask, stream, read = WAYS[way]
    with openai.OpenAI(
        base_url=server.base_url, api_key=server.api_key, max_retries=max_retries, timeout=10
    ) as client:
        more = {"stream": True} if stream else {}
        return read(ask(client, messages, **more, **options))


async def asked(client: Any, way: str, messages: Any = HI, **options: Any) -> Got:
    """Through an asynchronous client."""
    ask, stream, read = WAYS[way]
    more = {"stream": True} if stream else {}
    found = await ask(client, messages, **more, **options)
    return read(await _listed(found) if stream else found)


def ask_async(server: Served, way: str, messages: Any = HI, *, max_retries: int = 0, **options: Any) -> Got:
    """Through the asynchronous client, over a socket."""

    async def main() -> Got:
        async with openai.AsyncOpenAI(
            base_url=server.base_url, api_key=server.api_key, max_retries=max_retries, timeout=10
        ) as client:
            return await asked(client, way, messages, **options)

    return asyncio.run(main())


__all__ = ["HI", "WAYS", "Got", "ask_async", "ask_sync", "asked", "in_process_client", "served"]
