"""Two runs brought to what both of their files can tell, so that what one leaves open is no difference.

Runs of ours are compared as they are, and so are two imports that both tell turns or both do not. Where one side is a
file of another product, that shows no turns, no requests, no finish reasons or no limits, the other is compared
without them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields, replace
from typing import Any, Final, TypeAlias

from harness.folds.imported import IMPORT_VERSION
from harness.types.events import Event, Header, Trajectory
from harness.types.exchange import UNKNOWN_TOOLS, AssistantMessage, RequestHeader, ToolResult
from harness.types.messages import JsonText

_Pair: TypeAlias = tuple[Trajectory, Trajectory]
_Field: TypeAlias = tuple[type[Any], str]
_NO_PARAMETERS: Final = JsonText("{}")
_ANSWER: Final = ("reasoning", "finish_reason", "raw_finish_reason", "model", "fingerprint", "usage", "extra")
_RESULT: Final = ("is_error", "code", "message", "truncated")
_SPARSE: Final[dict[_Field, Any]] = {
    (cls, spec.name): spec.default
    for cls, names in ((AssistantMessage, _ANSWER), (ToolResult, _RESULT))
    for spec in fields(cls)
    if spec.name in names
}
"""Fields that many products have no place for, with what they hold there: a file that never fills one says nothing."""


def on_common_ground(base: Trajectory, candidate: Trajectory) -> _Pair:
    """Both runs without what the file of another product on one side cannot tell; as they are where that is nothing."""
    imports = (_is_foreign(base), _is_foreign(candidate))
    if not any(imports):
        return base, candidate
    if all(imports) and _has_places(base) == _has_places(candidate):
        return _same_tools((base, candidate))
    kinds = _observed(base) & _observed(candidate)
    untold = [one for one in _SPARSE if _leaves_open(one, base) or _leaves_open(one, candidate)]
    imported = (base if _is_foreign(base) else candidate).header
    left, right = (
        _with(replace(side, header=_known(side.header, imported)), lambda event: _reduced(event, kinds, untold))
        for side in (base, candidate)
    )
    left, right = _same_tools(_same_parameters((left, right)))
    return _headers_first(left), _headers_first(right)


def _is_foreign(side: Trajectory) -> bool:
    """True for what a reader of another product's file made."""
    return side.header.version == IMPORT_VERSION


def _has_places(trajectory: Trajectory) -> bool:
    return any(event.turn is not None or event.step is not None for event in trajectory.events)


def _observed(trajectory: Trajectory) -> frozenset[str]:
    return frozenset(kind for kind, _ in trajectory.header.observed)


def _leaves_open(one: _Field, side: Trajectory) -> bool:
    """True for the file of another product that never fills this field."""
    cls, name = one
    told = (getattr(event.fact, name) for event in side.events if type(event.fact) is cls)
    return _is_foreign(side) and all(value == _SPARSE[one] for value in told)


def _known(header: Header, imported: Header) -> Header:
    """What is known of both runs: nothing of limits, tools and profile; the models if both files name them."""
    both = bool(header.models) and bool(imported.models)
    return replace(imported, run_id=header.run_id, models=header.models if both else ())


# ---------------------------------------------------------------- events


def _with(side: Trajectory, change: Callable[[Event], Event | None]) -> Trajectory:
    return replace(side, events=tuple(changed for event in side.events if (changed := change(event)) is not None))


def _reduced(event: Event, kinds: Collection[str], untold: list[_Field]) -> Event | None:
    fact: Any = event.fact
    if fact.TYPE not in kinds:
        return None
    blank = {name: _SPARSE[cls, name] for cls, name in untold if type(fact) is cls}
    return replace(event, turn=None, step=None, fact=replace(fact, **blank) if blank else fact)


def _same_tools(sides: _Pair) -> _Pair:
    """Where one side does not know which tools were offered, neither is compared on them."""
    unknown = [any(header.tools == UNKNOWN_TOOLS for header in _headers(side)) for side in sides]
    if unknown[0] == unknown[1]:
        return sides
    return _each_header(sides, lambda header: replace(header, tools=UNKNOWN_TOOLS))


def _same_parameters(sides: _Pair) -> _Pair:
    """The same of request parameters, which a file tells or never does."""
    if all(any(header.parameters != _NO_PARAMETERS for header in _headers(side)) for side in sides):
        return sides
    return _each_header(sides, lambda header: replace(header, parameters=_NO_PARAMETERS))


def _headers_first(side: Trajectory) -> Trajectory:
    """Each header before its conversation, where a file may tell it at any place; without those that change nothing."""
    first: list[Event] = []
    others: list[Event] = []
    last: dict[str, RequestHeader] = {}
    for event in side.events:
        fact = event.fact
        if not isinstance(fact, RequestHeader):
            others.append(event)
        elif event.agent not in last:
            first.append(event)
            last[event.agent] = fact
        elif replace(fact, why=last[event.agent].why) != last[event.agent]:
            others.append(event)
            last[event.agent] = fact
    return replace(side, events=(*first, *others))


def _headers(side: Trajectory) -> list[RequestHeader]:
    return [event.fact for event in side.events if isinstance(event.fact, RequestHeader)]


def _each_header(sides: _Pair, change: Callable[[RequestHeader], RequestHeader]) -> _Pair:
    def changed(event: Event) -> Event:
        return replace(event, fact=change(event.fact)) if isinstance(event.fact, RequestHeader) else event

    left, right = (_with(side, changed) for side in sides)
    return left, right
