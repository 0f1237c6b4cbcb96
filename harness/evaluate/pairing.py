"""Which made call stands for which expected one: a bipartite problem of multisets (INVARIANTS 29)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from harness.errors import UsageError
from harness.evaluate.decision import BY_STATUS, Made
from harness.evaluate.severity import ANY_MISFIT, weight
from harness.matching import (
    Differs,
    Mismatch,
    Pairs,
    cheapest_alignment,
    cheapest_assignment,
    match_value,
    matcher_problems,
)
from harness.types.expectations import CallOrder, ExpectedCall
from harness.types.grades import Misfit, MisfitKind
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.wording import shortened

_SHOWN: Final = 120
_ACROSS: Final = ANY_MISFIT << 24
_UNFIT: Final = ANY_MISFIT << 48
_MOST_KEPT: Final = 512
OTHERS_MAY_COME: Final = frozenset({CallOrder.IN_ORDER, CallOrder.SUPERSET})
"""Orders in which calls beside the expected ones are no difference."""
_KINDS: Final = {
    Differs.VALUE: MisfitKind.WRONG_VALUE,
    Differs.LEFT_OUT: MisfitKind.MISSING_ARGUMENT,
    Differs.SURPLUS: MisfitKind.EXTRA_ARGUMENT,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """An expected call: its tool, its arguments as canonical text and as a matcher; None: any."""

    name: str
    text: str | None
    matcher: Any

    def __str__(self) -> str:
        with_what = "" if self.text is None else f" with {shortened(self.text, _SHOWN)}"
        return f"a call of {self.name!r}{with_what}"


def asked_for(call: ExpectedCall) -> Asked:
    """The expectation, read. Raises UsageError for arguments that are no matcher."""
    return Asked(call.name, None, None) if call.arguments is None else _read(call.name, call.arguments)


@lru_cache(maxsize=_MOST_KEPT)
def _read(name: str, arguments: str) -> Asked:
    matcher = parse_json(arguments)
    if isinstance(matcher, Refusal):
        raise UsageError(f"expected arguments of {name!r} are not JSON ({matcher.message})")
    problems = matcher_problems(matcher)
    if problems:
        raise UsageError(f"expected arguments of {name!r} are no matcher: {problems[0]}")
    return Asked(name, canonical_json(matcher), matcher)


# ---------------------------------------------------------------- one pair


def pair_misfits(wanted: Asked, call: Made) -> list[Misfit]:
    """How a call differs from the expectation that it stands for; empty: it fits."""
    if not call.offered:
        return [hallucinated(call, f"expected {wanted}, was")]
    if call.name != wanted.name:
        if call.asks:
            return [Misfit(MisfitKind.ASKED, call.path, f"expected {wanted}, was a question to the user")]
        return [Misfit(MisfitKind.WRONG_TOOL, call.path, f"expected {wanted}, was {told(call)}")]
    if call.faults or call.values is None:
        return [invalid(call)]
    if wanted.text is None:
        return []
    return [_of_argument(call, difference) for difference in match_value(wanted.matcher, call.values)]


def _of_argument(call: Made, difference: Mismatch) -> Misfit:
    return Misfit(_KINDS[difference.how], argument_path(call, difference.path), difference.message)


def argument_path(call: Made, path: str) -> str:
    """``calls[1].arguments.city`` of a path below the arguments."""
    return f"{call.path}.arguments{'.' if path and not path.startswith('[') else ''}{path}"


def invalid(call: Made) -> Misfit:
    """Arguments that the tool would refuse."""
    path = call.faults[0].path if len(call.faults) == 1 else ""
    text = " ".join(f"{fault.path}: {fault.message}" if fault.path else fault.message for fault in call.faults)
    return Misfit(MisfitKind.INVALID_ARGUMENTS, argument_path(call, path), text)


def hallucinated(call: Made, before: str = "was") -> Misfit:
    """A call of a name that is not offered."""
    name = shortened(call.name, _SHOWN)
    return Misfit(MisfitKind.HALLUCINATED, call.path, f"{before} a call of {name!r}, which is not offered{call.hint}")


def told(call: Made) -> str:
    """A made call in words."""
    return f"a call of {shortened(call.name, _SHOWN)!r} with {shortened(call.arguments, _SHOWN)}"


def extra_misfits(call: Made, order: CallOrder) -> list[Misfit]:
    """What is wrong with a call that stands for no expectation."""
    if not call.offered:
        return [hallucinated(call)]
    if order not in OTHERS_MAY_COME:
        if call is BY_STATUS:
            return [Misfit(MisfitKind.ASKED, call.path, "expected no such question, was one to the user")]
        return [Misfit(MisfitKind.EXTRA_CALL, call.path, f"expected no such call, was {told(call)}")]
    return [invalid(call)] if call.faults else []


def missing(wanted: Asked) -> Misfit:
    """An expected call that no call stands for."""
    return Misfit(MisfitKind.MISSING_CALL, "calls", f"expected {wanted}, which is missing")


# ---------------------------------------------------------------- all pairs


def in_any_order(wanted: Sequence[Asked], calls: Sequence[Made], order: CallOrder) -> Pairs:
    """For each expectation the place (from 0) of the call that stands for it.

    As many as possible fit, and as many as possible are of the right tool; among all ways to have that the one whose
    misfits weigh least. What is left over is paired across tools, so that something is said to stand in the place of
    what is missing; but not where nothing is owed (SUBSET).
    """
    if len(wanted) == len(calls) == 1 and order is not CallOrder.SUBSET:
        return (0,)
    pairs = cheapest_assignment([[_price(one, call, order) for call in calls] for one in wanted], len(calls))
    if order is not CallOrder.SUBSET:
        return pairs
    return tuple(None if j is None or calls[j].name != one.name else j for one, j in zip(wanted, pairs, strict=True))


def _price(wanted: Asked, call: Made, order: CallOrder) -> int:
    """What it costs that a call stands for an expectation rather than for nothing; 0 or more."""
    misfits = pair_misfits(wanted, call)
    is_across = call.name != wanted.name or not call.offered
    tiers = (_UNFIT if misfits else 0) + (_ACROSS if is_across else 0)
    if is_across and order is CallOrder.SUBSET:
        return ANY_MISFIT + tiers  # both are left alone
    return ANY_MISFIT + tiers + weight(misfits) - weight(extra_misfits(call, order))


def _pair_weight(wanted: Asked, call: Made) -> int:
    misfits = pair_misfits(wanted, call)
    return ANY_MISFIT + weight(misfits) if misfits else 0


def in_this_order(wanted: Sequence[Asked], calls: Sequence[Made], order: CallOrder) -> Pairs:
    """As :func:`in_any_order`, but the calls stand in the order of the expectations."""
    return cheapest_alignment(
        [[_pair_weight(one, call) for call in calls] for one in wanted],
        [ANY_MISFIT + weight([missing(one)]) for one in wanted],
        [weight(extra_misfits(call, order)) for call in calls],
    )


def out_of_order(wanted: Sequence[Asked], calls: Sequence[Made], pairs: Pairs) -> list[Misfit]:
    """The calls that would have to move, as few as there can be, for those of the right tools to stand in order."""
    places = [j for one, j in zip(wanted, pairs, strict=True) if j is not None and calls[j].name == one.name]
    names = " → ".join(one.name for one in wanted)
    kept = _longest_rising(places)
    return [
        Misfit(MisfitKind.ORDER, calls[j].path, f"the call of {calls[j].name!r} is out of order; expected {names}")
        for j in sorted(set(places) - kept)
    ]


def _longest_rising(places: Sequence[int]) -> set[int]:
    nothing: list[int] = []
    runs = [nothing]  # the longest rising run that ends at each place
    for place in places:
        before = max((run for run in runs if not run or run[-1] < place), key=len)
        runs.append([*before, place])
    longest = max(runs, key=len)
    return set(longest)
