"""Which messages a request shows: what a host replaces between steps, and compaction by policy.

Nothing is rewritten: a replacement is an event that shadows older ones, and what is shown is a fold.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from harness.errors import ModelError, RecordingFailed, UsageError
from harness.folds import (
    Node,
    cut_of,
    estimated_tokens,
    fold_sentence,
    header_tokens,
    replacement_error,
    transcript_text,
)  # fmt: skip
from harness.loop.scheduler import CancelledByItself, Stopped
from harness.loop.turn import Desk, Turn
from harness.types.codes import Code
from harness.types.context import REFUSED_NOTE, SUMMARISER, CompactSpec
from harness.types.exchange import ContextReplaced
from harness.types.jsontext import canonical_json, described
from harness.types.lifecycle import Note
from harness.types.messages import ChatMessage, ChatTool, ChatUser, Content, Messages
from harness.types.reasons import Failed, Reason


class Context:
    """What a host may do to the conversation while no step is open: idle, in maintenance, in a ``pre_step`` hook."""

    def __init__(self, desk: Desk, state: Callable[[], tuple[bool, Turn | None]]) -> None:
        self._desk = desk
        self._state = state

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The messages of now, each with the number of the event that it came with."""
        return self._desk.history.nodes

    def replace(self, start: int, end: int, message: ChatMessage, *, seen: Messages | None = None) -> int:
        """Let ``message`` stand for those of the events ``start`` to ``end``; gives the number of its event.

        Raises UsageError, and changes nothing, while a step is open, for what :func:`replacement_error` refuses
        (CONFORMANCE 124, 125, 127), and where the conversation is no longer the one that was ``seen``.
        """
        is_open, turn = self._state()
        if not is_open or (turn is not None and turn.step_is_open):
            raise UsageError("a step is open, or the run is not: replace context between steps")
        return _replace(self._desk, turn, start, end, message, seen)

    def rewrite_result(self, seq: int, content: Content) -> int:
        """From now on show a result with other content (CONFORMANCE 125). Raises UsageError as ``replace`` does."""
        old = next((node.message for node in self.nodes if node.seq == seq), None)
        if not isinstance(old, ChatTool):
            raise UsageError(f"event {seq} is no tool result of the conversation of now: name one of Context.nodes")
        return self.replace(seq, seq, replace(old, content=content))


def _replace(
    desk: Desk, turn: Turn | None, start: int, end: int, message: ChatMessage, seen: Messages | None = None
) -> int:
    why = replacement_error(desk.history.nodes, start, end, message)
    if seen is not None and seen != desk.history.messages:
        why = "the conversation has moved since it was looked at"
    if why:
        raise UsageError(f"events {start} to {end} are not replaced: {why}")
    return desk.say(ContextReplaced(start, end, message), turn).seq


async def compact_if_due(desk: Desk, turn: Turn) -> Reason | None:
    """Replace older history where the next request would be too big; the reason that ends the turn, or None."""
    spec, shown = desk.policies.context.compact, desk.shown
    if spec is None:
        return None
    too_many = spec.at_messages is not None and len(shown) + len(desk.system) > spec.at_messages
    if not too_many and (spec.at_tokens is None or _tokens(desk, shown) <= spec.at_tokens):
        return None
    try:
        compaction = _compact(desk, turn, spec, f"{turn.number}.{turn.step + 1}")
        await desk.scheduler.run_request(compaction, turn.stop, name="compaction")
    except Stopped:
        return turn.stop.reason
    except (RecordingFailed, CancelledByItself) as error:
        code = Code.RECORDING_FAILED if isinstance(error, RecordingFailed) else Code.INTERNAL
        return Failed(code, str(error))
    return None


def _tokens(desk: Desk, messages: Messages) -> int:
    return header_tokens(desk.system, desk.tools.offered) + sum(map(estimated_tokens, messages))


def shortener(desk: Desk, turn: Turn) -> Callable[[], Coroutine[Any, Any, Messages | None]] | None:
    """What makes a request that was too long shorter, where something is really replaced (CONFORMANCE 153)."""
    spec = desk.policies.context.compact

    async def shorten() -> Messages | None:
        place = f"{turn.number}.{turn.step}.overflow"
        return desk.shown if spec and await _compact(desk, turn, spec, place) else None

    return None if spec is None else shorten


async def _compact(desk: Desk, turn: Turn, spec: CompactSpec, place: str) -> bool:
    """Whether older history was replaced; what is refused is noted, and changes nothing (CONFORMANCE 127)."""
    seen, cut = desk.history.messages, cut_of(desk.history.nodes, spec.keep_last, turn.number)
    if not cut:
        return False
    try:
        if desk.policies.summarise is not None:
            agent = f"{desk.agent}/{SUMMARISER}-{place}".lstrip("/")
            text = await desk.policies.summarise(agent, transcript_text(cut), turn.stop)
        else:
            sources = {source for node in cut for source in node.sources or (node.seq,)}
            text = fold_sentence(event for event in desk.log.events if event.seq in sources)
        _replace(desk, turn, cut[0].seq, cut[-1].seq, ChatUser(text), seen)
    except (ModelError, UsageError) as error:
        desk.say(Note(REFUSED_NOTE, canonical_json(described(error))), turn)
        return False
    return True
