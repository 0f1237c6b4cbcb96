"""For tests: run a scenario against any loop, in one line.

::

    my_loop = subject(lambda env: run_agent(env.task, client=env.openai(), tools=env.wrap(registry)))

    def test_refund():
        run = scenario("scenarios/refund.yaml").run(my_loop)
        assert run.status == "completed" and run.calls == ["lookup_order", "refund"]
        assert run.sweep("cancel", "tool-error").clean     # the same, cancelled and failed at every boundary

Works in a plain test and inside a running event loop (pytest-asyncio). Nothing is written unless a
folder is given.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.protocols import Check, Subject
from harness.runner import (
    MAX_MUTANTS,
    ModelSource,
    Replayed,
    RunOptions,
    RunResult,
    Served,
    ServeOptions,
    ToolSource,
    execute,
    find_subject,
    mutate_one,
    plan,
    plan_fork,
    plan_mutations,
    plan_resume,
    plan_sweeps,
    replay_run,
    source_of,
    sweep_one,
)
from harness.scenarios import load_scenario
from harness.scenarios import scenario as scenario_of
from harness.server import HistoryCheck
from harness.store import read_trajectory
from harness.subjects import BuiltInLoop, Door, Ending, Env, FunctionSubject
from harness.tools import EffectLedger
from harness.types.events import Trajectory
from harness.types.mutating import Mutation, MutationKind
from harness.types.policy import ApprovalReply
from harness.types.profile import Profile
from harness.types.scenario import Scenario
from harness.types.sweeps import Sweep, SweepAxis, SweepKind, SweepLevel

__all__ = [
    "BoundScenario",
    "Door",
    "EffectLedger",
    "Ending",
    "Env",
    "Mutation",
    "Replayed",
    "RunResult",
    "Served",
    "Sweep",
    "scenario",
    "served",
    "subject",
]


def subject(
    function: Callable[[Env], Any],
    *,
    name: str | None = None,
    profile: Profile | None = None,
    door: Door | str = Door.AUTO,
) -> FunctionSubject:
    """Your own loop as a subject: ``function(env)`` runs it to its end.

    ``env.task`` is the input, ``env.openai()`` an ``openai.AsyncOpenAI`` client, ``env.wrap(registry)``
    your tools, watched; ``env.limits`` what the scenario limits. ``profile`` declares design choices.

    An async function that asks through ``env.openai()`` runs in process under virtual time. A plain function, and
    one that makes a client of its own (``env.base_url``, or ``door="loopback"`` and OPENAI_BASE_URL), runs
    against a server on loopback in real time.
    """
    return FunctionSubject(function, name=name, profile=profile, door=door)


@dataclass(frozen=True, slots=True)
class BoundScenario:
    """A scenario that can be run."""

    scenario: Scenario

    def run(
        self,
        subject: Subject | str | None = None,
        *,
        checks: Iterable[str | Check] | None = None,
        model: ModelSource | str = ModelSource.AUTO,
        cassettes: str | os.PathLike[str] = "cassettes",
        folder: str | os.PathLike[str] | None = None,
        workspace: str | os.PathLike[str] | None = None,
    ) -> RunResult:
        """Run it once against ``subject`` and judge the trajectory.

        ``subject`` is one, or its name as on the command line; without one the built-in loop.

        ``checks`` names checks to ask for (by name, or check objects of your own) beside the
        scenario's expectations; without it all that apply are judged. ``folder`` keeps the
        trajectory; ``workspace`` keeps what file and memory tools work on, so that a later run finds it.
        Raises UsageError kin, CassetteError, RecordingFailed; a failed check raises
        nothing: look at ``outcome``, ``verdicts`` and ``findings``.
        """
        options, own = _options(checks, model, cassettes, folder, workspace)
        (spec,) = plan([self.scenario], options, extra=tuple(own))
        tested = find_subject(subject) if isinstance(subject, str) else subject or BuiltInLoop()
        return execute(spec, subject=tested, extra=own)

    def replay(
        self,
        recorded: str | os.PathLike[str] | Trajectory,
        subject: Subject | None = None,
        *,
        tools: ToolSource | str = ToolSource.RECORDED,
        ignore: Iterable[str] = (),
    ) -> Replayed:
        """Run it against what ``recorded`` was answered: look at ``parting``, ``n_followed``, ``n_steps``, ``outcome``.

        The first request that differs ends the run. Nothing is executed unless ``tools`` is ``real``. Raises
        TrajectoryFormatError, UsageError kin.
        """
        options = RunOptions(environ=tuple(sorted(os.environ.items())))
        run = recorded if isinstance(recorded, Trajectory) else read_trajectory(recorded)
        tested = subject or BuiltInLoop()
        source = ToolSource(tools)
        return replay_run(run, options, scenario=self.scenario, tools=source, ignore=tuple(ignore), subject=tested)

    def resume(
        self,
        path: str | os.PathLike[str],
        *,
        answers: Mapping[str, ApprovalReply | str] | None = None,
        task: str | None = None,
        checks: Iterable[str | Check] | None = None,
        model: ModelSource | str = ModelSource.AUTO,
        cassettes: str | os.PathLike[str] = "cassettes",
        folder: str | os.PathLike[str] | None = None,
        workspace: str | os.PathLike[str] | None = None,
    ) -> RunResult:
        """Go on where the run in ``path`` ended: a new trajectory that begins with its events.

        A file without its end is repaired first, in place. ``answers`` say ``allow`` or ``reject`` to the call that it
        is parked at; ``task`` is sent behind the tasks that were not sent yet. The rest is as for :meth:`run`.
        Raises UsageError kin (nothing to go on with, resumed before), RecordingFailed for a file of a live run.
        """
        options, own = _options(checks, model, cassettes, folder, workspace)
        given = {call: ApprovalReply(reply) for call, reply in (answers or {}).items()}
        spec = plan_resume(Path(path), [self.scenario], options, answers=given, task=task)
        return execute(spec, subject=BuiltInLoop(), extra=own)

    def fork(
        self,
        path: str | os.PathLike[str],
        *,
        at: int,
        task: str | None = None,
        checks: Iterable[str | Check] | None = None,
        model: ModelSource | str = ModelSource.AUTO,
        cassettes: str | os.PathLike[str] = "cassettes",
        folder: str | os.PathLike[str] | None = None,
        workspace: str | os.PathLike[str] | None = None,
    ) -> RunResult:
        """A run of its own from the events of ``path`` up to ``at``, a closed boundary, with another ``task``.

        Without a task the tasks of the scenario go on that had not been sent by then. The parent's file is not
        touched. The rest is as for :meth:`run`. Raises UsageError kin, which name the nearest boundaries.
        """
        options, own = _options(checks, model, cassettes, folder, workspace)
        spec = plan_fork(Path(path), [self.scenario], options, at=at, task=task)
        return execute(spec, subject=BuiltInLoop(), extra=own)

    def sweep(
        self,
        subject: Subject | None = None,
        *kinds: SweepKind | str,
        level: SweepLevel | str = SweepLevel.BOUNDARIES,
        axes: Iterable[SweepAxis | str] = (),
        workspace: str | os.PathLike[str] | None = None,
    ) -> Sweep:
        """Run it against ``subject`` again and again, disturbed at one boundary each time, and judge each run.

        ``kinds`` are the names of ``SweepKind``, such as ``cancel``; all where none is named. ``level``
        ``ticks`` cancels at every tick of the event loop too; ``axes`` ``queued`` and ``stubborn`` cancel also with a
        follow-up queued, and among tools that swallow their cancels. Look at ``clean``, ``red``, ``flaky``, ``strip``.
        Raises UsageError kin, among them NothingToRunError for a scenario without a script.
        """
        options = RunOptions(
            workspace=None if workspace is None else Path(workspace), environ=tuple(sorted(os.environ.items()))
        )
        (spec,) = plan_sweeps([self.scenario], options, kinds, SweepLevel(level), axes)
        return sweep_one(spec, subject=subject or BuiltInLoop())

    def mutate(
        self,
        subject: Subject | str | None = None,
        *,
        checks: Iterable[str | Check] | None = None,
        model: ModelSource | str = ModelSource.AUTO,
        cassettes: str | os.PathLike[str] = "cassettes",
        allow: Iterable[MutationKind | str] = (),
        limit: int = MAX_MUTANTS,
    ) -> Mutation:
        """Run it once, and try its expectations on other behaviours of that run.

        ``allow`` are kinds of ``MutationKind`` that need not be noticed. Look at ``unnoticed``, each with a ``hint``,
        and at ``advice``. The rest is as for :meth:`run`. Raises UsageError kin; what the run itself raises or comes
        to is told by ``reference`` and ``why``.
        """
        options, own = _options(checks, model, cassettes, None, None)
        (wanted,) = plan_mutations([self.scenario], options, allowed=allow, limit=limit, extra=tuple(own))
        tested = find_subject(subject) if isinstance(subject, str) else subject or BuiltInLoop()
        return mutate_one(wanted, subject=tested, extra=own)


def served(
    source: BoundScenario | Scenario | str | os.PathLike[str],
    *,
    port: int = 0,
    history: HistoryCheck | str = HistoryCheck.STRICT,
    allow_leftovers: bool = False,
) -> Served:
    """The script of a scenario as an HTTP endpoint on loopback while it is entered, in a thread of its own.

    ``base_url`` and ``api_key`` are what clients take, ``environment`` what programs take, ``requests`` how each
    request went; ``verdicts()`` judges when it is over. Raises ConfigurationError for a scenario without script.
    """
    if isinstance(source, BoundScenario):
        value = source.scenario
    else:
        value = source if isinstance(source, Scenario) else load_scenario(Path(source))
    return Served(value, ServeOptions(port=port, history=HistoryCheck(history), allow_leftovers=allow_leftovers))


def _options(
    checks: Iterable[str | Check] | None,
    model: ModelSource | str,
    cassettes: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None,
    workspace: str | os.PathLike[str] | None,
) -> tuple[RunOptions, dict[str, Check]]:
    """The options of a run, and the check objects among ``checks`` by name."""
    asked = None if checks is None else tuple(checks)
    own = {check.name: check for check in asked or () if not isinstance(check, str)}
    names = None if asked is None else tuple(c if isinstance(c, str) else c.name for c in asked)
    source, named = (model, None) if isinstance(model, ModelSource) else source_of(model)
    options = RunOptions(
        source=source,
        model=named,
        checks=names,
        cassettes=Path(cassettes),
        folder=None if folder is None else Path(folder),
        workspace=None if workspace is None else Path(workspace),
        environ=tuple(sorted(os.environ.items())),
    )
    return options, own


def scenario(source: str | os.PathLike[str] | None = None, /, **fields: Any) -> BoundScenario:
    """A scenario from a YAML file, or from the fields of the YAML form given as arguments.

    Raises ScenarioError with file, line and field.
    """
    if source is None:
        return BoundScenario(scenario_of(**fields))
    if fields:
        raise TypeError("give a file or fields, not both")
    return BoundScenario(load_scenario(Path(source)))
