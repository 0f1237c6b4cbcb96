"""Bodies that were kept as they came, unpacked as their header says."""

from __future__ import annotations

import httpx2

from harness.wire.sizes import BodyMeter


def unpacked(body: bytes, encoding: str) -> bytes:
    """The plain body. ``encoding`` is the text of content-encoding.

    Raises httpx2.DecodingError where it is not encoded so, and ModelError DAMAGED_RESPONSE where it unpacks to more
    than any answer may have, before more than that is held.
    """
    response = httpx2.Response(200, headers={"content-encoding": encoding}, stream=httpx2.ByteStream(body))
    meter = BodyMeter()
    return b"".join([meter.take(piece) for piece in response.iter_bytes()])
