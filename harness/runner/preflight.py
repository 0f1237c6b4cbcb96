"""Everything that a run needs by name is looked up before anything runs, so that nothing is half done."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from harness import plugins
from harness.errors import UsageError
from harness.models.profiles import profile_named
from harness.protocols import Tool
from harness.runner.approvers import find_approver
from harness.runner.named import Where, misnamed
from harness.runner.own import OwnModel, own_checks
from harness.runner.seats import MAIN, Seat, asked_as, seats
from harness.runner.specs import ModelSource, RunOptions, RunSpec
from harness.runner.subjects import find_subject
from harness.scenarios import refusal
from harness.subjects.terminal import TerminalApprover
from harness.tools import build_tools, check_policy, with_agents
from harness.types.agents import CHILD_ROLE, VisibleRule
from harness.types.scenario import Scenario
from harness.types.script import ScriptBranch, ScriptEntry
from harness.types.tool_policy import NO_POLICY

T = TypeVar("T")


def preflight(scenarios: Sequence[Scenario], options: RunOptions, *, extra: Collection[str] = ()) -> None:
    """Raise UsageError kin for a subject, check, model, tool or function that is not there.

    ``extra`` are names of checks that the caller has at hand.
    """
    find_subject(options.subject)
    approver = find_approver(options.approver)
    if isinstance(approver, TerminalApprover) and not approver.is_there:
        raise UsageError("--approve terminal: the input is no terminal, so nobody could answer; run it at one")
    own_checks(set(options.checks or ()) - set(extra))
    if options.source is ModelSource.OWN:
        OwnModel(options.model or "")
    if options.source in (ModelSource.LIVE, ModelSource.RECORD):
        _live(options)
    for scenario in scenarios:
        _models(scenario, options)
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        for number, scenario in enumerate(scenarios):
            _scenario(scenario, options, Path(folder, str(number)))


def _live(options: RunOptions) -> None:
    from harness.models import chat_model_from_env

    chat_model_from_env(dict(options.environ), name="preflight")


def _models(scenario: Scenario, options: RunOptions) -> None:
    """Each model's profile is known, and what the environment says of it is something."""
    spec = RunSpec(scenario, options)
    for seat in seats(spec):
        if seat.source not in (ModelSource.SCRIPTED, ModelSource.OWN):
            asked = asked_as(spec, seat)
            if asked.profile is not None:
                _look(scenario, _model_field(seat), partial(profile_named, asked.profile))


def _model_field(seat: Seat) -> Where:
    return ("model", "profile") if seat.role == MAIN else ("models", seat.role, "profile")


def _scenario(scenario: Scenario, options: RunOptions, workspace: Path) -> None:
    scripted = options.source is ModelSource.SCRIPTED
    if scripted and scenario.script is None:
        why = "has no script: run it with its cassette or live (--model cassette, --model live)"
        raise refusal(scenario, (), why)
    tools = _look(scenario, ("tools",), partial(_tools, scenario, workspace))
    _look(scenario, ("tool_policy",), partial(_policy, scenario, tools))
    for where, why in misnamed(scenario, tools):
        raise refusal(scenario, where, why)
    if scenario.outcome is not None and scenario.outcome.verifier is not None:
        _look(scenario, ("outcome", "verifier"), partial(plugins.resolve, scenario.outcome.verifier))
    _look(scenario, ("checks",), partial(own_checks, scenario.checks))
    if scripted or options.source is ModelSource.AUTO:
        for name in sorted(set(_functions(scenario.script or ()))):
            _look(scenario, ("script",), partial(plugins.resolve, name))
    for role, spec in scenario.models:
        for name in sorted(set(_functions(spec.script or ()))):
            _look(scenario, ("models", role, "script"), partial(plugins.resolve, name))


def _policy(scenario: Scenario, tools: Sequence[Tool]) -> None:
    if scenario.tool_policy != NO_POLICY:
        check_policy(tools, scenario.tool_policy, allowed=scenario.tools.allowed)


def _tools(scenario: Scenario, workspace: Path) -> tuple[Tool, ...]:
    tools = with_agents(build_tools(scenario.tools, resolve=plugins.resolve, workspace=workspace), scenario.agents)
    names = {tool.name for tool in tools}
    unknown = sorted(set(scenario.tools.visible or ()) - names)
    if unknown:
        raise UsageError(f"visible: there is no tool {unknown[0]!r}")
    _rules(scenario.tools.visible_from, names if scenario.tools.visible is None else scenario.tools.visible, "tools")
    for agent in scenario.agents:
        _rules(agent.visible_from, agent.tools, f"agents.{agent.name}.tools")
    idle = {role for role, _ in scenario.models if role.startswith(CHILD_ROLE)}
    idle -= {f"{CHILD_ROLE}{agent.name}" for agent in scenario.agents}
    if idle:
        there = ", ".join(agent.name for agent in scenario.agents) or "none"
        raise UsageError(f"models: {min(idle)!r} is the role of no agent; agents are: {there}")
    return tools


def _rules(rules: Iterable[VisibleRule], known: Collection[str], where: str) -> None:
    unknown = sorted({name for rule in rules for name in rule.tools} - set(known))
    if unknown:
        raise UsageError(f"visible_from: {unknown[0]!r} is not in {where}, which has {sorted(known)}")


def _look(scenario: Scenario, field: Where, find: Callable[[], T]) -> T:
    try:
        return find()
    except UsageError as error:
        raise refusal(scenario, field, str(error)) from error


def _functions(script: Iterable[ScriptEntry]) -> Iterator[str]:
    """Names of the functions that a script calls, in all its branches."""
    for entry in script:
        if isinstance(entry, ScriptBranch):
            for case in entry.cases:
                if case.when.function is not None:
                    yield case.when.function
                yield from _functions(case.script)
        elif entry.function is not None:
            yield entry.function
