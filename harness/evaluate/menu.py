"""What a model could call in one case under one arm, and what the evaluation calls it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from harness.evaluate.arms import offered, parameters_of
from harness.schemas import ArgumentSchema
from harness.types.evaluation import Arm, Case, EvalTool, Evaluation, ToolSnapshot
from harness.types.jsontext import parse_json
from harness.types.messages import JsonText

_MOST_KEPT: Final = 512


@dataclass(frozen=True, slots=True)
class Menu:
    """The offered tools by the name that the model is told; ``own_names`` gives the evaluation's own for that.

    ``asking`` is the tool that asks the user, by the evaluation's name. ``forbids_calls``: ``tool_choice`` is "none".
    """

    tools: Mapping[str, EvalTool]
    own_names: Mapping[str, str]
    asking: str | None
    forbids_calls: bool

    def own_name(self, told: str) -> str | None:
        """The evaluation's name of a tool that the model knows as ``told``; None: that is not offered."""
        return self.own_names.get(told)

    def told_name(self, name: str) -> str | None:
        """The name under which the tool of that name of the evaluation is offered; None: it is not."""
        return next((told for told, own in self.own_names.items() if own == name), None)

    def schema(self, told: str) -> ArgumentSchema:
        """The schema of an offered tool. Raises ConfigurationError where its parameters are no valid JSON Schema."""
        return _schema(told, self.tools[told].parameters)


def menu_of(
    case: Case, arm: Arm, tools: ToolSnapshot, evaluation: Evaluation, distractors: ToolSnapshot | None = None
) -> Menu:
    """What ``case`` offers under ``arm``; ``distractors`` is the snapshot of ``distractor_tools``.

    Raises as :func:`harness.evaluate.arms.offered`.
    """
    on_offer = {tool.name: tool for tool in offered(evaluation, arm, case, tools, distractors)}
    first_names = {new: name for name, new in arm.rename}
    own_names = {told: _own_name(tool, first_names) for told, tool in on_offer.items()}
    return Menu(on_offer, own_names, evaluation.asking.tool, _forbids_calls(evaluation, arm))


def _own_name(tool: EvalTool, first_names: Mapping[str, str]) -> str:
    """A tool that the arm renamed keeps its name in the evaluation as its original one."""
    first = first_names.get(tool.name)
    return first if first is not None and tool.original == first else tool.name


def _forbids_calls(evaluation: Evaluation, arm: Arm) -> bool:
    parameters = parse_json(parameters_of(evaluation, arm, any_tools=True))
    return isinstance(parameters, dict) and parameters.get("tool_choice") == "none"


@lru_cache(maxsize=_MOST_KEPT)
def _schema(name: str, parameters: JsonText) -> ArgumentSchema:
    return ArgumentSchema(name, parameters)
