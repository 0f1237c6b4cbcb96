"""What a model could call in one case under one arm, and what the evaluation calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from harness.schemas import ArgumentSchema
from harness.types.evaluation import Arm, Case, EvalTool, Evaluation, ToolSnapshot
from harness.types.jsontext import parse_json
from harness.types.messages import JsonText

_MOST_KEPT = 512


@dataclass(frozen=True, slots=True)
class Menu:
    """The offered tools by the name that the model is told; ``renamed`` gives that name for the evaluation's own.

    ``asking`` is the tool that asks the user, by the evaluation's name, where it is offered.
    """

    tools: Mapping[str, EvalTool]
    renamed: Mapping[str, str]
    asking: str | None
    forbids_calls: bool = False

    def own_name(self, told: str) -> str | None:
        """The evaluation's name of a tool that the model knows as ``told``; None: that is not offered."""
        tool = self.tools.get(told)
        return None if tool is None else tool.name

    def offers(self, name: str) -> bool:
        """Whether the tool of that name of the evaluation is offered, under whatever name."""
        told = self.tools.get(self.renamed.get(name, name))
        return told is not None and told.name == name

    def schema(self, told: str) -> ArgumentSchema:
        """The schema of an offered tool. Raises ConfigurationError where its parameters are no valid JSON Schema."""
        tool = self.tools[told]
        return _schema(tool.name, tool.parameters)


def menu_of(case: Case, arm: Arm, tools: ToolSnapshot, evaluation: Evaluation) -> Menu:
    """What ``case`` offers under ``arm``."""
    renamed = dict(arm.rename)
    offered = {renamed.get(tool.name, tool.name): tool for tool in _offered(case, arm, tools.tools, evaluation)}
    asking = evaluation.asking.tool
    menu = Menu(offered, renamed, asking, _forbids_calls(arm, evaluation))
    return menu if asking is None or menu.offers(asking) else Menu(offered, renamed, None, menu.forbids_calls)


def _offered(case: Case, arm: Arm, tools: Sequence[EvalTool], evaluation: Evaluation) -> list[EvalTool]:
    if not arm.offer_tools:
        return []
    if case.tools is None:
        return list(tools)
    wanted = {*case.tools, evaluation.asking.tool}
    return [tool for tool in tools if tool.name in wanted]


def _forbids_calls(arm: Arm, evaluation: Evaluation) -> bool:
    """Whether ``tool_choice`` is "none": the arm's, else that among the model's parameters."""
    if arm.tool_choice is not None:
        return parse_json(arm.tool_choice) == "none"
    model = arm.model or evaluation.model
    parameters = None if model is None else parse_json(model.parameters)
    return isinstance(parameters, dict) and parameters.get("tool_choice") == "none"


@lru_cache(maxsize=_MOST_KEPT)
def _schema(name: str, parameters: JsonText) -> ArgumentSchema:
    return ArgumentSchema(name, parameters)
