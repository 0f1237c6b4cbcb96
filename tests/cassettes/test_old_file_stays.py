"""A recording that is not whole, or holds a secret, leaves the old file as it was (INVARIANTS 24)."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from harness.cassettes import read_cassette
from harness.errors import CassetteError, RecordingFailed, SecretFoundError, UsageError
from tests.cassettes.lab import (
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

OLD = b"the old recording\n"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def only_the_old_file(path: Path) -> bool:
    return path.read_bytes() == OLD and [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "c.yaml"
    path.write_bytes(OLD)
    return path


@pytest.mark.asyncio
async def test_nothing_is_written_before_the_commit_nor_after_an_abort(old: Path) -> None:
    transport = recording(old)
    with endpoint(weather) as server:
        async with client(transport, server.base_url) as asking:
            await post(asking, two_steps()[0])
            assert only_the_old_file(old)
    transport.abort()
    assert only_the_old_file(old)
    with pytest.raises(UsageError, match="aborted"):
        transport.commit()


@pytest.mark.asyncio
async def test_a_secret_leaves_the_old_file_and_no_other(old: Path) -> None:
    first, _ = two_steps()
    first["messages"][1]["content"] = "My key is canary-value-1."
    transport = recording(old, ("canary-value-1",))
    with endpoint(weather) as server:
        async with client(transport, server.base_url) as asking:
            await post(asking, first)
    with pytest.raises(SecretFoundError, match=r"request 1, body, messages\[1\]\.content") as caught:
        transport.commit()
    assert "canary-value-1" not in str(caught.value)
    assert only_the_old_file(old)


@pytest.mark.public_case("PB-034")
@pytest.mark.asyncio
async def test_a_provider_that_echoes_the_key_leaves_the_old_file(old: Path) -> None:
    # INVARIANTS 23. The client gets what the provider said; only the file does not.
    transport = recording(old, ("key-canary-1",))
    with endpoint(lambda *_: json_reply(completion("your key is key-canary-1"))) as server:
        async with client(transport, server.base_url, api_key="key-canary-1") as asking:
            said = await post(asking, two_steps()[0])
        assert server.seen[0][1]["authorization"] == "Bearer key-canary-1"
    assert "key-canary-1" in said["choices"][0]["message"]["content"]
    with pytest.raises(SecretFoundError, match=r"response 1, body, choices\[0\]\.message\.content"):
        transport.commit()
    assert only_the_old_file(old)


@pytest.mark.parametrize("cut", ["cancelled", "closed-early", "broken-off", "unreachable", "nothing-asked"])
@pytest.mark.asyncio
async def test_a_recording_that_is_not_whole_leaves_the_old_file(old: Path, cut: str) -> None:
    transport = recording(old)
    body = two_steps()[0]
    reply = Reply(200, (("Content-Type", "text/event-stream"),), frames("a", "b")[:2], break_off=cut == "broken-off")
    with endpoint(lambda *_: reply) as server:
        base_url = "http://127.0.0.1:9/v1" if cut == "unreachable" else server.base_url
        async with client(transport, base_url) as asking:
            await interrupted(asking, body, cut)
    with pytest.raises(CassetteError):
        transport.commit()
    assert only_the_old_file(old)


async def interrupted(asking: openai.AsyncOpenAI, body: dict[str, Any], cut: str) -> None:
    """A request that does not come to its end."""
    match cut:
        case "nothing-asked":
            return
        case "cancelled":
            task = asyncio.ensure_future(post(asking, body))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        case "closed-early":
            async with asking.with_streaming_response.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}]
            ) as response:
                async for _ in response.iter_bytes(1):
                    break
        case _:
            with pytest.raises((openai.APIConnectionError, httpx2.TransportError)):
                await post(asking, body)


@pytest.mark.asyncio
async def test_a_disk_that_refuses_leaves_the_old_file(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transport = recording(old)
    with endpoint(weather) as server:
        async with client(transport, server.base_url) as asking:
            await post(asking, two_steps()[0])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(RecordingFailed, match="No space left"):
        transport.commit()
    assert only_the_old_file(old)


@pytest.mark.asyncio
async def test_a_commit_replaces_the_old_file_and_leaves_no_other(old: Path) -> None:
    transport = recording(old)
    with endpoint(weather) as server:
        async with client(transport, server.base_url) as asking:
            await post(asking, two_steps()[0])
        transport.commit()
        with pytest.raises(UsageError, match="committed"):
            transport.commit()
    assert read_cassette(old).exchanges
    assert [one.name for one in old.parent.iterdir()] == [old.name]
    assert mode_of(old) == 0o644
