"""Replays recorded runs: today's loop against the recorded answers, and how far it follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.errors import NothingToRunError
from harness.folds import status_of
from harness.models.replayed import Parting
from harness.protocols import Subject
from harness.runner.executing import execute
from harness.runner.lifting import lift_run
from harness.runner.preflight import preflight
from harness.runner.replay import Replay, ToolSource
from harness.runner.result import RunResult
from harness.runner.specs import ModelSource, RunOptions, RunSpec
from harness.runner.subjects import find_subject
from harness.subjects import BuiltInLoop
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.expectations import Expectations
from harness.types.jsontext import canonical_json
from harness.types.scenario import FaultAction, Injection, Scenario, Stub, ToolsSpec


@dataclass(frozen=True, slots=True)
class Replayed:
    """How far today's loop followed a recorded run.

    ``result`` None: there was nothing to replay, ``why`` says what was missing. ``scenario`` is what was run,
    ``made`` whether it was made of the recording itself. ``parting`` is the first difference, both sides in short.
    ``compared``: the recording holds its requests; without them only answers and results are shared.
    ``ignored_nothing``: places to ignore that no compared request had.
    """

    recorded: Trajectory
    scenario: Scenario | None = None
    made: bool = False
    result: RunResult | None = None
    n_followed: int = 0
    n_steps: int = 0
    parting: Parting | None = None
    compared: bool = False
    why: str = ""
    ignored_nothing: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """FAIL for a difference or a failed check, INVALID where nothing was replayed."""
        return Outcome.INVALID if self.result is None else self.result.outcome


def replay_run(
    recorded: Trajectory,
    options: RunOptions,
    *,
    scenario: Scenario | None = None,
    tools: ToolSource = ToolSource.RECORDED,
    ignore: Sequence[str] = (),
    trial: int = 1,
    subject: Subject | None = None,
) -> Replayed:
    """Run ``scenario`` (None: the one that the recording itself is) against what the recording was answered.

    Its own script, expectations and injected failures play no part: answers, failures and, unless ``tools`` is REAL,
    results are the recorded ones, and the run is expected to end as the recorded one did. Raises UsageError kin for
    a scenario or subject that cannot run, RecordingFailed.
    """
    try:
        played = Replay(recorded, tools=tools, ignore=ignore)
        made = scenario is None
        chosen = lift_run(recorded).scenario if scenario is None else scenario
    except NothingToRunError as error:
        return Replayed(recorded, why=str(error), ignored_nothing=tuple(ignore))
    tested = subject or find_subject(options.subject)
    chosen = _as_replayed(chosen, recorded, tools)
    if tools is ToolSource.RECORDED and not isinstance(tested, BuiltInLoop):
        chosen = replace(chosen, tools=_stubbed(chosen.tools, played.called))
    options = replace(options, source=ModelSource.REPLAY)
    preflight([chosen], options)
    result = execute(RunSpec(chosen, options, trial), subject=tested, replay=played)
    return Replayed(
        recorded,
        chosen,
        made,
        result,
        played.n_followed,
        played.n_steps,
        played.parting,
        played.can_compare,
        ignored_nothing=played.ignored_nothing,
    )


def _as_replayed(scenario: Scenario, recorded: Trajectory, tools: ToolSource) -> Scenario:
    status = status_of(recorded)
    kept = tuple(one for one in scenario.inject if not _is_replayed(one, tools))
    return replace(
        scenario,
        inject=kept,
        expect=Expectations(status=None if status is None else status.value),
        checks=(),
        skip=None,
    )


def _stubbed(tools: ToolsSpec, names: Iterable[str]) -> ToolsSpec:
    """The tools of a loop of one's own, whose functions of these names are not to run: a stub stands for each."""
    known = dict(tools.stubs)
    more = {name: known.get(name, Stub(returns=canonical_json(None))) for name in names}
    return replace(tools, stubs=tuple(sorted({**known, **more}.items())))


def _is_replayed(one: Injection, tools: ToolSource) -> bool:
    """Whether the recording holds what an injection did: failures of requests, and of bodies that are not run."""
    return isinstance(one.do, FaultAction) and (tools is ToolSource.RECORDED or one.at.kind == "model/request")
