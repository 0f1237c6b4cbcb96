"""What becomes of a result that is too long: it is cut, or a model sums it up (CONFORMANCE 60, ARTICLES 33)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeAlias

from harness.errors import ModelError, UsageError
from harness.protocols import Signal
from harness.tools.call import Call
from harness.tools.cutting import cut_note, fits, fitted
from harness.types.codes import Code
from harness.types.doors import ToolReply
from harness.types.jsontext import canonical_json, described
from harness.types.messages import JsonText
from harness.types.tool_policy import CUT_NOTE, NOT_SUMMARISED_NOTE, SUMMARISED_NOTE, AfterLength, ResultLimit

Shorten: TypeAlias = Callable[[str, str, Signal], Coroutine[Any, Any, str]]
"""Sums up a text for a call, until a signal is set; raises ModelError or UsageError where no summary comes."""
Tell: TypeAlias = Callable[[Call, str, JsonText], None]
"""Records a note about a call: its name and data."""


async def shortened_to(
    reply: ToolReply, limit: ResultLimit | None, call: Call, *, tell: Tell, shorten: Shorten | None
) -> ToolReply:
    """The reply within its limit. A good result may be summed up; what cannot be is cut, and a note says why.

    A summary has the code SUMMARISED where the result had none, and is marked ``truncated``. A stop while it is made
    passes through, with the cut reply as the CancelledError's first argument: what was done is never lost.
    """
    text = reply.content
    if limit is None or not isinstance(text, str) or fits(text, limit):
        return reply
    if limit.then is AfterLength.CUT or reply.is_error or call.signal.is_set:
        return cut_to(reply, limit, call, tell=tell)
    try:
        if shorten is None or call.call_id is None:
            raise UsageError("nobody sums up here")
        content = _summary(await shorten(call.call_id, text, call.signal), text)
        if not fits(content, limit):
            raise UsageError(f"the summary has {len(content)} characters with its notice, more than the limit")
    except (ModelError, UsageError) as error:
        tell(call, NOT_SUMMARISED_NOTE, canonical_json({"callId": call.call_id, "why": described(error)}))
        return cut_to(reply, limit, call, tell=tell)
    except asyncio.CancelledError:
        raise asyncio.CancelledError(cut_to(reply, limit, call, tell=tell)) from None
    tell(call, SUMMARISED_NOTE, cut_note(call.call_id, text, limit))
    return replace(reply, content=content, code=reply.code or Code.SUMMARISED, truncated=True)


def cut_to(reply: ToolReply, limit: ResultLimit | None, call: Call, *, tell: Tell) -> ToolReply:
    """The reply, cut where it is longer than its limit; a note then says what the whole one was."""
    if limit is None or not isinstance(reply.content, str) or fits(reply.content, limit):
        return reply
    tell(call, CUT_NOTE, cut_note(call.call_id, reply.content, limit))
    return fitted(reply, limit)


def _summary(summary: str, text: str) -> str:
    n_bytes = len(text.encode("utf-8", "surrogatepass"))
    return f"{summary}\n[SUMMARISED: in place of {len(text)} characters; {n_bytes} bytes in all]"
