"""One recorded request through the real client, however long the recording; stock vcrpy beside it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import vcr

from benchmarks.measure import Row, cpu_us
from harness.cassettes import Cassette, Exchange, RecordedRequest, RecordedResponse, ReplayTransport
from harness.loop import StopSignal
from harness.models import chat_model_over, in_process_client
from harness.types.doors import ModelCall
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatMessage, ChatTool, ChatUser, Messages
from harness.wire.requests import render_request

N_MESSAGES = 13
SIZES = (10, 100, 1_000, 5_000)
SHORT, LONG = 100, 1_000
N_ASKED = 100
ASKED_OF_VCRPY = {10: 10, 100: 50, 1_000: 12, 5_000: 5}
"""How many requests of so long a recording are timed; the peer takes up to a second for each."""
BUDGET = 0.8 / 3.5
"""0.8 ms, where the client's own ``create`` over a mock transport takes 3.5."""


def rows(folder: Path) -> Iterator[Row]:
    """A request of 13 messages, replayed from recordings of 10 to 5,000 exchanges, beside stock vcrpy."""
    ours = {size: asyncio.run(_replayed(size)) for size in SIZES}
    theirs = {size: asyncio.run(_replayed_by_vcrpy(size, folder)) for size in SIZES}
    floor, create = asyncio.run(_bare_client()), asyncio.run(_own_create())
    for size in SIZES:
        yield Row(
            f"replayed request, {size:,} stored",
            "µs",
            ours[size],
            floor,
            (("openai create", create), ("vcrpy", theirs[size])),
            measure="ratio to create",
            value=ours[size] / create,
            budget=BUDGET,
            aim=0.2 / 3.5,
        )
    growth = max(ours[LONG] / ours[SHORT], ours[max(SIZES)] / ours[SHORT])
    yield Row("the same, more to 100 stored", "", growth, measure="ratio", value=growth, budget=1.5)
    recording = cassette(LONG)
    load_ms = median(cpu_us(lambda: ReplayTransport(recording, "bench"), 1) for _ in range(9)) / 1e3
    parse_ms = (
        median(cpu_us(lambda: [json.loads(one.request.body) for one in recording.exchanges], 1) for _ in range(9)) / 1e3
    )
    yield Row(
        "index 1,000 exchanges",
        "ms",
        load_ms,
        parse_ms,
        measure="ratio to json",
        value=load_ms / parse_ms,
        budget=5,
        aim=30 / 12,
    )


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
    recording = cassette(n_interactions)
    calls = [(number, call(number)) for number in _spread(min(N_ASKED, n_interactions), n_interactions)]
    found: list[float] = []
    while len(found) < 2 * N_ASKED:  # a short recording is replayed several times
        model = chat_model_over(ReplayTransport(recording, "bench"), name="bench")
        for index, one in calls:
            answer, took = await _timed(model.answer(one, signal=StopSignal(), emit=print))
            if answer.content != f"answer {index}":
                raise RuntimeError(f"request {index} was answered {answer.content!r}")
            found.append(took)
        await model.aclose()
    return median(found)


async def _replayed_by_vcrpy(n_interactions: int, folder: Path) -> float:
    """The same client under stock vcrpy, told to match bodies as ours does; its quickest file format."""
    path = folder / f"{n_interactions}.json"
    path.write_text(
        json.dumps({"version": 1, "interactions": [_stock(one) for one in cassette(n_interactions).exchanges]})
    )
    stock = vcr.VCR(record_mode="none", serializer="json", match_on=("method", "path", "body"))
    found = []
    with stock.use_cassette(str(path)):
        model = chat_model_over(httpx2.AsyncHTTPTransport(trust_env=False), name="bench")
        for index in _spread(ASKED_OF_VCRPY[n_interactions], n_interactions):
            answer, took = await _timed(model.answer(call(index), signal=StopSignal(), emit=print))
            if answer.content != f"answer {index}":
                raise RuntimeError(f"request {index} was answered {answer.content!r}")
            found.append(took)
        await model.aclose()
    return median(found)


def _spread(n: int, over: int) -> list[int]:
    """So many requests from all over a recording, since who searches finds the first ones soonest."""
    return [at * over // n + over // (2 * n) for at in range(n)]


def _stock(one: Exchange) -> dict[str, Any]:
    headers = {"content-type": ["application/json"]}
    request = {"method": "POST", "uri": one.request.uri, "headers": headers, "body": one.request.body.decode()}
    status = {"code": 200, "message": "OK"}
    return {
        "request": request,
        "response": {"status": status, "headers": headers, "body": {"string": one.response.body.decode()}},
    }


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
