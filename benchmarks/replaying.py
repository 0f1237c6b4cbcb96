"""One recorded request through the real client: whatever the length of the recording, the same."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import httpx2

from benchmarks.measure import Row, cpu_us
from harness.cassettes import Cassette, Exchange, RecordedRequest, RecordedResponse, ReplayTransport
from harness.loop import StopSignal
from harness.models import chat_model_over, in_process_client
from harness.types.doors import ModelCall
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatMessage, ChatTool, ChatUser, Messages
from harness.wire.requests import render_request

N_MESSAGES = 13
SHORT, LONG = 100, 1000
BUDGET = 0.8 / 3.5
"""0.8 ms, where the client's own ``create`` over a mock transport takes 3.5."""


def rows() -> Iterator[Row]:
    """A request of 13 messages, replayed from recordings of 100 and of 1,000 interactions."""
    short, long = asyncio.run(_replayed(SHORT)), asyncio.run(_replayed(LONG))
    floor, create = asyncio.run(_bare_client()), asyncio.run(_own_create())
    yield Row(
        "replayed request",
        "µs",
        long,
        floor,
        (("openai create", create),),
        measure="ratio to create",
        value=long / create,
        budget=BUDGET,
        aim=0.2 / 3.5,
    )
    yield Row("the same, 1,000 to 100 recorded", "", long / short, measure="ratio", value=long / short, budget=1.5)
    recording = cassette(LONG)
    load_ms = median(cpu_us(lambda: ReplayTransport(recording, "bench"), 1) for _ in range(5)) / 1e3
    yield Row("index 1,000 interactions", "ms", load_ms)


def call(number: int) -> ModelCall:
    """The request with that number: a short conversation that ends in it."""
    messages: list[ChatMessage] = [ChatUser(f"question {number}")]
    messages += [ChatTool(f"call_{at}", f"result {at}") for at in range(N_MESSAGES - 1)]
    return ModelCall((), Messages.of(messages), canonical_json([]), canonical_json({}))


def cassette(n_interactions: int) -> Cassette:
    """A recording of that many different requests."""
    return Cassette(tuple(_exchange(number) for number in range(n_interactions)))


def _exchange(number: int) -> Exchange:
    body = json.dumps(render_request(call(number), "bench")).encode()
    request = RecordedRequest("POST", "http://bench.invalid/v1/chat/completions", (), body)
    return Exchange(request, RecordedResponse(200, "OK", (("content-type", "application/json"),), _completion(number)))


def _completion(number: int) -> bytes:
    message = {"role": "assistant", "content": f"answer {number}"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    value: dict[str, Any] = {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "bench",
        "choices": [choice],
    }
    return json.dumps(value).encode()


async def _replayed(n_interactions: int) -> float:
    transport = ReplayTransport(cassette(n_interactions), "bench")
    model = chat_model_over(transport, name="bench")
    calls = [call(number) for number in range(100)]
    found = []
    for index, one in enumerate(calls):
        answer, took = await _timed(model.answer(one, signal=StopSignal(), emit=print))
        if answer.content != f"answer {index}":
            raise RuntimeError(f"request {index} was answered {answer.content!r}")
        found.append(took)
    await model.aclose()
    return median(found)


async def _bare_client() -> float:
    handler = _mock()
    request = json.dumps(render_request(call(0), "bench")).encode()
    async with httpx2.AsyncClient(transport=handler, trust_env=False) as client:
        took = [
            (await _timed(client.post("http://bench.invalid/v1/chat/completions", content=request)))[1]
            for _ in range(100)
        ]
    return median(took)


async def _own_create() -> float:
    body = render_request(call(0), "bench")
    async with in_process_client(_mock()) as client:
        return median([(await _timed(client.chat.completions.create(**body)))[1] for _ in range(50)])


def _mock() -> httpx2.MockTransport:
    body = _completion(0)
    json_type = {"content-type": "application/json"}
    return httpx2.MockTransport(lambda _request: httpx2.Response(200, headers=json_type, content=body))


async def _timed(work: Any) -> tuple[Any, float]:
    began = time.process_time()
    value = await work
    return value, (time.process_time() - began) * 1e6
