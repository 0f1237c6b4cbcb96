"""A streamed answer on its way: what the model emits becomes events, and a fault disturbs them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from harness.errors import ModelError
from harness.server.dialects import Frames
from harness.server.exchanges import Went
from harness.server.failing import told_in_stream
from harness.server.reply import MALFORMED_EVENT, Broken, How
from harness.types.codes import Code
from harness.types.doors import Answer
from harness.types.faults import FaultKind, WireFault
from harness.types.messages import JsonText
from harness.wire.sse_render import sse_event

_AT_ITS_END: Final = object()


def _unheard() -> None:
    """Nobody listens."""


async def _awaited(work: Awaitable[Answer]) -> Answer:
    return await work


class Flow:
    """One answer, made in a task of its own while its pieces are taken; ``close`` ends that task.

    ``lost_as`` is a fault that damages the stream. ``answer`` is the whole answer once it is there. ``ending`` is
    called right before the last piece, and before the connection breaks.
    """

    def __init__(self, frames: Frames, *, lost_as: WireFault | None = None) -> None:
        self._frames = frames
        self._fault = lost_as
        self._queue: asyncio.Queue[JsonText | object] = asyncio.Queue()
        self._task: asyncio.Task[Answer] | None = None
        self._first: JsonText | object = _AT_ITS_END
        self._newest = ""
        self._failure: ModelError | None = None
        self._finished = False
        self.n_pieces = 0
        self.ending: Callable[[], None] = _unheard

    def emit(self, chunk: JsonText) -> None:
        """The model has said a piece."""
        self._queue.put_nowait(chunk)

    @property
    def answer(self) -> Answer | None:
        """The whole answer; None while it is made, and where there will be none."""
        task = self._task
        done = task is not None and task.done() and not task.cancelled() and task.exception() is None
        return task.result() if done and task is not None else None

    async def began(self, work: Awaitable[Answer], *, name: str) -> BaseException | None:
        """Wait for the first piece or the end; the failure where nothing was said before it."""
        task = self._task = asyncio.create_task(_awaited(work), name=name)
        task.add_done_callback(lambda _: self._queue.put_nowait(_AT_ITS_END))
        try:
            self._first = await self._queue.get()
        except BaseException:
            task.cancel()
            raise
        if self._first is not _AT_ITS_END:
            return None
        if task.cancelled():
            raise asyncio.CancelledError
        return task.exception()

    async def pieces(self) -> AsyncIterator[bytes]:
        """The events as bytes. Raises Broken where the connection breaks."""
        fault, held = self._fault, b""
        cuts = fault is not None and fault.kind is FaultKind.CUT_AFTER
        async for event in self._events():
            if fault is not None and self.n_pieces + bool(held) == fault.after:
                if cuts:
                    break
                if fault.kind is FaultKind.STALL_AFTER:
                    await asyncio.Event().wait()
                fault = None
                yield sse_event(MALFORMED_EVENT)
            if not cuts:
                self.n_pieces += 1
                yield event
                continue
            if held:  # one is kept back: a stream that is shorter than that is cut before its last event
                self.n_pieces += 1
                yield held
            held = event
        if fault is not None and cuts:
            if held and self.n_pieces + 1 == fault.after:
                self.n_pieces += 1
                yield held
            self.ending()
            raise Broken(How.CUT, fault.text)

    def close(self) -> None:
        """Nobody takes pieces any more."""
        if self._task is not None and not self._task.done():
            self._task.cancel()

    def went(self, lost: ModelError | None) -> tuple[Went, str]:
        """How it went, and why."""
        if lost is not None:
            return Went.FAULT, str(lost)
        if self._failure is not None:
            return Went.FAILED, str(self._failure)
        if self._finished:
            return Went.ANSWERED, ""
        return Went.DISCONNECTED, f"the client went away after {self.n_pieces} pieces"

    async def _events(self) -> AsyncIterator[bytes]:
        assert self._task is not None
        for event in self._frames.begin():
            yield event
        item = self._first
        while item is not _AT_ITS_END:
            self._newest = str(item)
            for event in self._frames.chunk(JsonText(self._newest)):
                yield event
            item = await self._queue.get()
        error = self._task.exception()
        if error is not None:
            async for event in self._broken_off(error):
                yield event
            return
        answer = self._task.result()
        if self._newest and answer.finish_reason is None:
            self._failure = ModelError("the script ends the stream without a finish reason", code=Code.NO_FINISH_REASON)
        last = list(self._frames.end(answer))
        for event in last[:-1]:
            yield event
        self._finished = True  # a client may leave at the last event
        self._told_in(1 if last else 0)
        for event in last[-1:]:
            yield event

    def _told_in(self, n_more: int) -> None:
        """The end is reached, but for some pieces."""
        self.n_pieces += n_more
        self.ending()
        self.n_pieces -= n_more

    async def _broken_off(self, error: BaseException) -> AsyncIterator[bytes]:
        """The model failed after it began: told in an event, or seen as a broken connection."""
        self._failure = error if isinstance(error, ModelError) else ModelError(str(error), code=Code.INTERNAL)
        self._told_in(0)
        if not told_in_stream(self._failure):
            raise Broken(How.CUT, str(self._failure)) from error
        if '"error"' in self._newest or self._failure.code == Code.DAMAGED_RESPONSE:
            return  # the newest chunk said so itself
        for event in self._frames.failed(self._failure):
            yield event
