"""All that two runs were given differently: user input, system prompt, tools, parameters, the model itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from harness.compare.described import Described, of_content, of_values
from harness.compare.essence import essence
from harness.compare.offered import offered_differences
from harness.compare.place import Place, Views
from harness.compare.tell_input import system_difference
from harness.folds import Viewed
from harness.types.codes import Cause, DivergenceKind
from harness.types.events import Header
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
        return min(places[seq] for places, seq in zip(at, seqs, strict=True) if seq is not None)

    return sorted(found, key=place)


def _users(left: Views, right: Views) -> Iterator[Input]:
    """What was said to each agent, in order."""
    agents = dict.fromkeys(one.agent for view in (left, right) for one in view if one.kind == "user/message")
    for agent in agents:
        sides = [[one for one in v if one.kind == "user/message" and one.agent == agent] for v in (left, right)]
        for base, candidate in zip_longest(*sides):
            one, other = _content(base), _content(candidate)
            if one != other:
                told = of_content(DivergenceKind.INPUT, "user input", one, other)
                yield Input(Cause.USER_INPUT, "", _divergence(told, base, candidate))


def _content(viewed: Viewed | None) -> Any:
    return None if viewed is None else viewed.fields["message"]["content"]


def _headers(left: Views, right: Views) -> Iterator[Input]:
    """Headers of one agent side by side, in order; a difference that stays is told once."""
    agents = dict.fromkeys(one.agent for view in (left, right) for one in view if one.kind == "request/header")
    for agent in agents:
        told: set[str] = set()
        sides = [[one for one in v if one.kind == "request/header" and one.agent == agent] for v in (left, right)]
        for base, candidate in zip(*sides, strict=False):
            for cause, detail, described in header_differences(essence(base), essence(candidate)):
                if described.path not in told:
                    told.add(described.path)
                    yield Input(cause, detail, _divergence(described, base, candidate))


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


def _divergence(told: Described, base: Viewed | None, candidate: Viewed | None) -> Divergence:
    some = base or candidate
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


def model_change(place: Place, headers: tuple[Header, Header]) -> str:
    """``one → other`` where another model answered, by the headers or by what the answers say; else empty."""
    names = [", ".join(name for _, name in header.models) for header in headers]
    if names[0] != names[1]:
        return f"{names[0] or '(unnamed)'} → {names[1] or '(unnamed)'}"
    answers = [viewed.fields.get("model") if viewed else None for viewed in (place.base, place.candidate)]
    return f"{answers[0]} → {answers[1]}" if all(answers) and answers[0] != answers[1] else ""
