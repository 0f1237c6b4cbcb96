"""Executes one run: joins scenario, model, tools, subject, log and checks, and writes one trajectory."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness import plugins
from harness.clock import Clocks, run_in_loop, wall_clock_iso
from harness.errors import UnsupportedError
from harness.folds import expectations_to_json, limits_to_json
from harness.protocols import Check, Subject, Tool, World
from harness.recorder import Recorder
from harness.redaction import piece_mask, redact_secrets, redact_text, secret_mask
from harness.runner.answers import open_models
from harness.runner.approvers import TERMINAL, find_approver
from harness.runner.closing import closing_facts
from harness.runner.continuation import past_of
from harness.runner.inject import Injector, check_ticks
from harness.runner.judging import judge
from harness.runner.own import OwnModel
from harness.runner.own_tools import OwnTools
from harness.runner.release import Release
from harness.runner.replay import Replay
from harness.runner.result import RunResult
from harness.runner.seats import model_names
from harness.runner.settle import Watch
from harness.runner.specs import ModelSource, RunSpec
from harness.runner.subjects import find_subject, profile_of, real_time_of
from harness.runner.unasked import approval_verdicts
from harness.runner.version import VERSION
from harness.store import Existing, FileSink, open_sink, read_trajectory
from harness.subjects import OtherDoor
from harness.tools import EffectLedger, build_tools, memory_of, offered_tool, with_agents
from harness.types.codes import ClockKind, Isolation, Origin, Status
from harness.types.effects import EFFECTS_FILE
from harness.types.events import Event, Header, OfferedTool, ScenarioRef, Trajectory, Volatile
from harness.types.going_on import GoingOn
from harness.types.lifecycle import ApprovalAsked, RunEnd
from harness.types.messages import JsonText
from harness.types.records import Verdict
from harness.types.scenario import NO_PARAMETERS, CancelAction, Expectations, Scenario


def execute(
    spec: RunSpec,
    *,
    subject: Subject | None = None,
    extra: dict[str, Check] | None = None,
    replay: Replay | None = None,
    own_tools: OwnTools | None = None,
) -> RunResult:
    """Run one spec and judge it. ``subject`` overrides the one that the options name, ``replay`` what answers,
    ``own_tools`` the scenario's tools.

    Raises UsageError kin for what cannot run at all, CassetteError for a missing or broken cassette,
    RecordingFailed when the trajectory could not be begun or its last lines not be written.
    """
    spec = _whole(spec)
    tested = subject or find_subject(spec.options.subject)
    try:
        return _executed(spec, tested, extra, replay, own_tools)
    except OtherDoor:  # nothing was judged: it begins anew through the door that it needs
        return _executed(spec, tested, extra, replay, own_tools)


def _executed(
    spec: RunSpec, subject: Subject, extra: dict[str, Check] | None, replay: Replay | None, own: OwnTools | None
) -> RunResult:
    path = spec.path
    with ExitStack() as stack:
        workspace = spec.options.workspace or _workspace(spec.scenario, stack)
        built = own.tools(workspace) if own else _built(spec.scenario, workspace)
        tools = with_agents(built, spec.scenario.agents)
        tools = tools if replay is None else replay.tools(tools)
        kind = clock_for(spec, tools, real_time_of(subject))
        check_ticks(spec.scenario, kind)
        header = _header(spec, subject, tools, kind)
        going_on = spec.going_on.going_on() if spec.going_on else None
        sink = None
        if path is not None:
            sink = stack.enter_context(_sink(path, header, spec))
        run = _Run(spec, subject, tools, sink, workspace, going_on, replay, own)
        trajectory = Trajectory(
            header, run_in_loop(kind, run, seed=spec.scenario.seed), source=str(path or header.run_id)
        )
    if sink is not None and sink.n_masked and path is not None:
        trajectory = read_trajectory(path)  # what is judged and shown holds no secret either
    return RunResult(trajectory, judge(trajectory, spec.options.checks, extra), path, spec.file, spec, subject)


def _built(scenario: Scenario, workspace: Path) -> tuple[Tool, ...]:
    return build_tools(scenario.tools, resolve=plugins.resolve, workspace=workspace)


def _sink(path: Path, header: Header, spec: RunSpec) -> FileSink:
    secrets = spec.options.secrets
    masks = secret_mask(secrets), piece_mask(secrets)
    return open_sink(path, header, existing=Existing.REPLACE, mask=masks[0], chunk_mask=masks[1])


def _whole(spec: RunSpec) -> RunSpec:
    """A recording is made of whole answers: without the scenario's cancels, and without what is expected of them."""
    inject = spec.scenario.inject
    if spec.source is not ModelSource.RECORD or not any(isinstance(one.do, CancelAction) for one in inject):
        return spec
    others = tuple(one for one in inject if not isinstance(one.do, CancelAction))
    return replace(spec, scenario=replace(spec.scenario, inject=others, expect=Expectations()))


class _Run:
    """One run inside its own event loop; calling it gives the events."""

    def __init__(
        self,
        spec: RunSpec,
        subject: Subject,
        tools: tuple[Tool, ...],
        sink: FileSink | None,
        workspace: Path,
        going_on: GoingOn | None = None,
        replay: Replay | None = None,
        own_tools: OwnTools | None = None,
    ) -> None:
        self._spec = spec
        self._subject = subject
        self._tools = tools
        self._sink = sink
        self._workspace = workspace
        self._going_on = going_on
        self._replay = replay
        self._own_tools = own_tools
        self._effects_from = 0 if going_on else EffectLedger(workspace / EFFECTS_FILE).size

    async def __call__(self, clock: Clocks) -> tuple[Event, ...]:
        async with self._own_tools.opened() if self._own_tools else nullcontext():
            return await self._begun(clock)

    async def _begun(self, clock: Clocks) -> tuple[Event, ...]:
        past = past_of(self._going_on)
        recorder = Recorder(clock, self._sink, past=past)
        if self._spec.going_on is None:
            return await self._run(clock, recorder)
        self._spec.going_on.claim()  # once the past is in the new file, and before anything new happens
        try:
            return await self._run(clock, recorder)
        except BaseException:
            if len(recorder.events) == len(past):
                self._spec.going_on.give_back()
            raise

    async def _run(self, clock: Clocks, recorder: Recorder) -> tuple[Event, ...]:
        past = past_of(self._going_on)
        injector = Injector(self._spec.scenario.inject, recorder)
        injector.skip(past)
        recorder.listen(injector)
        release = Release(self._spec.scenario.release)
        if self._spec.scenario.release:
            recorder.listen(release)
        with Watch(clock.kind) as watch:
            async with open_models(self._spec, clock, self._replay) as opened:
                await opened.skip(past)
                await self._subject.run(
                    World(
                        scenario=self._spec.scenario,
                        limits=self._spec.scenario.limits,
                        model=injector.faulty(opened.main.model),
                        tools=self._tools,
                        clock=clock,
                        log=recorder,
                        attach=injector.attach,
                        redact=_redactor(self._spec),
                        hide=partial(redact_secrets, secrets=self._spec.options.secrets),
                        faults=injector.fault,
                        going_on=self._going_on,
                        gate=release.gate if self._spec.scenario.release else None,
                        approver=find_approver(self._spec.options.approver),
                        memory=self._memory(),
                        models={role: injector.faulty(one.model) for role, one in opened.roles.items()},
                    )
                )
                quiescent = await watch.quiescent(clock, recorder.events)
                kept = opened.keep_recordings(_status(recorder))
                closing = (*injector.closing_verdicts(), *release.closing_verdicts(), *self._unasked(recorder))
                verdicts = (*closing, *opened.closing_verdicts(recorder.events), *kept)
        told = recorder.failed
        masked = self._sink.n_masked if self._sink else 0
        scenario, place, start = self._spec.scenario, self._workspace, self._effects_from
        for fact in closing_facts(scenario, verdicts, recorder, place, n_masked=masked, effects_from=start):
            recorder.record(fact, origin=Origin.PROBE)
        recorder.record(quiescent, origin=Origin.PROBE)
        recorder.close()
        if recorder.failed is not None and told is None:
            raise recorder.failed  # too late for a verdict: what was noted is not in the file
        return tuple(recorder.events)

    def _unasked(self, recorder: Recorder) -> tuple[Verdict, ...]:
        """Scripted answers left over, where the scenario's script is who is asked."""
        scenario = self._spec.scenario
        asks = any(kind == ApprovalAsked.TYPE for kind, _ in self._subject.observed)
        if not asks or self._spec.options.approver or scenario.allow_leftovers:
            return ()
        return approval_verdicts(scenario.policy.approvals, recorder.events)

    def _memory(self) -> JsonText:
        """What is stored at the beginning, where the run is to be told; a run without a store has none."""
        scenario, tools = self._spec.scenario, self._spec.scenario.tools
        has_store = self._spec.options.workspace or tools.use or tools.memory
        return memory_of(tools, self._workspace) if scenario.context.show_memory and has_store else NO_PARAMETERS


def _status(recorder: Recorder) -> Status | None:
    return next((e.fact.status for e in reversed(recorder.events) if isinstance(e.fact, RunEnd)), None)


def clock_for(spec: RunSpec, tools: tuple[Tool, ...], real_time: str = "") -> ClockKind:
    """Virtual, unless a tool runs in a thread or subprocess, the model is live or somebody is asked (design page).

    ``real_time`` is why the subject needs the system's clock ("" where it does not). Raises UnsupportedError where
    the scenario says another one.
    """
    if real_time:
        if spec.scenario.clock is ClockKind.VIRTUAL:
            raise UnsupportedError(f"scenario {spec.scenario.id!r} says 'clock: virtual', but {real_time}")
        return ClockKind.SYSTEM
    if spec.options.approver == TERMINAL:  # a person takes real time
        return ClockKind.SYSTEM
    if spec.scenario.clock is not None:
        return spec.scenario.clock
    if spec.source is ModelSource.OWN:
        return OwnModel(spec.options.model or "").clock
    live = spec.source in (ModelSource.LIVE, ModelSource.RECORD)
    outside = any(tool.isolation is not Isolation.INLINE for tool in tools)
    return ClockKind.SYSTEM if live or outside or spec.options.approver else ClockKind.VIRTUAL


def _header(spec: RunSpec, subject: Subject, tools: tuple[Tool, ...], kind: ClockKind) -> Header:
    scenario = spec.scenario
    return Header(
        version=VERSION,
        run_id=spec.run_id,
        subject=subject.name,
        scenario=ScenarioRef(scenario.id, scenario.digest),
        expectations=expectations_to_json(scenario.expect),
        limits=limits_to_json(scenario.limits),
        tools=tuple(_offered(tool, scenario) for tool in tools),
        profile=profile_of(subject, scenario),
        models=model_names(spec),
        arm=spec.options.arm,
        trial=spec.trial,
        clock=kind,
        seed=scenario.seed,
        parent=spec.going_on.header if spec.going_on else None,
        observed=tuple(subject.observed),
        volatile=Volatile(started_at=wall_clock_iso()),
    )


def _offered(tool: Tool, scenario: Scenario) -> OfferedTool:
    visible = scenario.tools.visible
    return replace(offered_tool(tool), hidden=visible is not None and tool.name not in visible)


def _workspace(scenario: Scenario, stack: ExitStack) -> Path:
    tools = scenario.tools
    if not (tools.use or tools.files or tools.memory or tools.source or scenario.expect.effects):
        return Path(tempfile.gettempdir())
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="harness-")))


def _redactor(spec: RunSpec) -> Callable[[str], str]:
    secrets = spec.options.secrets
    roots = (os.path.expanduser("~"), os.getcwd(), tempfile.gettempdir(), sys.prefix, sys.base_prefix)
    return lambda text: redact_text(text, secrets=secrets, roots=roots)
