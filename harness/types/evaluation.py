"""An evaluation: cases that a model is asked, under several arms, and the one comparison that decides.

The YAML form (``format: harness-evaluation/1``) gives these values. Free JSON is JSON text here too. Of a case one
decision is judged, the model's first answer, unless ``execute`` says that the whole loop runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from harness.types.evaluation_tools import EvalTool, SourceKind, ToolSnapshot, ToolSource
from harness.types.expectations import CallOrder, ExpectedCall
from harness.types.limits import Limits
from harness.types.messages import ChatMessage, JsonText
from harness.types.model_spec import ModelSpec
from harness.types.scenario import Stub

__all__ = [
    "ASK_USER",
    "CASES_FORMAT",
    "EVALUATION_FORMAT",
    "LEAST_ALPHA",
    "LEAST_MARGIN",
    "NO_CALL",
    "TO_FILL_IN",
    "Acceptable",
    "Arm",
    "Asking",
    "Case",
    "Cases",
    "Estimand",
    "EvalTool",
    "Evaluation",
    "Execute",
    "GateSpec",
    "Grading",
    "Metric",
    "Running",
    "SourceKind",
    "Split",
    "ToolOrder",
    "ToolSnapshot",
    "ToolSource",
    "Wanted",
]

EVALUATION_FORMAT: Final = "harness-evaluation/1"
CASES_FORMAT: Final = "harness-cases/1"
ASK_USER: Final = "ask_user"
NO_CALL: Final = "no_call"
TO_FILL_IN: Final = "FILL IN"
"""What a text begins with that somebody still has to write."""


# ---------------------------------------------------------------- cases


class Wanted(StrEnum):
    """What kind of decision is acceptable."""

    CALLS = "calls"
    NO_CALL = NO_CALL
    ASK_USER = ASK_USER


@dataclass(frozen=True, slots=True)
class Acceptable:
    """One acceptable decision: these calls (compared by ``order``), or none, or a question to the user."""

    wanted: Wanted
    calls: tuple[ExpectedCall, ...] = ()
    order: CallOrder = CallOrder.ANY_ORDER


class Split(StrEnum):
    """Whether a case may be looked at while the prompt is worked on."""

    DEV = "dev"
    HELD_OUT = "held-out"


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to ask, and which decisions are right.

    ``history`` is the conversation so far, before ``ask``; any of ``accept`` is right; ``never`` names tools whose
    call is wrong whatever else happens. Cases of one ``group`` (paraphrases, rows of a template) are one unit of the
    statistics. ``tools`` narrows what is offered (None: all). ``answer`` (JSON text of a matcher) judges the final
    text where the whole loop runs. ``ask`` is empty where the history ends with what is to be answered. ``bfcl`` is
    the record of a benchmark's item, where its own rules grade. ``file`` is the file of lines that it stands in; None:
    the document itself.
    """

    id: str
    ask: str
    accept: tuple[Acceptable, ...]
    history: tuple[ChatMessage, ...] = ()
    never: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    group: str | None = None
    split: Split = Split.DEV
    system: str | None = None
    tools: tuple[str, ...] | None = None
    answer: JsonText | None = None
    line: int | None = None
    bfcl: JsonText | None = None
    file: str | None = field(default=None, compare=False)

    @property
    def unit(self) -> str:
        """What the statistics count as one: the group, else the case itself."""
        return self.id if self.group is None else self.group


class Cases(Protocol):
    """The cases of an evaluation in their order: in memory, or read from a file one at a time."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Case: ...
    def __iter__(self) -> Iterator[Case]: ...
    @property
    def digest(self) -> str:
        """The sha256 of what they were read from."""
        ...


# ---------------------------------------------------------------- arms


class ToolOrder(StrEnum):
    """In which order tools are offered; SHUFFLED by the seed of the evaluation, anew for each case."""

    LISTED = "listed"
    REVERSED = "reversed"
    SHUFFLED = "shuffled"


@dataclass(frozen=True, slots=True)
class Arm:
    """What is different in this arm; what is left out is as the evaluation has it.

    ``descriptions`` replace those of tools by name, ``parameter_descriptions`` those of ``tool.parameter``;
    ``rename`` gives tools another name for the model (expectations keep the first); ``distractors`` offers so many
    tools more, taken from ``distractor_tools`` in their order; ``history_turns`` puts so many earlier turns before
    the question, taken from the evaluation's ``padding``; ``inject`` is text that stands behind the last tool result
    of the history, or else behind the question; ``offer_tools`` False is the control without any tool;
    ``tool_choice`` is JSON text.
    """

    name: str
    system: str | None = None
    descriptions: tuple[tuple[str, str], ...] = ()
    parameter_descriptions: tuple[tuple[str, str], ...] = ()
    rename: tuple[tuple[str, str], ...] = ()
    tool_choice: JsonText | None = None
    order: ToolOrder | None = None
    distractors: int = 0
    history_turns: int = 0
    inject: str | None = None
    offer_tools: bool = True
    model: ModelSpec | None = None


# ---------------------------------------------------------------- what decides


class Metric(StrEnum):
    """What is compared. CASE_PASS_RATE: the mean over units of the share of their trials that pass; PASS_HAT_K: the
    share of units whose every trial passes (pass^k with k trials).
    """

    CASE_PASS_RATE = "case_pass_rate"
    PASS_HAT_K = "pass_hat_k"


LEAST_MARGIN: Final = 0.0001
"""A smaller margin (a share) is missed by every candidate, whatever the number of cases; as far below 1, by none."""
LEAST_ALPHA: Final = 0.000001
"""A smaller share of false alarms is below what the intervals are computed to."""


class Estimand(StrEnum):
    """About what a comparison speaks: these very cases, or the prompts that they were drawn from."""

    THESE_CASES = "these cases"
    PROMPTS_LIKE_THESE = "prompts like these"


@dataclass(frozen=True, slots=True)
class GateSpec:
    """The one declared primary comparison: ``candidate`` may be worse than ``base`` by less than ``margin``.

    ``margin`` and ``alpha`` are shares (0.10, 0.05). ``looks`` is how often whole blocks (every case, both arms)
    may be looked at before the end; 1: only at the end.
    """

    base: str
    candidate: str
    margin: float
    metric: Metric = Metric.CASE_PASS_RATE
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE
    alpha: float = 0.05
    looks: int = 1
    split: Split | None = None


class Grading(StrEnum):
    """By whose rules decisions are graded: by the matchers of each case, or by those of a public benchmark, for which
    each case holds the benchmark's own record.
    """

    MATCHERS = "matchers"
    BFCL = "bfcl"


class Execute(StrEnum):
    """What runs beside the model. FIRST: nothing, one decision is judged; STUBS: the whole loop, bodies are stubs;
    TOOLS: the whole loop with the real bodies, which somebody asked for in so many words.
    """

    FIRST = "first-decision"
    STUBS = "stubs"
    TOOLS = "tools"


@dataclass(frozen=True, slots=True)
class Asking:
    """How a model asks the user: by calling ``tool``, or by a final JSON object whose ``field`` has ``value``."""

    tool: str | None = None
    field: str | None = None
    value: JsonText | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """How an evaluation is run: requests at once, per minute and tokens per minute, and what may be spent.

    Money in micro-dollars; None: no bound. ``retries`` is how often a trial is asked again where the provider failed.
    """

    at_once: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_tokens: int | None = None
    max_cost_micro_usd: int | None = None
    retries: int = 4


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All that an evaluation is. ``digest`` is the sha256 of its canonical form, cases included.

    ``model_from`` names a function ``package.module:name`` that answers in place of an endpoint.
    """

    id: str
    sources: tuple[ToolSource, ...]
    arms: tuple[Arm, ...]
    cases: Cases
    model: ModelSpec | None = None
    model_from: str | None = None
    system: str | None = None
    trials: int = 1
    seed: int = 0
    gate: GateSpec | None = None
    asking: Asking = Asking()
    execute: Execute = Execute.FIRST
    stubs: tuple[tuple[str, Stub], ...] = ()
    limits: Limits = field(default_factory=Limits)
    padding: tuple[ChatMessage, ...] = ()
    distractor_tools: tuple[ToolSource, ...] = ()
    running: Running = Running()
    grading: Grading = Grading.MATCHERS
    title: str = ""
    digest: str = ""
    source: str = ""
