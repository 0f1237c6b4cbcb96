"""No body is kept or unpacked without end: what no answer may be, no recording holds."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from harness.cassettes import open_recording
from harness.cassettes.decode import decode_exchange
from harness.cassettes.packed import unpacked
from harness.errors import CassetteError, ModelError
from harness.types.codes import Code
from harness.wire.sizes import MOST_BODY_BYTES
from tests.cassettes.lab import INFO, StepClock

MIB = 2**20


class Endless(httpx2.AsyncByteStream):
    """More than any answer may be."""

    n_taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(2 * MOST_BODY_BYTES // MIB):
            self.n_taken += 1
            yield b" " * MIB


@pytest.mark.asyncio
async def test_a_body_without_end_is_not_kept_to_its_end(tmp_path: Path) -> None:
    body, path = Endless(), tmp_path / "c.yaml"
    upstream = httpx2.MockTransport(lambda _: httpx2.Response(200, stream=body))
    transport = open_recording(path, upstream=upstream, secrets=(), info=INFO, clock=StepClock())
    async with httpx2.AsyncClient(transport=transport) as client:
        with pytest.raises(ModelError) as caught:
            await client.post("http://localhost/v1/chat/completions", json={})
    assert (caught.value.code, body.n_taken) == (Code.DAMAGED_RESPONSE, MOST_BODY_BYTES // MIB + 1)
    with pytest.raises(CassetteError, match=r"request 1 failed \(ModelError\)"):
        transport.commit()
    assert not path.exists()


def test_a_recorded_body_that_unpacks_to_too_much_is_refused_by_its_place() -> None:
    packed = gzip.compress(b" " * (MOST_BODY_BYTES + 1), 1)
    headers = {"content-encoding": ["gzip"]}
    request = {"method": "POST", "uri": "http://localhost/v1/chat/completions", "body": "{}"}
    response = {"status": {"code": 200}, "headers": headers, "body": {"string": packed}}
    with pytest.raises(CassetteError, match=f"one, response, body: the answer is longer than {MOST_BODY_BYTES} bytes"):
        decode_exchange({"request": request, "response": response}, "one")
    assert len(unpacked(gzip.compress(b" " * MOST_BODY_BYTES, 1), "gzip")) == MOST_BODY_BYTES
