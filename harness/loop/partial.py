"""What stays of an answer that never became whole: the text that could be seen, marked as interrupted."""

from __future__ import annotations

from harness.loop.turn import Desk, Turn
from harness.types.exchange import AssistantMessage
from harness.wire.chunks import unanswered_chunks, visible_prefix
from harness.wire.content import has_substance


def keep_prefix(desk: Desk, turn: Turn) -> None:
    """Commit the visible text of a request that was stopped or failed for good (CONFORMANCE 70).

    Only chunks of the request that has no answer count, so an attempt that is tried again leaves nothing
    behind (144). Half-streamed calls, reasoning and refusals are left out: no provider takes half of them back.
    """
    chunks = unanswered_chunks(desk.log.events, desk.agent)
    seen = visible_prefix([one.chunk for one in chunks])
    if has_substance(seen.content):
        kept = AssistantMessage(
            seen.content,
            model=seen.model,
            fingerprint=seen.fingerprint,
            usage=seen.usage,
            attempt=chunks[-1].attempt,
            interrupted=True,
        )
        desk.say(kept, turn)
