"""What a user's loop is given, and how a run cancels it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.errors import UnsupportedError
from harness.loop import StopSignal
from harness.protocols import Clock, Log, Signal
from harness.server.loopback import API_KEY
from harness.subjects.doors import ModelDoor
from harness.subjects.wrapping import ToolWrapper
from harness.tools.admission import offered_json
from harness.types.codes import CancelBy, CancelScope, Origin, QueueDisposition
from harness.types.lifecycle import CancelDelivered, CancelRequested
from harness.types.reasons import Cancelled
from harness.types.scenario import Limits, Scenario
from harness.wire.tools import render_tools

if TYPE_CHECKING:
    import openai


@dataclass(slots=True)
class Env:
    """What a user's loop gets: its task, its model door, its tool door, and the scenario's limits."""

    scenario: Scenario
    limits: Limits
    clock: Clock
    _door: ModelDoor
    _wrapper: ToolWrapper
    _stop: Signal

    @property
    def task(self) -> str:
        """The one piece of user input. Raises UnsupportedError where the scenario has several."""
        if len(self.scenario.tasks) != 1:
            raise self._wrapper.refused(
                UnsupportedError(
                    f"scenario {self.scenario.id!r} has {len(self.scenario.tasks)} tasks: a loop that "
                    "takes several reads env.tasks"
                )
            )
        return self.scenario.tasks[0]

    @property
    def tasks(self) -> tuple[str, ...]:
        """All pieces of user input, in order."""
        return self.scenario.tasks

    @property
    def system(self) -> str | None:
        """The scenario's system prompt."""
        return self.scenario.system

    def sync_openai(self) -> openai.OpenAI:
        """An ``openai.OpenAI`` client of the scripted server on loopback: the run takes real time."""
        return self._door.sync_openai()

    def openai(self) -> openai.AsyncOpenAI:
        """An ``openai.AsyncOpenAI`` client whose every request the harness answers."""
        return self._door.openai()

    @property
    def base_url(self) -> str:
        """Where the scripted server listens, for a client of the loop's own: the run takes real time.

        OPENAI_BASE_URL and OPENAI_API_KEY say the same while such a run lasts.
        """
        return self._door.base_url

    @property
    def api_key(self) -> str:
        """A key that will do for it."""
        return API_KEY

    @property
    def cancelled(self) -> bool:
        """Whether the run is to end: a loop that is not async cannot be cancelled otherwise."""
        return self._stop.is_set

    def wrap(self, registry: Any) -> Any:
        """The same shape with wrapped functions (mapping by name, or list of functions)."""
        return self._wrapper.wrap(registry)

    def wrap_function(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """One wrapped function under a tool's name."""
        return self._wrapper.function(function, name=name)

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        """The scenario's own tools as wrapped async functions of keyword arguments, by name."""
        return self._wrapper.offered()

    @property
    def tool_schemas(self) -> list[dict[str, Any]]:
        """The scenario's tools as a client takes them: ``{"type": "function", "function": {...}}``."""
        return render_tools(offered_json(self._wrapper.known))


class TaskControls:
    """Cancels the loop's task, in the next tick, as a host would; judged from *delivered* on."""

    def __init__(self, log: Log, stop: StopSignal) -> None:
        self._log = log
        self._stop = stop
        self._asked = False
        self.ended = False
        self.returned: list[Any] = []

    def cancel(
        self,
        *,
        by: CancelBy = CancelBy.USER,
        scope: CancelScope = CancelScope.RUN,
        queue: QueueDisposition = QueueDisposition.DROP,
        reason: str | None = None,
    ) -> None:
        """Ask for a cancel; safe in any callback; a second one changes nothing."""
        if self._asked or self._stop.is_set or self.ended:
            return
        self._asked = True
        self._log.record(CancelRequested(by, scope, queue, reason), origin=Origin.PROBE)
        delivered = CancelDelivered(by, scope, queue, reason)
        asyncio.get_running_loop().call_soon(self._deliver, delivered)

    def _deliver(self, fact: CancelDelivered) -> None:
        if self.ended or self._stop.is_set:
            return
        self._log.record(fact, origin=Origin.PROBE)
        self._stop.set(Cancelled(fact.by))
