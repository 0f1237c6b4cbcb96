"""Why a model called nothing (ARTICLES 36)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from harness.evaluate.decision import ASKED, NONE
from harness.evaluate.menu import Menu
from harness.evaluate.text_calls import call_in_text
from harness.types.codes import FinishReason
from harness.types.grades import Grade, Misfit, MisfitKind, WhyNoCall
from harness.types.trials import TrialAnswer

UNFINISHED: Final[dict[FinishReason | None, str]] = {
    None: "has no finish reason",
    FinishReason.LENGTH: "was cut at its length",
    FinishReason.CONTENT_FILTER: "was stopped by a content filter",
    FinishReason.ABORTED: "was broken off",
    FinishReason.ERROR: "ended in an error",
}
"""How answers end that did not come to their end, in words. One that does not say how it ended may be half of one."""
LEAST_EVIDENCE: Final = 10
"""Silent trials without one call from which on an endpoint is held to ignore tools."""


def why_no_call(answer: TrialAnswer, menu: Menu, wanted: Collection[str]) -> WhyNoCall:
    """Why an answer without calls has none: what the request made impossible first, then what the answer shows.

    ``wanted`` names the tools of which one was expected; without any, all that are offered count.
    """
    offered = any(menu.told_name(name) is not None for name in wanted) if wanted else bool(menu.tools)
    if not offered:
        return WhyNoCall.NOT_OFFERED
    if menu.forbids_calls:
        return WhyNoCall.TOOL_CHOICE_NONE
    if call_in_text(answer.content, menu.tools.keys()) is not None:
        return WhyNoCall.IN_TEXT
    if answer.finish_reason in UNFINISHED:
        return WhyNoCall.CUT
    if answer.refusal or answer.finish_reason is FinishReason.REFUSAL:
        return WhyNoCall.REFUSED
    return WhyNoCall.CHOSE_NOT_TO


@dataclass(slots=True)
class ToolUse:
    """What the trials of one arm show about its endpoint; feed it with every grade of the arm, in any order."""

    n_silent: int = 0
    n_aware: int = 0

    def add(self, grade: Grade) -> None:
        """Count a grade: silent where a call was expected and none came for no visible reason, aware where the
        model called something, if only in its text, so that it must have seen tools.
        """
        if any(chosen not in (NONE, ASKED) for _, chosen in grade.cells) or grade.why_no_call is WhyNoCall.IN_TEXT:
            self.n_aware += 1
        elif _is_silent(grade):
            self.n_silent += 1

    @property
    def ignores_tools(self) -> bool:
        """Whether the endpoint seems to drop the tools of requests: at least ten silent trials, and none aware."""
        return self.n_aware == 0 and self.n_silent >= LEAST_EVIDENCE


def blaming_endpoint(grade: Grade) -> Grade:
    """The grade in an arm whose endpoint ignores tools: its silence was no choice of the model."""
    if grade.why_no_call is not WhyNoCall.CHOSE_NOT_TO:
        return grade
    why = WhyNoCall.IGNORES_TOOLS
    misfits = tuple(
        because(why, misfit) if misfit.why is WhyNoCall.CHOSE_NOT_TO else misfit for misfit in grade.misfits
    )
    return replace(grade, misfits=misfits, why_no_call=why)


def because(why: WhyNoCall, misfit: Misfit) -> Misfit:
    """The misfit with the reason of the silence, in its message too where that says that there was no call."""
    if misfit.kind is not MisfitKind.NO_CALL:
        return replace(misfit, why=why)
    said = misfit.message if misfit.why is None else misfit.message.removesuffix(f": {misfit.why}")
    return replace(misfit, why=why, message=f"{said}: {why}")


def _is_silent(grade: Grade) -> bool:
    return any(m.kind is MisfitKind.NO_CALL and m.why is WhyNoCall.CHOSE_NOT_TO for m in grade.misfits)
