"""One acceptable decision against the one that was made: every difference, and what was chosen in place of what."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from harness.evaluate.decision import ASKED, NONE, Decision, Made
from harness.evaluate.pairing import (
    OTHERS_MAY_COME,
    Asked,
    asked_for,
    extra_misfits,
    hallucinated,
    in_any_order,
    in_this_order,
    invalid,
    missing,
    out_of_order,
    pair_misfits,
    told,
)
from harness.evaluate.severity import weight
from harness.matching import Pairs, match_value
from harness.types.evaluation import Acceptable, Asking, Wanted
from harness.types.expectations import CallOrder
from harness.types.grades import ArgumentGrade, Misfit, MisfitKind

Cells = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """Differences, cells of the confusion matrix, grades of arguments, and the places (from 1) of the calls whose
    failed results count.
    """

    misfits: tuple[Misfit, ...]
    cells: Cells
    arguments: tuple[ArgumentGrade, ...] = ()
    failed: tuple[int, ...] = ()


def nearest(
    accept: Sequence[Acceptable], decision: Decision, asking: Asking, failed: Collection[int] = ()
) -> tuple[Acceptable, Compared]:
    """The acceptable decision that the made one is nearest to, and how they differ; any that fits has no misfits.

    ``failed`` are the places of the calls whose results were no good ones; of several that fit, the one for which
    the fewest of these count is nearest. Whatever order they are listed in, the same one is. Raises UsageError for
    arguments that are no matcher.
    """
    compared = [(one, compare(one, decision, asking)) for one in accept]
    if failed:
        compared = [(one, replace(how, failed=_counting(one, how, decision, asking, failed))) for one, how in compared]
    return min(compared, key=lambda pair: (weight(pair[1].misfits), len(pair[1].failed), _rank(pair[0])))


def _counting(
    acceptable: Acceptable, compared: Compared, decision: Decision, asking: Asking, failed: Collection[int]
) -> tuple[int, ...]:
    """Which failed calls count: where others may come beside the expected ones, those that a decision cannot do
    without that fits, as few as there can be; elsewhere all.
    """
    may_repeat = acceptable.wanted is Wanted.ASK_USER or acceptable.order in OTHERS_MAY_COME
    if compared.misfits or not may_repeat:
        return tuple(sorted(failed))
    left_out: set[int] = set()

    def needed(places: Sequence[int]) -> Iterator[int]:
        kept = tuple(call for call in decision.calls if call.place not in left_out.union(places))
        if not compare(acceptable, replace(decision, calls=kept), asking).misfits:
            left_out.update(places)
        elif len(places) == 1:
            yield places[0]
        else:
            yield from needed(places[: len(places) // 2])
            yield from needed(places[len(places) // 2 :])

    return tuple(needed(sorted(failed)))


def _rank(acceptable: Acceptable) -> tuple[int, str, list[tuple[str, str]]]:
    calls = [(call.name, asked_for(call).text or "") for call in acceptable.calls]
    return list(Wanted).index(acceptable.wanted), acceptable.order, calls if _is_ordered(acceptable) else sorted(calls)


def _is_ordered(acceptable: Acceptable) -> bool:
    return acceptable.order in (CallOrder.EXACT, CallOrder.IN_ORDER)


def compare(acceptable: Acceptable, decision: Decision, asking: Asking) -> Compared:
    """How ``decision`` differs from ``acceptable``."""
    match acceptable.wanted:
        case Wanted.NO_CALL:
            return _against_none(decision)
        case Wanted.ASK_USER:
            return _against_question(decision, asking)
        case Wanted.CALLS:
            return _against_calls(acceptable, decision, asking)
        case _:
            assert_never(acceptable.wanted)


# ---------------------------------------------------------------- no call, or a question


def _against_none(decision: Decision) -> Compared:
    misfits = [_unwanted(call) for call in decision.calls]
    cells = [(NONE, call.chosen) for call in decision.calls]
    if decision.says_status:
        misfits.append(Misfit(MisfitKind.ASKED, "content", "expected no call, was a question to the user"))
        cells.append((NONE, ASKED))
    return Compared(tuple(misfits), tuple(cells) or ((NONE, NONE),))


def _unwanted(call: Made) -> Misfit:
    if not call.offered:
        return hallucinated(call, "expected no call, was")
    if call.asks:
        return Misfit(MisfitKind.ASKED, call.path, "expected no call, was a question to the user")
    return Misfit(MisfitKind.UNWANTED, call.path, f"expected no call, was {told(call)}")


def _against_question(decision: Decision, asking: Asking) -> Compared:
    questions = [call for call in decision.calls if call.asks]
    others = [call for call in decision.calls if not call.asks]
    misfits = [_unwanted(call) for call in others if not call.offered]
    if decision.asked:
        misfits += [_unwanted(call) for call in others if call.offered]
        misfits += [invalid(call) for call in questions if call.faults]
        cells = [(ASKED, call.chosen) for call in questions[:1]] or [(ASKED, ASKED)]
        return Compared(tuple(misfits), (*cells, *((NONE, call.chosen) for call in others)))
    instead = next((call for call in others if call.offered), others[0] if others else None)
    rest = [call for call in others if call is not instead]
    misfits += [_unwanted(call) for call in rest if call.offered]
    misfits.append(_did_not_ask(instead, decision, asking))
    cells = [(ASKED, instead.chosen if instead else NONE), *((NONE, call.chosen) for call in rest)]
    return Compared(tuple(misfits), tuple(cells))


def _did_not_ask(instead: Made | None, decision: Decision, asking: Asking) -> Misfit:
    wanted = f"expected a question to the user ({_way_to_ask(asking)})"
    if instead is not None:
        return Misfit(MisfitKind.DID_NOT_ASK, instead.path, f"{wanted}, was {told(instead)}")
    if decision.content and decision.content.strip():
        text = f"{wanted}, was plain text: that cannot be told from an answer, also where it asks something"
        return Misfit(MisfitKind.DID_NOT_ASK, "content", text)
    return Misfit(MisfitKind.DID_NOT_ASK, "content", f"{wanted}, was nothing")


def _way_to_ask(asking: Asking) -> str:
    if asking.tool is not None:
        return f"a call of {asking.tool!r}"
    if asking.field is not None:
        return f"a JSON object whose {asking.field!r} is {asking.value}"
    return "no way to ask is declared: name a tool, or a field and its value, under 'ask_user'"


# ---------------------------------------------------------------- calls


def _against_calls(acceptable: Acceptable, decision: Decision, asking: Asking) -> Compared:
    wanted = [asked_for(call) for call in acceptable.calls]
    if not _is_ordered(acceptable):
        wanted.sort(key=lambda one: (one.name, one.text or ""))
    is_owed = bool(wanted) and acceptable.order is not CallOrder.SUBSET
    names = [_row(one, asking) for one in wanted]
    if is_owed and not decision.calls:
        return _nothing_called(wanted, names, decision)
    if is_owed and decision.only_asked and ASKED not in names:
        misfit = Misfit(MisfitKind.ASKED, "calls", f"expected {wanted[0]}{_more(wanted)}, was a question to the user")
        return Compared((misfit,), tuple((name, ASKED) for name in names))
    return min(_explanations(acceptable.order, wanted, decision.acts, asking), key=lambda one: weight(one.misfits))


def _nothing_called(wanted: Sequence[Asked], names: Sequence[str], decision: Decision) -> Compared:
    what = f"expected {wanted[0]}{_more(wanted)}"
    if decision.says_status:
        misfit = Misfit(MisfitKind.ASKED, "content", f"{what}, was a question to the user")
        return Compared((misfit,), tuple((name, ASKED) for name in names))
    misfit = Misfit(MisfitKind.NO_CALL, "calls", f"{what}, was no call")
    return Compared((misfit,), tuple((name, NONE) for name in names))


def _more(wanted: Sequence[Asked]) -> str:
    return f" and {len(wanted) - 1} more" if len(wanted) > 1 else ""


def _row(wanted: Asked, asking: Asking) -> str:
    return ASKED if wanted.name == asking.tool else wanted.name


def _explanations(
    order: CallOrder, wanted: Sequence[Asked], calls: Sequence[Made], asking: Asking
) -> Iterator[Compared]:
    """What the differences are; where order counts, with calls in their places or with calls out of order."""
    if order not in (CallOrder.EXACT, CallOrder.IN_ORDER):
        yield _explained(order, wanted, calls, in_any_order(wanted, calls, order), asking)
        return
    yield _explained(order, wanted, calls, in_this_order(wanted, calls, order), asking)
    pairs = in_any_order(wanted, calls, order)
    yield _explained(order, wanted, calls, pairs, asking, out_of_order(wanted, calls, pairs))


def _explained(
    order: CallOrder,
    wanted: Sequence[Asked],
    calls: Sequence[Made],
    pairs: Pairs,
    asking: Asking,
    moved: Sequence[Misfit] = (),
) -> Compared:
    misfits, cells, arguments = list(moved), [], []
    for one, place in zip(wanted, pairs, strict=True):
        if place is not None:
            misfits += pair_misfits(one, calls[place])
            cells.append((_row(one, asking), calls[place].chosen))
            arguments += argument_grades(one, calls[place])
        elif order is not CallOrder.SUBSET:
            misfits.append(missing(one))
            cells.append((_row(one, asking), NONE))
    for place in sorted(set(range(len(calls))) - set(pairs)):
        found = extra_misfits(calls[place], order)
        misfits += found
        cells += [(NONE, calls[place].chosen)] if found or order not in OTHERS_MAY_COME else []
    return Compared(tuple(misfits), tuple(cells) or ((NONE, NONE),), tuple(arguments))


def argument_grades(wanted: Asked, call: Made) -> list[ArgumentGrade]:
    """The expected arguments of a call of the right tool, one by one; an optional one only where it is there."""
    if call.name != wanted.name or not call.offered:
        return []
    given = call.values or {}
    return [
        ArgumentGrade(f"{wanted.name}.{name}", name in given and not match_value(matcher, given[name]))
        for name, matcher in sorted(_named(wanted.matcher).items())
        if name in given or not (isinstance(matcher, dict) and "$optional" in matcher)
    ]


def _named(matcher: Any) -> dict[str, Any]:
    """The arguments that a matcher names one by one."""
    if not isinstance(matcher, dict):
        return {}
    inner = matcher.get("$subset", matcher) if len(matcher) == 1 else matcher
    return {name: value for name, value in inner.items() if not name.startswith("$")}
