"""The rules that hold for each tool: the host's policy over what the tool says of itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from harness.errors import ConfigurationError
from harness.protocols import Tool
from harness.tools.replies import listed
from harness.types.codes import Code
from harness.types.doors import ToolReply
from harness.types.tool_policy import (
    LEAST_RESULT,
    NO_RULES,
    AfterFailure,
    OnFailure,
    ResultLimit,
    ToolPolicy,
    ToolRules,
)

FAILURES: Final = frozenset({Code.TOOL_FAILED, Code.TOOL_TIMEOUT, Code.INVALID_TOOL_OUTPUT})
"""Codes of a body that failed; the others are what a tool says on purpose, and is not asked again for."""


def is_failure(reply: ToolReply) -> bool:
    """Whether the failure policy has a say in this reply."""
    return reply.is_error and reply.code in FAILURES


def check_policy(tools: Collection[Tool], policy: ToolPolicy, *, allowed: Collection[str] | None = None) -> None:
    """Raise ConfigurationError for a policy that these tools cannot have.

    ``allowed`` names the tools that may run (None: all of them).
    """
    Rulebook({tool.name: tool for tool in tools}, policy, allowed=allowed)


class Rulebook:
    """The rules of every tool of a door.

    Retries that stand under a tool's own name must be those of an idempotent tool; retries for every tool
    are those of the idempotent ones, and the others have one attempt (PB-027). Raises ConfigurationError.
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        policy: ToolPolicy,
        *,
        allowed: Collection[str] | None = None,
        timeout_ms: int | None = None,
    ) -> None:
        named = dict(policy.tools)
        unknown = sorted(set(named) - set(tools))
        if unknown:
            raise ConfigurationError(
                f"rules for {listed(unknown)}, which are not offered; offered: {listed(sorted(tools))}"
            )
        if len(set(policy.repair)) != len(policy.repair):
            raise ConfigurationError(f"the repair ladder names a rung twice: {listed(policy.repair)}")
        self.repair = policy.repair
        self._failure: dict[str, OnFailure] = {}
        self._results: dict[str, ResultLimit | None] = {}
        self._timeouts: dict[str, int | None] = {}
        may_run = set(tools if allowed is None else allowed)
        for name, tool in tools.items():
            stated = (named.get(name, NO_RULES), getattr(tool, "rules", NO_RULES))
            self._failure[name] = _failure(tool, stated, policy.rules.failure, may_run)
            self._results[name] = _limit(name, (*stated, policy.rules))
            self._timeouts[name] = _timeout(name, (*stated, policy.rules), timeout_ms)

    def failure(self, name: str) -> OnFailure:
        """What a failure of that tool leads to."""
        return self._failure[name]

    def results(self, name: str) -> ResultLimit | None:
        """How long a result of that tool may be; None: as long as it is."""
        return self._results[name]

    def timeout_ms(self, name: str) -> int | None:
        """How long a body of that tool may take; None: as long as it takes."""
        return self._timeouts[name]


def _failure(
    tool: Tool, stated: tuple[ToolRules, ...], default: OnFailure | None, may_run: Collection[str]
) -> OnFailure:
    own = next((rules.failure for rules in stated if rules.failure is not None), None)
    found = own or default or OnFailure()
    if found.retries < 0 or found.delay_ms < 0:
        raise ConfigurationError(f"tool {tool.name!r}: retries and delay_ms are whole numbers from 0, not {found}")
    if (found.then is AfterFailure.FALL_BACK) != (found.fallback is not None):
        raise ConfigurationError(f"tool {tool.name!r}: 'fall-back' and the name of a tool go together, not {found}")
    if found.fallback is not None and found.fallback not in may_run:
        raise ConfigurationError(
            f"tool {tool.name!r} falls back to {found.fallback!r}; allowed are tools that may run: "
            f"{listed(sorted(may_run))}"
        )
    if own is not None and own.fallback == tool.name:
        raise ConfigurationError(f"tool {tool.name!r} falls back to itself; use 'retries' for more attempts")
    if own is not None and own.retries and not tool.idempotent:
        raise ConfigurationError(
            f"tool {tool.name!r} has {own.retries} retries and is not declared idempotent: its effect could happen "
            "twice; declare it idempotent, or leave the retries out"
        )
    if found.fallback == tool.name:  # the default of every tool names this one: it has nobody to fall back to
        found = OnFailure(found.retries, found.delay_ms)
    return found if tool.idempotent else OnFailure(0, 0, found.then, found.fallback)


def _limit(name: str, stated: tuple[ToolRules, ...]) -> ResultLimit | None:
    limit = next((rules.results for rules in stated if rules.results is not None), None)
    if limit is not None and limit.most < LEAST_RESULT:
        raise ConfigurationError(
            f"tool {name!r}: results of at most {limit.most} {limit.unit}; allowed: {LEAST_RESULT} and more"
        )
    return limit


def _timeout(name: str, stated: tuple[ToolRules, ...], default: int | None) -> int | None:
    timeout_ms = next((rules.timeout_ms for rules in stated if rules.timeout_ms is not None), default)
    if timeout_ms is not None and timeout_ms < 1:
        raise ConfigurationError(f"tool {name!r}: a time-out of {timeout_ms} ms; allowed: 1 and more")
    return timeout_ms
