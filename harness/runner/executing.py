"""Executes one run: joins scenario, model, tools, subject, log and checks, and writes one trajectory."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from harness import plugins
from harness.clock import Clocks, run_in_loop, wall_clock_iso
from harness.folds import expectations_to_json, limits_to_json
from harness.protocols import Check, Subject, Tool, World
from harness.recorder import Recorder
from harness.redaction import redact_text, secret_mask
from harness.runner.answers import open_models
from harness.runner.closing import closing_facts
from harness.runner.inject import Injector, check_ticks
from harness.runner.judging import judge
from harness.runner.own import OwnModel
from harness.runner.release import Release
from harness.runner.result import RunResult
from harness.runner.seats import model_names
from harness.runner.settle import Watch
from harness.runner.specs import ModelSource, RunSpec
from harness.runner.subjects import find_subject
from harness.runner.version import VERSION
from harness.store import Existing, FileSink, open_sink, read_trajectory
from harness.tools import build_tools, offered_tool, with_agents
from harness.types.codes import ClockKind, Isolation, Origin, Status
from harness.types.events import Event, Header, ScenarioRef, Trajectory, Volatile
from harness.types.lifecycle import RunEnd
from harness.types.scenario import Scenario


def execute(spec: RunSpec, *, subject: Subject | None = None, extra: dict[str, Check] | None = None) -> RunResult:
    """Run one spec and judge it. ``subject`` overrides the one that the options name.

    Raises UsageError kin for what cannot run at all, CassetteError for a missing or broken cassette,
    RecordingFailed when the trajectory could not be begun or its last lines not be written.
    """
    subject, path = subject or find_subject(spec.options.subject), spec.path
    with ExitStack() as stack:
        workspace = spec.options.workspace or _workspace(spec.scenario, stack)
        tools = build_tools(spec.scenario.tools, resolve=plugins.resolve, workspace=workspace)
        kind = clock_for(spec, tools)
        check_ticks(spec.scenario, kind)
        header = _header(spec, subject, with_agents(spec.scenario, tools), kind)
        sink = None
        if path is not None:
            mask = secret_mask(spec.options.secrets)
            sink = stack.enter_context(open_sink(path, header, existing=Existing.REPLACE, mask=mask))
        run = _Run(spec, subject, tools, sink, workspace)
        trajectory = Trajectory(
            header, run_in_loop(kind, run, seed=spec.scenario.seed), source=str(path or header.run_id)
        )
    if sink is not None and sink.n_masked and path is not None:
        trajectory = read_trajectory(path)  # what is judged and shown holds no secret either
    return RunResult(trajectory, judge(trajectory, spec.options.checks, extra), path, spec.file, spec, subject)


class _Run:
    """One run inside its own event loop; calling it gives the events."""

    def __init__(
        self, spec: RunSpec, subject: Subject, tools: tuple[Tool, ...], sink: FileSink | None, workspace: Path
    ) -> None:
        self._spec = spec
        self._subject = subject
        self._tools = tools
        self._sink = sink
        self._workspace = workspace

    async def __call__(self, clock: Clocks) -> tuple[Event, ...]:
        recorder = Recorder(clock, self._sink)
        injector = Injector(self._spec.scenario.inject, recorder)
        recorder.listen(injector)
        release = Release(self._spec.scenario.release)
        if self._spec.scenario.release:
            recorder.listen(release)
        with Watch(clock.kind) as watch:
            async with open_models(self._spec, clock) as opened:
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
                        faults=injector.fault,
                        gate=release.gate if self._spec.scenario.release else None,
                        models={role: injector.faulty(one.model) for role, one in opened.roles.items()},
                    )
                )
                quiescent = await watch.quiescent(clock, recorder.events)
                kept = opened.keep_recordings(_status(recorder))
                closing = (*injector.closing_verdicts(), *release.closing_verdicts())
                verdicts = (*closing, *opened.closing_verdicts(recorder.events), *kept)
        told = recorder.failed
        n_masked = self._sink.n_masked if self._sink else 0
        for fact in closing_facts(self._spec.scenario, verdicts, recorder, self._workspace, n_masked=n_masked):
            recorder.record(fact, origin=Origin.PROBE)
        recorder.record(quiescent, origin=Origin.PROBE)
        recorder.close()
        if recorder.failed is not None and told is None:
            raise recorder.failed  # too late for a verdict: what was noted is not in the file
        return tuple(recorder.events)


def _status(recorder: Recorder) -> Status | None:
    return next((e.fact.status for e in reversed(recorder.events) if isinstance(e.fact, RunEnd)), None)


def clock_for(spec: RunSpec, tools: tuple[Tool, ...]) -> ClockKind:
    """Virtual, unless a tool runs in a thread or subprocess or the model is live (design page, Clock)."""
    if spec.scenario.clock is not None:
        return spec.scenario.clock
    if spec.source is ModelSource.OWN:
        return OwnModel(spec.options.model or "").clock
    live = spec.source in (ModelSource.LIVE, ModelSource.RECORD)
    outside = any(tool.isolation is not Isolation.INLINE for tool in tools)
    return ClockKind.SYSTEM if live or outside else ClockKind.VIRTUAL


def _header(spec: RunSpec, subject: Subject, tools: tuple[Tool, ...], kind: ClockKind) -> Header:
    scenario = spec.scenario
    return Header(
        version=VERSION,
        run_id=spec.run_id,
        subject=subject.name,
        scenario=ScenarioRef(scenario.id, scenario.digest),
        expectations=expectations_to_json(scenario.expect),
        limits=limits_to_json(scenario.limits),
        tools=tuple(offered_tool(tool) for tool in tools),
        profile=subject.profile,
        models=model_names(spec),
        arm=spec.options.arm,
        trial=spec.trial,
        clock=kind,
        seed=scenario.seed,
        observed=tuple(subject.observed),
        volatile=Volatile(started_at=wall_clock_iso()),
    )


def _workspace(scenario: Scenario, stack: ExitStack) -> Path:
    tools = scenario.tools
    if not (tools.use or tools.files or tools.memory or tools.source):
        return Path(tempfile.gettempdir())
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="harness-")))


def _redactor(spec: RunSpec) -> Callable[[str], str]:
    secrets = spec.options.secrets
    roots = (os.path.expanduser("~"), os.getcwd(), tempfile.gettempdir(), sys.prefix, sys.base_prefix)
    return lambda text: redact_text(text, secrets=secrets, roots=roots)
