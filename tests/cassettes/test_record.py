"""Recording against a real loopback server: whole, or the old file stays as it was."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import httpx2
import openai
import pytest
import vcr

from harness.cassettes import Chunk, open_replay, read_cassette
from harness.types.codes import Outcome
from tests.cassettes.lab import (
    CHAT,
    INFO,
    Reply,
    client,
    completion,
    endpoint,
    frames,
    json_reply,
    post,
    recording,
    two_steps,
    weather,
)


@pytest.mark.asyncio
async def test_a_recorded_run_replays_without_its_server(tmp_path: Path) -> None:
    path = tmp_path / "weather/oslo/lab.yaml"
    first, second = two_steps()
    transport = recording(path)
    with endpoint(weather) as server:
        async with client(transport, server.base_url, api_key="key-canary-1") as asking:
            live = [await post(asking, body) for body in (first, second)]
        written = transport.commit()
        assert server.seen[0][1]["authorization"] == "Bearer key-canary-1"
    assert read_cassette(path) == written
    replay = open_replay(path, scenario="weather/oslo")
    async with client(replay) as asking:
        assert [await post(asking, body) for body in (first, second)] == live
    assert replay.closing_verdicts()[0].outcome is Outcome.PASS


@pytest.mark.asyncio
async def test_the_metadata_says_who_answered_what_for_which_scenario(tmp_path: Path) -> None:
    transport = recording(tmp_path / "c.yaml")
    with endpoint(weather) as server:
        async with client(transport, server.base_url) as asking:
            await post(asking, two_steps()[0])
    about = transport.commit().about
    assert about is not None
    assert (about.model, about.fingerprint, about.host) == ("lab-model", "lab-1", "localhost")
    assert about.server == "lab/1.0"
    assert about.info == INFO


@pytest.mark.asyncio
async def test_the_same_exchanges_give_the_same_bytes(tmp_path: Path) -> None:
    files = []
    for name in ("one.yaml", "two.yaml"):
        transport = recording(tmp_path / name)
        with endpoint(weather) as server:
            async with client(transport, server.base_url) as asking:
                for body in two_steps():
                    await post(asking, body)
        transport.commit()
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]


@pytest.mark.public_case("PB-034")
@pytest.mark.asyncio
async def test_headers_and_query_are_kept_only_where_they_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    canaries = ("key-canary-1", "cookie-canary", "org-canary", "query-canary")
    for _ in range(2):  # again over the old file
        transport = recording(path, canaries, keep_headers=("X-Request-ID",))
        with endpoint(weather) as server:
            options = {"api_key": "key-canary-1", "default_headers": {"API-Key": "key-canary-1"}}
            async with client(transport, server.base_url, **options) as asking:
                for body in two_steps():
                    query = {"api-version": "2026-01-01", "KEY": "query-canary"}
                    await asking.post(CHAT, body=body, cast_to=httpx2.Response, options={"params": query})
            assert all("query-canary" in one[0] and one[1]["api-key"] == "key-canary-1" for one in server.seen)
        transport.commit()
        data = path.read_bytes()
        assert not [canary for canary in canaries if canary.encode() in data]
        exchanges = read_cassette(path).exchanges
        assert {one.request.uri for one in exchanges} == {"http://localhost/v1/chat/completions?api-version=2026-01-01"}
        assert {name for one in exchanges for name, _ in one.request.headers} == {"content-type"}
        assert {name for one in exchanges for name, _ in one.response.headers} == {"content-type", "x-request-id"}
    replay = open_replay(path)
    async with client(replay) as asking:
        for body in two_steps():
            await post(asking, body)
    assert replay.closing_verdicts()[0].outcome is Outcome.PASS


@pytest.mark.asyncio
async def test_failures_of_the_provider_are_recorded_as_they_are(tmp_path: Path) -> None:
    refusals = [json_reply({"error": {"message": "slow down"}}, 429, retry_after="7"), Reply(500, (), (b"oops",))]
    first, _ = two_steps()
    transport = recording(tmp_path / "c.yaml")
    with endpoint(lambda n, body: refusals[n] if n < 2 else weather(n, body)) as server:
        async with client(transport, server.base_url) as asking:
            for failure in (openai.RateLimitError, openai.InternalServerError):
                with pytest.raises(failure):
                    await post(asking, first)
            await post(asking, first)
    transport.commit()
    async with client(open_replay(tmp_path / "c.yaml")) as asking:
        with pytest.raises(openai.RateLimitError) as caught:
            await post(asking, first)
        assert caught.value.response.headers["retry-after"] == "7"
        with pytest.raises(openai.InternalServerError):
            await post(asking, first)
        assert (await post(asking, first))["choices"][0]["message"]["tool_calls"]


@pytest.mark.asyncio
async def test_pieces_and_delays_of_a_stream_are_kept(tmp_path: Path) -> None:
    first, _ = two_steps()
    transport = recording(tmp_path / "c.yaml")
    reply = Reply(200, (("Content-Type", "text/event-stream"),), frames("4 ", "degrees"))
    with endpoint(lambda *_: reply) as server:
        async with client(transport, server.base_url) as asking:
            stream = await asking.post(
                CHAT, body={**first, "stream": True}, cast_to=openai.types.chat.ChatCompletion, stream=True,
                stream_cls=openai.AsyncStream[openai.types.chat.ChatCompletionChunk],
            )  # fmt: skip
            said = [chunk.choices[0].delta.content async for chunk in stream]
    response = transport.commit().exchanges[0].response
    assert said == ["4 ", "degrees"]
    assert response.body == b"".join(reply.pieces)
    assert sum(chunk.size_bytes for chunk in response.chunks) == len(response.body)
    assert all(chunk.delay_ms == 7 for chunk in response.chunks)


@pytest.mark.asyncio
async def test_a_body_that_comes_compressed_all_the_same_is_kept_readable(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps(completion("4 degrees")).encode(), mtime=0)
    reply = Reply(200, (("Content-Type", "application/json"), ("Content-Encoding", "gzip")), (packed[:9], packed[9:]))
    transport = recording(tmp_path / "c.yaml")
    with endpoint(lambda *_: reply) as server:
        async with client(transport, server.base_url) as asking:
            live = await post(asking, two_steps()[0])
        assert server.seen[0][1]["accept-encoding"] == "identity"
    response = transport.commit().exchanges[0].response
    assert json.loads(response.body) == live == completion("4 degrees")
    assert response.chunks == (Chunk(len(response.body), 14),)
    assert "content-encoding" not in dict(response.headers)


# ---------------------------------------------------------------- stock vcrpy


@pytest.mark.asyncio
async def test_stock_vcrpy_replays_our_file(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    transport = recording(path)
    with endpoint(weather) as server:
        async with client(transport, server.base_url) as asking:
            live = [await post(asking, body) for body in two_steps()]
    transport.commit()
    theirs = vcr.VCR(record_mode="none", match_on=("method", "path", "body"))
    with theirs.use_cassette(str(path)) as tape:
        asking = openai.AsyncOpenAI(base_url="http://nowhere.invalid/v1", api_key="unused", max_retries=0)
        async with asking:
            assert [await post(asking, body) for body in two_steps()] == live
        assert tape.all_played
        assert tape.get_metadata("harness", None)["scenario"] == "weather/oslo"


@pytest.mark.asyncio
async def test_our_door_replays_a_file_of_stock_vcrpy(tmp_path: Path) -> None:
    path = tmp_path / "theirs.yaml"
    with endpoint(weather) as server, vcr.VCR(record_mode="all").use_cassette(str(path)):
        asking = openai.AsyncOpenAI(
            base_url=server.base_url, api_key="unused", max_retries=0, http_client=httpx2.AsyncClient(trust_env=False)
        )
        async with asking:
            live = [await post(asking, body) for body in two_steps()]
    replay = open_replay(path)
    async with client(replay) as asking:
        assert [await post(asking, body) for body in two_steps()] == live
    assert replay.closing_verdicts()[0].outcome is Outcome.PASS


@pytest.mark.asyncio
async def test_who_answered_is_read_from_the_events_of_a_streamed_response(tmp_path: Path) -> None:
    events = [{"type": "response.created", "response": {"id": "r", "model": "lab-model", "status": "in_progress"}}]
    pieces = tuple(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)
    path = tmp_path / "c.yaml"
    transport = recording(path)
    with endpoint(lambda _number, _body: Reply(headers=(("Content-Type", "text/event-stream"),), pieces=pieces)) as server:
        async with httpx2.AsyncClient(transport=transport) as asking:
            await asking.post(f"{server.base_url}/responses", json={"model": "m", "input": "hi"})
    transport.commit()
    about = read_cassette(path).about
    assert about is not None
    assert about.model == "lab-model"
