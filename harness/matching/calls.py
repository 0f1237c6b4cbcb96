"""Expected calls against actual ones: order, repeats, arguments.

- EXACT: the same calls at the same places, and no others;
- IN_ORDER: the expected calls occur in that order; others may come before, between and behind;
- ANY_ORDER: the same calls in any order, and no others (equal multisets);
- SUBSET: every actual call is one of the expected ones (the run did at most that);
- SUPERSET: every expected call is one of the actual ones (the run did at least that).

A call answers one expectation at most, so repeats count (case PB-037). The last three look for a
largest assignment of calls to expectations, not for the first that fits, and their result does not
depend on the order in which expectations are listed (INVARIANTS 29).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Protocol, assert_never

from harness.errors import UsageError
from harness.matching.values import Mismatch, differences, matcher_problems, same_json
from harness.types.jsontext import Refusal, parse_json
from harness.types.messages import JsonText
from harness.types.scenario import CallOrder, ExpectedCall

_SHOWN: Final = 120


class Called(Protocol):
    """A call that was made: a name, and arguments as the model sent them."""

    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> str: ...


_MISSING: Final = "missing"
_SURPLUS: Final = "surplus"
_UNREAD: Final = object()


def match_calls(order: CallOrder, expected: Sequence[ExpectedCall], actual: Sequence[Called]) -> list[Mismatch]:
    """Every expected call that was not made and every call that was not expected, by ``order``.

    Paths begin with ``calls[i]`` (position among the actual calls, from 1) where there is one.
    Raises UsageError for arguments that are no matcher.
    """
    made = [_Made(call.name, call.arguments) for call in actual]
    match order:
        case CallOrder.EXACT:
            return _exact(expected, made)
        case CallOrder.IN_ORDER:
            return _in_order(expected, made)
        case CallOrder.ANY_ORDER:
            report = frozenset({_MISSING, _SURPLUS})
        case CallOrder.SUBSET:
            report = frozenset({_SURPLUS})
        case CallOrder.SUPERSET:
            report = frozenset({_MISSING})
        case _:
            assert_never(order)
    missing, surplus = _unmatched(expected, made)
    return _explained(missing, surplus, made, report=report)


def match_arguments(matcher: JsonText | None, arguments: str) -> list[Mismatch]:
    """The arguments of a call (JSON text as the model sent it) against a matcher; None: any."""
    return _argument_differences(matcher, _Made("", arguments))


class _Made:
    """An actual call, its arguments read once and only when they must be."""

    __slots__ = ("_value", "arguments", "name")

    def __init__(self, name: str, arguments: str) -> None:
        self.name = name
        self.arguments = arguments
        self._value: Any | Refusal = _UNREAD

    @property
    def value(self) -> Any | Refusal:
        if self._value is _UNREAD:
            self._value = parse_json(self.arguments)
        return self._value


@lru_cache(maxsize=512)
def _matcher(text: JsonText) -> tuple[Any, bool]:
    """The matcher, and whether it is plain JSON that only an equal value answers."""
    value = parse_json(text)
    if isinstance(value, Refusal):
        raise UsageError(f"expected arguments are not JSON ({value.message}): {_short(text)}")
    problems = matcher_problems(value)
    if problems:
        raise UsageError(f"expected arguments are not a matcher: {problems[0]}")
    return value, "$" not in text


def _argument_differences(matcher: JsonText | None, call: _Made) -> list[Mismatch]:
    if matcher is None:
        return []
    expected, _ = _matcher(matcher)
    value = call.value
    if isinstance(value, Refusal):
        return [Mismatch("", f"expected {matcher}, was {call.arguments!r}, which is not JSON ({value.message})")]
    return differences(expected, value)


def _differences(expected: ExpectedCall, call: _Made) -> list[Mismatch]:
    if expected.name != call.name:
        return [Mismatch("", f"expected {_wanted(expected)}, was {call.name!r}")]
    found = _argument_differences(expected.arguments, call)
    return [Mismatch(_joined("arguments", difference.path), difference.message) for difference in found]


def _fits(expected: ExpectedCall, call: _Made) -> bool:
    if expected.name != call.name:
        return False
    if expected.arguments is None:
        return True
    matcher, is_plain = _matcher(expected.arguments)
    if is_plain:
        if expected.arguments == call.arguments:
            return True
        # Python's own == is wider than JSON's (True == 1) and fast, so it goes first.
        return bool(matcher == call.value) and same_json(matcher, call.value)
    return not _argument_differences(expected.arguments, call)


# ---------------------------------------------------------------- in order


def _exact(expected: Sequence[ExpectedCall], actual: Sequence[_Made]) -> list[Mismatch]:
    found = []
    for index, (wanted, call) in enumerate(zip(expected, actual, strict=False), start=1):
        if not _fits(wanted, call):
            found += [_at(index, difference) for difference in _differences(wanted, call)]
    found += [Mismatch("calls", f"missing {_wanted(wanted)}") for wanted in expected[len(actual) :]]
    for index, call in enumerate(actual[len(expected) :], start=len(expected) + 1):
        found.append(Mismatch(f"calls[{index}]", f"surplus {_called(call)}"))
    return found


def _in_order(expected: Sequence[ExpectedCall], actual: Sequence[_Made]) -> list[Mismatch]:
    place = 0
    for wanted in expected:
        here = next((i for i in range(place, len(actual)) if _fits(wanted, actual[i])), None)
        if here is None:
            return [_not_behind(wanted, place, actual)]
        place = here + 1
    return []


def _not_behind(wanted: ExpectedCall, place: int, actual: Sequence[_Made]) -> Mismatch:
    where = f"after call {place}" if place else "at all"
    earlier = next((i for i in range(place) if _fits(wanted, actual[i])), None)
    if earlier is not None:
        return Mismatch(f"calls[{earlier + 1}]", f"{_wanted(wanted)} is expected later, not found {where}")
    near = next((i for i in range(place, len(actual)) if actual[i].name == wanted.name), None)
    if near is not None:
        return _at(near + 1, _differences(wanted, actual[near])[0])
    return Mismatch("calls", f"missing {_wanted(wanted)}: not found {where}")


# ---------------------------------------------------------------- in any order


def _unmatched(expected: Sequence[ExpectedCall], actual: Sequence[_Made]) -> tuple[list[ExpectedCall], list[int]]:
    """Expected calls and positions of actual calls that a largest assignment leaves over."""
    wanted = sorted(expected, key=lambda call: (call.name, call.arguments or ""))
    pairs = _largest_assignment(wanted, actual)
    taken = set(pairs.values())
    missing = [wanted[i] for i in range(len(wanted)) if i not in pairs]
    return missing, [i for i in range(len(actual)) if i not in taken]


def _largest_assignment(expected: Sequence[ExpectedCall], actual: Sequence[_Made]) -> dict[int, int]:
    """Expectation → call, as many as possible: augmenting paths, found breadth-first."""
    held = _spelled_alike(expected, actual)
    holder = {j: i for i, j in held.items()}
    if len(held) == len(expected):
        return held
    fitting = _fitting(expected, actual)
    for start in range(len(expected)):
        if start in held:
            continue
        free, came_from = _free_call(start, fitting, holder)
        while free is not None:  # each on the path gives its call to the one before and takes the next
            owner = came_from[free]
            holder[free] = owner
            held[owner], free = free, held.get(owner)
    return held


def _fitting(expected: Sequence[ExpectedCall], actual: Sequence[_Made]) -> list[list[int]]:
    """The calls that fit each expectation; equal expectations and calls of one text are looked at once."""
    by_text: dict[tuple[str, str], list[int]] = {}
    for j, call in enumerate(actual):
        by_text.setdefault((call.name, call.arguments), []).append(j)
    alike: dict[ExpectedCall, list[int]] = {}
    for wanted in expected:
        if wanted not in alike:
            fit = (here for here in by_text.values() if _fits(wanted, actual[here[0]]))
            alike[wanted] = sorted(j for here in fit for j in here)
    return [alike[wanted] for wanted in expected]


def _spelled_alike(expected: Sequence[ExpectedCall], actual: Sequence[_Made]) -> dict[int, int]:
    """Plain expectations and calls of the same text: some largest assignment holds these pairs."""
    places: dict[tuple[str, str], deque[int]] = {}
    for j, call in enumerate(actual):
        places.setdefault((call.name, call.arguments), deque()).append(j)
    held = {}
    for i, wanted in enumerate(expected):
        if wanted.arguments is not None and _matcher(wanted.arguments)[1]:
            here = places.get((wanted.name, wanted.arguments))
            if here:
                held[i] = here.popleft()
    return held


def _free_call(
    start: int, fitting: Sequence[Sequence[int]], holder: dict[int, int]
) -> tuple[int | None, dict[int, int]]:
    """The nearest call that nobody holds, and which expectation reached each call on the way."""
    came_from: dict[int, int] = {}
    waiting = [start]
    for owner in waiting:
        for call in fitting[owner]:
            if call in came_from:
                continue
            came_from[call] = owner
            if call not in holder:
                return call, came_from
            waiting.append(holder[call])
    return None, came_from


def _explained(
    missing: list[ExpectedCall], surplus: list[int], actual: Sequence[_Made], *, report: frozenset[str]
) -> list[Mismatch]:
    """In words; a missing and a surplus call of one tool are told as what differs between them."""
    found = []
    for wanted in missing:
        near = next((j for j in surplus if actual[j].name == wanted.name), None)
        if near is not None:
            surplus.remove(near)
            found += [_at(near + 1, difference) for difference in _differences(wanted, actual[near])]
        elif _MISSING in report:
            found.append(Mismatch("calls", f"missing {_wanted(wanted)}"))
    if _SURPLUS in report:
        found += [Mismatch(f"calls[{j + 1}]", f"surplus {_called(actual[j])}") for j in surplus]
    return found


# ---------------------------------------------------------------- words


def _at(position: int, difference: Mismatch) -> Mismatch:
    return Mismatch(_joined(f"calls[{position}]", difference.path), difference.message)


def _joined(path: str, below: str) -> str:
    return f"{path}.{below}" if below and not below.startswith("[") else f"{path}{below}"


def _wanted(call: ExpectedCall) -> str:
    return f"call of {call.name!r}" + (f" with {_short(call.arguments)}" if call.arguments is not None else "")


def _called(call: _Made) -> str:
    return f"call of {call.name!r} with {_short(call.arguments)}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
