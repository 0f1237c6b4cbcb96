"""Which made call stands for which expected one: a bipartite problem of multisets (INVARIANTS 29)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from harness.errors import UsageError
from harness.evaluate.decision import Made
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
    text = f"{before} a call of {call.name!r}, which is not offered{call.hint}"
    return Misfit(MisfitKind.HALLUCINATED, call.path, text)


def told(call: Made) -> str:
    """A made call in words."""
    return f"a call of {call.name!r} with {shortened(call.arguments, _SHOWN)}"


def extra_misfits(call: Made, order: CallOrder) -> list[Misfit]:
    """What is wrong with a call that stands for no expectation."""
    if not call.offered:
        return [hallucinated(call)]
    if order not in OTHERS_MAY_COME:
        return [Misfit(MisfitKind.EXTRA_CALL, call.path, f"expected no such call, was {told(call)}")]
    return [invalid(call)] if call.faults else []


def missing(wanted: Asked) -> Misfit:
    """An expected call that no call stands for."""
    return Misfit(MisfitKind.MISSING_CALL, "calls", f"expected {wanted}, which is missing")


# ---------------------------------------------------------------- all pairs


def in_any_order(wanted: Sequence[Asked], calls: Sequence[Made], order: CallOrder) -> Pairs:
    """For each expectation the place (from 0) of the call that stands for it.

    As many as possible fit; among all ways to have that the one whose misfits weigh least. What is left over is
    paired across tools, so that something is said to stand in the place of what is missing; but not where nothing
    is owed (SUBSET).
    """
    found: dict[int, int] = {}
    for name in sorted({one.name for one in wanted}):
        rows = [i for i, one in enumerate(wanted) if one.name == name]
        columns = [j for j, call in enumerate(calls) if call.offered and call.name == name]
        found |= _of_one_tool(wanted, calls, rows, columns)
    if order is not CallOrder.SUBSET:
        taken = set(found.values())
        rest = sorted((j for j in range(len(calls)) if j not in taken), key=lambda j: (_strangeness(calls[j]), j))
        found |= zip([i for i in range(len(wanted)) if i not in found], rest, strict=False)
    return tuple(found.get(i) for i in range(len(wanted)))


def _of_one_tool(
    wanted: Sequence[Asked], calls: Sequence[Made], rows: Sequence[int], columns: Sequence[int]
) -> Iterator[tuple[int, int]]:
    if len(rows) == len(columns) == 1:
        return zip(rows, columns, strict=True)
    costs = [[_pair_weight(wanted[i], calls[j]) for j in columns] for i in rows]
    pairs = cheapest_assignment(costs, len(columns))
    return ((rows[i], columns[j]) for i, j in enumerate(pairs) if j is not None)


def _pair_weight(wanted: Asked, call: Made) -> int:
    misfits = pair_misfits(wanted, call)
    return ANY_MISFIT + weight(misfits) if misfits else 0


def _strangeness(call: Made) -> int:
    """Another tool stands for a missing call rather than a question, and that rather than a name that is none."""
    return 2 if not call.offered else int(call.asks)


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
