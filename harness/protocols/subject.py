"""A subject and its world, whoever steers it, and the checks that judge it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from harness.protocols.doors import (
    Approver,
    Clock,
    Log,
    Model,
    Tool,
)
from harness.types.codes import (
    CancelBy,
    CancelScope,
    InboxQueue,
    Origin,
    QueueDisposition,
)
from harness.types.doors import Faults, Gate, no_faults
from harness.types.events import Trajectory
from harness.types.going_on import GoingOn
from harness.types.messages import JsonText, MessageId
from harness.types.profile import Profile
from harness.types.records import Verdict
from harness.types.scenario import NO_PARAMETERS, Limits, Scenario


class Controls(Protocol):
    """What a subject offers to whoever steers it from outside."""

    def cancel(
        self,
        *,
        by: CancelBy = CancelBy.USER,
        scope: CancelScope = CancelScope.RUN,
        queue: QueueDisposition = QueueDisposition.DROP,
        reason: str | None = None,
    ) -> None:
        """Ask for a cancel; safe in any callback; a second one changes nothing."""
        ...


@runtime_checkable
class SendingControls(Controls, Protocol):
    """Controls of a subject that takes input while it runs (the built-in loop does)."""

    def send(self, text: str, *, queue: InboxQueue = InboxQueue.FOLLOWUP) -> MessageId:
        """Queue input and give its id; safe in any callback. Raises UsageError where the run is over."""
        ...

    def hold(self) -> Callable[[], None]:
        """Announce input that comes later: the run stays open until what is given back was called."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """All that a subject may touch: both doors, time, and the log.

    ``attach`` hands the subject's controls to the runner before anything else; ``redact`` takes host details and
    secrets out of a text before a model sees it, ``hide`` secrets alone (of results, which may name paths); the tool
    door asks ``faults`` at each start; ``models`` by role. ``gate`` holds an ended body back until it may be seen to
    end (completion orders). ``approver`` answers questions about calls in place of what the scenario scripts.
    ``memory`` is what the memory tools find at the beginning (JSON text of an object; ARTICLES 19).
    """

    scenario: Scenario
    limits: Limits
    model: Model
    tools: Sequence[Tool]
    clock: Clock
    log: Log
    attach: Callable[[Controls], None]
    redact: Callable[[str], str]
    faults: Faults = no_faults
    going_on: GoingOn | None = None
    approver: Approver | None = None
    gate: Gate | None = None
    models: Mapping[str, Model] = field(default_factory=dict)
    memory: JsonText = NO_PARAMETERS
    hide: Callable[[str], str] = str


class Subject(Protocol):
    """An agent loop under test."""

    @property
    def name(self) -> str: ...
    @property
    def profile(self) -> Profile: ...
    @property
    def observed(self) -> tuple[tuple[str, Origin], ...]:
        """Which kinds of event its trajectories hold, and who writes them."""
        ...

    async def run(self, world: World) -> None:
        """Run the scenario to its end; everything that happens is in the log when this returns."""
        ...


class Check(Protocol):
    """A pure function from a trajectory to a verdict."""

    @property
    def name(self) -> str: ...
    @property
    def needs(self) -> tuple[tuple[str, Origin | None], ...]:
        """Kinds that must be observed (with that origin, None any) before this can tell."""
        ...

    @property
    def rules(self) -> tuple[str, ...]:
        """Catalogue numbers that it proves (``conformance:28``)."""
        ...

    def __call__(self, trajectory: Trajectory) -> Verdict: ...
