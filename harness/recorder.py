"""The one append point: numbers, stamps, writes, notifies; never refuses or reorders.

An event is in the log, and handed to the sink, before any listener sees it. What is recorded before
a model request or a tool body is in the file before that begins (the sink is committed with the
fact itself). A listener may record: its event gets the next number at once, and is announced after
the current one has been announced to everybody. A listener that throws changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from harness.errors import RecordingFailed
from harness.protocols import Clock, Listener, Sink
from harness.types.codes import Origin
from harness.types.events import Event, make_event
from harness.types.facts import EFFECTS, Fact
from harness.types.lifecycle import RunEnd, RunQuiescent

_LAST_LINES: Final = (RunEnd, RunQuiescent)
_COMMITTED: Final = frozenset({*EFFECTS, *_LAST_LINES})


class Recorder:
    """The log of one run. ``failed`` is the first failure of the sink, None while all is well.

    From the failure on, an effect cannot be recorded (RecordingFailed is raised), so no request is made
    and no tool starts; all other facts are kept in memory, so that the run ends in good order.
    ``past`` are the events of a run that this one goes on from: they are in the sink first, unannounced,
    and numbers and time go on behind them. ``late`` holds what was recorded after ``close``;
    ``listener_errors`` what listeners threw, by seq.
    """

    def __init__(self, clock: Clock, sink: Sink | None = None, *, past: Sequence[Event] = ()) -> None:
        self._clock = clock
        self._sink = sink
        self._events: list[Event] = []
        self._listeners: list[Listener] = []
        self._unannounced: deque[Event] = deque()
        self._announcing = False
        self._began_ms: int | None = None
        self._closed = False
        self.failed: RecordingFailed | None = None
        self.late: list[Event] = []
        self.listener_errors: list[tuple[int, Exception]] = []
        if past:
            self._take_over(past)

    def _take_over(self, past: Sequence[Event]) -> None:
        if self._sink is not None:
            for event in past:
                self._sink.append(event)
            self._sink.commit()
        self._events.extend(past)
        self._began_ms = self._clock.now_ms() - (past[-1].time or 0)

    @property
    def events(self) -> Sequence[Event]:
        """All events so far, in order (a live, read-only view)."""
        return self._events

    def listen(self, listener: Listener) -> None:
        """Have ``listener`` called with each event from now on, in order."""
        self._listeners.append(listener)

    def record(
        self,
        fact: Fact,
        *,
        origin: Origin,
        agent: str = "",
        turn: int | None = None,
        step: int | None = None,
    ) -> Event:
        """Append one fact and give its event back. Raises RecordingFailed for an effect (see the class)."""
        now_ms = self._clock.now_ms()
        if self._began_ms is None:
            self._began_ms = now_ms
        event = make_event(len(self._events), fact, origin, now_ms - self._began_ms, agent, turn, step)
        if self._closed:
            self.late.append(event)
            return event
        if self._sink is not None:
            if self.failed is None:
                try:
                    self._sink.append(event)
                    if type(fact) in _COMMITTED:
                        self._sink.commit()
                except RecordingFailed as error:
                    self.failed = error
            if self.failed is not None and isinstance(fact, EFFECTS):
                raise self.failed
        self._events.append(event)
        if self._listeners:
            self._unannounced.append(event)
            if not self._announcing:
                self._announce()
        return event

    def close(self) -> None:
        """Nothing belongs to the run any more; what comes all the same is kept in ``late``."""
        self._closed = True

    def _announce(self) -> None:
        self._announcing = True
        try:
            while self._unannounced:
                event = self._unannounced.popleft()
                for listener in tuple(self._listeners):
                    self._tell(listener, event)
        finally:
            self._announcing = False

    def _tell(self, listener: Listener, event: Event) -> None:
        try:
            listener(event)
        except Exception as error:  # an observer's fault is its own (CONFORMANCE 11); kept to be shown
            self.listener_errors.append((event.seq, error))
