"""What a model is asked in an arm: pure functions of the evaluation, the arm, the case and the tools.

Each factor of an arm changes its own part of the request and nothing else, and an arm without any is the base
(ARTICLES 38). Same values, same bytes: what is shuffled is ordered by hashes of the seed, the case and the tool.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from harness.errors import ConfigurationError
from harness.evaluate.arms_history import conversation
from harness.evaluate.arms_tools import described
from harness.types.doors import ModelCall
from harness.types.evaluation import Arm, Case, EvalTool, Evaluation, ToolOrder, ToolSnapshot
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatSystem, JsonText, Messages
from harness.types.model_spec import ModelSpec

_OF_TOOLS: Final = ("parallel_tool_calls", "tool_choice")
"""Parameters that providers refuse where no tool is offered."""


def model_of(evaluation: Evaluation, arm: Arm) -> ModelSpec | None:
    """The model that this arm asks; None: a function answers."""
    return arm.model or evaluation.model


def offered(
    evaluation: Evaluation, arm: Arm, case: Case, snapshot: ToolSnapshot, distractors: ToolSnapshot | None = None
) -> tuple[EvalTool, ...]:
    """The tools in the order in which the model is offered them, under the names that it sees.

    A case that narrows them keeps the tool that asks the user.

    ``distractors`` is the snapshot of ``distractor_tools``. Raises ConfigurationError where an arm or a case names a
    tool that is not there, where renaming gives one name to two tools, and where there are too few distractors.
    """
    if not arm.offer_tools:
        return ()
    own = [_changed(tool, arm) for tool in _narrowed(case, snapshot, evaluation.asking.tool)]
    names = [tool.name for tool in own]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise ConfigurationError(
            f"arm {arm.name!r} renames a tool to {double!r}, which another has; choose another name"
        )
    found = [*own, *_distractors(evaluation, arm, case, snapshot, distractors, names)]
    return tuple(_ordered(found, arm, case, evaluation.seed))


def request_of(
    evaluation: Evaluation, arm: Arm, case: Case, snapshot: ToolSnapshot, distractors: ToolSnapshot | None = None
) -> ModelCall:
    """What the model is asked. The parameters hold the model's name and its own parameters, so that the whole of
    what is sent depends on them alone.

    Tools stand in the order in which they are offered, and every adapter sends them in it. Raises as
    :func:`offered`.
    """
    tools = offered(evaluation, arm, case, snapshot, distractors)
    system = system_of(evaluation, arm, case)
    return ModelCall(
        system=(ChatSystem(content=system),) if system else (),
        messages=Messages.of(conversation(evaluation, arm, case)),
        tools=canonical_json([_shown(tool) for tool in tools]),
        parameters=parameters_of(evaluation, arm, any_tools=bool(tools)),
        turn=1,
        step=1,
    )


def _shown(tool: EvalTool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters)}


def system_of(evaluation: Evaluation, arm: Arm, case: Case) -> str:
    """The system prompt: the case's own, else the arm's, else the evaluation's; "": there is none."""
    return next((text for text in (case.system, arm.system, evaluation.system) if text is not None), "")


def parameters_of(evaluation: Evaluation, arm: Arm, *, any_tools: bool) -> JsonText:
    """The request parameters, ``model`` among them where it has a name."""
    model = model_of(evaluation, arm)
    parameters: dict[str, Any] = {} if model is None else json.loads(model.parameters) | {"model": model.name}
    if arm.tool_choice is not None:
        parameters["tool_choice"] = json.loads(arm.tool_choice)
    if not any_tools:
        return canonical_json({name: value for name, value in parameters.items() if name not in _OF_TOOLS})
    return canonical_json(_renamed_choice(parameters, dict(arm.rename)))


def _renamed_choice(parameters: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    choice: Any = parameters.get("tool_choice")
    function: Any = choice.get("function") if isinstance(choice, dict) else None
    if not isinstance(function, dict) or function.get("name") not in names:
        return parameters
    return {**parameters, "tool_choice": {**choice, "function": {**function, "name": names[function["name"]]}}}


# ---------------------------------------------------------------- tools


def _narrowed(case: Case, snapshot: ToolSnapshot, asking: str | None) -> list[EvalTool]:
    if case.tools is None:
        return list(snapshot.tools)
    known = {tool.name: tool for tool in snapshot.tools}
    missing = next((name for name in case.tools if name not in known), None)
    if missing is not None:
        raise ConfigurationError(f"case {case.id!r} offers {missing!r}, which no source of tools has")
    return [tool for tool in snapshot.tools if tool.name in case.tools or tool.name == asking]


def _changed(tool: EvalTool, arm: Arm) -> EvalTool:
    """The tool as this arm describes and names it; its name in the evaluation is kept in ``original``."""
    tool = described(tool, dict(arm.descriptions), arm.parameter_descriptions)
    new = dict(arm.rename).get(tool.name)
    return tool if new is None else replace(tool, name=new, original=tool.name)


def _distractors(
    evaluation: Evaluation,
    arm: Arm,
    case: Case,
    snapshot: ToolSnapshot,
    distractors: ToolSnapshot | None,
    offered_names: Iterable[str],
) -> list[EvalTool]:
    """The first tools of the pool that are no tools of the evaluation, by the names of neither side."""
    if not arm.distractors:
        return []
    expected = {call.name for one in case.accept for call in one.calls}
    taken = {*expected, *case.never, *offered_names, *(tool.name for tool in snapshot.tools)}
    found = [tool for tool in (distractors.tools if distractors else ()) if tool.name not in taken]
    if len(found) < arm.distractors:
        raise ConfigurationError(
            f"arm {arm.name!r} wants {arm.distractors} distractors, and 'distractor_tools' has {len(found)} that are "
            f"no tools of the evaluation itself (case {case.id!r}); ask for fewer, or give more"
        )
    return found[: arm.distractors]


def _ordered(tools: list[EvalTool], arm: Arm, case: Case, seed: int) -> list[EvalTool]:
    match arm.order:
        case ToolOrder.REVERSED:
            return tools[::-1]
        case ToolOrder.SHUFFLED:
            renamed = {new for _, new in arm.rename}
            return sorted(tools, key=lambda tool: _place(tool, renamed, case, seed))
        case ToolOrder.LISTED | None:
            return tools


def _place(tool: EvalTool, renamed: set[str], case: Case, seed: int) -> bytes:
    """Where a tool stands in a shuffled list, whatever it is called in the arm."""
    name = tool.original if tool.name in renamed and tool.original else tool.name
    return hashlib.sha256(canonical_json([seed, case.id, name]).encode()).digest()
