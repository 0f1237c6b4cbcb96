"""No answer, whole, streamed or an error, is read without end: packed ones are counted as they unpack."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Any

import httpx2
import pytest

from harness.errors import ModelError
from harness.models import model_over
from harness.types.codes import Code
from harness.types.model_spec import ModelApi
from harness.wire.sizes import MOST_BODY_BYTES
from tests.models.bodies import Pieces, ask, delta, frames, spec

MIB = 2**20
N_MOST = MOST_BODY_BYTES // MIB
PLENTY = 2 * N_MOST
JSON = "application/json"
EVENTS = "text/event-stream"


def counted(piece: bytes, taken: list[int]) -> Iterator[bytes]:
    """That piece again and again: for ever as far as a reader with a limit can tell."""
    for number in range(PLENTY):
        taken.append(number)
        yield piece


def refused(pieces: Any, *, status: int = 200, headers: dict[str, str], stream: bool, api: ModelApi = ModelApi.CHAT) -> ModelError:
    handler = lambda _: httpx2.Response(status, headers=headers, stream=Pieces(pieces))  # noqa: E731
    with pytest.raises(ModelError) as caught:
        ask(model_over(httpx2.MockTransport(handler), spec(api, stream=stream)))
    return caught.value


COMMENTS = (b": " + b"." * (MIB // 16 - 3) + b"\n") * 16


@pytest.mark.parametrize("api", list(ModelApi))
@pytest.mark.parametrize(
    ("piece", "kind", "status", "stream"),
    [
        pytest.param(b" " * MIB, JSON, 200, False, id="whole"),
        pytest.param(b" " * MIB, JSON, 200, True, id="whole-in-place-of-a-stream"),
        pytest.param(b" " * MIB, JSON, 500, False, id="error"),
        pytest.param(b" " * MIB, JSON, 500, True, id="error-in-place-of-a-stream"),
        pytest.param(COMMENTS, EVENTS, 200, True, id="stream-of-comments"),
    ],
)
def test_an_answer_without_end_is_left_off_at_the_limit(api: ModelApi, piece: bytes, kind: str, status: int, stream: bool) -> None:
    taken: list[int] = []
    error = refused(counted(piece, taken), status=status, headers={"content-type": kind}, stream=stream, api=api)
    assert (error.code, f"{MOST_BODY_BYTES} bytes" in str(error), len(taken)) == (Code.DAMAGED_RESPONSE, True, N_MOST + 1)


@pytest.mark.parametrize("begun", [b"", b": hello\n", frames(delta(content="x"))], ids=["at-once", "behind-a-comment", "behind-a-chunk"])
def test_blanks_without_end_are_no_stream(begun: bytes) -> None:
    taken: list[int] = []
    assert refused(chain([begun], counted(b"\n" * MIB, taken)), headers={"content-type": EVENTS}, stream=True).code == Code.DAMAGED_RESPONSE
    assert len(taken) <= 2


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip, gzip"])
def test_a_small_body_that_unpacks_to_gigabytes_is_left_off_at_the_limit(encoding: str, status: int) -> None:
    plain = b" " * (3 * MOST_BODY_BYTES)
    body = gzip.compress(plain, 1) if "gzip" in encoding else zlib.compress(plain, 1)
    del plain
    body = gzip.compress(body) if "," in encoding else body
    tracemalloc.start()
    try:
        error = refused([body], status=status, headers={"content-type": JSON, "content-encoding": encoding}, stream=False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (error.code, peak < 2 * MOST_BODY_BYTES) == (Code.DAMAGED_RESPONSE, True)


def test_bytes_that_unpack_to_nothing_are_counted_too() -> None:
    empty = zlib.compressobj(wbits=31)
    head = empty.compress(b"") + empty.flush(zlib.Z_SYNC_FLUSH)
    taken: list[int] = []

    def pieces() -> Iterator[bytes]:
        yield head
        yield from counted(b"\x00\x00\x00\xff\xff" * (MIB // 5 + 1), taken)

    error = refused(pieces(), headers={"content-type": JSON, "content-encoding": "gzip"}, stream=False)
    assert (error.code, len(taken) <= N_MOST + 1) == (Code.DAMAGED_RESPONSE, True)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_packed_answer_below_the_limit_is_read(stream: bool) -> None:
    text = "x" * MIB
    whole = json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode()
    body = frames(delta(content=text), delta("stop"), "[DONE]") if stream else whole
    headers = {"content-type": EVENTS if stream else JSON, "content-encoding": "gzip"}
    handler = lambda _: httpx2.Response(200, headers=headers, stream=Pieces([gzip.compress(body)]))  # noqa: E731
    assert ask(model_over(httpx2.MockTransport(handler), spec(stream=stream)))[0].content == text
