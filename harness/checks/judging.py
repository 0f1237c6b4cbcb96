"""All checks by name, and judging a trajectory by some or all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from harness.checks.approval import APPROVAL
from harness.checks.base import BuiltCheck, unseen
from harness.checks.budgets import BUDGETS
from harness.checks.cancel import CANCEL_NO_INPUT_CONSUMED, CANCEL_NO_MODEL_REQUEST, CANCEL_NO_TOOL_START
from harness.checks.children import CHILDREN
from harness.checks.chunks import CHUNKS
from harness.checks.context import CONTEXT_CLOSURE
from harness.checks.effects import EFFECTS
from harness.checks.ending import TERMINATION
from harness.checks.expectations import ANSWER, END_STATE, EXPECTED_END, RESULT_CODES, TOOL_ORDER
from harness.checks.expected_counts import EXPECTED_COUNTS
from harness.checks.grammar import EVENT_GRAMMAR
from harness.checks.inbox import INBOX
from harness.checks.limits import STEPS_AND_LIMITS
from harness.checks.lineage import LINEAGE
from harness.checks.pairing import PAIRING, REUSED_IDS
from harness.checks.provenance import PROVENANCE
from harness.checks.provider import PROVIDER_HISTORY
from harness.checks.replacing import CONTEXT_OVERFLOW, CONTEXT_REPLACED, CONTEXT_SHOWN
from harness.checks.rest import CANCEL_SETTLED, QUIESCENCE
from harness.checks.results import RESULT_TRUTH
from harness.checks.runs import TOOL_RUNS
from harness.checks.shown import NO_HOST_LEAK, TOOLS_OFFERED
from harness.errors import UnknownNameError
from harness.protocols import Check
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.jsontext import described
from harness.types.records import Verdict

BUILT_IN: Final[tuple[BuiltCheck, ...]] = (
    EVENT_GRAMMAR,
    PAIRING,
    PROVIDER_HISTORY,
    REUSED_IDS,
    STEPS_AND_LIMITS,
    BUDGETS,
    TERMINATION,
    CANCEL_NO_TOOL_START,
    CANCEL_NO_MODEL_REQUEST,
    CANCEL_NO_INPUT_CONSUMED,
    INBOX,
    LINEAGE,
    CANCEL_SETTLED,
    APPROVAL,
    QUIESCENCE,
    CHILDREN,
    CONTEXT_CLOSURE,
    CONTEXT_REPLACED,
    CONTEXT_SHOWN,
    CONTEXT_OVERFLOW,
    CHUNKS,
    TOOL_RUNS,
    RESULT_TRUTH,
    TOOLS_OFFERED,
    NO_HOST_LEAK,
    EXPECTED_END,
    EXPECTED_COUNTS,
    PROVENANCE,
    TOOL_ORDER,
    RESULT_CODES,
    ANSWER,
    END_STATE,
    EFFECTS,
)
CHECKS: Final[dict[str, Check]] = {check.name: check for check in BUILT_IN}
"""Every built-in check by name, in the order in which they are judged and shown."""

INFORMATION: Final = frozenset(check.name for check in BUILT_IN if check.information)
"""Checks whose findings inform and never fail."""


def judge(
    trajectory: Trajectory,
    *,
    names: Collection[str] | None = None,
    asked: bool = False,
    extra: Mapping[str, Check] | None = None,
) -> tuple[Verdict, ...]:
    """The verdicts of the named checks (None: all, with all of ``extra``), in the order of CHECKS.

    Expectations are judged where the header holds them, named or not. ``asked``: these checks were
    asked for by name, so what a trajectory cannot show is INCONCLUSIVE instead of NOT_APPLICABLE. A
    check that raises gives ERROR, never an exception. Verdicts of ``extra`` say by which name they were
    asked for. Raises UnknownNameError for a name that is no check.
    """
    checks = {**CHECKS, **(extra or {})}
    if names is not None:
        unknown = sorted(set(names) - set(checks))
        if unknown:
            raise UnknownNameError(f"no check is named {unknown[0]!r}; there are {', '.join(sorted(checks))}")
    chosen = [
        (name, check)
        for name, check in checks.items()
        if (names is not None and name in names) or _is_due(check, trajectory, everything=names is None)
    ]
    verdicts = ((name, _judged(name, check, trajectory, asked=asked)) for name, check in chosen)
    return tuple(replace(one, asked=name) if name in (extra or ()) else one for name, one in verdicts)


def _is_due(check: Check, trajectory: Trajectory, *, everything: bool) -> bool:
    """Judged without being named: what the header expects, and everything else where nothing was named."""
    if isinstance(check, BuiltCheck) and check.expectation:
        return not check.applies(trajectory)
    return everything


def _judged(name: str, check: Check, trajectory: Trajectory, *, asked: bool) -> Verdict:
    try:
        expectation = isinstance(check, BuiltCheck) and check.expectation
        if not expectation and (why := unseen(trajectory, check.needs)):
            return Verdict(name, Outcome.INCONCLUSIVE if asked else Outcome.NOT_APPLICABLE, why=why)
        verdict = check(trajectory)
    except Exception as error:  # a user's check may raise anything; one broken check must not hide the others
        return Verdict(name, Outcome.ERROR, why=f"the check raised {described(error)}")
    if not isinstance(verdict, Verdict):
        kind = type(verdict).__name__  # type: ignore[unreachable]  # a user's check is not bound by our types
        return Verdict(name, Outcome.ERROR, why=f"the check gave a {kind} instead of a Verdict")
    return verdict
