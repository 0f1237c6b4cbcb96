"""How much of one answer is read: a bound on its bytes, decoded ones and those that came."""

from __future__ import annotations

from typing import Final

from harness.errors import ModelError
from harness.types.codes import Code

MOST_BODY_BYTES: Final = 64 * 2**20
"""How long one answer may become, whole, streamed or an error, before it counts as damaged."""


class BodyMeter:
    """Counts the pieces of one body as they come, before anybody keeps them."""

    def __init__(self) -> None:
        self._n_bytes = 0

    def take(self, piece: bytes) -> bytes:
        """The piece. Raises ModelError DAMAGED_RESPONSE where the body is longer than MOST_BODY_BYTES with it."""
        self._n_bytes += len(piece)
        if self._n_bytes > MOST_BODY_BYTES:
            raise ModelError(
                f"the answer is longer than {MOST_BODY_BYTES} bytes: nothing of it is used",
                code=Code.DAMAGED_RESPONSE,
            )
        return piece
