"""What answers the calls of a whole loop: stubs, the real bodies, and nothing behind a distractor."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from harness.errors import UnsupportedError
from harness.protocols import Tool
from harness.runner.evaluation.plan import EvaluationPlan
from harness.tools.faced import FacedTool, ServerTool
from harness.tools.real_bodies import CALL_LIMIT_MS, bodies_here, names_without_body, opened_servers
from harness.tools.stubs import StubTool
from harness.types.codes import Code
from harness.types.doors import ModelCall
from harness.types.evaluation import Arm, Case, EvalTool, Evaluation, Execute, SourceKind
from harness.types.jsontext import canonical_json
from harness.types.scenario import Stub, ToolsSpec

_MOST_NAMED: Final = 10


class TrialTools:
    """The tools of one trial's run: exactly those of its first request, in that order, over the bodies of the
    evaluation. Implements :class:`harness.runner.own_tools.OwnTools`.

    A tool has its stub, else its real body where those run. A distractor has none: its call gets an error result.
    """

    def __init__(self, plan: EvaluationPlan, arm: Arm, case: Case, call: ModelCall) -> None:
        self._plan = plan
        self._names = _names_of(arm, case, plan.evaluation)
        self._offered = [
            EvalTool(one["name"], one["description"], canonical_json(one["parameters"]))
            for one in json.loads(call.tools)
        ]
        self._own = {tool.name: tool for tool in plan.snapshot.tools}
        self._servers: dict[str, ServerTool] = {}

    def tools(self, workspace: Path) -> tuple[Tool, ...]:
        """The tools, fresh; a server's wait for :meth:`opened`."""
        bodies, names = self._bodies(workspace), self._names
        old_of = {new: old for old, new in names.items()}
        found: list[Tool] = []
        for place, face in enumerate(self._offered):
            body = bodies.get(old_of.get(face.name, face.name)) or _nothing(face)
            found.append(FacedTool(body, face, place=place, names=names))
        return tuple(found)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """The servers of the evaluation, started for this run alone where a tool needs them.

        Raises as :func:`harness.tools.real_bodies.opened_servers`.
        """
        if not self._servers:
            yield
            return
        evaluation, servers = self._plan.evaluation, self._servers
        async with opened_servers(
            evaluation.sources,
            servers,
            [self._own[name] for name in servers],
            known=self._own.keys() - servers.keys(),
            environ=dict(self._plan.options.environ),
            call_limit_ms=max(CALL_LIMIT_MS, evaluation.limits.tool_timeout_ms or 0),
        ):
            yield

    def _bodies(self, workspace: Path) -> dict[str, Tool]:
        """A body for each tool of the evaluation, by its name there."""
        evaluation = self._plan.evaluation
        stubs, bodies = dict(evaluation.stubs), dict[str, Tool]()
        real = bodies_here(evaluation.sources, workspace) if evaluation.execute is Execute.TOOLS else {}
        self._servers = {}
        for name, tool in self._own.items():
            if name in stubs:
                original = real.get(name)
                schema = None if original is not None else tool.parameters
                bodies[name] = StubTool(name, stubs[name], original=original, parameters=schema)
            elif name in real:
                bodies[name] = real[name]
            else:
                bodies[name] = self._servers[name] = ServerTool(tool)
        return bodies


def _nothing(face: EvalTool) -> Tool:
    stub = Stub(raises=f"tool {face.name!r} is not available", code=Code.TOOL_FAILED)
    return StubTool(face.name, stub, parameters=face.parameters)


def _names_of(arm: Arm, case: Case, evaluation: Evaluation) -> Mapping[str, str]:
    """What the arm calls the tools that it offers, by their names in the evaluation."""
    asking = evaluation.asking.tool
    return {old: new for old, new in arm.rename if case.tools is None or old in case.tools or old == asking}


# ---------------------------------------------------------------- before anything is asked


def tools_spec(evaluation: Evaluation) -> ToolsSpec:
    """What the scenario of a trial says of its tools: built-in ones and a registry need a folder of their own."""
    if evaluation.execute is not Execute.TOOLS:
        return ToolsSpec()
    use = tuple(name for one in evaluation.sources if one.kind is SourceKind.USE for name in one.names)
    registry = next((one.location for one in evaluation.sources if one.kind is SourceKind.FROM), None)
    return ToolsSpec(use=use, source=registry)


def calls_servers(plan: EvaluationPlan) -> bool:
    """Whether a tool of an MCP server may be called: then a run takes real time."""
    evaluation = plan.evaluation
    if evaluation.execute is not Execute.TOOLS:
        return False
    stubs = {name for name, _ in evaluation.stubs}
    is_real = any(tool.name not in stubs for tool in plan.snapshot.tools)
    return is_real and any(one.kind is SourceKind.MCP for one in evaluation.sources)


def check_bodies(plan: EvaluationPlan) -> None:
    """Raise UnsupportedError where a tool of the evaluation has neither a stub nor a body that may run."""
    evaluation = plan.evaluation
    if evaluation.execute is Execute.FIRST:
        return
    stubs = {name for name, _ in evaluation.stubs}
    if evaluation.execute is Execute.STUBS:
        missing = sorted(tool.name for tool in plan.snapshot.tools if tool.name not in stubs)
        why = "nothing of yours is run unless the file says 'execute: true'"
    else:
        base = Path(evaluation.source).parent
        missing = [name for name in names_without_body(evaluation.sources, base=base) if name not in stubs]
        why = "what 'openapi' and 'schemas' describe has no body that 'execute: true' could run"
    if missing:
        more = f", and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        raise UnsupportedError(
            f"tool {missing[0]!r} has no stub, and {why}: add it to 'stubs' "
            f"(missing: {', '.join(missing[:_MOST_NAMED])}{more})"
        )
