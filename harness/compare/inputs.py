"""All that two runs were given differently: user input, system prompt, tools, parameters, the model itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any

from harness.compare.described import Described, of_content, of_values
from harness.compare.essence import essence
from harness.compare.offered import offered_differences
from harness.compare.place import Place, Views
from harness.compare.sequence import matches
from harness.compare.tell_input import system_difference
from harness.folds import Viewed
from harness.types.codes import Cause, DivergenceKind
from harness.types.events import Header
from harness.types.jsontext import canonical_json
from harness.types.records import Divergence


@dataclass(frozen=True, slots=True)
class Input:
    """One input that differs: what it is, which of it (a tool, a line, a parameter), and both sides."""

    cause: Cause
    detail: str
    divergence: Divergence


def inputs_between(left: Views, right: Views) -> list[Input]:
    """Every input that differs in two views, in the order in which they were given."""
    found = [*_users(left, right), *_headers(left, right)]
    at = [{one.seq: place for place, one in enumerate(view)} for view in (left, right)]

    def place(one: Input) -> int:
        seqs = (one.divergence.base_seq, one.divergence.candidate_seq)
        return max(places[seq] for places, seq in zip(at, seqs, strict=True) if seq is not None)

    return sorted(found, key=place)


def _of_agents(kind: str, left: Views, right: Views) -> Iterator[tuple[list[Viewed], list[Viewed]]]:
    """The events of that kind on both sides, for each agent that has any."""
    agents = dict.fromkeys(one.agent for view in (left, right) for one in view if one.kind == kind)
    for agent in agents:
        one, other = ([one for one in view if one.kind == kind and one.agent == agent] for view in (left, right))
        yield one, other


def _users(left: Views, right: Views) -> Iterator[Input]:
    """Messages that differ: those of equal content stand side by side, so one more shifts none behind it."""
    for one, other in _of_agents("user/message", left, right):
        texts = [[canonical_json(_content(viewed)) for viewed in side] for side in (one, other)]
        places = [(-1, -1), *matches(*texts), (len(one), len(other))]
        for (low, start), (high, end) in pairwise(places):
            for base, candidate in zip_longest(one[low + 1 : high], other[start + 1 : end]):
                told = of_content(DivergenceKind.INPUT, "user input", _content(base), _content(candidate))
                yield Input(Cause.USER_INPUT, "", _divergence(told, base, candidate))


def _content(viewed: Viewed | None) -> Any:
    return None if viewed is None else viewed.fields["message"]["content"]


def _headers(left: Views, right: Views) -> Iterator[Input]:
    """Headers of one agent side by side, in order; a difference that stays is told once.

    Where one side has more of them, each of these differs from what the other side goes on with: its last one.
    """
    for one, other in _of_agents("request/header", left, right):
        told: set[str] = set()
        for base, candidate, given in _side_by_side(one, other):
            for cause, detail, described in header_differences(essence(base), essence(candidate)):
                if described.path not in told:
                    told.add(described.path)
                    yield Input(cause, detail, _divergence(described, base, candidate, given))


def _side_by_side(one: list[Viewed], other: list[Viewed]) -> Iterator[tuple[Viewed, Viewed, Viewed]]:
    """Base, candidate, and that of both which was given at this place."""
    for n in range(max(len(one), len(other)) if one and other else 0):
        base, candidate = one[min(n, len(one) - 1)], other[min(n, len(other) - 1)]
        yield base, candidate, base if n < len(one) else candidate


def header_differences(base: dict[str, Any], candidate: dict[str, Any]) -> Iterator[tuple[Cause, str, Described]]:
    """All that differs between two request headers: prompt, then tools by name, then parameters."""
    system = system_difference(base["system"], candidate["system"])
    if system:
        yield Cause.SYSTEM_PROMPT, system.path.removeprefix("system prompt").strip(), system
    for offered in offered_differences(base["tools"], candidate["tools"]):
        yield offered.cause, offered.tool, offered.told
    one, other = base["parameters"], candidate["parameters"]
    if not isinstance(one, dict) or not isinstance(other, dict):
        one, other = {"": one}, {"": other}
    for name in sorted({*one, *other}):
        sides = ({name: side[name]} if name in side else {} for side in (one, other))
        found = of_values(DivergenceKind.INPUT, "request parameter ", *sides)
        if found:
            yield Cause.PARAMETERS, name, found


def _divergence(
    told: Described, base: Viewed | None, candidate: Viewed | None, given: Viewed | None = None
) -> Divergence:
    some = given or base or candidate
    return Divergence(
        told.kind,
        told.path,
        told.base,
        told.candidate,
        turn=some.turn if some else None,
        step=some.step if some else None,
        base_seq=base.seq if base else None,
        candidate_seq=candidate.seq if candidate else None,
    )


def model_change(place: Place, base: Header, candidate: Header) -> str:
    """``one → other`` where another model answered, by the headers or by what the answers say; else empty."""
    names = [", ".join(name for _, name in header.models) for header in (base, candidate)]
    if names[0] != names[1]:
        return f"{names[0] or '(unnamed)'} → {names[1] or '(unnamed)'}"
    answers = [viewed.fields.get("model") if viewed else None for viewed in (place.base, place.candidate)]
    return f"{answers[0]} → {answers[1]}" if all(answers) and answers[0] != answers[1] else ""
