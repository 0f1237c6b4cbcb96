"""A scenario: input, tools, model script, injections, limits and expectations of a run.

The YAML form (``format: harness-scenario/1``) and the Python form give equal values. Free JSON is
JSON text here too. Three layers are three fields: ``system`` (lasting principles), ``task`` (goal),
``limits`` (what is enforced).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from harness.types.agents import AgentSpec, VisibleRule
from harness.types.codes import CancelBy, CancelScope, ClockKind, Effect, InboxQueue, Mode, QueueDisposition
from harness.types.context import NO_CONTEXT, ContextSpec
from harness.types.expectations import CallOrder, Expectations, ExpectedCall, ExpectedCalls, Provenance
from harness.types.faults import WireFault
from harness.types.limits import (
    DEFAULT_GRACE_MS,
    DEFAULT_MAX_STEPS,
    DEFAULT_TOOL_CAP,
    DEFAULT_WALL_MS,
    Limits,
)
from harness.types.messages import CallId, JsonText
from harness.types.model_spec import NO_PARAMETERS, ModelApi, ModelSpec
from harness.types.outcome import OutcomeRules
from harness.types.policy import NO_RULES, PolicySpec
from harness.types.retrying import NO_RETRIES, RetryPolicy
from harness.types.script import ScriptEntry, ScriptFollows
from harness.types.tool_policy import NO_POLICY, ToolPolicy

__all__ = [
    "DEFAULT_GRACE_MS",
    "DEFAULT_MAX_STEPS",
    "DEFAULT_TOOL_CAP",
    "DEFAULT_WALL_MS",
    "NO_PARAMETERS",
    "SCENARIO_FORMAT",
    "Boundary",
    "BoundaryWhen",
    "CallOrder",
    "CancelAction",
    "Expectations",
    "ExpectedCall",
    "ExpectedCalls",
    "FaultAction",
    "InjectAction",
    "Injection",
    "Limits",
    "ModelApi",
    "ModelSpec",
    "Provenance",
    "RoleSpec",
    "Scenario",
    "SendAction",
    "Stub",
    "ThrowAction",
    "ToolsSpec",
]

SCENARIO_FORMAT: Final = "harness-scenario/1"


# ---------------------------------------------------------------- tools


@dataclass(frozen=True, slots=True)
class Stub:
    """What a stubbed tool does instead of its body; exactly one of the first four.

    ``returns``: one value for ever; ``sequence``: one value a call, then an error; ``cases``:
    the first whose arguments (a JSON object) are a subset of the call's; ``raises``: a message.
    ``delay_ms`` passes on the run's clock first; ``delays_ms`` are those of the first bodies, one each, before it
    holds. Values are JSON text. ``description``, ``mode`` and ``effect`` go before the original's.
    """

    returns: JsonText | None = None
    sequence: tuple[JsonText, ...] | None = None
    cases: tuple[tuple[JsonText, JsonText], ...] | None = None
    raises: str | None = None
    code: str | None = None
    delay_ms: int = 0
    delays_ms: tuple[int, ...] = ()
    description: str | None = None
    mode: Mode | None = None
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class ToolsSpec:
    """Which tools a scenario offers.

    ``use`` names built-in tools, ``source`` (``from`` in YAML) a registry ``package.module:name``;
    ``stubs`` replace bodies by name (a stub of no known tool needs a schema in ``schemas``);
    ``visible`` are those that the main agent is offered (None: all), ``visible_from`` narrows that by turn and step;
    ``files`` and ``memory`` are the fixtures that file and memory tools see; ``allowed`` limits
    what may run to some of the offered names. ``options`` are JSON texts by tool name.
    """

    use: tuple[str, ...] = ()
    source: str | None = None
    stubs: tuple[tuple[str, Stub], ...] = ()
    schemas: tuple[tuple[str, JsonText], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    memory: tuple[tuple[str, JsonText], ...] = ()
    allowed: tuple[str, ...] | None = None
    visible: tuple[str, ...] | None = None
    visible_from: tuple[VisibleRule, ...] = ()
    options: tuple[tuple[str, JsonText], ...] = ()


# ---------------------------------------------------------------- injections


class BoundaryWhen(StrEnum):
    """Inside the event's callback, or in the next tick of the event loop."""

    INSIDE = "inside"
    NEXT_TICK = "next-tick"


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place in a run: the ``nth`` (from 1) event of ``kind`` that fits the other fields.

    ``after_ms``, where given, replaces ``when``: that long after the event on the run's clock. ``tick``,
    where given, replaces all the others (``kind`` is then ""): the beginning of the nth tick (from 1) of
    the event loop after the run's first event; virtual time only.
    """

    kind: str
    tool: str | None = None
    call: str | None = None
    agent: str | None = None
    turn: int | None = None
    nth: int = 1
    when: BoundaryWhen = BoundaryWhen.INSIDE
    after_ms: int | None = None
    tick: int | None = None


@dataclass(frozen=True, slots=True)
class CancelAction:
    """Cancel the run or turn."""

    by: CancelBy = CancelBy.USER
    scope: CancelScope = CancelScope.RUN
    queue: QueueDisposition = QueueDisposition.DROP
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ThrowAction:
    """Throw from a listener at that event."""

    message: str = "thrown by the scenario"


@dataclass(frozen=True, slots=True)
class SendAction:
    """Send input while the subject runs; only subjects with an inbox take it."""

    text: str
    queue: InboxQueue = InboxQueue.FOLLOWUP


@dataclass(frozen=True, slots=True)
class FaultAction:
    """The body that starts there raises instead, or the request that is made there fails.

    ``code`` is one that a body may give itself (None: TOOL_FAILED), or one of a failed request (None:
    SERVER).
    """

    code: str | None = None
    message: str = "a fault of the scenario"


InjectAction: TypeAlias = CancelAction | ThrowAction | SendAction | FaultAction


@dataclass(frozen=True, slots=True)
class Injection:
    """Do something at a boundary."""

    at: Boundary
    do: InjectAction


# ---------------------------------------------------------------- the scenario


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """A model beside the main one: its own script, or a model that is recorded or live, or both.

    With both, the script answers wherever the run is not live or recording.
    """

    script: tuple[ScriptEntry, ...] | None = None
    model: ModelSpec | None = None
    allow_leftovers: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything a run needs. ``id`` is ``<family>/<name>`` from its path, or given.

    ``tasks`` are pieces of user input, one turn each, one after the other in one session.
    ``digest`` is the sha256 of the canonical JSON form without ``source``, ``title``, ``covers``.
    ``faults`` disturb requests on the wire, by number; only a scripted server between loop and model knows them.
    ``release`` lists calls in the order in which their bodies may be seen to end.
    ``models`` are those of other roles, by role (``fallback``, ``summariser``, ``child:<name>``; ARTICLES 21).
    ``expect_after`` is expected of a run that resumes one of this scenario, in place of ``expect``.
    ``runtime_context`` holds JSON texts, one a turn; the last one stays (ARTICLES 25).
    ``covers`` lists catalogue numbers that this scenario carries (``conformance:52``, ``article:7``).
    """

    id: str
    tasks: tuple[str, ...]
    title: str = ""
    system: str | None = None
    tools: ToolsSpec = field(default_factory=ToolsSpec)
    model: ModelSpec | None = None
    script: tuple[ScriptEntry, ...] | None = None
    script_follows: ScriptFollows = ScriptFollows.ORDER
    allow_leftovers: bool = False
    models: tuple[tuple[str, RoleSpec], ...] = ()
    limits: Limits = field(default_factory=Limits)
    inject: tuple[Injection, ...] = ()
    faults: tuple[WireFault, ...] = ()
    release: tuple[CallId, ...] = ()
    expect: Expectations = field(default_factory=Expectations)
    expect_after: Expectations | None = None
    checks: tuple[str, ...] = ()
    tool_policy: ToolPolicy = NO_POLICY
    outcome: OutcomeRules | None = None
    policy: PolicySpec = NO_RULES
    retry: RetryPolicy = NO_RETRIES
    agents: tuple[AgentSpec, ...] = ()
    runtime_context: tuple[JsonText, ...] = ()
    context: ContextSpec = NO_CONTEXT
    clock: ClockKind | None = None
    tags: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    skip: str | None = None
    seed: int = 0
    digest: str = ""
    source: str = ""
    line: int | None = None
