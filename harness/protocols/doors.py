"""The doors and what stands at them: time, log, model, tools, a person who is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from harness.types.codes import (
    CancelBy,
    ClockKind,
    Effect,
    Isolation,
    Mode,
    Origin,
)
from harness.types.doors import Answer, ModelCall, ToolReply
from harness.types.events import Event
from harness.types.facts import Fact
from harness.types.making import quickly_made
from harness.types.messages import CallId, JsonText
from harness.types.policy import ApprovalReply, Question
from harness.types.records import Verdict


class Clock(Protocol):
    """Time and waiting of a run."""

    @property
    def kind(self) -> ClockKind: ...
    def now_ms(self) -> int:
        """Whole milliseconds since some fixed instant; never goes back."""
        ...

    async def sleep_ms(self, duration_ms: int) -> None: ...


class Signal(Protocol):
    """The cooperative side of a cancel: asked by whoever wants to stop early."""

    @property
    def is_set(self) -> bool: ...
    @property
    def by(self) -> CancelBy | None:
        """Who cancelled first; None while nobody did."""
        ...

    async def wait(self) -> None:
        """Return once the signal is set."""
        ...


class Sink(Protocol):
    """Where recorded events go. Both methods raise RecordingFailed when they cannot keep them."""

    def append(self, event: Event) -> None:
        """Take one event; it may be held back until the next commit."""
        ...

    def commit(self) -> None:
        """Everything taken so far is in the file when this returns."""
        ...


Listener: TypeAlias = Callable[[Event], None]


class Log(Protocol):
    """The one append point, as the rooms see it (implemented by the recorder)."""

    def record(
        self, fact: Fact, *, origin: Origin, agent: str = "", turn: int | None = None, step: int | None = None
    ) -> Event:
        """Number, stamp, write, notify; gives the event back. Raises RecordingFailed."""
        ...

    def listen(self, listener: Listener) -> None:
        """Have ``listener`` called with each event from now on, in order."""
        ...

    @property
    def events(self) -> Sequence[Event]:
        """All events so far, in order."""
        ...


Emit: TypeAlias = Callable[[JsonText], None]
"""Takes a chunk of a streamed answer (JSON text)."""


class Model(Protocol):
    """What answers a model request."""

    @property
    def name(self) -> str: ...

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        """Answer one request. Raises ModelError; lets cancellation through."""
        ...


class ModelDoor(Protocol):
    """The harness's own door to the model: only here requests are made, so here they are recorded."""

    async def ask(self, call: ModelCall, *, signal: Signal) -> Answer:
        """Record ``request/header`` (where changed) and ``model/request``, ask, give the answer.

        Chunks are recorded as they come; a failure is recorded as ``model/error`` and raised as ModelError (any other
        exception of the model is mapped to INTERNAL, its class named). Cancellation passes through.
        """
        ...


class ClosingModel(Protocol):
    """A model that has something to say when the run is over (leftovers, out of date, ...)."""

    def closing_verdicts(self) -> tuple[Verdict, ...]: ...


Use: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[str]]  # calls a tool; its content, or ToolError


@quickly_made
@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a body may use (passed to parameters annotated so); ``key`` is the same for all attempts of a call."""

    signal: Signal
    clock: Clock
    call_id: CallId | None
    key: str = ""
    attempt: int = 1
    use: Use | None = None


class Tool(Protocol):
    """A tool: what the model is offered, and the body behind it."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> JsonText:
        """JSON Schema of the arguments, canonical JSON text."""
        ...

    @property
    def mode(self) -> Mode: ...
    @property
    def effect(self) -> Effect: ...
    @property
    def idempotent(self) -> bool: ...
    @property
    def isolation(self) -> Isolation: ...

    def check(self, arguments: Mapping[str, Any]) -> str | None:
        """What is wrong with the arguments and what is allowed (for the model), or None."""
        ...

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Run the body. Raises what it raises; lets cancellation through."""
        ...


class ToolDoor(Protocol):
    """The harness's own door to the tools: only here bodies start, so only here starts are seen."""

    @property
    def offered(self) -> JsonText:
        """The tools as ``request/header`` keeps them, in canonical order (by name)."""
        ...

    def mode_of(self, name: str, arguments: str = "") -> Mode:
        """The mode of now (read again before each start); PARALLEL for an unknown name, EXCLUSIVE in doubt."""
        ...

    def isolation_of(self, name: str) -> Isolation:
        """Where its body runs; INLINE for an unknown name. Bodies in threads are never abandoned."""
        ...

    def refuse(self, name: str, arguments: str) -> ToolReply | None:
        """The error reply for a call that may not start (unknown, not allowed, bad arguments)."""
        ...

    async def run(
        self,
        name: str,
        arguments: str,
        *,
        call_id: CallId,
        signal: Signal,
        turn: int | None,
        step: int | None,
        agent: str = "",
    ) -> ToolReply:
        """Start the body of an admissible call, record start and end, give its reply.

        Every exception of the body becomes an error reply; cancellation of the surrounding task is recorded as
        cancelled and passes through. Where the body ended anyway (a thread cannot be stopped), its own outcome is
        recorded and the CancelledError's first argument is its ToolReply.
        """
        ...


class Approver(Protocol):
    """Whoever answers for a person."""

    @property
    def name(self) -> str:
        """Who that is, as ``approval/answered`` tells it."""
        ...

    async def ask(self, question: Question, *, signal: Signal) -> ApprovalReply:
        """May this call run? One that raises counts as unavailable, never as a rejection (CONFORMANCE 57).

        Its task is cancelled where the turn is stopped; an answer that comes then is discarded (58).
        """
        ...
