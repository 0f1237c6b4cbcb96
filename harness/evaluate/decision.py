"""What a model decided in one trial: its calls under the evaluation's names, or a question, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.evaluate.menu import Menu
from harness.matching import same_json
from harness.schemas import Fault, read_arguments
from harness.types.evaluation import Asking
from harness.types.jsontext import Refusal, parse_json
from harness.types.trials import TrialAnswer, TrialCall

NONE: Final = "(none)"
ASKED: Final = "(ask_user)"
HALLUCINATED: Final = "(hallucinated)"
INVALID: Final = "(invalid)"


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made: ``place`` counts from 1; ``name`` is the evaluation's where the tool is offered.

    A question that is the answer's status stands among the calls as one of no tool, in place 0 (:data:`BY_STATUS`).

    ``values`` is None where the arguments are no JSON object; ``faults`` says why the tool would refuse them.
    """

    place: int
    name: str
    arguments: str
    offered: bool
    asks: bool
    values: Mapping[str, Any] | None
    faults: tuple[Fault, ...]
    hint: str = ""

    @property
    def path(self) -> str:
        """Where it stands: ``calls[1]``; ``content`` for a question that is the answer's status."""
        return f"calls[{self.place}]" if self.place else "content"

    @property
    def chosen(self) -> str:
        """Its column in the confusion matrix."""
        if not self.offered:
            return HALLUCINATED
        if self.faults:
            return INVALID
        return ASKED if self.asks else self.name


BY_STATUS: Final = Made(0, ASKED, "", True, True, {}, ())
"""A question in the text, which counts beside calls as the call of a tool that asks does."""


@dataclass(frozen=True, slots=True)
class Decision:
    """All calls in the model's order; ``says_status``: the text is a structured status that asks the user."""

    calls: tuple[Made, ...]
    says_status: bool
    content: str | None

    @property
    def acts(self) -> tuple[Made, ...]:
        """All calls, and last the question that the text is, where it is one."""
        return (*self.calls, BY_STATUS) if self.says_status else self.calls

    @property
    def asked(self) -> bool:
        """Whether the user was asked, in one of the ways that the evaluation declares."""
        return self.says_status or any(call.asks for call in self.calls)

    @property
    def only_asked(self) -> bool:
        """Asked, and nothing else called."""
        return self.asked and all(call.asks for call in self.calls)


def decision_of(answer: TrialAnswer, menu: Menu, asking: Asking) -> Decision:
    """What an answer decides. Raises ConfigurationError for an offered tool whose schema is none."""
    calls = tuple(_made(place, call, menu) for place, call in enumerate(answer.calls, start=1))
    return Decision(calls, _is_status(answer.content, asking), answer.content)


def _made(place: int, call: TrialCall, menu: Menu) -> Made:
    name = menu.own_name(call.name)
    if name is None:
        return Made(place, call.name, call.arguments, False, False, None, (), _not_offered(call.name, menu))
    asks = name == menu.asking
    read = read_arguments(call.arguments)
    if isinstance(read, Refusal):
        return Made(place, name, call.arguments, True, asks, None, (Fault("", read.message),))
    values, _ = read
    return Made(place, name, call.arguments, True, asks, values, tuple(menu.schema(call.name).faults(values)))


def _not_offered(told: str, menu: Menu) -> str:
    now = menu.told_name(told)
    if now is not None:
        return f" under that name (here it is {now!r})"
    return "" if menu.tools else " (no tools are)"


def _is_status(content: str | None, asking: Asking) -> bool:
    """Whether the text is a JSON object, alone or in one fence, that says what asks the user."""
    if asking.field is None or not content:
        return False
    value = parse_json(_unfenced(content.strip()))
    if not isinstance(value, dict) or asking.field not in value:
        return False
    return asking.value is None or same_json(value[asking.field], parse_json(asking.value))


def _unfenced(text: str) -> str:
    if len(text) < 6 or not (text.startswith("```") and text.endswith("```")):
        return text
    inner = text[3:-3]
    first, _, rest = inner.partition("\n")
    return rest if first.strip().isalnum() or not first.strip() else inner
