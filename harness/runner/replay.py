"""What answers a replayed run: a recorded run's answers, and its results unless the tools are to run for real."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from harness.clock import Clocks
from harness.errors import ConfigurationError, NothingToRunError
from harness.folds import calls_of, exchanges_of, limits_from_json
from harness.models.replayed import Parting, ReplayModel
from harness.protocols import Tool
from harness.scenarios.lifted import Body, agent_names, bodies_of, is_watched, sums_up_result
from harness.tools import AgentTool, RecordedBody, RecordedTool
from harness.types.codes import ClockKind
from harness.types.doors import MAIN_ROLE
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage
from harness.types.lifecycle import TurnEnd
from harness.types.reasons import Concluded
from harness.wire.differences import is_pattern


class ToolSource(StrEnum):
    """Where a replayed run's results come from."""

    RECORDED = "recorded"
    REAL = "real"


def checked_places(ignore: Sequence[str]) -> tuple[str, ...]:
    """The places to ignore. Raises ConfigurationError for one that names none."""
    for pattern in ignore:
        if not is_pattern(pattern):
            raise ConfigurationError(f"--ignore {pattern!r} names no place: say it as in messages[*].name or user")
    return tuple(ignore)


class Replay:
    """One replay of a recorded run. Raises NothingToRunError where no model was asked in it."""

    def __init__(
        self, recorded: Trajectory, *, tools: ToolSource = ToolSource.RECORDED, ignore: Sequence[str] = ()
    ) -> None:
        self.recorded = recorded
        self._tools = tools
        self._ignore = checked_places(ignore)
        self._exchanges = exchanges_of(recorded)
        if tools is ToolSource.RECORDED:  # recorded results are summed up already: nobody is asked for that again
            calls = {trace.call.id for trace in calls_of(recorded)}
            self._exchanges = tuple(one for one in self._exchanges if not sums_up_result(one.agent, calls))
        self._model: ReplayModel | None = None
        self._lost: list[tuple[str, str]] = []
        if not self._exchanges:
            raise NothingToRunError(f"{recorded.source}: nothing to replay: the run asked no model")
        self.n_steps = sum(one.is_answered for one in self._exchanges)
        self.can_compare = any(one.asked is not None and one.header is not None for one in self._exchanges)

    @property
    def roles(self) -> set[str]:
        """The roles other than the main one in which a model was asked."""
        return {one.role for one in self._exchanges} - {MAIN_ROLE}

    @property
    def called(self) -> tuple[str, ...]:
        """The tools that were called, by name; children are none."""
        children = set(agent_names(self.recorded.events).values())
        return tuple(sorted({trace.call.name for trace in calls_of(self.recorded)} - children - {""}))

    @property
    def parting(self) -> Parting | None:
        """Where the run left the recorded one; None before its end, and where it did not."""
        return self._model.parting if self._model is not None else None

    @property
    def ignored_nothing(self) -> tuple[str, ...]:
        """Places to ignore that no request had that was compared."""
        return tuple(self._model.ignored_nothing) if self._model is not None else ()

    @property
    def n_followed(self) -> int:
        """Answers that were given before that."""
        return self._model.n_followed if self._model is not None else 0

    def open(self, clock: Clocks) -> ReplayModel:
        """The model of one run, on its clock."""
        timed = self.recorded.header.clock is ClockKind.VIRTUAL
        self._model = ReplayModel(self._exchanges, clock=clock, ignore=self._ignore, timed=timed)
        return self._model

    def tools(self, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        """The tools of today with the recorded results, children apart: they are agents and run."""
        if self._tools is ToolSource.REAL:
            return tuple(tools)
        by_name: dict[str, list[RecordedBody]] = {}
        limits = limits_from_json(self.recorded.header.limits)
        timed = self.recorded.header.clock is ClockKind.VIRTUAL
        concluding = _concluding(self.recorded.events)
        for body in bodies_of(
            calls_of(self.recorded),
            watched=is_watched(self.recorded),
            timeout_ms=limits.tool_timeout_ms if limits else None,
            note=_told_elsewhere,
        ):
            by_name.setdefault(body.trace.call.name, []).append(
                _recorded(body, timed=timed, concludes=body.trace.emitted.seq in concluding)
            )
        return tuple(
            tool if isinstance(tool, AgentTool) else RecordedTool(tool, by_name.get(tool.name, ()), missing=self._miss)
            for tool in tools
        )

    def _miss(self, name: str, arguments: str) -> None:
        if self._model is not None:
            self._model.part(f"a call of {name!r}", "no such call", arguments)


def _concluding(events: Sequence[Event]) -> set[int]:
    """The answers whose calls concluded their turn (one of them is enough)."""
    found: set[int] = set()
    last: dict[str, int] = {}
    for event in events:
        if isinstance(event.fact, AssistantMessage):
            last[event.agent] = event.seq
        elif isinstance(event.fact, TurnEnd) and isinstance(event.fact.reason, Concluded) and event.agent in last:
            found.add(last[event.agent])
    return found


def _recorded(body: Body, *, timed: bool, concludes: bool) -> RecordedBody:
    fault = body.fault
    endless = body.value is None and fault is None  # it was stopped: it is to be stopped again
    return RecordedBody(
        body.arguments,
        body.value,
        None if fault is None else fault.code,
        "" if fault is None else fault.message,
        body.took_ms if timed or endless else 0,
        concludes,
    )


def _told_elsewhere(_: str) -> None:
    """What a scenario could not say of results is no matter here: they are given back as they read."""
